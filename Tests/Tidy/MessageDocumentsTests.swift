/// The documents about messages are what the registry says.
import Foundation
import SyncModel
import Testing

@Suite("messages are documented")
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
