/// Where something stands in a node's change log, and what a node has seen of both logs.

/// A life of a log. A node begins a new one at its first write after every start, so that a restored image can never
/// reuse a number: the high half counts, the low half is drawn by chance.
public struct Epoch: Hashable, Comparable, Sendable {
    public let raw: UInt64

    public static let none = Epoch(raw: 0)

    public init(raw: UInt64) {
        self.raw = raw
    }

    public init(number: UInt32, nonce: UInt32) {
        raw = UInt64(number) << 32 | UInt64(nonce)
    }

    public var number: UInt32 { UInt32(truncatingIfNeeded: raw >> 32) }

    public static func < (left: Epoch, right: Epoch) -> Bool { left.raw < right.raw }
}

/// An entry of one node's log. Sequence numbers are dense from 1 in each epoch; 0 is "before the first".
public struct LogPosition: Hashable, Comparable, Sendable {
    public let epoch: Epoch
    public let seq: UInt64

    public static let none = LogPosition(epoch: .none, seq: 0)

    public init(epoch: Epoch, seq: UInt64) {
        self.epoch = epoch
        self.seq = seq
    }

    /// True if this is the entry right after `other`: the next number, or the first of a later epoch.
    public func follows(_ other: LogPosition) -> Bool {
        if epoch == other.epoch { return other.seq < .max && seq == other.seq + 1 }
        return epoch > other.epoch && seq == 1
    }

    public static func < (left: LogPosition, right: LogPosition) -> Bool {
        (left.epoch, left.seq) < (right.epoch, right.seq)
    }
}

/// A position together with the hash chain up to and including it.
public struct LogHead: Hashable, Sendable {
    public let position: LogPosition
    public let chain: Digest

    public static let none = LogHead(position: .none, chain: .zero)

    public init(position: LogPosition, chain: Digest) {
        self.position = position
        self.chain = chain
    }

    /// Stands for an epoch of which something is known, but not up to where.
    public static func mark(of epoch: Epoch) -> LogHead {
        LogHead(position: LogPosition(epoch: epoch, seq: 0), chain: Digest(words: (.max, .max, .max, .max)))
    }

    public var isMark: Bool { self == LogHead.mark(of: position.epoch) }
}

/// A two-entry version vector: how much of each log a state includes.
public struct VersionVector: Hashable, Sendable {
    public var own: LogPosition
    public var peer: LogPosition

    public static let none = VersionVector(own: .none, peer: .none)

    public init(own: LogPosition, peer: LogPosition) {
        self.own = own
        self.peer = peer
    }

    public subscript(author: Author) -> LogPosition {
        get { author == .own ? own : peer }
        set {
            switch author {
            case .own: own = newValue
            case .peer: peer = newValue
            }
        }
    }

    public func covers(_ origin: Origin) -> Bool { self[origin.author] >= origin.position }

    public func covers(_ other: VersionVector) -> Bool { own >= other.own && peer >= other.peer }

    public func joined(with other: VersionVector) -> VersionVector {
        VersionVector(own: max(own, other.own), peer: max(peer, other.peer))
    }

    /// The same knowledge as the other node names it.
    public var flipped: VersionVector { VersionVector(own: peer, peer: own) }
}

/// The log entry that gave a state one of its aspects.
public struct Origin: Hashable, Sendable {
    public var author: Author
    public var position: LogPosition
    public var time: HybridTime

    public init(author: Author, position: LogPosition, time: HybridTime) {
        self.author = author
        self.position = position
        self.time = time
    }

    public var flipped: Origin { Origin(author: author.flipped, position: position, time: time) }

    public func isSameEntry(as other: Origin) -> Bool { author == other.author && position == other.position }
}

/// Decides ties: which author's key is the smaller. Both nodes compute the same order from it.
public struct Precedence: Hashable, Sendable {
    public let ownKeyIsSmaller: Bool

    public init(ownKeyIsSmaller: Bool) {
        self.ownKeyIsSmaller = ownKeyIsSmaller
    }

    /// Where each node goes by a rule or a model of its own: the one of the higher version has the last word, of equals the one with the
    /// smaller key.
    public func yields(_ own: UInt32, to theirs: UInt32) -> Bool { own == theirs ? !ownKeyIsSmaller : own < theirs }

    /// The total order K: time, then key, then position. It extends causality because clocks never run behind what they saw.
    public func isLater(_ left: Origin, than right: Origin) -> Bool {
        if left.time != right.time { return left.time > right.time }
        if left.author != right.author { return (left.author == .own) != ownKeyIsSmaller }
        return left.position > right.position
    }
}
