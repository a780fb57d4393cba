/// File contents with holes: the same as a plain array of bytes, for every sequence of writes and cuts.
import SyncCore
import SyncModel
import SyncSim
import Testing

@Suite("The virtual disk: contents with holes") struct VirtualDiskBytesTests {
    @Test("writes and cuts in any order read like those on an array") func likeAnArray() {
        for seed in 0..<300 {
            var random = SeededRandom(seed: UInt64(seed))
            var sparse = SparseBytes()
            var plain: [UInt8] = []
            for _ in 0..<40 {
                if random.chance(percent: 75) {
                    let offset = random.below(200)
                    let new = random.bytes(random.below(30))
                    sparse.write(new, at: UInt64(offset))
                    if !new.isEmpty, plain.count < offset + new.count {
                        plain += [UInt8](repeating: 0, count: offset + new.count - plain.count)
                    }
                    if !new.isEmpty { plain.replaceSubrange(offset..<(offset + new.count), with: new) }
                } else {
                    let size = random.below(220)
                    sparse.truncate(to: UInt64(size))
                    if size < plain.count {
                        plain.removeSubrange(size...)
                    } else {
                        plain += [UInt8](repeating: 0, count: size - plain.count)
                    }
                }
                let offset = random.below(230)
                let count = random.below(60)
                let piece = offset < plain.count ? Array(plain[offset..<min(plain.count, offset + count)]) : []
                #expect(sparse.size == UInt64(plain.count) && sparse.bytes == plain, "seed \(seed)")
                #expect(sparse.read(at: UInt64(offset), count: count) == piece, "seed \(seed)")
                #expect(sparse.allocatedBytes <= sparse.size)
                #expect(sparse == SparseBytes(plain), "a hole is equal to written zeros, seed \(seed)")
                let missing = sparse.unallocated(at: UInt64(offset), count: count)
                var grown = sparse
                grown.write([UInt8](repeating: 1, count: count), at: UInt64(offset))
                #expect(grown.allocatedBytes == sparse.allocatedBytes + missing, "seed \(seed)")
                if count > 0, offset < plain.count, plain[offset] != 1 { #expect(grown != sparse) }
            }
        }
    }

    @Test("a file of a tebibyte takes what was written") func huge() {
        var disk = VirtualDisk.sketched("")
        guard case .success(let handle) = disk.open(at("huge"), create: true, now: ms(1)) else {
            Issue.record("not opened")
            return
        }
        let used = disk.usedBytes
        #expect(disk.write(handle, at: 1 << 40, utf8("end"), now: ms(1)) == nil)
        #expect(disk.stat(at("huge"))?.size == 1 << 40 + 3)
        #expect(disk.usedBytes == used + 3)
        #expect(
            disk.read(.init(place: .tree(at("huge")), expected: nil, offset: 1 << 40 - 1, length: 9))
                == .bytes([0] + utf8("end")))
        #expect(disk.hash(at("huge"), chunking: .standard) == .failed(.unsupported))
        var random = SeededRandom(seed: 1)
        for _ in 0..<20 {
            var image = disk
            image.powerCut(model: .strict, random: &random)
            #expect(image.stat(at("huge")).map { $0.size <= 1 << 40 + 3 } ?? true)
        }
        disk.truncate(handle, to: 0, now: ms(2))
        #expect(disk.usedBytes == used)
    }
}
