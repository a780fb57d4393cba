/// The import graph of the repository is the table of docs/architecture.md, and these checks can fail.
import Testing

@Suite("imports follow the architecture")
struct ImportGraphTests {
    @Test("every source imports only what its row allows") func sources() throws {
        let files = try Repository().swiftFiles(under: "Sources")
        #expect(!files.isEmpty)
        for file in files {
            guard let target = Architecture.target(owning: file.path) else { continue }  // LayoutTests reports these
            report(ImportRules.findings(in: file, target: target))
        }
    }

    @Test("the manifest declares the table") func manifest() throws {
        let manifest = Manifest(try Repository().source("Package.swift"))
        report(TableRules.findings(in: manifest, against: Architecture.targets))
    }

    @Test("the table keeps purity and gives every wall one owner") func table() {
        report(TableRules.findings(inTable: Architecture.targets))
    }

    @Test("the table of docs/architecture.md is the one that is checked") func documented() throws {
        let lines = try Repository().text("docs/architecture.md").split(separator: "\n").filter { $0.hasPrefix("| ") }
        let walls = Architecture.targets.filter { $0.ring == .wall }.map(\.name).joined(separator: ", ")
        #expect(lines.contains { $0.hasPrefix("| \(walls) | ") })
        for target in Architecture.targets where target.ring != .wall {
            let row = lines.first { $0.hasPrefix("| \(target.name) | ") }
            let cell = try #require(row?.split(separator: "|").last, "\(target.name) has no row")
            let said = cell.split { $0 == " " || $0 == "," }.map(String.init)
            let allowed = target.imports + target.outside
            #expect(said == (allowed.isEmpty ? ["–"] : allowed), "\(target.name)")
        }
    }

    @Test("tests are written with one library") func tests() throws {
        for file in try Repository().swiftFiles(under: "Tests") { report(ImportRules.findings(inTest: file)) }
    }
}

@Suite("import rules find planted violations")
struct ImportRulesTests {
    @Test(
        "every spelling of an import is read",
        arguments: [
            ("import Foundation", ["Foundation"]),
            ("@testable import SyncCore", ["SyncCore"]),
            ("@preconcurrency public import Dispatch", ["Dispatch"]),
            ("import struct Foundation.Date", ["Foundation"]),
            ("import Glibc; import CLinux", ["Glibc", "CLinux"]),
            ("  internal import SyncModel  // the vocabulary", ["SyncModel"]),
            ("// import Foundation", []),
            ("let text = \"import Foundation\"", []),
            ("let important = 1", []),
        ]) func spellings(text: String, modules: [String])
    {
        #expect(Import.all(in: SourceFile(path: "x", text: text)).map(\.module) == modules)
    }

    @Test(
        "a core file may not import what only the shell may", arguments: ["Foundation", "Glibc", "CLinux", "SyncSim"])
    func forbidden(module: String) throws {
        let core = try #require(Architecture.target("SyncCore"))
        let file = SourceFile(path: "Sources/SyncCore/X.swift", text: "// Why.\nimport SyncModel\nimport \(module)\n")
        #expect(ImportRules.findings(in: file, target: core).map(\.line) == [3])
    }

    @Test("syncsim may read files through Glibc, but not use Foundation") func simulatorShell() throws {
        let shell = try #require(Architecture.target("syncsim"))
        let file = SourceFile(path: "Sources/syncsim/main.swift", text: "import Glibc\nimport Foundation\n")
        #expect(ImportRules.findings(in: file, target: shell).map(\.line) == [2])
    }

    @Test("XCTest is found") func otherTestLibrary() {
        #expect(ImportRules.findings(inTest: SourceFile(path: "x", text: "import XCTest")).count == 1)
    }

    private let rows: [Architecture.Target] = [
        .init("CLinux", .wall), .init("Low", .core), .init("High", .core, imports: ["Low"]),
    ]

    @Test(
        "a manifest that departs from the table is found",
        arguments: [
            (".target(name: \"High\", dependencies: [\"Low\"], swiftSettings: rules)", 0),
            (".target(name: \"High\", dependencies: [], swiftSettings: rules)", 1),
            (".target(name: \"High\", dependencies: [\"Low\", \"CLinux\"], swiftSettings: rules)", 1),
            (".target(name: \"High\", dependencies: [\"Low\"])", 1),
            ("// .target(name: \"High\", dependencies: [\"Low\"], swiftSettings: rules)", 1),
            (".target(name: \"High\", dependencies: [\"Low\"], swiftSettings: rules), .testTarget(name: \"T\")", 1),
            (
                ".target(name: \"High\", dependencies: [\"Low\"], swiftSettings: rules),"
                    + ".target(name: \"New\", swiftSettings: rules)", 1
            ),
        ]) func manifests(high: String, expected: Int)
    {
        let text = ".target(name: \"CLinux\"),\n.target(name: \"Low\", swiftSettings: rules),\n\(high)\n"
        let manifest = Manifest(SourceFile(path: "Package.swift", text: text))
        #expect(TableRules.findings(in: manifest, against: rows).count == expected)
    }

    @Test(
        "a table that breaks its own promises is found",
        arguments: [
            [.init("A", .core, imports: ["Gone"])],
            [.init("A", .core, outside: ["Glibc"])],
            [.init("W", .wall), .init("A", .core, imports: ["W"])],
            [.init("E", .executable), .init("A", .simulation, imports: ["E"])],
            [.init("W", .wall), .init("A", .executable, imports: ["W"]), .init("B", .executable, imports: ["W"])],
        ] as [[Architecture.Target]]) func tables(rows: [Architecture.Target])
    {
        #expect(TableRules.findings(inTable: rows).count == 1)
    }
}
