/// The documents about messages are what the registry says, and every message is met by a test.
import Foundation
import SyncModel
import Testing

@Suite("messages are documented and tested")
struct MessageDocumentsTests {
    @Test("the manual page and the README's table are current; SYNCD_WRITE_DOCS=1 writes them") func current() throws {
        let repository = try Repository()
        let readme = try repository.text(MessageDocuments.readme)
        let wanted = try #require(
            MessageDocuments.readme(readme, with: MessageDocuments.table()), "the README has no place for the table")
        if ProcessInfo.processInfo.environment["SYNCD_WRITE_DOCS"] == "1" {
            for (file, text) in [
                (MessageDocuments.manualPage, MessageDocuments.manual()), (MessageDocuments.readme, wanted),
            ] {
                try Data(text.utf8).write(to: repository.root.appendingPathComponent(file))
            }
            return
        }
        let manual =
            repository.exists(MessageDocuments.manualPage) ? try repository.text(MessageDocuments.manualPage) : ""
        #expect(manual == MessageDocuments.manual(), "run make docs")
        #expect(readme == wanted, "run make docs")
    }

    @Test("every code is raised or expected by a test, but for those that nothing raises yet") func covered() throws {
        let repository = try Repository()
        let catalogues = ["Tests/Tidy/MessageDocuments.swift", "Tests/SyncModelTests/MessagesTests.swift"]
        let files = try repository.files(under: "Tests").filter { path in
            [".swift", ".story", ".txt"].contains { path.hasSuffix($0) } && !catalogues.contains(path)
        }
        let unnamed = MessageCoverage.unnamed(MessageCode.allCases, in: try files.map(repository.source))
        let expected = (Array(MessageCoverage.notRaised.keys) + MessageCoverage.notTested.keys).sorted()
        #expect(unnamed.filter { !expected.contains($0) } == [], "name each in a test that raises it")
        #expect(expected.filter { !unnamed.contains($0) } == [], "it is tested now: take it off the list")
    }

    @Test("nothing in the program raises what is said to be raised by nothing") func notRaised() throws {
        let sources = try Repository().swiftFiles(under: "Sources").filter { file in
            !file.path.hasPrefix("Sources/SyncModel/Messages/") && !file.path.hasPrefix("Sources/SyncSim/")
        }
        let unnamed = MessageCoverage.unnamed(MessageCode.allCases, in: sources)
        #expect(unnamed == MessageCoverage.notRaised.keys.sorted())
    }

    @Test("a code counts as named by its text or its case, and not in a comment")
    func naming() {
        let file = { (path: String, text: String) in SourceFile(path: path, text: text) }
        let cases: [(SourceFile, Bool)] = [
            (file("a.txt", "alpha  log.newer"), true), (file("a.txt", "# log.newer"), false),
            (file("a.swift", "x == .logNewer)"), true), (file("a.swift", "// .logNewer"), false),
            (file("a.swift", "x == .logNewerStill"), false), (file("a.txt", "log.newer-than"), false),
        ]
        for (file, isNamed) in cases {
            #expect(MessageCoverage.unnamed([.logNewer], in: [file]).isEmpty == isNamed, "\(file.lines)")
        }
    }

    @Test("what roff would take for a request or a dash is escaped") func roff() throws {
        let manual = MessageDocuments.manual()
        #expect(manual.contains(".B format.zero\\-length\n"))
        let lines = manual.split(separator: "\n").filter { $0.hasPrefix(".") }
        #expect(
            lines.allSatisfy { line in
                [".TH", ".SH", ".B", ".I", ".TP", ".IP", ".RI", ".\\\""].contains { line.hasPrefix($0) }
            })
    }
}
