/// The parsing tests of nst/JSONTestSuite. Its data is not part of this repository: it is looked for in
/// `../shared/data` beside it, or where the environment's SYNCD_DATA says.
import Foundation
import RecordMerge
import Testing

enum JSONSuite {
    static let folder: String? = {
        let beside = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("../../../shared/data").standardized.path
        let data = ProcessInfo.processInfo.environment["SYNCD_DATA"] ?? beside
        let folder = data + "/JSONTestSuite/test_parsing"
        return FileManager.default.fileExists(atPath: folder) ? folder : nil
    }()

    static func cases(_ prefix: String) -> [String] {
        guard let folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return [] }
        return names.filter { $0.hasPrefix(prefix) }.sorted()
    }

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: (folder ?? "") + "/" + name)))
    }
}

@Suite(
    "the public JSON suite",
    .enabled(if: JSONSuite.folder != nil, "the data is neither in ../shared/data nor where SYNCD_DATA says"))
struct JSONSuiteTests {
    @Test("everything that must be accepted is") func accepted() throws {
        var rules = JSONRules()
        rules.allowsDuplicateKeys = true
        let names = JSONSuite.cases("y_")
        #expect(names.count == 95)
        for name in names {
            let bytes = try JSONSuite.bytes(name)
            let document = try #require(try? JSONDocument(parsing: bytes, rules: rules), "\(name)")
            #expect(JSONEditor(document).finished() == bytes, "\(name)")
        }
    }

    @Test("of these we refuse keys that come twice, and nothing else") func duplicates() throws {
        let refused = try JSONSuite.cases("y_").filter { try Self.fault(of: $0) != nil }
        #expect(refused == ["y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"])
        for name in refused { #expect(try Self.fault(of: name)?.kind == .duplicateKey) }
    }

    @Test("everything that must be refused is") func refused() throws {
        let names = JSONSuite.cases("n_")
        #expect(names.count == 188)
        for name in names { #expect(try Self.fault(of: name) != nil, "\(name)") }
    }

    @Test("where the suite leaves the choice: numbers of any size are kept as text, all else is refused")
    func choices() throws {
        let names = JSONSuite.cases("i_")
        #expect(names.count == 35)
        for name in names {
            #expect(try (Self.fault(of: name) == nil) == name.hasPrefix("i_number"), "\(name)")
        }
    }

    private static func fault(of name: String) throws -> JSONFault? {
        let bytes = try JSONSuite.bytes(name)
        do {
            _ = try JSONDocument(parsing: bytes)
            return nil
        } catch {
            return error
        }
    }
}
