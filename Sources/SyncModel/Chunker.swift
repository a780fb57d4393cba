/// Where a content is cut into chunks. THIS IS A FORMAT: both nodes must cut the same bytes at the same places, or
/// nothing is reused and equal files get different ids. Changing anything below needs a new number in
/// `ChunkList.contentID`.
///
/// Gear hash. `gear[b]` for b = 0…255 are the first 256 outputs of SplitMix64 with seed `0x73796e63642d6731`
/// ("syncd-g1"). For each byte: `hash = (hash << 1) + gear[byte]` modulo 2^64. A byte leaves the hash 64 bytes later,
/// so a decision depends on the last 64 bytes only and cuts find back into step after an insertion.
///
/// Cuts. Let n be the number of bytes of the current chunk, this byte included.
/// - n < minimum: no cut. (The hash starts at 0 with the byte n = minimum − 63, or with the first if there is none, so
///   that it has seen a full window when it is first asked.)
/// - n < relaxed: cut after this byte if `hash < M / (4 × average)`.
/// - n ≥ relaxed: cut after this byte if `hash < M / average × 4`.
/// - n = maximum: cut after this byte.
///
/// M is 2^64 − 1 and relaxed is average − 3 × average / 16; divisions round down. The end of the content ends the last
/// chunk, which may be shorter than minimum. An empty content has no chunk. The two thresholds pull the lengths
/// together (normalised chunking, as in FastCDC); the mean comes out close to `average`.
public struct ChunkerParameters: Hashable, Sendable {
    public let minimum: Int
    public let average: Int
    public let maximum: Int

    /// 16, 64 and 256 KiB: what two real nodes use.
    public static let standard = ChunkerParameters(average: 65_536)

    /// A quarter and four times the average, which is at least 16 bytes: the simulator cuts small files small.
    public init(average: Int) {
        precondition(average >= 16 && average <= 1 << 30, "an average chunk is 16 bytes to 1 GiB, not \(average)")
        self.average = average
        minimum = average / 4
        maximum = average * 4
    }

    var relaxed: Int { average - 3 * average / 16 }
    var strictThreshold: UInt64 { UInt64.max / (4 * UInt64(average)) }
    var relaxedThreshold: UInt64 { UInt64.max / UInt64(average) * 4 }
}

/// Finds the cuts in a content fed piece by piece; the pieces themselves make no difference.
public struct Chunker: Sendable {
    public let parameters: ChunkerParameters
    /// Bytes of the content so far.
    public private(set) var offset = 0
    /// Bytes since the last cut.
    private var length = 0
    private var hash: UInt64 = 0

    public init(_ parameters: ChunkerParameters = .standard) {
        self.parameters = parameters
    }

    /// The cuts in this piece, as offsets from the start of the content.
    public mutating func consume(_ bytes: [UInt8]) -> [Int] {
        consume(bytes.span)
    }

    public mutating func consume(_ bytes: borrowing Span<UInt8>) -> [Int] {
        var cuts: [Int] = []
        var start = 0
        while start < bytes.count {
            let (end, isCut) = scan(bytes, from: start)
            offset += end - start
            length += end - start
            if isCut {
                cuts.append(offset)
                length = 0
                hash = 0
            }
            start = end
        }
        return cuts
    }

    /// The end of the content: the cut that ends its last chunk, or nil if a cut fell there anyway.
    public mutating func finish() -> Int? {
        guard length > 0 else { return nil }
        length = 0
        hash = 0
        return offset
    }

    /// Goes through the bytes up to the next cut or their end.
    private mutating func scan(_ bytes: borrowing Span<UInt8>, from start: Int) -> (end: Int, isCut: Bool) {
        let gear = gearTable
        /// The place in `bytes` at which the current chunk reaches `target` bytes, kept inside `bytes`.
        func place(_ target: Int) -> Int { min(bytes.count, max(start, start + target - length)) }
        var at = place(parameters.minimum - 64)
        var rolling = hash
        defer { hash = rolling }
        let silentEnd = place(parameters.minimum - 1)
        while at < silentEnd {
            rolling = (rolling &<< 1) &+ gear[Int(bytes[at])]
            at &+= 1
        }
        let strictEnd = place(parameters.relaxed - 1)
        let strictThreshold = parameters.strictThreshold
        while at < strictEnd {
            rolling = (rolling &<< 1) &+ gear[Int(bytes[at])]
            at &+= 1
            if rolling < strictThreshold { return (at, true) }
        }
        let relaxedEnd = place(parameters.maximum)
        let relaxedThreshold = parameters.relaxedThreshold
        while at < relaxedEnd {
            rolling = (rolling &<< 1) &+ gear[Int(bytes[at])]
            at &+= 1
            if rolling < relaxedThreshold { return (at, true) }
        }
        return (at, length + at - start == parameters.maximum)
    }
}

/// 2 KiB, made once; a format constant like the thresholds.
private let gearTable: [UInt64] = {
    var filler = SplitMix64(seed: 0x7379_6E63_642D_6731)
    return (0..<256).map { _ in filler.next() }
}()
