import Store
import SyncModel

/// Where the store keeps what `NodeKeys` and `KnownPeer` say. Each fact is durable before the next is written, in an order that leaves
/// a pair that can meet again wherever it ends.
extension KnownPeer {
    init(_ store: Store) throws(StoreError) {
        pin = try store.value(Opening.Fact.peerPin)
        next = try store.value(Opening.Fact.nextPin)
        last = try store.value(Opening.Fact.lastPeer)
        id = try store.value(Opening.Fact.peerID)
        let bytes = try store.value(Opening.Fact.earlierPeers) ?? []
        earlier = stride(from: 0, to: bytes.count, by: KnownPeer.fingerprintBytes).map {
            Array(bytes[$0...].prefix(KnownPeer.fingerprintBytes))
        }
    }

    /// The pin comes last but one: without it the node counts as unpaired. A next key that is the pin as well does no harm.
    var facts: [(key: String, value: [UInt8]?)] {
        [
            (Opening.Fact.peerID, id), (Opening.Fact.earlierPeers, earlier.isEmpty ? nil : earlier.flatMap(\.self)),
            (Opening.Fact.lastPeer, last), (Opening.Fact.peerPin, pin), (Opening.Fact.nextPin, next),
        ]
    }

    /// What the rows know it by, while it is paired.
    var nodeID: NodeID? {
        guard pin != nil, let rowsID else { return nil }
        return Digest(bytes: rowsID).map { NodeID($0) }
    }
}

extension NodeKeys {
    /// It may lie in `next.pem`, and be offered.
    static func note(isNext fingerprint: [UInt8], _ store: Store) throws(StoreError) {
        try store.setValue(Opening.Fact.nextKey, fingerprint)
    }

    /// It lies in `key.pem`.
    static func note(isPresent fingerprint: [UInt8], _ store: Store) throws(StoreError) {
        try store.setValue(Opening.Fact.ownKey, fingerprint)
        try store.setValue(Opening.Fact.nextKey, nil)
    }
}
