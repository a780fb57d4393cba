/// Which files a rule is about, by one line of the syntax of gitignore: `*.db` in every directory, `data/*.db` in that one.
public struct PathPattern: Hashable, Sendable {
    private let pattern: IgnorePattern

    /// Nil for a line that can match no file: a negation, a directory, a broken bracket.
    public init?(_ text: [UInt8]) {
        guard let pattern = IgnorePattern(line: text[...]), !pattern.isNegated, !pattern.isDirectoryOnly else {
            return nil
        }
        self.pattern = pattern
    }

    public func matches(_ path: Path) -> Bool {
        let bytes = path.bytes
        if bytes.isEmpty { return false }
        let name = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        return pattern.matches(bytes, from: pattern.isAnchored ? 0 : name, to: bytes.count)
    }
}
