public import EventLoop

/// Two nodes know each other from now on. Both show the same words, so that people can compare them.
public struct Paired: Hashable, Sendable {
    /// SHA-256 of the other node's public key.
    public let fingerprint: [UInt8]
    /// What the other node calls itself, 1 to 64 bytes that it chose: escape them before they are shown.
    public let name: [UInt8]
    public let words: [String]

    static let nameBytesMax = 64
}

/// Why two nodes could not be paired; the description says what to do, where that is more than a new token.
public enum PairingError: Error, Hashable, Sendable {
    // Seen on the token alone.
    case notAToken
    case mistyped
    case newerVersion
    case ownToken
    // What the inviting node answered.
    case wrongSecret
    case expired
    case used
    case voided
    case notInviting
    // What happened on the way.
    case wrongInviter(address: String)
    case noAddress
    case unreachable(LoopError)
    case timedOut
    case cancelled
    case alreadyJoining
    case violation(String)
    // The state of a node knows the files of another peer, and would take the new one for that.
    case pairedBefore
    case otherPairedBefore
    // A conflict copy, a version and a line of the log name their author by it.
    case sameName
    // The pairing must outlive a power cut before anybody is told of it.
    case notStored(String)
    case otherCouldNotStore
}

/// What became of a node that came with our token.
public enum PairingVerdict: Sendable {
    case stored
    case pairedBefore
    case sameName
    case notStored
}

extension PairingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAToken:
            "This is not a token: it should begin with \"syncd1-\". Copy the line that syncctl invite printed."
        case .mistyped: "The token has a typing error, or a part of it is missing. Copy it again, whole."
        case .newerVersion: "The token was made by a newer version of syncd. Upgrade this node, then join again."
        case .ownToken: "This token was made on this very node. Run syncctl join on the other one."
        case .wrongSecret: "The other node did not give out this token, or has given out a newer one."
        case .expired: "The token has expired: it is valid for 15 minutes."
        case .used: "The token has been used: it works once."
        case .voided: "The token was voided after three wrong attempts to use it."
        case .notInviting: "The other node is not inviting now."
        case .wrongInviter(let address):
            "The node at \(address) did not make this token. Check \"peer\" in the configuration."
        case .noAddress:
            "Nothing says where the other node is. Set \"peer\" in the configuration of one of the two nodes."
        case .unreachable(let error): "The other node could not be reached: \(error). Check that syncd runs there."
        case .timedOut: "The other node did not answer in time. Check that syncd runs there, then join again."
        case .cancelled: "Joining was cancelled."
        case .alreadyJoining: "This node is joining already. Wait for that to end."
        case .pairedBefore:
            """
            The state of this node belongs to a pair with another node. Nothing was changed. If it is to have a new partner, run \
            syncctl unpair --forget on this node, then pair again: its files and their earlier versions stay.
            """
        case .otherPairedBefore:
            """
            The state of the other node belongs to a pair with another node. Nothing was changed. If it is to have a new partner, \
            run syncctl unpair --forget there, then pair again: its files and their earlier versions stay.
            """
        case .sameName:
            """
            Both nodes have the same name, where a dot counts as a dash, so nobody could tell which of them wrote a version or a \
            conflict copy. Nothing was changed. Give one of them another name ("name" in its configuration), restart it, then pair again.
            """
        case .notStored(let why): "The pairing could not be written down on this node: \(why). It stays unpaired."
        case .otherCouldNotStore: "The other node could not write the pairing down. Look at its log, then pair again."
        case .violation(let what): "The other node did not keep to the pairing protocol (\(what)). Upgrade both nodes."
        }
    }
}
