/// Who may be at the other end of a session.
public enum Trust: Hashable, Sendable {
    /// Exactly the key with this fingerprint.
    case pinned([UInt8])
    /// One of two keys: the peer is about to use another one.
    case either([UInt8], [UInt8])
    /// Any key. Only for pairing, where the caller makes the peer prove itself over `TLSSession.exportKey`.
    case unverified

    func covers(_ fingerprint: [UInt8]) -> Bool {
        switch self {
        case .pinned(let pin): Secure.areEqual(pin, fingerprint)
        case .either(let one, let other): Secure.areEqual(one, fingerprint) || Secure.areEqual(other, fingerprint)
        case .unverified: true
        }
    }
}

public enum TLSRole: Hashable, Sendable {
    /// Dialled.
    case client
    /// Was dialled.
    case server
}
