/// Rows K2 and K3 of the design's sources: the compiler is to ask about every new case, and to tell one id from another.
import Testing

@Suite("the compiler is leaned on")
struct EnumTests {
    @Test("K2: a switch over an enum of ours answers every case by name") func switches() throws {
        for file in try Repository().swiftFiles(under: "Sources") { report(EnumRules.findings(defaultsIn: file)) }
    }

    @Test("K3: what names something is a type of its own, and no other name for a number or a text") func ids() throws {
        for file in try Repository().swiftFiles(under: "Sources") { report(EnumRules.findings(plainNamesIn: file)) }
        let vocabulary = ["Sources/SyncModel", "Sources/SyncCore/Node", "Sources/RecordMerge/Model", "Sources/SyncKit"]
        let text = try vocabulary.flatMap(Repository().swiftFiles).flatMap(\.lines).joined(separator: "\n")
        let ids = [
            "NodeID", "FolderID", "ContentID", "JobID", "VersionID", "Epoch", "LogPosition", "LinkID", "CommandID",
            "EntityName", "RecordID", "DocumentPath", "Path", "Name",
        ]
        for id in ids { #expect(text.contains("struct \(id):"), "\(id)") }
    }

    @Test("an invariant that judges operations, batches or steps says so, or it would be shown none") func judges()
        throws
    {
        for file in try Repository().swiftFiles(under: "Sources/SyncSim/Checkers")
        where !file.path.hasSuffix("/Invariant.swift") {
            for kind in ["Disk", "Store", "Step"] {
                let judges = file.lines.contains { $0.contains("func see(_ act: \(kind)Act,") }
                let saysSo = file.lines.contains { $0.contains("class ") && $0.contains("\(kind)Invariant") }
                #expect(judges == saysSo, "\(file.path): \(kind)Invariant")
            }
        }
    }

    @Test(
        "a default beside an enum's cases is found",
        arguments: [
            ("case .a: 1\ndefault: 2", 1), ("case .a(let x) where x > 1: 1\ndefault: 2", 1),
            ("case let .a(x): x\ndefault: 2", 1), ("case 1, .a: 1\ndefault: 2", 1), ("case (1, .a): 1\ndefault: 2", 1),
            ("case (.a, .b), (.c, .d): 1\ndefault: 2", 1), ("case .a: switch y {\ncase 1: 2\ndefault: 3 }", 0),
            ("case 1: switch y {\ncase .b: 2\n}\ndefault: 3", 0), ("case .a: 1\n@unknown default: 2", 0),
            ("case .a: 1\ndefault: 2  // not ours: it may grow", 0), ("case ..<3: 1\ndefault: 2", 0),
            ("case 1: if case .b = y { 2 } else { 3 }\ndefault: 2", 0), ("case \"a\": 1\ndefault: 2", 0),
            ("case let x as Y: 1\ndefault: 2", 0), ("case .a: 1\ncase .b: 2", 0),
            ("case UInt8(ascii: x): 1\ndefault: 2", 0),
            ("case .a: rows[x, default: []]\ncase .b: 2", 0),
        ]) func defaults(cases: String, expected: Int)
    {
        let file = SourceFile(path: "x", text: "switch x {\n\(cases)\n}\n")
        #expect(EnumRules.findings(defaultsIn: file).count == expected)
    }

    @Test(
        "another name for a number or a text is found",
        arguments: [
            ("typealias Key = UInt64", 1), ("public typealias Name = [UInt8]", 1), ("typealias A = B.C", 0),
            ("typealias Job = () -> Void", 0), ("typealias Item = (key: Int, value: Int)", 0),
            ("// typealias Key = Int", 0),
        ]) func plainNames(text: String, expected: Int)
    {
        #expect(EnumRules.findings(plainNamesIn: SourceFile(path: "x", text: text + "\n")).count == expected)
    }
}
