/// A SHA-256 value: the name of a content, a chunk, a link of a log's hash chain or a node's key.
///
/// Stored as four big-endian words so that a row of the base holds it without a heap object.
public struct Digest: Hashable, Comparable, Sendable {
    public let words: (UInt64, UInt64, UInt64, UInt64)

    public static let byteCount = 32
    public static let zero = Digest(words: (0, 0, 0, 0))

    public init(words: (UInt64, UInt64, UInt64, UInt64)) {
        self.words = words
    }

    /// Nil unless there are exactly 32 bytes.
    public init?(bytes: some Collection<UInt8>) {
        var reader = ByteReader(Array(bytes))
        guard let digest = reader.digest(), reader.isAtEnd else { return nil }
        self = digest
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Digest.byteCount)
        writer.put(self)
        return writer.bytes
    }

    /// The first `digits` hexadecimal digits, lower case.
    public func hex(digits: Int = 64) -> String {
        let alphabet: [Character] = Array("0123456789abcdef")
        var text = ""
        for byte in bytes {
            text.append(alphabet[Int(byte >> 4)])
            text.append(alphabet[Int(byte & 15)])
        }
        return String(text.prefix(digits))
    }

    public static func == (left: Digest, right: Digest) -> Bool {
        left.words == right.words
    }

    public static func < (left: Digest, right: Digest) -> Bool {
        left.words < right.words
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}
