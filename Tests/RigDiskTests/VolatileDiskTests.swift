import SyncModel
import Testing

@testable import rigdisk

/// What a disk that forgets keeps, and what a cut of its power takes.
struct VolatileDiskTests {
    struct Memory: Medium {
        var bytes: [UInt8]
        var isBroken = false
        var size: Int { bytes.count }

        init(sectors: Int) { bytes = [UInt8](repeating: 0, count: sectors * 512) }

        func read(at offset: Int, count: Int) throws(MediumError) -> [UInt8] {
            if isBroken { throw MediumError(number: 5) }
            return Array(bytes[offset..<offset + count])
        }

        mutating func write(_ written: [UInt8], at offset: Int) throws(MediumError) {
            if isBroken { throw MediumError(number: 5) }
            bytes.replaceSubrange(offset..<offset + written.count, with: written)
        }
    }

    static func disk(sectors: Int = 16, cacheBytesMax: Int = 1 << 20) -> VolatileDisk<Memory> {
        VolatileDisk(medium: Memory(sectors: sectors), cacheBytesMax: cacheBytesMax)
    }

    static func sectors(_ value: UInt8, _ count: Int = 1) -> [UInt8] { [UInt8](repeating: value, count: count * 512) }

    /// The first byte of each sector.
    static func sketch(_ disk: VolatileDisk<Memory>) -> [UInt8] {
        stride(from: 0, to: disk.size, by: 512).map { disk.medium.bytes[$0] }
    }

    @Test("what was written is read, flushed or not, the later write over the earlier") func reads() throws {
        var disk = Self.disk(sectors: 4)
        try disk.write(Self.sectors(1, 4), at: 0, durably: false)
        try disk.flush()
        try disk.write(Self.sectors(2, 2), at: 512, durably: false)
        try disk.write([3, 3, 3], at: 1535, durably: false)
        let all = try disk.read(at: 0, count: 2048)
        #expect(Array(all[0..<512]) == Self.sectors(1) && Array(all[512..<1024]) == Self.sectors(2))
        #expect(all[1534] == 2 && all[1535...1537] == [3, 3, 3] && all[1538] == 1 && all[2047] == 1)
        #expect(try disk.read(at: 1536, count: 1) == [3] && disk.read(at: 1538, count: 1) == [1])
        #expect(Self.sketch(disk) == [1, 1, 1, 1], "not flushed, so not on the medium")
    }

    @Test("a cut that takes everything leaves what was flushed or forced, and nothing else") func all() throws {
        var disk = Self.disk(sectors: 4)
        try disk.write(Self.sectors(1), at: 0, durably: false)
        try disk.flush()
        try disk.write(Self.sectors(2), at: 512, durably: false)
        try disk.write(Self.sectors(4), at: 1024, durably: true)
        try disk.write(Self.sectors(3), at: 1536, durably: false)
        var random = SeededRandom(seed: 1)
        try disk.cut(.everything, using: &random)
        #expect(Self.sketch(disk) == [1, 2, 4, 0], "what came before a forced write goes along with it")
        #expect(disk.toll == .init(writes: 4, flushes: 1, unflushed: 1, lost: 1, torn: 0))
    }

    @Test("a forced write is not undone by an earlier one that a cut lets through", arguments: 1...50)
    func forced(seed: UInt64) throws {
        var disk = Self.disk(sectors: 2)
        try disk.write(Self.sectors(1, 2), at: 0, durably: false)
        try disk.write(Self.sectors(2), at: 512, durably: true)
        var random = SeededRandom(seed: seed)
        try disk.cut(.chance, using: &random)
        #expect(disk.medium.bytes[512] == 2)
    }

    @Test("a cut by chance loses some, keeps some, and tears at most one, at a sector; the same seed does the same")
    func chance() throws {
        var (torn, lost, kept) = (0, 0, 0)
        for seed in UInt64(1)...200 {
            var disk = Self.disk(sectors: 32)
            for write in 0..<8 {
                try disk.write(Self.sectors(UInt8(write + 1), 4), at: write * 2048, durably: false)
            }
            var (random, again) = (SeededRandom(seed: seed), SeededRandom(seed: seed))
            var twin = disk
            try disk.cut(.chance, using: &random)
            try twin.cut(.chance, using: &again)
            #expect(disk.medium.bytes == twin.medium.bytes && disk.toll == twin.toll)
            let sketch = Self.sketch(disk)
            var (partly, gone) = (0, 0)
            for write in 0..<8 {
                let its = sketch[write * 4..<write * 4 + 4]
                let there = its.prefix { Int($0) == write + 1 }.count
                #expect(its.dropFirst(there).allSatisfy { $0 == 0 }, "what is torn keeps its beginning")
                if there == 0 { gone += 1 } else if there < 4 { partly += 1 }
            }
            #expect(disk.toll.unflushed == 8 && disk.toll.lost == gone + partly)
            #expect(disk.toll.torn == partly && partly <= 1)
            for sector in 0..<32 {
                let bytes = disk.medium.bytes[sector * 512..<sector * 512 + 512]
                #expect(bytes.allSatisfy { $0 == bytes.first }, "half a sector")
            }
            torn += disk.toll.torn
            lost += disk.toll.lost
            kept += 8 - disk.toll.lost
        }
        #expect((60...140).contains(torn) && (600...1000).contains(lost) && (600...1000).contains(kept))
    }

    @Test("of two writes of one place a cut may leave the earlier, the later or neither") func order() throws {
        var seen: Set<UInt8> = []
        for seed in UInt64(1)...50 {
            var disk = Self.disk(sectors: 1)
            try disk.write(Self.sectors(1), at: 0, durably: false)
            try disk.write(Self.sectors(2), at: 0, durably: false)
            var random = SeededRandom(seed: seed)
            try disk.cut(.chance, using: &random)
            seen.insert(disk.medium.bytes[0])
        }
        #expect(seen == [0, 1, 2])
    }

    @Test("a cache that is full writes the oldest early, and no more than it must") func full() throws {
        var disk = Self.disk(sectors: 4, cacheBytesMax: 1024)
        for write in 0..<3 { try disk.write(Self.sectors(UInt8(write + 1)), at: write * 512, durably: false) }
        #expect(Self.sketch(disk) == [1, 0, 0, 0])
        var random = SeededRandom(seed: 1)
        try disk.cut(.everything, using: &random)
        #expect(disk.toll.unflushed == 2)
    }

    @Test("a medium that fails is no flush: what was not passed on is still there for the next") func broken() throws {
        var disk = VolatileDisk(medium: Memory(sectors: 1), cacheBytesMax: 512)
        try disk.write(Self.sectors(1), at: 0, durably: false)
        var failing = VolatileDisk(
            medium: {
                var m = Memory(sectors: 1); m.isBroken = true; return m
            }(), cacheBytesMax: 512)
        try failing.write(Self.sectors(1), at: 0, durably: false)
        #expect(throws: MediumError(number: 5)) { try failing.flush() }
        #expect(throws: MediumError(number: 5)) { try failing.write(Self.sectors(2), at: 0, durably: true) }
        #expect(throws: MediumError(number: 5)) { try failing.read(at: 0, count: 1) }
        try disk.flush()
        #expect(Self.sketch(disk) == [1])
    }
}
