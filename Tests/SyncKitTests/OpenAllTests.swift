import Disk
import RecordMerge
import SyncKit
import Testing

/// Rows M1 to M7 of the design's sources.
@Suite("opening many documents")
struct OpenAllTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    private struct Digit: Codable, Hashable, Sendable { var digit: Int }

    private func make(_ count: Int) throws {
        for index in 0..<count { try desk.write("file_\(index)", #"{"format": 1, "digit": \#(index)}"#) }
    }

    @Test("M1, M3, M5: all are done when it returns, in the order of their paths", arguments: [0, 1, 10, 200])
    func sorted(count: Int) async throws {
        try make(count)
        let opened = try await openAll(JSONFile<Digit>(), in: desk.path)
        #expect(opened.count == count && opened.map(\.path) == opened.map(\.path).sorted())
        for document in opened {
            #expect(document.path.description.hasSuffix("file_\(document.result.model?.digit ?? -1)"))
        }
    }

    @Test("M2: in the order of completion each comes once, too")
    func completion() async throws {
        try make(50)
        let opened = try await openAll(JSONFile<Digit>(), in: desk.path, order: .completion, width: 5)
        #expect(Set(opened.map(\.path)).count == 50 && opened.allSatisfy { $0.result.outcome == .success })
    }

    @Test("M4: those that fail have a result like all others, and calls at the same time do not meet")
    func failures() async throws {
        try make(10)
        try desk.write("file_3", "broken")
        let paths = (0..<12).map { desk["file_\($0)"] }
        await withTaskGroup(of: [OpenedDocument<Digit>].self) { group in
            for _ in 0..<4 { group.addTask { await openAll(JSONFile<Digit>(), at: paths) } }
            for await opened in group {
                #expect(opened.count == 12 && opened.count { $0.result.outcome == .success } == 9)
                #expect(opened.count { $0.result.outcome == .noSuchFile } == 2)
            }
        }
    }

    @Test("M7: dot files, links and directories are no documents")
    func skipped() async throws {
        try make(1)
        try desk.write(".hidden", "x")
        try desk.item("package").create(.package([:]))
        #expect(try await openAll(JSONFile<Digit>(), in: desk.path).count == 1)
    }
}
