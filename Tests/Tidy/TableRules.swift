/// The manifest says what the architecture's table says, and the table keeps its own promises.
enum TableRules {
    /// Differences between the manifest and the table, in both directions.
    static func findings(in manifest: Manifest, against rows: [Architecture.Target]) -> [Finding] {
        var findings: [Finding] = []
        for target in manifest.targets {
            if !target.keepsRules, row(target.name, in: rows)?.ring != .wall {
                let cure = "Give \(target.name) `swiftSettings: rules`: no Swift code escapes the compiler rules."
                findings.append(manifestFinding(target.line, cure))
            }
            if !target.isTest { findings += difference(between: target, and: row(target.name, in: rows)) }
        }
        for row in rows where !manifest.targets.contains(where: { $0.name == row.name }) {
            findings.append(
                manifestFinding(1, "Declare \(row.name), or remove its row from Tests/Tidy/Architecture.swift."))
        }
        return findings
    }

    /// What is wrong with the table itself: an import without a row, a purity that leaks, a wall with two owners.
    static func findings(inTable rows: [Architecture.Target]) -> [Finding] {
        var cures: [String] = []
        for target in rows {
            for name in target.imports where row(name, in: rows) == nil {
                cures.append("\(target.name) imports \(name), which has no row.")
            }
            if target.isPure { cures += leaks(of: target, in: rows) }
            let owners = rows.filter { $0.imports.contains(target.name) }.map(\.name)
            if target.ring == .wall, owners.count > 1 {
                cures.append("\(target.name) has one owner, not \(owners.joined(separator: ", ")).")
            }
        }
        return cures.map {
            Finding(file: "Tests/Tidy/Architecture.swift", line: 1, rule: "architecture-table", cure: $0)
        }
    }

    private static func difference(between target: Manifest.Target, and row: Architecture.Target?) -> [Finding] {
        guard let row else {
            return [manifestFinding(target.line, "\(target.name) has no row in Tests/Tidy/Architecture.swift: add it.")]
        }
        if target.dependencies.sorted() == row.imports.sorted() { return [] }
        let list = row.imports.isEmpty ? "no dependencies" : "the dependencies " + row.imports.joined(separator: ", ")
        return [manifestFinding(target.line, "Give \(row.name) \(list), as its row says.")]
    }

    private static func leaks(of pure: Architecture.Target, in rows: [Architecture.Target]) -> [String] {
        let impure = pure.imports.filter { row($0, in: rows)?.isPure == false } + pure.outside
        return impure.map { "\(pure.name) is pure and may not import \($0)." }
    }

    private static func row(_ name: String, in rows: [Architecture.Target]) -> Architecture.Target? {
        rows.first { $0.name == name }
    }

    private static func manifestFinding(_ line: Int, _ cure: String) -> Finding {
        Finding(file: "Package.swift", line: line, rule: "manifest", cure: cure)
    }
}
