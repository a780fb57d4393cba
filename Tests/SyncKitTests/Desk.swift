import Disk
import Glibc
import SyncKit
import SyncModel
import Synchronization
import Testing

/// A directory of its own for each test, and what a test does with the files in it behind the library's back.
final class Desk: Sendable {
    let path: DocumentPath

    init() throws {
        var template = Array("/tmp/synckit-test-XXXXXX".utf8CString)
        // The array is used for the time of the call, which writes the name into it.
        try #require(unsafe mkdtemp(&template) != nil)
        path = DocumentPath(template.dropLast().map { UInt8(bitPattern: $0) })
    }

    deinit {
        for name in names { unlink(name) }
        // Used for the time of the call only.
        _ = unsafe rmdir(path.description)
    }

    subscript(name: String) -> DocumentPath { path.appending(name) }

    func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        let item = try item(name)
        if let old = read(name) {
            #expect(try item.replace(.file(old), with: .file(bytes)) == .done)
        } else {
            try item.create(.file(bytes))
        }
    }

    func read(_ name: String) -> [UInt8]? {
        guard let item = try? item(name), case .contents(.file(let bytes)) = try? item.read() else { return nil }
        return bytes
    }

    func text(_ name: String) -> String? { read(name).map { String(decoding: $0, as: UTF8.self) } }

    func item(_ name: String) throws -> Item { try #require(Item(path: self[name].bytes)) }

    func unlink(_ name: String) {
        // Used for the time of the calls only.
        if unsafe Glibc.unlink(self[name].description) != 0 {
            if let item = try? item(name) { try? item.remove() }
        }
    }

    func setMode(_ name: String, _ mode: mode_t) { _ = unsafe chmod(self[name].description, mode) }

    /// Everything in it, hidden or not.
    var names: [String] {
        guard let directory = unsafe opendir(path.description) else { return [] }
        defer { unsafe _ = closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            // The name ends with a zero byte and is valid until the next call.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

/// Time that passes when a test says so.
final class HandClock: DocumentClock {
    private struct State {
        var now: UInt64 = 0
        var sleepers: [Int: (due: UInt64, waiting: CheckedContinuation<Void, any Error>)] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    var milliseconds: UInt64 { state.withLock { $0.now } }

    func sleep(until milliseconds: UInt64) async throws {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiting in
                let isOver = state.withLock { state in
                    if state.now >= milliseconds || Task.isCancelled { return true }
                    state.sleepers[number] = (milliseconds, waiting)
                    return false
                }
                if isOver { waiting.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: number) }?.waiting.resume(throwing: CancellationError())
        }
    }

    func advance(_ milliseconds: UInt64) {
        let woken = state.withLock { state in
            state.now += milliseconds
            let due = state.sleepers.filter { $0.value.due <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.waiting)
        }
        for waiting in woken { waiting.resume() }
    }

    /// Waits until somebody sleeps.
    func untilAsleep() async { await until { self.state.withLock { !$0.sleepers.isEmpty } } }
}

/// Lets others run until it holds. Ten seconds are enough if there is a processor for the test at all, which the number of turns shows.
func until(_ holds: @Sendable () async -> Bool) async {
    let deadline = ContinuousClock.now + .seconds(10)
    var turns = 0
    while ContinuousClock.now < deadline || turns < 10_000 {
        if await holds() { return }
        turns += 1
        await Task.yield()
    }
    Issue.record("it did not come true within ten seconds")
}

/// S1's list of friends: names and dates.
struct Friend: Codable, Hashable, Sendable {
    var name: String
    var birth: Double
}

struct FriendList: Codable, Hashable, Sendable {
    var friends: [Friend] = []
}

extension FriendList {
    static let me = FriendList(friends: [Friend(name: "Me", birth: 0.1 + 0.2)])
}
