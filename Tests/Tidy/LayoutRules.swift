/// Where files may lie, and how a source file opens.
enum LayoutRules {
    /// Files that no target builds and no data folder expects.
    static func findings(files: [String], manifest: Manifest, data: [String: [String]]) -> [Finding] {
        files.filter { !isAtHome($0, manifest: manifest, data: data) }.map {
            Finding(
                file: $0, line: 1, rule: "no-orphan",
                cure:
                    "Move it into a target of Package.swift or a data folder of Tests/Tidy/Architecture.swift, or delete it."
            )
        }
    }

    /// Targets whose folder has nothing to build.
    static func findings(emptyTargetsIn manifest: Manifest, files: [String]) -> [Finding] {
        manifest.targets.filter { target in !files.contains { $0.hasPrefix("\(target.folder)/") } }.map {
            Finding(
                file: "Package.swift", line: $0.line, rule: "no-empty-target",
                cure: "Put a source into \($0.folder), or remove the target \($0.name).")
        }
    }

    private static func isAtHome(_ file: String, manifest: Manifest, data: [String: [String]]) -> Bool {
        let parts = file.split(separator: "/").map(String.init)
        guard let name = parts.last else { return false }
        if let target = manifest.targets.first(where: { file.hasPrefix("\($0.folder)/") }) {
            return isExpected(name, inWall: Architecture.target(target.name)?.ring == .wall)
        }
        let kind = name.split(separator: ".").last.map(String.init) ?? ""
        return parts.count > 2 && parts[0] == "Tests" && data[parts[1]]?.contains(kind) == true
    }

    private static func isExpected(_ name: String, inWall: Bool) -> Bool {
        inWall ? name == "module.modulemap" || name.hasSuffix(".h") || name.hasSuffix(".c") : name.hasSuffix(".swift")
    }

    /// A file tells its purpose before its first declaration: a comment at the very top, or after the imports.
    static func findings(openingOf file: SourceFile) -> [Finding] {
        let opening = file.lines.map { $0.drop { $0 == " " } }
            .first { !$0.isEmpty && Import.all(in: SourceFile(path: file.path, text: String($0))).isEmpty }
        if let opening, opening.hasPrefix("//"), opening.contains(where: \.isLetter) { return [] }
        return [
            Finding(
                file: file.path, line: 1, rule: "says-its-purpose",
                cure: "Open the file with a comment: what it is for and where to go next.")
        ]
    }
}
