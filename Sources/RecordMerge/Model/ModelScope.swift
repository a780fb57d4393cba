/// Which files a model file is about, as far as that can be read of it, whatever else is wrong with it: a file that records stand
/// in, or whose format is guarded, is not to be taken for a file like any other because nobody knows any more what it is.
public import SyncModel

public struct ModelScope: Hashable, Sendable {
    public private(set) var parts: [Part] = []

    public init() {}

    /// Nothing, of what is no JSON.
    public init(reading bytes: [UInt8]) {
        var rules = JSONRules()
        rules.allowsDuplicateKeys = true
        do throws(JSONFault) {
            read(try JSONDocument(parsing: bytes, rules: rules))
        } catch {
            return
        }
    }

    public init(_ parts: [Part]) {
        for part in parts { add(part) }
    }

    public var isEmpty: Bool { parts.isEmpty }

    public mutating func add(_ other: ModelScope) {
        for part in other.parts { add(part) }
    }

    private mutating func add(_ part: Part?) {
        if let part, !parts.contains(part) { parts.append(part) }
    }

    // MARK: What a model file says

    private mutating func read(_ document: JSONDocument) {
        let names = patterns(in: "entities", of: document)
        let root = document.member(Array("root".utf8), of: .root)
        let rootText = root.map { document.string(of: $0) ?? [] }
        let files = names.map { name in
            name.flatMap { name in rootText.map { $0 + [UInt8(ascii: "/")] + name } ?? name }
                .flatMap { Part(.records, $0) }
        }
        for file in files { add(file) }
        let formats = patterns(in: "formats", of: document).map { name in name.flatMap { Part(.format, $0) } }
        for format in formats { add(format) }
        // What is missing among them lies below the root, wherever that is.
        if files.contains(nil) || files.isEmpty && formats.isEmpty, let rootText { add(Part(.subtree, rootText)) }
    }

    /// What the members or elements say of their files; nil for one that does not.
    private func patterns(in list: String, of document: JSONDocument) -> [[UInt8]?] {
        guard let list = document.member(Array(list.utf8), of: .root) else { return [] }
        return document.children(of: list).map { child in
            document.member(Array("files".utf8), of: child).flatMap { document.string(of: $0) }
        }
    }
}

extension ModelScope {
    /// Some of the files.
    public struct Part: Hashable, Sendable {
        public let kind: Kind
        public let text: [UInt8]
        private let matcher: Matcher

        public enum Kind: UInt8, Hashable, Sendable {
            /// Those of an entity.
            case records = 1
            /// All below a directory.
            case subtree = 2
            /// Those of a format, by the syntax of gitignore.
            case format = 3
        }

        private enum Matcher: Hashable, Sendable {
            case pattern(FilePattern)
            case root(Path)
            case rule(PathPattern)
        }

        /// Nil for a text that says nothing of files.
        public init?(_ kind: Kind, _ text: [UInt8]) {
            let matcher: Matcher?
            switch kind {
            case .records: matcher = FilePattern(text).map { .pattern($0) }
            case .subtree: matcher = Path(text).flatMap { $0.isRoot || $0.isReserved ? nil : .root($0) }
            case .format: matcher = PathPattern(text).map { .rule($0) }
            }
            guard let matcher else { return nil }
            self.kind = kind
            self.text = text
            self.matcher = matcher
        }

        func claims(_ path: Path) -> Bool {
            switch matcher {
            case .pattern(let pattern): pattern.claims(path)
            case .root(let root): path.isBelow(root)
            case .rule(let rule): rule.matches(path)
            }
        }

        /// Some of them may stand in the directory, or it stands in one with some of them.
        func concerns(_ directory: Path) -> Bool {
            let home: Path?
            switch matcher {
            case .pattern(let pattern): home = pattern.directory
            case .root(let root): home = root
            // (They may be anywhere.)
            case .rule: home = nil
            }
            guard let home else { return true }
            return directory.meets(home)
        }
    }
}

extension ModelScope.Part: CustomStringConvertible {
    public var description: String { Path.escape(text) + (kind == .subtree ? "/" : "") }
}

/// The files that nobody knows how to merge, because the model files that are about them have faults.
public struct HeldFiles: Hashable, Sendable {
    private var scope = ModelScope()

    public init(_ scopes: [ModelScope] = []) {
        for other in scopes { scope.add(other) }
    }

    public var isEmpty: Bool { scope.isEmpty }

    /// What is called like a conflict copy is a file like any other, and so is what is kept nobody's.
    public func claims(_ path: Path, as kinds: [ModelScope.Part.Kind]) -> Bool {
        !isEmpty && !ConflictName.isConflictCopy(path)
            && scope.parts.contains { kinds.contains($0.kind) && $0.claims(path) }
    }

    public func concerns(_ directory: Path) -> Bool { scope.parts.contains { $0.concerns(directory) } }
}
