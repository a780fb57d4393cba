/// Numbers as types, so that none can be passed where another is meant.
public protocol NumberedID: Hashable, Comparable, Sendable, CustomStringConvertible, ExpressibleByIntegerLiteral {
    var number: UInt64 { get }
    init(_ number: UInt64)
}

extension NumberedID {
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    public init(integerLiteral number: UInt64) { self.init(number) }

    public var next: Self { Self(number + 1) }

    public var description: String { "\(number)" }
}

/// A claim, as whoever asks has named it; never the same twice.
public struct ClaimID: NumberedID {
    public let number: UInt64

    public init(_ number: UInt64) { self.number = number }
}

/// Whose connection ends what it has claimed and shows.
public struct ClientID: NumberedID {
    public let number: UInt64

    public init(_ number: UInt64) { self.number = number }
}

public struct PresenterID: NumberedID {
    public let number: UInt64

    public init(_ number: UInt64) { self.number = number }
}

public struct QuestionID: NumberedID {
    public let number: UInt64

    public init(_ number: UInt64) { self.number = number }
}

/// The place of a claim in the order of arrival.
struct Turn: NumberedID {
    let number: UInt64

    init(_ number: UInt64) { self.number = number }
}
