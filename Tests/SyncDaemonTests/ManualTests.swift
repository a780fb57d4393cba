import Config
import Foundation
import Testing

@testable import SyncDaemon

/// docs/man/syncd.8 has every option and every exit code, and docs/man/syncd.conf.5 says what a reload applies.
struct ManualTests {
    private func page(_ name: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent("docs/man/\(name)"), encoding: .utf8)
            .replacing("\\-", with: "-")
    }

    @Test("every option of --help is there") func options() throws {
        let page = try page("syncd.8")
        let options = Invocation.help.split { !$0.isLetter && $0 != "-" }.filter { $0.hasPrefix("--") }
        #expect(options.contains("--check-config"))
        for option in Set(options) { #expect(page.contains("\(option)"), "\(option)") }
    }

    @Test("every exit code of --help is there, and every one of the program in both") func exitCodes() throws {
        let page = try page("syncd.8")
        let help = try #require(Invocation.help.components(separatedBy: "Exit: ").last)
        for code in (0...255).filter({ Refusal.Exit(rawValue: $0) != nil }) {
            #expect(page.contains("\n.TP\n.B \(code)\n"), "\(code)")
            #expect(help.split { !$0.isNumber }.contains { $0 == "\(code)" }, "\(code)")
        }
    }

    @Test("the page of the configuration says of the keys that a reload applies, and of no other, that they are live")
    func live() throws {
        let page = try page("syncd.conf.5")
        for key in ConfigurationKey.allCases {
            let entry = try #require(
                page.components(separatedBy: "\n.B \(key.name)\n").last?.components(separatedBy: ".TP").first)
            #expect(entry.contains("\n.I Live.\n") == Daemon.liveKeys.contains(key), "\(key)")
        }
    }
}
