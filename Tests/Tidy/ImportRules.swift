/// Who may import whom: sources against the architecture's table. See `TableRules` for the manifest and the table itself.
struct Import: Equatable {
    let module: String
    let line: Int

    /// Every import statement of a file, in any of its spellings: attributes, access level, a kind before the name.
    static func all(in file: SourceFile) -> [Import] {
        zip(1..., file.codeLines).flatMap { line, text in
            text.split(separator: ";").compactMap { statement in
                module(of: statement).map { Import(module: $0, line: line) }
            }
        }
    }

    private static let accessLevels = ["public", "package", "internal", "fileprivate", "private"]
    private static let kinds = ["typealias", "struct", "class", "enum", "protocol", "let", "var", "func"]

    private static func module(of statement: Substring) -> String? {
        var words = statement.split(whereSeparator: \.isWhitespace)[...]
        words = words.drop { $0.hasPrefix("@") || accessLevels.contains(String($0)) }
        guard words.popFirst() == "import" else { return nil }
        return words.drop { kinds.contains(String($0)) }.first?.split(separator: ".").first.map(String.init)
    }
}

enum ImportRules {
    /// Imports of a file in Sources that its row of the table does not allow.
    static func findings(in file: SourceFile, target: Architecture.Target) -> [Finding] {
        let allowed = target.imports + target.outside
        return Import.all(in: file).filter { !allowed.contains($0.module) }.map { found in
            let list = allowed.isEmpty ? "nothing" : allowed.joined(separator: ", ")
            return Finding(
                file: file.path, line: found.line, rule: "import-graph",
                cure: "\(target.name) may import \(list), not \(found.module). Move the code to the target that may.")
        }
    }

    /// Imports of a test: this project has one test library, so that one run counts every test.
    static func findings(inTest file: SourceFile) -> [Finding] {
        Import.all(in: file).filter { $0.module == "XCTest" }.map {
            Finding(file: file.path, line: $0.line, rule: "one-test-library", cure: "Write the test with Testing.")
        }
    }
}
