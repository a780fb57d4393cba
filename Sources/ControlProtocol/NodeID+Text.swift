public import SyncModel

/// How documents and people see the id of a node.
extension NodeID {
    static let prefix = "sha256:"

    /// `sha256:` and the whole digest in hexadecimal.
    public var text: String { NodeID.prefix + digest.hex() }

    public init?(text: String) {
        guard text.hasPrefix(NodeID.prefix) else { return nil }
        let digits = text.dropFirst(NodeID.prefix.count).map(\.hexDigitValue)
        guard digits.count == 2 * Digest.byteCount else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        guard let digest = Digest(bytes: bytes) else { return nil }
        self.init(digest)
    }
}
