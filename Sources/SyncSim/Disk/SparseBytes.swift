/// The bytes of a file: a length, and the pieces that were written. What was never written reads as zero and takes no room,
/// so that a test may hold a file of a tebibyte.
package struct SparseBytes: Sendable {
    struct Extent: Sendable {
        var offset: UInt64
        var bytes: [UInt8]

        var end: UInt64 { offset + UInt64(bytes.count) }
    }

    package private(set) var size: UInt64 = 0
    /// In order; no two of them touch, none is empty, all lie within `size`.
    private(set) var extents: [Extent] = []

    package init() {}

    package init(_ bytes: [UInt8]) {
        write(bytes, at: 0)
    }

    /// What the file takes on the disk.
    package var allocatedBytes: UInt64 {
        var sum: UInt64 = 0
        for extent in extents { sum += UInt64(extent.bytes.count) }
        return sum
    }

    /// All of it, holes as zeros. For files whose size a test has chosen; a huge one is looked at with `read`.
    package var bytes: [UInt8] {
        if extents.count == 1, extents[0].offset == 0, extents[0].end == size { return extents[0].bytes }
        return read(at: 0, count: Int(clamping: size))
    }

    /// Up to `count` bytes; fewer at the end of the file.
    package func read(at offset: UInt64, count: Int) -> [UInt8] {
        guard offset < size, count > 0 else { return [] }
        let end = offset + min(UInt64(count), size - offset)
        var result = [UInt8](repeating: 0, count: Int(end - offset))
        for extent in extents where extent.offset < end && extent.end > offset {
            let from = max(extent.offset, offset)
            let to = min(extent.end, end)
            let source = Int(from - extent.offset)..<Int(to - extent.offset)
            result.replaceSubrange(Int(from - offset)..<Int(to - offset), with: extent.bytes[source])
        }
        return result
    }

    /// How many of the bytes from `offset` on have no room on the disk yet.
    package func unallocated(at offset: UInt64, count: Int) -> UInt64 {
        let end = offset + UInt64(count)
        var missing = UInt64(count)
        for extent in extents where extent.offset < end && extent.end > offset {
            missing -= min(extent.end, end) - max(extent.offset, offset)
        }
        return missing
    }

    package mutating func write(_ new: [UInt8], at offset: UInt64) {
        guard !new.isEmpty else { return }
        let end = offset + UInt64(new.count)
        size = max(size, end)
        // Every extent that overlaps or touches the new bytes melts into one with them.
        var first = 0
        while first < extents.count, extents[first].end < offset { first += 1 }
        var past = first
        while past < extents.count, extents[past].offset <= end { past += 1 }
        guard first < past else {
            extents.insert(Extent(offset: offset, bytes: new), at: first)
            return
        }
        let last = extents[past - 1]
        let tail = last.end > end ? last.bytes[Int(end - last.offset)...] : []
        if extents[first].offset <= offset {
            // In place: the usual case, and no copy when nobody else holds the buffer.
            let kept = Int(offset - extents[first].offset)
            if past == first + 1 {
                let overlap = min(new.count, extents[first].bytes.count - kept)
                extents[first].bytes.replaceSubrange(kept..<(kept + overlap), with: new)
                return
            }
            extents[first].bytes.removeSubrange(kept...)
            extents[first].bytes.append(contentsOf: new)
            extents[first].bytes.append(contentsOf: tail)
            extents.removeSubrange((first + 1)..<past)
        } else {
            extents.replaceSubrange(first..<past, with: [Extent(offset: offset, bytes: new + tail)])
        }
    }

    package mutating func truncate(to newSize: UInt64) {
        if newSize < size { punch(newSize..<size) }
        size = newSize
    }

    /// Makes a hole.
    mutating func punch(_ hole: Range<UInt64>) {
        guard extents.contains(where: { $0.offset < hole.upperBound && $0.end > hole.lowerBound }) else { return }
        var kept: [Extent] = []
        for extent in extents {
            if extent.end <= hole.lowerBound || extent.offset >= hole.upperBound {
                kept.append(extent)
                continue
            }
            if extent.offset < hole.lowerBound {
                let count = Int(hole.lowerBound - extent.offset)
                kept.append(Extent(offset: extent.offset, bytes: Array(extent.bytes[..<count])))
            }
            if extent.end > hole.upperBound {
                let start = Int(hole.upperBound - extent.offset)
                kept.append(Extent(offset: hole.upperBound, bytes: Array(extent.bytes[start...])))
            }
        }
        extents = kept
    }

    /// Makes this range what it is in `other`, holes included. The size stays.
    mutating func adopt(_ range: Range<UInt64>, of other: SparseBytes) {
        let wanted = range.clamped(to: 0..<size)
        guard !wanted.isEmpty else { return }
        punch(wanted)
        for extent in other.extents where extent.offset < wanted.upperBound && extent.end > wanted.lowerBound {
            let from = max(extent.offset, wanted.lowerBound)
            let to = min(extent.end, wanted.upperBound)
            write(Array(extent.bytes[Int(from - extent.offset)..<Int(to - extent.offset)]), at: from)
        }
    }

    /// The numbers of the blocks that hold written bytes, ascending.
    func blocks(of blockBytes: UInt64) -> [UInt64] {
        var numbers: [UInt64] = []
        for extent in extents {
            let first = extent.offset / blockBytes
            let last = (extent.end - 1) / blockBytes
            for number in first...last where numbers.last.map({ $0 < number }) ?? true { numbers.append(number) }
        }
        return numbers
    }
}

/// Equal as a reader sees it: a hole is equal to written zeros.
extension SparseBytes: Hashable {
    package static func == (left: SparseBytes, right: SparseBytes) -> Bool {
        guard left.size == right.size else { return false }
        if left.extents.count == right.extents.count,
            zip(left.extents, right.extents).allSatisfy({ $0.offset == $1.offset && $0.bytes == $1.bytes })
        {
            return true
        }
        return left.agreesWhereWritten(with: right) && right.agreesWhereWritten(with: left)
    }

    private func agreesWhereWritten(with other: SparseBytes) -> Bool {
        extents.allSatisfy { other.read(at: $0.offset, count: $0.bytes.count) == $0.bytes }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(size)
    }
}

/// A set of byte positions, as ranges in order that neither overlap nor touch.
struct ByteRanges: Hashable, Sendable {
    private(set) var ranges: [Range<UInt64>] = []

    var isEmpty: Bool { ranges.isEmpty }

    mutating func insert(_ new: Range<UInt64>) {
        guard !new.isEmpty else { return }
        var first = 0
        while first < ranges.count, ranges[first].upperBound < new.lowerBound { first += 1 }
        var past = first
        var merged = new
        while past < ranges.count, ranges[past].lowerBound <= merged.upperBound {
            merged = min(merged.lowerBound, ranges[past].lowerBound)..<max(merged.upperBound, ranges[past].upperBound)
            past += 1
        }
        ranges.replaceSubrange(first..<past, with: [merged])
    }

    /// Forgets everything from `end` on.
    mutating func clip(to end: UInt64) {
        guard let last = ranges.last, last.upperBound > end else { return }
        ranges = ranges.compactMap { $0.lowerBound >= end ? nil : $0.lowerBound..<min($0.upperBound, end) }
    }

    func overlaps(_ range: Range<UInt64>) -> Bool {
        ranges.contains { $0.overlaps(range) }
    }
}
