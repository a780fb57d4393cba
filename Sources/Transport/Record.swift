/// The format of what flows inside TLS, on the link and while pairing; numbers big-endian.
///
/// ```
/// 4  length of what follows, 1 to the limit of the protocol
/// 1  kind
///    payload
///
/// syncd/1       limit 1 MiB + 64
///   0 frame             as the core wrote it
///   1 compressed frame  one zstd frame that states its size; at most 4 MiB come out of it
///   2 keep-alive        to be answered; the side that accepted the connection speaks first, with one of these
///   3 keep-alive answer
///   4 new key           32 public key · 64 its signature · 32 present public key · 64 its signature: see `Renewal`
///   5 new key taken     32 its fingerprint: it is written down, and a session made with it is accepted
///   6 new key not taken 32 its fingerprint: it could not be written down
///
/// syncd-pair/1  limit 256
///   1 proof     32 HMAC · name of the joining node, 1 to 64 bytes
///   2 answer    32 HMAC · name of the inviting node, 1 to 64 bytes
///   3 refusal   1 reason: see `PairingRefusal`
/// ```
/// A record of a kind that is not listed is skipped: a later version may send it. A payload is empty unless stated, and
/// more than is stated is no error for the same reason.
struct Record: Equatable {
    let kind: UInt8
    let payload: [UInt8]

    static let headerBytes = 5
    static let linkLimit = (1 << 20) + 64
    static let pairingLimit = 256
    static let plainFrameBytesMax = 4 << 20

    enum LinkKind: UInt8 {
        case frame = 0
        case compressedFrame = 1
        case keepAlive = 2
        case keepAliveAnswer = 3
        case newKey = 4
        case newKeyTaken = 5
        case newKeyNotTaken = 6
    }

    enum PairingKind: UInt8 {
        case proof = 1
        case answer = 2
        case refusal = 3
    }

    var header: [UInt8] {
        let length = UInt32(payload.count + 1)
        return [
            UInt8(truncatingIfNeeded: length >> 24), UInt8(truncatingIfNeeded: length >> 16),
            UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length), kind,
        ]
    }

    static func encode(kind: UInt8, _ payload: [UInt8]) -> [UInt8] {
        Record(kind: kind, payload: payload).header + payload
    }

    init(kind: UInt8, payload: [UInt8]) {
        self.kind = kind
        self.payload = payload
    }

    init(_ kind: LinkKind, _ payload: [UInt8]) { self.init(kind: kind.rawValue, payload: payload) }

    static func link(_ kind: LinkKind, _ payload: [UInt8] = []) -> [UInt8] { encode(kind: kind.rawValue, payload) }

    static func pairing(_ kind: PairingKind, _ payload: [UInt8]) -> [UInt8] { encode(kind: kind.rawValue, payload) }
}

/// Cuts a stream of bytes into records. Total: whatever comes in, it answers with records, with "not yet", or with the
/// one error there is. It never holds more than one record and what came with it. Payloads grow in place, because those
/// of contents come in many pieces.
struct RecordReader {
    /// A length of nothing, or beyond the limit. Nothing was allocated for it.
    struct BadLength: Error, Hashable {
        let length: UInt32
        let limit: Int
    }

    private let limit: Int
    private var buffer: [UInt8] = []
    /// Bytes before this one have been read.
    private var start = 0
    /// The record whose header has been read, as far as it has come.
    private var kind: UInt8?
    private var payload: [UInt8] = []
    private var payloadLength = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Bytes that are here and belong to no record yet.
    var waitingBytes: Int { unreadBytes + payload.count + (kind == nil ? 0 : Record.headerBytes) }

    private var unreadBytes: Int { buffer.count - start }

    mutating func append(_ bytes: [UInt8]) {
        if unreadBytes == 0 {
            buffer = bytes
        } else {
            buffer.removeSubrange(..<start)
            buffer += bytes
        }
        start = 0
    }

    /// Nil when the next record is not whole yet.
    mutating func next() throws(BadLength) -> Record? {
        try readHeader()
        guard let kind else { return nil }
        let end = start + min(unreadBytes, payloadLength - payload.count)
        payload += buffer[start..<end]
        start = end
        guard payload.count == payloadLength else { return nil }
        defer {
            self.kind = nil
            payload = []
        }
        return Record(kind: kind, payload: payload)
    }

    private mutating func readHeader() throws(BadLength) {
        guard kind == nil, unreadBytes >= 4 else { return }
        let length = buffer[start..<(start + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard length >= 1, length <= limit else { throw BadLength(length: length, limit: limit) }
        guard unreadBytes >= Record.headerBytes else { return }
        kind = buffer[start + 4]
        start += Record.headerBytes
        payloadLength = Int(length) - 1
        payload.reserveCapacity(payloadLength)
    }
}

extension RecordReader.BadLength: CustomStringConvertible {
    var description: String { "a record of \(length) bytes, where 1 to \(limit) are allowed" }
}
