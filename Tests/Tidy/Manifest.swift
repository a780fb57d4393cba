/// What Package.swift declares, read as text: running SwiftPM from inside a test that SwiftPM runs would wait for its own lock.
struct Manifest {
    struct Target {
        /// The function that declares it, such as `testTarget`.
        let kind: String
        let name: String
        let dependencies: [String]
        let path: String?
        let keepsRules: Bool
        let line: Int

        var isTest: Bool { kind == "testTarget" }
        var folder: String { path ?? (isTest ? "Tests/\(name)" : "Sources/\(name)") }
    }

    let targets: [Target]

    init(_ source: SourceFile) {
        let text = source.codeAndStrings
        let kinds = ["target", "executableTarget", "testTarget", "systemLibrary"]
        targets = kinds.flatMap { kind in
            source.occurrences(of: ".\(kind)(").compactMap { start in
                let opening = start + kind.utf8.count + 1
                let call = String(decoding: text[opening..<Self.closing(of: opening, in: source.code)], as: UTF8.self)
                return Self.target(kind, call: call, line: source.line(at: start))
            }
        }.sorted { $0.line < $1.line }
    }

    /// The target with all that it depends on.
    func standing(under target: String) -> Set<String> {
        var (found, open) = (Set([target]), [target])
        while let next = open.popLast() {
            for name in targets.first(where: { $0.name == next })?.dependencies ?? [] where found.insert(name).inserted
            {
                open.append(name)
            }
        }
        return found
    }

    private static func target(_ kind: String, call: String, line: Int) -> Target? {
        guard let name = literals(after: "name:", upTo: ",", in: call).first else { return nil }
        return Target(
            kind: kind, name: name, dependencies: literals(after: "dependencies:", upTo: "]", in: call),
            path: literals(after: "path:", upTo: ",", in: call).first,
            keepsRules: call.contains("swiftSettings: rules"),
            line: line)
    }

    /// The string literals between a label and the next `end`; none when the label is absent.
    private static func literals(after label: String, upTo end: Character, in call: String) -> [String] {
        guard let start = call.firstRange(of: label)?.upperBound else { return [] }
        let value = call[start...].prefix { $0 != end }
        let pieces = value.split(separator: "\"", omittingEmptySubsequences: false)
        return stride(from: 1, to: pieces.count - 1, by: 2).map { String(pieces[$0]) }
    }

    /// Offset just behind the bracket that closes the one at `opening`.
    private static func closing(of opening: Int, in code: [UInt8]) -> Int {
        var depth = 0
        for offset in opening..<code.count {
            if code[offset] == UInt8(ascii: "(") { depth += 1 }
            if code[offset] == UInt8(ascii: ")") { depth -= 1 }
            if depth == 0 { return offset + 1 }
        }
        return code.count
    }
}
