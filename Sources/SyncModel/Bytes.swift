/// Little readers and writers of bytes for every format of ours. Numbers are big-endian and of fixed width.
/// Reading is total: a short or wrong input gives nil, and no length is believed before the bytes are there.

public struct ByteWriter: Sendable {
    public private(set) var bytes: [UInt8] = []

    public init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    public mutating func put(_ value: UInt8) { bytes.append(value) }
    public mutating func put(_ value: UInt16) { putInteger(UInt64(value), width: 2) }
    public mutating func put(_ value: UInt32) { putInteger(UInt64(value), width: 4) }
    public mutating func put(_ value: UInt64) { putInteger(value, width: 8) }
    public mutating func put(_ value: Int64) { putInteger(UInt64(bitPattern: value), width: 8) }
    public mutating func put(_ value: Bool) { bytes.append(value ? 1 : 0) }
    public mutating func put(_ digest: Digest) {
        put(digest.words.0)
        put(digest.words.1)
        put(digest.words.2)
        put(digest.words.3)
    }
    public mutating func putRaw(_ raw: [UInt8]) { bytes.append(contentsOf: raw) }
    public mutating func putRaw(_ raw: ArraySlice<UInt8>) { bytes.append(contentsOf: raw) }

    /// A length of 32 bits, then the bytes.
    public mutating func putCounted(_ counted: [UInt8]) {
        put(UInt32(truncatingIfNeeded: counted.count))
        bytes.append(contentsOf: counted)
    }

    /// Writes over four bytes that are there.
    public mutating func replace(at offset: Int, by value: UInt32) {
        for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(24 - index * 8)) }
    }

    private mutating func putInteger(_ value: UInt64, width: Int) {
        var shift = width * 8
        while shift > 0 {
            shift -= 8
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }
}

public struct ByteReader: Sendable {
    private let bytes: [UInt8]
    private let end: Int
    public private(set) var offset: Int

    public init(_ bytes: [UInt8]) {
        self.init(bytes, in: bytes.indices)
    }

    /// Of a part, without a copy of it.
    public init(_ bytes: [UInt8], in part: Range<Int>) {
        precondition(bytes.indices.contains(part.lowerBound) || part.isEmpty, "a part begins in the whole")
        precondition(part.upperBound <= bytes.count, "a part ends in the whole")
        self.bytes = bytes
        offset = part.lowerBound
        end = part.upperBound
    }

    public init(_ slice: ArraySlice<UInt8>) {
        self.init(Array(slice))
    }

    public var remaining: Int { end - offset }
    public var isAtEnd: Bool { offset == end }

    public mutating func byte() -> UInt8? {
        guard offset < end else { return nil }
        offset += 1
        return bytes[offset - 1]
    }

    public mutating func uint16() -> UInt16? { integer(width: 2).map { UInt16(truncatingIfNeeded: $0) } }
    public mutating func uint32() -> UInt32? { integer(width: 4).map { UInt32(truncatingIfNeeded: $0) } }
    public mutating func uint64() -> UInt64? { integer(width: 8) }
    public mutating func int64() -> Int64? { integer(width: 8).map { Int64(bitPattern: $0) } }

    /// Only 0 and 1 are booleans.
    public mutating func bool() -> Bool? {
        guard let value = byte(), value <= 1 else { return nil }
        return value == 1
    }

    public mutating func digest() -> Digest? {
        guard let words = four(), remaining >= 0 else { return nil }
        return Digest(words: words)
    }

    public mutating func raw(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= remaining else { return nil }
        defer { offset += count }
        return Array(bytes[offset..<(offset + count)])
    }

    /// A counted byte string of at most `max` bytes.
    public mutating func counted(max: Int) -> [UInt8]? {
        guard let count = uint32(), count <= UInt32(clamping: max) else { return nil }
        return raw(Int(count))
    }

    private mutating func four() -> (UInt64, UInt64, UInt64, UInt64)? {
        guard remaining >= 32, let a = uint64(), let b = uint64(), let c = uint64(), let d = uint64() else {
            return nil
        }
        return (a, b, c, d)
    }

    private mutating func integer(width: Int) -> UInt64? {
        guard remaining >= width else { return nil }
        var value: UInt64 = 0
        for index in offset..<(offset + width) { value = value << 8 | UInt64(bytes[index]) }
        offset += width
        return value
    }
}

/// The value of a lower-case hexadecimal digit.
public func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
}
