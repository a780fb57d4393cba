import Crypto

/// What this program is called and how new it is.
public enum Program {
    public static let version = "0.1.0"

    /// Names the epoch that begins with a start: drawn, so that a restored image cannot repeat it.
    static func nonce() -> UInt32 { Secure.random(4).reduce(0) { $0 << 8 | UInt32($1) } }
}
