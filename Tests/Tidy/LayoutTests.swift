/// Every file has a home, every target has a file, and every source opens with its purpose.
import Testing

@Suite("files are where they belong")
struct LayoutTests {
    @Test("no file is an orphan and no target is empty") func homes() throws {
        let repository = try Repository()
        let files = try repository.files(under: "Sources") + repository.files(under: "Tests")
        let manifest = Manifest(try repository.source("Package.swift"))
        #expect(!manifest.targets.isEmpty)
        report(LayoutRules.findings(files: files, manifest: manifest, data: Architecture.dataFolders))
        report(LayoutRules.findings(emptyTargetsIn: manifest, files: files))
    }

    @Test("the Debian package brings the library with all that it stands on, and nothing else") func library() throws {
        let repository = try Repository()
        let manifest = Manifest(try repository.source("Package.swift"))
        let lines = try repository.text(".ci/shipped").split(separator: "\n")
        let list = lines.first { $0.contains("for target in SyncKit") }
        let words = try #require(list).split(whereSeparator: { " ;".contains($0) }).map(String.init)
        #expect(Set(words.dropFirst(3).dropLast()) == manifest.standing(under: "SyncKit"))
    }

    @Test("what is installed of the documents leads to nothing that is not") func documents() throws {
        let repository = try Repository()
        let lines = try repository.text(".ci/shipped").split(separator: "\n")
        let list = lines.first { $0.contains("for file in operations") }
        let words = try #require(list).split(whereSeparator: { " ;".contains($0) }).dropFirst(3).dropLast()
        let files = words.map { "docs/\($0).md" }
        #expect(files.count > 3)
        for file in files {
            report(DocumentRules.findings(linksOf: file, text: try repository.text(file), exists: files.contains))
        }
    }

    @Test("every source opens with its purpose") func openings() throws {
        for file in try Repository().swiftFiles(under: "Sources") { report(LayoutRules.findings(openingOf: file)) }
    }
}

@Suite("layout rules find planted violations")
struct LayoutRulesTests {
    private let manifest = Manifest(
        SourceFile(
            path: "Package.swift",
            text: """
                .systemLibrary(name: "CZstd"), .target(name: "SyncCore"), .testTarget(name: "CoreTests"),
                .testTarget(name: "Tidy", path: "Tests/Tidy")
                """))

    @Test(
        "a stray file is found",
        arguments: [
            ("Sources/SyncCore/Node.swift", true), ("Sources/SyncCore/Node/Node.swift", true),
            ("Sources/CZstd/shim.h", true),
            ("Sources/CZstd/module.modulemap", true), ("Tests/Tidy/Lexer.swift", true), ("Tests/Scenarios/a.txt", true),
            ("Sources/SyncCore/notes.md", false), ("Sources/SyncCore/shim.h", false),
            ("Sources/CZstd/Zstd.swift", false),
            ("Sources/Node.swift", false), ("Sources/Gone/Node.swift", false),
            ("Sources/SyncCoreOld/Node.swift", false),
            ("Tests/Scenarios/a.orig", false), ("Tests/a.txt", false), ("Tests/CoreTests/data.json", false),
        ]) func homes(file: String, isAtHome: Bool)
    {
        let findings = LayoutRules.findings(files: [file], manifest: manifest, data: ["Scenarios": ["txt"]])
        #expect(findings.isEmpty == isAtHome)
    }

    @Test("a target without sources is found") func emptyTarget() {
        let files = ["Sources/CZstd/shim.h", "Sources/SyncCore/Node.swift", "Tests/Tidy/Lexer.swift"]
        #expect(LayoutRules.findings(emptyTargetsIn: manifest, files: files).map(\.cure).count == 1)
    }

    @Test(
        "a file without a purpose is found",
        arguments: [
            ("/// Decides.\nstruct A {}", true), ("// Decides.\nimport B\nstruct A {}", true),
            ("import B\n\n/// Decides.\nstruct A {}", true), ("\n\n/// Decides.\n", true),
            ("struct A {}  // Decides.", false), ("import B\nstruct A {}", false), ("///\nstruct A {}", false),
            ("", false),
        ]) func openings(text: String, isExplained: Bool)
    {
        #expect(LayoutRules.findings(openingOf: SourceFile(path: "x", text: text)).isEmpty == isExplained)
    }
}
