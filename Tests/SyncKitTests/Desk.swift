import Disk
import Dispatch
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
            guard let item = try? item(name), case .contents(let contents) = try? item.read() else { return }
            _ = try? item.remove(contents)
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

    /// When the first of those who sleep wakes.
    var nextDue: UInt64? { state.withLock { $0.sleepers.values.map(\.due).min() } }

    /// Waits until somebody sleeps.
    func untilAsleep() async { await until { self.state.withLock { !$0.sleepers.isEmpty } } }
}

/// Lets others run until it holds. Ten seconds are enough if there is a processor for the test at all, which the number of turns shows.
func until(within patience: Duration = .seconds(10), _ holds: @Sendable () async -> Bool) async {
    let deadline = ContinuousClock.now + patience
    var turns = 0
    while ContinuousClock.now < deadline || turns < 10_000 {
        if await holds() { return }
        turns += 1
        await Task.yield()
    }
    Issue.record("it did not come true within \(patience)")
}

/// A name that leads nowhere, or to something that is no regular file.
extension Desk {
    func link(_ name: String, to target: String) {
        // Used for the time of the call only.
        let result = unsafe symlink(target, self[name].description)
        #expect(result == 0)
    }

    /// Adds to a file, one byte after the other, until what is returned is told to stop.
    func keepWriting(to name: String) -> Writer { Writer(path: self[name].description) }

    final class Writer: Sendable {
        private let isDone = Atomic(false)

        fileprivate init(path: String) {
            DispatchQueue(label: "writer").async { [self] in
                // Used for the time of the calls only.
                let file = unsafe open(path, O_WRONLY | O_APPEND)
                defer { close(file) }
                while !isDone.load(ordering: .relaxed), unsafe Glibc.write(file, "x", 1) == 1 {}
            }
        }

        func stop() { isDone.store(true, ordering: .relaxed) }
    }

    /// One byte more than a document may have, all of it a hole.
    func makeHuge(_ name: String) {
        // Used for the time of the calls only.
        let file = unsafe open(self[name].description, O_CREAT | O_WRONLY, 0o600)
        #expect(file >= 0 && ftruncate(file, off_t(Item.bytesMax) + 1) == 0)
        close(file)
    }

    func pipe(_ name: String) {
        // Used for the time of the call only.
        let result = unsafe mkfifo(self[name].description, 0o600)
        #expect(result == 0)
    }
}

/// A socket at a path of a desk, which is short.
func listening(at path: DocumentPath) throws -> Int32 {
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // The zero that ends it is there from the start.
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.bytes) }
    // `sockaddr_un` is one kind of `sockaddr`; the pointer is used for the time of the call only.
    let result = unsafe withUnsafePointer(to: &address) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
    try #require(result == 0 && listen(listener, 8) == 0)
    return listener
}

/// Where a daemon would listen: it takes whoever comes, hears the first words, and is gone.
final class VanishingDaemon: Sendable {
    private let listener: Int32
    private let isLeft = Flag()

    init(_ path: DocumentPath) throws {
        listener = try listening(at: path)
        DispatchQueue(label: "vanishing").async { [listener, isLeft] in
            let client = accept(listener, nil, nil)
            var byte: UInt8 = 0
            // The byte is used for the time of the call only.
            if unsafe recv(client, &byte, 1, 0) == 1 { isLeft.set() }
            close(client)
        }
    }

    /// Somebody has come, and was left without an answer.
    var hasLeft: Bool { isLeft.isSet }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }
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

final class Flag: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}

/// Where the stack of this thread ends now, and which thread it is: two of these tell how much deeper one call was than another.
func endOfStack() -> (thread: UInt, address: Int) {
    var here: UInt8 = 0
    // Only the address is looked at.
    let address = unsafe withUnsafePointer(to: &here) { Int(bitPattern: $0) }
    return (UInt(pthread_self()), address)
}

/// Somebody who has a file for himself until he is told to let go of it.
struct Holder {
    private let release: AsyncStream<Void>.Continuation
    private let holding: Task<Void, any Error>

    init(of path: DocumentPath, by coordinator: any FileCoordinator) async {
        let (end, release) = AsyncStream.makeStream(of: Void.self)
        let isHeld = Flag()
        self.release = release
        holding = Task {
            try await coordinator.withAccess([.write(path)]) { _ in
                isHeld.set()
                for await _ in end {}
            }
        }
        await until { isHeld.isSet }
    }

    func letGo() async throws {
        release.finish()
        try await holding.value
    }
}
