/// Joins what two people did to one text, line by line. Where both changed the same lines, or neighbours, there is no
/// answer: markers of a conflict have no place in live data.
enum LineMerge {
    /// More cells than this to compare and the two are not joined.
    private static let cellsMax = 4_000_000

    /// Nil if the changes touch each other. The same for both orders of `left` and `right`.
    static func merged(base: [UInt8], _ left: [UInt8], _ right: [UInt8]) -> [UInt8]? {
        if left == right || right == base { return left }
        if left == base { return right }
        let lines = lines(of: base)
        guard let ofLeft = changes(from: lines, to: self.lines(of: left)),
            let ofRight = changes(from: lines, to: self.lines(of: right))
        else { return nil }
        return joined(lines, ofLeft, ofRight)
    }

    /// Lines of the base that give way to others. An empty range puts something in before its line.
    private struct Change: Equatable {
        let range: Range<Int>
        let lines: [ArraySlice<UInt8>]
    }

    /// With their ends.
    private static func lines(of text: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        for (offset, byte) in text.enumerated() where byte == JSONByte.lineFeed {
            lines.append(text[start...offset])
            start = offset + 1
        }
        return start < text.count ? lines + [text[start...]] : lines
    }

    private static func joined(_ base: [ArraySlice<UInt8>], _ left: [Change], _ right: [Change]) -> [UInt8]? {
        var result: [UInt8] = []
        var (place, i, j) = (0, 0, 0)
        while i < left.count || j < right.count {
            let change: Change
            if i < left.count, j < right.count, left[i] == right[j] {
                change = left[i]
                (i, j) = (i + 1, j + 1)
            } else if i < left.count, j == right.count || left[i].range.lowerBound <= right[j].range.lowerBound {
                if j < right.count, left[i].range.upperBound >= right[j].range.lowerBound { return nil }
                change = left[i]
                i += 1
            } else {
                if i < left.count, right[j].range.upperBound >= left[i].range.lowerBound { return nil }
                change = right[j]
                j += 1
            }
            // One that both made may still touch the next of either.
            if change.range.lowerBound < place { return nil }
            result += base[place..<change.range.lowerBound].joined()
            result += change.lines.joined()
            place = change.range.upperBound
        }
        return result + base[place...].joined()
    }

    /// By the longest common row of lines; nil if that is too much to find.
    private static func changes(from base: [ArraySlice<UInt8>], to text: [ArraySlice<UInt8>]) -> [Change]? {
        let head = zip(base, text).prefix { $0 == $1 }.count
        let rest = min(base.count, text.count) - head
        let tail = zip(base.reversed(), text.reversed()).prefix(rest).prefix { $0 == $1 }.count
        let old = Array(base[head..<(base.count - tail)])
        let new = Array(text[head..<(text.count - tail)])
        guard (old.count + 1) * (new.count + 1) <= cellsMax else { return nil }
        return changes(old, new, lengths(old, new), from: head)
    }

    /// `lengths[i * (new.count + 1) + j]`: of the longest common row of what follows line i and line j.
    private static func lengths(_ old: [ArraySlice<UInt8>], _ new: [ArraySlice<UInt8>]) -> [Int32] {
        let width = new.count + 1
        var lengths = [Int32](repeating: 0, count: (old.count + 1) * width)
        for i in old.indices.reversed() {
            for j in new.indices.reversed() {
                lengths[i * width + j] =
                    old[i] == new[j]
                    ? lengths[(i + 1) * width + j + 1] + 1
                    : max(lengths[(i + 1) * width + j], lengths[i * width + j + 1])
            }
        }
        return lengths
    }

    private static func changes(
        _ old: [ArraySlice<UInt8>], _ new: [ArraySlice<UInt8>], _ lengths: [Int32], from head: Int
    ) -> [Change] {
        let width = new.count + 1
        var changes: [Change] = []
        var (i, j) = (0, 0)
        while i < old.count || j < new.count {
            let (firstOld, firstNew) = (i, j)
            while i < old.count || j < new.count {
                if i < old.count, j < new.count, old[i] == new[j] { break }
                let isGone =
                    j == new.count || i < old.count && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]
                if isGone { i += 1 } else { j += 1 }
            }
            if i > firstOld || j > firstNew {
                changes.append(Change(range: (head + firstOld)..<(head + i), lines: Array(new[firstNew..<j])))
            }
            while i < old.count, j < new.count, old[i] == new[j] { (i, j) = (i + 1, j + 1) }
        }
        return changes
    }
}
