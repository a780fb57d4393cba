/// The repository that this file was compiled from: what the checks read. It never changes anything.
import Foundation

struct Repository {
    let root: URL

    /// Found from this file's own place, Tests/Tidy, so the checks work from any working directory.
    init(thisFile: String = #filePath) throws {
        root = URL(fileURLWithPath: thisFile).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        guard exists("Package.swift") else { throw Missing(path: root.appendingPathComponent("Package.swift").path) }
    }

    /// Every file below `folder`, as sorted paths from the root. Hidden files belong to editors and git.
    func files(under folder: String) throws -> [String] {
        guard exists(folder) else { throw Missing(path: path(folder)) }
        return try FileManager.default.subpathsOfDirectory(atPath: path(folder))
            .filter { name in !name.split(separator: "/").contains { $0.hasPrefix(".") } }
            .map { "\(folder)/\($0)" }
            .filter { !isDirectory($0) }
            .sorted()
    }

    /// None is an error: a rule about them would hold whatever they say.
    func swiftFiles(under folder: String) throws -> [SourceFile] {
        let isOfSources = folder == "Sources" || folder.hasPrefix("Sources/")
        let found = try (isOfSources ? Repository.sources.get() : lexed(under: folder))
            .filter { $0.path.hasPrefix("\(folder)/") }
        if found.isEmpty { throw Missing(path: path(folder)) }
        return found
    }

    /// Read once for all checks: that is most of what they cost.
    private static let sources = Result { try Repository().lexed(under: "Sources") }

    private func lexed(under folder: String) throws -> [SourceFile] {
        try files(under: folder).filter { $0.hasSuffix(".swift") }.map(source)
    }

    func source(_ file: String) throws -> SourceFile {
        SourceFile(path: file, text: try text(file))
    }

    func text(_ file: String) throws -> String {
        try String(contentsOfFile: path(file), encoding: .utf8)
    }

    func exists(_ file: String) -> Bool {
        FileManager.default.fileExists(atPath: path(file))
    }

    private func isDirectory(_ file: String) -> Bool {
        var answer: ObjCBool = false
        return unsafe FileManager.default.fileExists(atPath: path(file), isDirectory: &answer) && answer.boolValue
    }

    private func path(_ file: String) -> String { root.appendingPathComponent(file).path }

    struct Missing: Error { let path: String }
}
