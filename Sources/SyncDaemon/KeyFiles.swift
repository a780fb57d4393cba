import Crypto

/// The key of a node where it lies, and what lies beside it while it is renewed. After each step a node that ends finds a
/// whole key in `key.pem`, and the other node accepts that one.
///
/// - `key.pem`: in use.
/// - `next.pem`: the other node is being told of it.
/// - `former.pem`: was in use until the other node is seen to accept the new one.
struct KeyFiles: Sendable {
    /// `identity/` of the state directory.
    let directory: [UInt8]

    init(state: [UInt8]) { directory = state + Array("/identity".utf8) }

    var key: [UInt8] { directory + Array("/key.pem".utf8) }
    private var next: [UInt8] { directory + Array("/next.pem".utf8) }
    private var former: [UInt8] { directory + Array("/former.pem".utf8) }
    static let bytesMax = 64 << 10

    // MARK: Renewing

    func keep(next pem: [UInt8]) throws(System.FileError) {
        try System.replace(next, by: pem, mode: 0o600)
    }

    /// The next key takes the place of the one in use, which becomes the former one.
    func change(from present: [UInt8]) throws(System.FileError) {
        try System.replace(former, by: present, mode: 0o600)
        try System.move(next, to: key)
    }

    func dropFormer() throws(System.FileError) { try System.remove(former) }

    /// Only the key in use is left.
    func dropOthers() throws(System.FileError) {
        for file in [next, former] {
            try System.remove(System.draft(of: file))
            try System.remove(file)
        }
    }

    // MARK: At the start

    /// Nil if there is none that can be read: then it has not been written to its end, and nobody knows of it.
    func readNext() -> IdentityKey? { read(next) }
    func readFormer() -> IdentityKey? { read(former) }

    private func read(_ path: [UInt8]) -> IdentityKey? {
        guard let pem = System.contents(of: path, limit: KeyFiles.bytesMax) else { return nil }
        do throws(CryptoError) { return try IdentityKey(pem: pem) } catch { return nil }
    }
}

/// The keys of this node: the one that it shows, and while it is renewed the one that comes or the one before.
struct NodeKeys {
    var present: IdentityKey
    var next: IdentityKey?
    var former: IdentityKey?

    var isBeingRenewed: Bool { next != nil || former != nil }
}

/// What is known of the other node's keys, also after unpairing: the rows of this state are about that node and no other.
struct KnownPeer: Sendable {
    /// The key that it is paired by; nil while this node is not paired.
    var pin: [UInt8]?
    /// It is about to use this one instead.
    var next: [UInt8]?
    /// The key that it was last paired by.
    var last: [UInt8]?
    /// Those before, latest last: a node that comes back from a backup has one of them.
    var earlier: [[UInt8]] = []
    /// What its log is chained by, where that is not the key it was first met with here.
    var id: [UInt8]?

    static let earlierMax = 8
    static let fingerprintBytes = 32

    /// The node by any of its keys.
    var known: [[UInt8]] { [last, next].compactMap(\.self) + earlier }

    func isStranger(_ fingerprint: [UInt8]) -> Bool { last != nil && !known.contains(fingerprint) }

    /// What the rows know it by.
    var rowsID: [UInt8]? { id ?? last }

    /// It is paired by this key from now on.
    func paired(by fingerprint: [UInt8]) -> KnownPeer {
        var after = self
        if let last, last != fingerprint {
            after.id = rowsID
            after.earlier = Array((earlier.filter { $0 != fingerprint && $0 != last } + [last]).suffix(Self.earlierMax))
        }
        (after.pin, after.last, after.next) = (fingerprint, fingerprint, nil)
        return after
    }
}
