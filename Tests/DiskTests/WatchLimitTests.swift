/// The kernel gives no more watches. Its limit is one for all processes of a user, so the story is told in a user
/// namespace of its own: this program starts itself there once more, and the inner run is what is tested.
import Foundation
import SyncModel
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
}
