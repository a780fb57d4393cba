/// README.md and docs promise nothing that is not there.
import Testing

@Suite("documents tell the truth")
struct DocumentsTests {
    @Test("relative links lead to files that exist") func links() throws {
        let repository = try Repository()
        for document in try documents(of: repository) {
            let text = try repository.text(document)
            report(DocumentRules.findings(linksOf: document, text: text, exists: repository.exists))
        }
    }

    @Test("make targets that are named exist") func makeTargets() throws {
        let repository = try Repository()
        let makefile = try repository.text("Makefile")
        #expect(DocumentRules.targets(in: makefile).contains("test"))
        for document in try documents(of: repository) {
            let text = try repository.text(document)
            report(DocumentRules.findings(makeTargetsOf: document, text: text, makefile: makefile))
        }
    }

    @Test("every word of the documents for scripts is in docs/json.md") func json() throws {
        let repository = try Repository()
        let page = try repository.text("docs/json.md")
        // What programs that show files hear is in docs/locks.md, and `Fields` only reads.
        let others = ["/PresenterLine.swift", "/Fields.swift"]
        var found = 0
        for file in try repository.swiftFiles(under: "Sources/ControlProtocol/Documents") {
            if others.contains(where: { file.path.hasSuffix($0) }) { continue }
            for line in String(decoding: file.codeAndStrings, as: UTF8.self).split(separator: "\n") {
                let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
                for (number, word) in parts.enumerated() where !number.isMultiple(of: 2) {
                    guard word.first?.isLowercase == true, word.allSatisfy(\.isLetter), word != "true" else { continue }
                    found += 1
                    #expect(page.contains("\"\(word)\"") || page.contains("`\(word)`"), "\(file.path): \(word)")
                }
            }
        }
        #expect(found > 100)
    }

    private func documents(of repository: Repository) throws -> [String] {
        try ["README.md"] + repository.files(under: "docs").filter { $0.hasSuffix(".md") }
    }
}

@Suite("document rules find planted violations")
struct DocumentRulesTests {
    @Test(
        "a link that leads nowhere is found",
        arguments: [
            ("See [x](Sources/A.swift).", 0), ("See [x](Sources/B.swift).", 1), ("[a](Sources/A.swift) [b](b.md)", 1),
            ("[x](Sources/A.swift#part)", 0), ("[x](#part)", 0), ("[x](https://example.org/b)", 0),
            ("```\n[x](b.md)\n```", 0), ("[x](../outside.md)", 1), ("[x](./Sources/A.swift)", 0),
        ]) func links(text: String, expected: Int)
    {
        let findings = DocumentRules.findings(linksOf: "README.md", text: text) { $0 == "Sources/A.swift" }
        #expect(findings.count == expected)
    }

    @Test("a link in docs is resolved from docs") func nested() {
        let findings = DocumentRules.findings(linksOf: "docs/a.md", text: "[x](../README.md) [y](README.md)") {
            $0 == "README.md"
        }
        #expect(findings.map(\.cure) == ["README.md does not exist."])
    }

    @Test(
        "a make target that does not exist is found",
        arguments: [
            ("Run `make test`.", 0), ("Run `make fly`.", 1), ("    make fly", 1), ("$ make sim SEEDS=n", 0),
            ("to make sure", 0), ("`make test` and `make fly`", 1),
        ]) func makeTargets(text: String, expected: Int)
    {
        let makefile = "# fly: no target\nSEEDS := 1\n.PHONY: fly\ntest sim: build\n\tfly: x\n"
        #expect(DocumentRules.findings(makeTargetsOf: "x", text: text, makefile: makefile).count == expected)
    }
}
