import SyncModel

/// A disk with a cache that forgets: what was written stays in memory until a flush, and a power cut takes any part of it. Disks do that;
/// the page cache of this machine, behind which a virtual disk lies otherwise, outlives the cut of a virtual machine and hides every
/// flush that was forgotten. `Conversation` is how a machine talks to it.
struct VolatileDisk<M: Medium> {
    /// What a cut takes of what was not flushed. By chance: each write alone, and of one that is lost perhaps the first sectors stay.
    enum Loss { case everything, chance }

    /// What a cut found and did.
    struct Toll: Equatable {
        var writes = 0
        var flushes = 0
        var unflushed = 0
        var lost = 0
        var torn = 0
    }

    private struct Write {
        let offset: Int
        let bytes: [UInt8]
        var end: Int { offset + bytes.count }
    }

    /// A torn write ends here: disks write no half of a sector.
    static var sectorBytes: Int { 512 }
    /// Like a disk's own, the cache is finite: beyond this the oldest writes go to the medium unasked.
    let cacheBytesMax: Int
    private(set) var medium: M
    private(set) var toll = Toll()
    /// In the order they came. One may overwrite another, and a cut may leave the older of the two.
    private var cache: [Write] = []
    private var cachedBytes = 0

    init(medium: M, cacheBytesMax: Int = 64 << 20) {
        self.medium = medium
        self.cacheBytesMax = cacheBytesMax
    }

    var size: Int { medium.size }

    func read(at offset: Int, count: Int) throws(MediumError) -> [UInt8] {
        var bytes = try medium.read(at: offset, count: count)
        for write in cache {
            let (start, end) = (max(write.offset, offset), min(write.end, offset + count))
            guard start < end else { continue }
            bytes.replaceSubrange(
                start - offset..<end - offset, with: write.bytes[start - write.offset..<end - write.offset])
        }
        return bytes
    }

    /// Durably: it is on the medium before it is answered (force unit access).
    mutating func write(_ bytes: [UInt8], at offset: Int, durably: Bool) throws(MediumError) {
        toll.writes += 1
        cache.append(Write(offset: offset, bytes: bytes))
        cachedBytes += bytes.count
        if durably {
            // What came before may lie over it, so it goes along: a disk may write early what it was not asked to.
            try pass(cache.count)
        }
        var oldest = 0
        var left = cachedBytes
        while left > cacheBytesMax, oldest < cache.count {
            left -= cache[oldest].bytes.count
            oldest += 1
        }
        try pass(oldest)
    }

    mutating func flush() throws(MediumError) {
        toll.flushes += 1
        try pass(cache.count)
    }

    /// The power goes. Afterwards the disk holds what it will hold when the power is back.
    mutating func cut(_ loss: Loss, using random: inout SeededRandom) throws(MediumError) {
        toll.unflushed = cache.count
        let isLost = cache.map { _ in loss == .everything || random.chance(percent: 50) }
        let torn = loss == .chance && random.chance(percent: 50) ? tearable(isLost, using: &random) : nil
        for (index, write) in cache.enumerated() {
            if isLost[index] { toll.lost += 1 }
            if index == torn {
                toll.torn += 1
                let sectors = random.range(1...(write.bytes.count - 1) / Self.sectorBytes)
                try medium.write(Array(write.bytes.prefix(sectors * Self.sectorBytes)), at: write.offset)
            } else if !isLost[index] {
                try medium.write(write.bytes, at: write.offset)
            }
        }
        cache = []
        cachedBytes = 0
    }

    /// One of the lost writes that are longer than a sector.
    private func tearable(_ isLost: [Bool], using random: inout SeededRandom) -> Int? {
        random.pick(cache.indices.filter { isLost[$0] && cache[$0].bytes.count > Self.sectorBytes })
    }

    /// The first so many of the cache go to the medium. They stay in the cache if that fails.
    private mutating func pass(_ count: Int) throws(MediumError) {
        guard count > 0 else { return }
        for write in cache.prefix(count) {
            try medium.write(write.bytes, at: write.offset)
            cachedBytes -= write.bytes.count
        }
        cache.removeFirst(count)
    }
}

/// What keeps bytes over a cut: a file, in tests an array.
protocol Medium {
    var size: Int { get }
    func read(at offset: Int, count: Int) throws(MediumError) -> [UInt8]
    mutating func write(_ bytes: [UInt8], at offset: Int) throws(MediumError)
}

struct MediumError: Error, Equatable {
    let number: Int32
}
