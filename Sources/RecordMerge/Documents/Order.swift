/// Places in an ordered list, as byte strings: between any two there is room for another, so that who puts one thing in
/// moves nothing else. None ends with a zero, which is what leaves the room.
enum Order {
    /// New places for those that have none, or that would not stand after the one before; nil for those that stay.
    static func places(_ known: [[UInt8]?]) -> [[UInt8]?] {
        if known.allSatisfy({ $0 == nil }) { return known.indices.map(numbered) }
        var last: [UInt8] = []
        return known.indices.map { index in
            if let place = known[index], last.lexicographicallyPrecedes(place) {
                last = place
                return nil
            }
            let later = known[(index + 1)...].compactMap(\.self)
            last = between(last, later.first { last.lexicographicallyPrecedes($0) })
            return last
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
