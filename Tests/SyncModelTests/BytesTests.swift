/// What every format of ours is made of: what was written is read, and what was not written is refused without a trap.
import SyncModel
import Testing

struct BytesTests {
    /// One thing that can be written, and read.
    enum Part: Equatable {
        case byte(UInt8)
        case uint16(UInt16)
        case uint32(UInt32)
        case uint64(UInt64)
        case int64(Int64)
        case bool(Bool)
        case digest(Digest)
        case counted([UInt8])
        case raw([UInt8])

        static func draw(_ random: inout SeededRandom) -> Part {
            let number = random.chance(percent: 20) ? [0, UInt64.max, 1][random.below(3)] : random.next()
            switch random.below(9) {
            case 0: return .byte(UInt8(truncatingIfNeeded: number))
            case 1: return .uint16(UInt16(truncatingIfNeeded: number))
            case 2: return .uint32(UInt32(truncatingIfNeeded: number))
            case 3: return .uint64(number)
            case 4: return .int64(Int64(bitPattern: number))
            case 5: return .bool(number & 1 == 1)
            case 6: return .digest(Digest(words: (number, random.next(), random.next(), random.next())))
            case 7: return .counted(random.bytes(random.below(40)))
            default: return .raw(random.bytes(random.below(40)))
            }
        }

        func write(into writer: inout ByteWriter) {
            switch self {
            case .byte(let value): writer.put(value)
            case .uint16(let value): writer.put(value)
            case .uint32(let value): writer.put(value)
            case .uint64(let value): writer.put(value)
            case .int64(let value): writer.put(value)
            case .bool(let value): writer.put(value)
            case .digest(let value): writer.put(value)
            case .counted(let value): writer.putCounted(value)
            case .raw(let value): writer.putRaw(value)
            }
        }

        /// Reads another part of the same kind.
        func read(from reader: inout ByteReader) -> Part? {
            switch self {
            case .byte: reader.byte().map { .byte($0) }
            case .uint16: reader.uint16().map { .uint16($0) }
            case .uint32: reader.uint32().map { .uint32($0) }
            case .uint64: reader.uint64().map { .uint64($0) }
            case .int64: reader.int64().map { .int64($0) }
            case .bool: reader.bool().map { .bool($0) }
            case .digest: reader.digest().map { .digest($0) }
            case .counted(let value): reader.counted(max: value.count).map { .counted($0) }
            case .raw(let value): reader.raw(value.count).map { .raw($0) }
            }
        }
    }

    @Test("what was written is read", arguments: 1...3) func roundTrip(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<500 {
            let parts = (0..<random.below(12)).map { _ in Part.draw(&random) }
            var writer = ByteWriter()
            for part in parts { part.write(into: &writer) }
            var reader = ByteReader(writer.bytes)
            let read = parts.map { $0.read(from: &reader) }
            #expect(read == parts && reader.isAtEnd && reader.remaining == 0 && reader.byte() == nil)
        }
    }

    @Test("numbers are big-endian and of fixed width") func layout() {
        var writer = ByteWriter()
        writer.put(UInt8(1))
        writer.put(UInt16(0x0203))
        writer.put(UInt32(0x0405_0607))
        writer.put(UInt64(0x0809_0A0B_0C0D_0E0F))
        writer.put(Int64(-2))
        writer.put(true)
        writer.putCounted([0xAA])
        writer.putRaw([0xBB])
        writer.putRaw([0xCC, 0xDD][1...])
        #expect(
            writer.bytes == Array(1...15) + [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE, 1] + [0, 0, 0, 1, 0xAA]
                + [0xBB, 0xDD])
    }

    @Test("every cut leaves a reader that says nil and stands still") func truncation() {
        let parts: [Part] = [
            .byte(1), .uint16(2), .uint32(3), .uint64(4), .int64(-5), .bool(true), .digest(.zero), .counted([1, 2, 3]),
            .raw([9, 9]),
        ]
        for part in parts {
            var writer = ByteWriter()
            part.write(into: &writer)
            for count in 0..<writer.bytes.count {
                var reader = ByteReader(Array(writer.bytes.prefix(count)))
                #expect(part.read(from: &reader) == nil)
                #expect(reader.offset <= count && reader.remaining == count - reader.offset)
            }
        }
    }

    @Test("a length is not believed before the bytes are there") func lengths() {
        for count: UInt32 in [4, 5, 1 << 20, .max] {
            var writer = ByteWriter()
            writer.put(count)
            writer.putRaw([1, 2, 3])
            var reader = ByteReader(writer.bytes)
            #expect(reader.counted(max: .max) == nil)
        }
        var reader = ByteReader([0, 0, 0, 3, 1, 2, 3])
        #expect(reader.counted(max: 2) == nil)
        reader = ByteReader([1, 2, 3])
        #expect(reader.raw(-1) == nil && reader.raw(.max) == nil && reader.raw(4) == nil && reader.raw(3) == [1, 2, 3])
    }

    @Test("only 0 and 1 are booleans") func booleans() {
        for byte in UInt8.min...UInt8.max {
            var reader = ByteReader([byte])
            #expect(reader.bool() == (byte == 0 ? false : byte == 1 ? true : nil))
        }
    }

    @Test("random bytes read in a random way never trap and never go past the end", arguments: 1...3)
    func totality(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<10_000 {
            let bytes = random.bytes(random.below(60))
            var reader = ByteReader(bytes)
            for _ in 0..<8 {
                _ = Part.draw(&random).read(from: &reader)
                if reader.offset > bytes.count || reader.remaining < 0 { Issue.record("past the end") }
            }
        }
    }

    @Test("a slice is read from its own beginning") func slices() {
        let bytes: [UInt8] = [9, 9, 1, 2, 9]
        var reader = ByteReader(bytes[2..<4])
        #expect(reader.uint16() == 0x0102 && reader.isAtEnd)
    }
}
