import Foundation
import Testing

@testable import Config

/// docs/man/syncd.conf.5 has every key, in the order of the file, with its default and whether a reload applies it.
struct ManualTests {
    @Test("every key is in the manual page, with its default") func keys() throws {
        let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("docs/man/syncd.conf.5"), encoding: .utf8)
            .replacing("\\-", with: "-")
        let keys = try #require(page.components(separatedBy: ".SH KEYS\n").last)
        let section = try #require(keys.components(separatedBy: ".SH").first)
        let titles = section.components(separatedBy: ".SS ").dropFirst().map { $0.prefix { $0 != "\n" } }
        #expect(titles.map(String.init) == ConfigurationKey.sections.map { "[\($0)]" })
        let entries = section.components(separatedBy: ".TP\n.B ").dropFirst()
        #expect(entries.map { String($0.prefix { $0 != "\n" }) } == ConfigurationKey.allCases.map(\.name))
        let usual = Configuration(name: "", folder: [])
        for (key, entry) in zip(ConfigurationKey.allCases, entries) {
            #expect(entry.contains("\nRequired.\n") == key.isRequired, "\(key)")
            guard !key.isRequired, let value = key.written(usual), !value.isEmpty else { continue }
            #expect(entry.contains("\nDefault:\n.IR \(String(decoding: value, as: UTF8.self)) .\n"), "\(key)")
        }
    }
}
