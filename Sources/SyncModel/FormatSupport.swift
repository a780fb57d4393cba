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

/// What makes an alert about the format of a file another one than the last about the same file: which version was found, what is
/// understood, and by whom it is not.
public struct FormatFinding: Hashable, Comparable, Sendable {
    /// Nil where no version could be found.
    public let found: UInt32?
    public let supported: ClosedRange<UInt32>
    /// The node that does not understand it.
    public let node: Author

    public init(found: UInt32?, supported: ClosedRange<UInt32>, node: Author) {
        self.found = found
        self.supported = supported
        self.node = node
    }

    public static func < (left: FormatFinding, right: FormatFinding) -> Bool {
        left.order.lexicographicallyPrecedes(right.order)
    }

    private var order: [UInt64] {
        [
            UInt64(node.rawValue), found.map { UInt64($0) + 1 } ?? 0, UInt64(supported.lowerBound),
            UInt64(supported.upperBound),
        ]
    }
}
