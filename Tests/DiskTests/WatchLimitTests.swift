/// The kernel gives no more watches. Its limit is one for all processes of a user, so the story is told in a user
/// namespace of its own: this program starts itself there once more, and the inner run is what is tested.
import Foundation
import SyncModel
import Synchronization
import Testing

@testable import Disk

@Suite("a watcher with too few watches")
struct WatchLimitTests {
    /// Names the file that the inner run leaves behind when it has come to its end.
    private static let variable = "SYNCD_TEST_FEW_WATCHES"
    static let proof = ProcessInfo.processInfo.environment[variable]

    /// Runs a program where there are five watches, and waits for it.
    private static func run(_ arguments: [String], proof: String) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        let script = "echo 5 > /proc/sys/user/max_inotify_watches && exec \"$0\" \"$@\""
        process.arguments = ["--user", "--map-root-user", "sh", "-c", script] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging([variable: proof]) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    static let isPossible = proof != nil || (try? run(["true"], proof: "")) == 0

    @Test("what could be watched is, and the limit is told while it lasts", .enabled(if: isPossible, "no namespace"))
    func limit() throws {
        if let proof = Self.proof { return try tell(leaving: proof) }
        let above = try Scratch.makeTemporary()
        defer { Scratch.remove(above) }
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let arguments = [program, "--testing-library", "swift-testing", "--filter", "WatchLimitTests"]
        #expect(try Self.run(arguments, proof: above + "/passed") == 0)
        #expect(Scratch.read(utf8(above + "/passed")) == utf8("passed"))
    }

    private func tell(leaving proof: String) throws {
        let scratch = try Scratch()
        for number in 1...6 {
            try scratch.makeDirectory("d\(number)")
            try scratch.makeDirectory("d\(number)/e")
        }
        let watcher = try Watcher(folder: scratch.folder)
        #expect(!watcher.isLimited)
        #expect(WholeScan(scratch.folder, watcher: watcher).differences.count == 12)
        #expect(watcher.isLimited)
        #expect(watcher.count == 5)
        #expect(watcher.next().limitReached)
        try scratch.write("d1/e/f")
        try scratch.makeDirectory("d7")
        let news = watcher.next()
        #expect(news.limitReached)
        #expect(!news.hasOverflowed)
        #expect(news.notices.contains(Notice(path: at("d1/e/f"), kind: .closed)))
        #expect(news.notices.contains(Notice(path: at("d7"), kind: .touched)))
        for number in 3...7 { scratch.removeTree("d\(number)") }
        while watcher.count > 5 { _ = watcher.next() }
        _ = WholeScan(scratch.folder, watcher: watcher)
        #expect(!watcher.isLimited)
        try #require(watcher.count == 5)
        try Data(utf8("passed")).write(to: URL(fileURLWithPath: proof))
    }

    @Test(
        "who may be told of the whole file system needs no watches, and misses nothing on the way to it",
        .enabled(if: Scratch.watchings.contains(true), "fanotify is not permitted"))
    func successor() throws {
        // On a file system of its own, so that what other tests do does not fill the queue.
        let scratch = try Scratch(isWhole: true)
        for number in 1...6 { try scratch.makeDirectory("d\(number)") }
        let watcher = try Watcher(folder: scratch.folder, queue: try ScantyQueue(watches: 3))
        #expect(WholeScan(scratch.folder, watcher: watcher).differences.count == 6)
        let news = watcher.next()
        #expect(news.hasOverflowed)
        #expect(!news.limitReached)
        // The core scans after that.
        #expect(WholeScan(scratch.folder, watcher: watcher).differences.count == 6)
        #expect(!watcher.isLimited)
        #expect(watcher.count == 7)
        for number in 1...6 { try scratch.write("d\(number)/f") }
        let told = watcher.flushed()
        #expect((1...6).allSatisfy { told.contains(at("d\($0)/f")) })
    }
}

/// Of a kernel that gives few watches.
private final class ScantyQueue: WatchQueue {
    private let inotify: Inotify
    private let watches: Int
    private let given = Atomic(0)

    init(watches: Int) throws(Failure) {
        self.watches = watches
        inotify = try Inotify()
    }

    func add(_ directory: borrowing Descriptor, isRoot: Bool) throws(Failure) -> WatchNumber {
        guard given.add(1, ordering: .relaxed).newValue <= watches else { throw Failure(errno: ENOSPC) }
        return try inotify.add(directory, isRoot: isRoot)
    }

    func remove(_ watch: WatchNumber) { inotify.remove(watch) }

    func events(_ buffer: inout [UInt8]) throws(Failure) -> [WatchEvent] { try inotify.events(&buffer) }

    var raw: Int32 { inotify.raw }
}
