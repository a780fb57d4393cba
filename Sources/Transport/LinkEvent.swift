public import EventLoop

/// What happens on the link. One life of the connection is `connected`, then frames, then exactly one `disconnected`;
/// lives count up and never overlap.
public enum LinkEvent: Sendable {
    case connected(life: UInt64, address: String)
    /// One whole frame of the authenticated peer, as its core wrote it.
    case frame(life: UInt64, [UInt8])
    /// So many bytes of the frames given to `send` are in the hands of the kernel.
    case sent(life: UInt64, bytes: Int)
    case disconnected(life: UInt64, reason: LinkEnd)
    /// A connection that never became a life. Told at most once a minute for one address and one kind of reason.
    case rejected(address: String, isDialled: Bool, reason: LinkRejection)
    /// The peer cannot be dialled, since then (`Clock.monotonicMilliseconds`). Told when the reason changes.
    case unreachable(reason: LoopError, sinceMilliseconds: UInt64)
}

/// Why a life ended, in words that fit behind "the connection ended: ".
public enum LinkEnd: Hashable, Sendable {
    case closedHere
    case unpaired
    case closedByPeer
    case replaced
    /// Another comes at once, with the new key.
    case keyRenewed
    case cut
    case failed(LoopError)
    case silent(milliseconds: UInt64)
    case violation(String)
    case overflow
}

extension LinkEnd: CustomStringConvertible {
    public var description: String {
        switch self {
        case .closedHere: "this node closed it"
        case .unpaired: "the pairing was changed here"
        case .closedByPeer: "the other node closed it"
        case .replaced: "the other node connected anew"
        case .keyRenewed: "this node connects anew with its new key"
        case .cut: "it was cut without a goodbye"
        case .failed(let error): "\(error)"
        case .silent(let milliseconds): "nothing was heard for \(milliseconds) ms"
        case .violation(let what): "the other node broke the protocol: \(what)"
        case .overflow: "more waited to be sent than is allowed"
        }
    }
}

/// Why somebody did not become our peer, in words that fit behind "the connection was refused: ".
public enum LinkRejection: Hashable, Sendable {
    /// They showed another key than the one this node is paired with.
    case wrongKey(fingerprint: [UInt8])
    /// They do not accept our key.
    case ourKeyRefused
    /// They asked for something this node does not offer now: it is not paired, or not pairing.
    case notPairedHere
    /// The same, seen from the other side.
    case notPairedThere
    /// Not TLS 1.3, or not our kind of it.
    case noTLS(String)
    /// They left before they were authenticated.
    case left
    case tooSlow
}

extension LinkRejection: CustomStringConvertible {
    public var description: String {
        switch self {
        case .wrongKey(let fingerprint): "its key is sha256:\(Hexadecimal.text(fingerprint)), not the paired node's"
        case .ourKeyRefused: "it does not accept this node's key"
        case .notPairedHere: "it asked for what this node does not offer now"
        case .notPairedThere: "it does not offer what this node asks for; it may not be paired"
        case .noTLS(let reason): "it does not speak TLS 1.3 as syncd does: \(reason)"
        case .left: "it left before it was authenticated"
        case .tooSlow: "it took too long to authenticate"
        }
    }
}

enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".unicodeScalars)

    static func text(_ bytes: [UInt8]) -> String {
        var text = ""
        for byte in bytes {
            text.unicodeScalars.append(digits[Int(byte >> 4)])
            text.unicodeScalars.append(digits[Int(byte & 15)])
        }
        return text
    }
}
