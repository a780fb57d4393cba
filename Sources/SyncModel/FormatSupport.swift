/// What the programs of a node understand of one format: told to the other node, so that each knows what the other cannot read.
public struct FormatSupport: Hashable, Sendable {
    public let model: [UInt8]
    public let name: [UInt8]
    /// How the version is found (`FormatMark.rule`).
    public let rule: UInt32
    public let versions: ClosedRange<UInt32>

    public init(model: [UInt8], name: [UInt8], rule: UInt32, versions: ClosedRange<UInt32>) {
        self.model = model
        self.name = name
        self.rule = rule
        self.versions = versions
    }
}

/// What makes an alert about the format of a file another one than the last about the same file: which version was found, what it is
/// held against, and whose programs are behind.
public struct FormatFinding: Hashable, Comparable, Sendable {
    public enum Measure: Hashable, Sendable {
        /// What the programs of the node understand.
        case supports(ClosedRange<UInt32>)
        /// What the programs of both nodes understand, where that is the same.
        case supportsOnBoth(ClosedRange<UInt32>)
        /// What the model of its records reads.
        case reads(ClosedRange<UInt32>)
        /// What stays at the path; nil for a version that nobody knows.
        case keeps(UInt32?)
    }

    /// Nil where no version could be found.
    public let found: UInt32?
    public let measure: Measure
    /// The node that does not understand it, and this one where neither does; of a downgrade the one whose program wrote it.
    public let node: Author

    public init(found: UInt32?, supported: ClosedRange<UInt32>, node: Author) {
        self.init(found: found, measure: .supports(supported), node: node)
    }

    public init(found: UInt32?, supportedOnBoth: ClosedRange<UInt32>) {
        self.init(found: found, measure: .supportsOnBoth(supportedOnBoth), node: .own)
    }

    /// A downgrade.
    public init(found: UInt32?, kept: UInt32?, node: Author) {
        self.init(found: found, measure: .keeps(kept), node: node)
    }

    /// Of a file of records.
    public init(found: UInt32?, reads: ClosedRange<UInt32>, node: Author) {
        self.init(found: found, measure: .reads(reads), node: node)
    }

    private init(found: UInt32?, measure: Measure, node: Author) {
        self.found = found
        self.measure = measure
        self.node = node
    }

    public var supported: ClosedRange<UInt32>? {
        switch measure {
        case .supports(let range), .supportsOnBoth(let range), .reads(let range): range
        case .keeps: nil
        }
    }

    public static func < (left: FormatFinding, right: FormatFinding) -> Bool {
        left.order.lexicographicallyPrecedes(right.order)
    }

    private var order: [UInt64] {
        [
            UInt64(node.rawValue), found.map { UInt64($0) + 1 } ?? 0,
        ] + measure.order
    }
}

extension FormatFinding.Measure {
    fileprivate var order: [UInt64] {
        switch self {
        case .supports(let range): [0, UInt64(range.lowerBound), UInt64(range.upperBound)]
        case .keeps(let version): [1, version.map { UInt64($0) } ?? .max]
        case .reads(let range): [2, UInt64(range.lowerBound), UInt64(range.upperBound)]
        case .supportsOnBoth(let range): [3, UInt64(range.lowerBound), UInt64(range.upperBound)]
        }
    }
}
