/// What the header of a guarded file said when it was read, and by which rule: all that has to be remembered of it to see that an
/// older state must not take its place.
public struct FormatMark: Hashable, Sendable {
    /// Of which the header was read: where the path holds another, it says nothing.
    public let content: ContentID
    /// Which rule read it (`FormatRule.fingerprint`). By another, the header has to be read again.
    public let rule: UInt32
    public let reading: FormatReading
    /// Somebody who had seen it has deleted the file: whatever comes now is another one.
    public var isGivenUp = false

    public init(content: ContentID, rule: UInt32, reading: FormatReading) {
        self.content = content
        self.rule = rule
        self.reading = reading
    }
}

public enum FormatReading: Hashable, Sendable {
    case zeroLength
    /// Not in the format that its rule names.
    case corrupt
    /// From 1 on; 0 is a file that does not say its version, as old as the first there was.
    case version(UInt32)
    /// What stands there is no version: it is treated like one from the future.
    case unknown

    public var isBroken: Bool {
        switch self {
        case .zeroLength, .corrupt: true
        case .version, .unknown: false
        }
    }

    /// True if this must not take the place of the other, whoever has seen what.
    public func isDowngrade(of other: FormatReading) -> Bool { rank < other.rank }

    private var rank: UInt64 {
        switch self {
        case .zeroLength, .corrupt: 0
        case .version(let number): 1 + UInt64(number)
        case .unknown: .max
        }
    }
}
