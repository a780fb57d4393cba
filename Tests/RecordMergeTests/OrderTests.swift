/// Places in an ordered list: few are given anew, and there is always room.
import Testing

@testable import RecordMerge

@Suite("places in an ordered list")
struct OrderTests {
    @Test("whatever the order, with new ones or without: as few as can be get a place, and all stand as saved")
    func fewest() {
        for count in 0...6 {
            let first = Order.places(Array(repeating: nil, count: count)).compactMap(\.self)
            for row in OrderTests.permutations(Array(0..<count)) {
                for new in 0..<(count < 6 ? 1 << count : 1) {
                    check(row.map { (new >> $0) & 1 == 0 ? $0 : nil }, first)
                }
            }
        }
    }

    /// `known` has the numbers of places of `first`.
    private func check(_ known: [Int?], _ first: [[UInt8]]) {
        let before = known.map { number in number.map { first[$0] } }
        let told = Order.places(before)
        let after: [[UInt8]] = zip(told, before).map { ($0 ?? $1) ?? [] }
        #expect(after.allSatisfy { ($0.last ?? 0) > 0 }, "\(known)")
        #expect(zip(after, after.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) }, "\(known)")
        let staying = known.indices.filter { told[$0] == nil }
        #expect(staying.count == longest(known.compactMap(\.self)[...], above: -1), "\(known)")
        let maxima = maxima(known)
        if maxima.count == staying.count { #expect(staying == maxima, "\(known)") }
    }

    private func longest(_ row: ArraySlice<Int>, above least: Int) -> Int {
        guard let first = row.first else { return 0 }
        let without = longest(row.dropFirst(), above: least)
        return first > least ? max(without, 1 + longest(row.dropFirst(), above: first)) : without
    }

    /// Those that stand after all before them: the row that begins first.
    private func maxima(_ known: [Int?]) -> [Int] {
        var maxima: [Int] = []
        var highest = -1
        for (index, number) in known.enumerated() {
            guard let number, number > highest else { continue }
            maxima.append(index)
            highest = number
        }
        return maxima
    }

    private static func permutations(_ row: [Int]) -> [[Int]] {
        if row.isEmpty { return [[]] }
        return row.indices.flatMap { index in
            var rest = row
            let first = rest.remove(at: index)
            return permutations(rest).map { [first] + $0 }
        }
    }

    @Test("of two that have the same place one stays; what leaves no room before it does not") func noRoom() {
        #expect(Order.places([[128], [128], nil]) == [nil, [192], [224]])
        #expect(Order.places([nil, [0], [1, 0], []]) == [[128], [192], [224], [240]])
    }

    @Test("a long list is no work: the last to the front, and all of it back to front") func long() {
        let first = Order.places(Array(repeating: nil, count: 20_000))
        let moved = Order.places(Array(first.suffix(1) + first.dropLast()))
        #expect(moved[0] == [0, 0, 0, 0, 64] && moved.dropFirst().allSatisfy { $0 == nil })
        let turned = Order.places(Array(first.prefix(500).reversed()))
        #expect(turned.count { $0 == nil } == 1)
    }
}
