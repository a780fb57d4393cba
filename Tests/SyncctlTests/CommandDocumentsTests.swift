import Foundation
import Testing

/// The manual page and the completions are what the table of commands says; SYNCD_WRITE_DOCS=1 writes them.
@Suite("documents of the commands") struct CommandDocumentsTests {
    private let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private func text(_ file: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(file), encoding: .utf8)
    }

    @Test("the manual page and the completions are current") func current() throws {
        let page = try text(CommandDocuments.manualPage)
        let wanted = [
            (CommandDocuments.manualPage, try #require(CommandDocuments.manual(page), "it has no place for them")),
            (CommandDocuments.bash, CommandDocuments.bashText), (CommandDocuments.zsh, CommandDocuments.zshText),
            (CommandDocuments.fish, CommandDocuments.fishText),
        ]
        if ProcessInfo.processInfo.environment["SYNCD_WRITE_DOCS"] == "1" {
            for (file, text) in wanted { try Data(text.utf8).write(to: root.appendingPathComponent(file)) }
            return
        }
        for (file, wanted) in wanted { #expect(try text(file) == wanted, "\(file): run make docs") }
    }

    @Test("every exit code is in the page") func exitCodes() throws {
        let page = try text(CommandDocuments.manualPage)
        let section = try #require(page.components(separatedBy: ".SH \"EXIT STATUS\"\n").last)
        for code in [0, 1, 2, 3, 64] { #expect(section.contains("\n.B \(code)\n"), "\(code)") }
    }
}
