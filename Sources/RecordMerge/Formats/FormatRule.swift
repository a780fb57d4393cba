public import SyncModel

/// A rule about the files of one format: which they are, where their version stands, and which versions the programs of this node
/// understand.
public struct FormatRule: Hashable, Sendable {
    public let model: [UInt8]
    public let name: [UInt8]
    public let supports: ClosedRange<UInt32>
    /// The same for rules that read every header alike, whatever they support.
    public let fingerprint: UInt32
    /// Nil for the files of a model's records, which the model names.
    let files: PathPattern?
    let fileText: [UInt8]
    let detector: FormatDetector

    init(
        model: [UInt8], name: [UInt8], files: PathPattern?, fileText: [UInt8], detector: FormatDetector,
        supports: ClosedRange<UInt32>
    ) {
        self.model = model
        self.name = name
        self.files = files
        self.fileText = fileText
        self.detector = detector
        self.supports = supports
        fingerprint = UInt32(truncatingIfNeeded: SHA256.digest(of: Array("\(detector)".utf8)).words.0)
    }

    /// For the files of a model's records.
    public init(of model: Model) {
        let newest = model.reads.max() ?? model.version
        self.init(
            model: model.name, name: [], files: nil, fileText: [], detector: .json(model.versionAt),
            supports: UInt32(clamping: model.reads.min() ?? newest)...UInt32(clamping: newest))
    }

    public func bytesNeeded(of size: UInt64) -> Int { detector.bytesNeeded(of: size) }

    /// `bytes` are the first `bytesNeeded(of: size)` of the file.
    public func header(of bytes: [UInt8], size: UInt64) -> FormatHeader { detector.header(of: bytes, size: size) }

    public func outcome(of header: FormatHeader) -> LoadOutcome {
        switch header {
        case .zeroLength: .zeroLength
        case .corrupt(let reason, let offset): .corrupt(reason: reason, offset: offset)
        case .unknown(let found): .unknownVersion(found: found)
        case .version(let number) where number > supports.upperBound:
            .newerVersion(found: number, supported: supports)
        case .version(let number) where number < supports.lowerBound: .olderVersion(found: number)
        case .version: .success
        }
    }
}

/// All format rules of a node. The first that names a file guards it.
public struct FormatRules: Hashable, Sendable {
    public private(set) var rules: [FormatRule] = []

    public init() {}

    public init(_ rules: [FormatRule]) {
        self.rules = rules
    }

    public var isEmpty: Bool { rules.isEmpty }

    /// A rule of the same model and name.
    public func has(_ rule: FormatRule) -> Bool {
        rules.contains { $0.model == rule.model && $0.name == rule.name }
    }

    public mutating func add(_ more: [FormatRule]) { rules += more }

    /// A conflict copy is guarded by nobody: it is the losing version, whatever it is.
    public func rule(for path: Path) -> FormatRule? {
        rules.isEmpty || ConflictName.isConflictCopy(path) ? nil : rules.first { $0.files?.matches(path) == true }
    }

    /// By which a file can be read: that of the original for a conflict copy.
    public func reader(of path: Path) -> FormatRule? {
        guard !rules.isEmpty else { return nil }
        let original = ConflictName.parts(of: path)?.original ?? path
        return rules.first { $0.files?.matches(original) == true }
    }

    /// Tells these rules from others, in another process too.
    public var digest: Digest {
        var hash = SHA256()
        for rule in rules {
            let text = "\(Path.escape(rule.model)) \(Path.escape(rule.name)) \(rule.detector) \(rule.supports)"
            hash.update(SHA256.digest(of: Array(text.utf8)).bytes)
            hash.update(SHA256.digest(of: rule.fileText).bytes)
        }
        return hash.finish()
    }
}
