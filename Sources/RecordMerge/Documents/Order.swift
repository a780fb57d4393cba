/// Places in an ordered list, as byte strings: between any two there is room for another, so that who puts one thing
/// in, or moves one, writes to nothing else. None ends with a zero, which is what leaves the room.
enum Order {
    /// New places for those that have none, or do not stay where they are; nil for those that stay. As many stay as
    /// can: who is given a place here may stay in the list though the other node takes him out.
    static func places(_ known: [[UInt8]?]) -> [[UInt8]?] {
        if known.allSatisfy({ $0 == nil }) { return known.indices.map(numbered) }
        var places: [[UInt8]?] = Array(repeating: nil, count: known.count)
        var last: [UInt8] = []
        var begin = 0
        for end in staying(known) + [known.count] {
            let next = end < known.count ? known[end] : nil
            for index in begin..<end {
                last = between(last, next)
                places[index] = last
            }
            last = next ?? last
            begin = end + 1
        }
        return places
    }

    /// Those of the longest row that rises, whatever stands in between; of several such rows the one that begins first,
    /// and so on. What leaves no room cannot stay.
    private static func staying(_ known: [[UInt8]?]) -> [Int] {
        // How long the longest row is that begins with each.
        var lengths = Array(repeating: 0, count: known.count)
        // By length, less one: the greatest that begins such a row. So they fall.
        var starts: [[UInt8]] = []
        for index in known.indices.reversed() {
            guard let place = known[index], let end = place.last, end != 0 else { continue }
            var (low, high) = (0, starts.count)
            while low < high {
                let middle = (low + high) / 2
                if place.lexicographicallyPrecedes(starts[middle]) { low = middle + 1 } else { high = middle }
            }
            lengths[index] = low + 1
            if low < starts.count { starts[low] = place } else { starts.append(place) }
        }
        // The next that begins a row of the length wanted is greater than the last taken: else it began a longer one.
        var wanted = starts.count
        return known.indices.filter { index in
            guard wanted > 0, lengths[index] == wanted else { return false }
            wanted -= 1
            return true
        }
    }

    /// The first places of a new list: four bytes of number, and one that is not zero.
    private static func numbered(_ index: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: index >> (24 - 8 * $0)) } + [128]
    }

    /// After `low` and before `high`; nil is the end.
    static func between(_ low: [UInt8], _ high: [UInt8]?) -> [UInt8] {
        var place: [UInt8] = []
        var bound = high
        while true {
            let least = place.count < low.count ? Int(low[place.count]) : 0
            let most = bound.map { place.count < $0.count ? Int($0[place.count]) : 0 } ?? 256
            if most - least > 1 { return place + [UInt8((least + most) / 2)] }
            if most > least { bound = nil }
            place.append(UInt8(least))
        }
    }
}
