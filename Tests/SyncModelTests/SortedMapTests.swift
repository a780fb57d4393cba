import SyncModel
import Testing

/// The chunked map against a plain sorted array, at sizes where chunks fill, split, join and vanish.
struct SortedMapTests {
    /// Small key spaces keep one chunk busy; large ones split, join and drop chunks.
    @Test(
        "it holds what a plain sorted array holds, through thousands of random operations",
        arguments: [10, 64, 300, 3000, 100_000])
    func model(keys: Int) {
        var random = SeededRandom(seed: UInt64(keys))
        var map = SortedMap<Int, Int>()
        var array: [(key: Int, value: Int)] = []
        var growing = true
        for step in 0..<6000 {
            if step % 1500 == 0 { growing.toggle() }
            let key = random.below(keys)
            let index = array.firstIndex { $0.key >= key } ?? array.count
            let isThere = index < array.count && array[index].key == key
            switch random.below(10) {
            case 0...4 where growing, 0...2:
                #expect(map.updateValue(step, forKey: key) == (isThere ? array[index].value : nil))
                if isThere { array[index].value = step } else { array.insert((key, step), at: index) }
            case 0...6:
                #expect(map.removeValue(forKey: key) == (isThere ? array.remove(at: index).value : nil))
            case 7:
                map[key, default: 7] += 1
                if isThere { array[index].value += 1 } else { array.insert((key, 8), at: index) }
            case 8 where random.chance(percent: 20):
                let first = map.popFirst()
                #expect(first?.key == array.first?.key)
                if !array.isEmpty { array.removeFirst() }
            default:
                expectNeighbours(of: key, in: map, like: array)
            }
            #expect(map.count == array.count)
            if step % 200 == 0 { expectEqual(map, array) }
        }
        expectEqual(map, array)
        while let first = map.popFirst() { #expect(first.key == array.removeFirst().key) }
        #expect(map.isEmpty && array.isEmpty && map.first == nil && map.last == nil)
    }

    private func expectEqual(_ map: SortedMap<Int, Int>, _ array: [(key: Int, value: Int)]) {
        #expect(map.elementsEqual(array) { $0 == $1 })
        #expect(map.reversed().elementsEqual(array.reversed()) { $0 == $1 })
        #expect(map.keys.elementsEqual(array.map(\.key)) && map.values.elementsEqual(array.map(\.value)))
        #expect(map.indices.map { map[$0].key } == array.map(\.key))
        let refilled = SortedMap(array.reversed().map { ($0.key, $0.value) })
        #expect(map == refilled && map.hashValue == refilled.hashValue)
    }

    private func expectNeighbours(of key: Int, in map: SortedMap<Int, Int>, like array: [(key: Int, value: Int)]) {
        let pair = array.first { $0.key == key }
        #expect(map[key] == pair?.value && map.contains(key: key) == (pair != nil))
        #expect(map.first(from: key)?.key == array.first { $0.key >= key }?.key)
        #expect(map.first(after: key)?.key == array.first { $0.key > key }?.key)
        #expect(map.last(before: key)?.key == array.last { $0.key < key }?.key)
        #expect(map.range(from: key).map(\.key) == array.map(\.key).filter { $0 >= key })
        #expect(map.range(key..<key + 40).map(\.key) == array.map(\.key).filter { $0 >= key && $0 < key + 40 })
        #expect(map.range(key...key + 40).map(\.key) == array.map(\.key).filter { $0 >= key && $0 <= key + 40 })
    }

    @Test("keys put in order fill their chunks and come out in order") func ascending() {
        var map = SortedMap<Int, Int>()
        for key in 0..<2000 { map[key] = key * 2 }
        #expect(map.count == 2000 && map[1999] == 3998 && map[2000] == nil)
        for key in stride(from: 0, to: 2000, by: 2) { map[key] = nil }
        #expect(map.keys.elementsEqual(stride(from: 1, to: 2000, by: 2)))
        #expect(map.update(1999) { $0 += 1 } != nil && map[1999] == 3999)
    }

    @Test("a map that was thinned out keeps its order, whichever end it is thinned from", arguments: [true, false])
    func thinned(fromStart: Bool) {
        var map = SortedMap((0..<3000).map { ($0, $0) })
        let gone = (0..<3000).filter { $0 % 40 != 0 }
        for key in fromStart ? gone : gone.reversed() { map[key] = nil }
        #expect(map.keys.elementsEqual(stride(from: 0, to: 3000, by: 40)))
        for key in 0..<3000 { map[key] = -key }
        #expect(map.count == 3000 && map.elementsEqual(0..<3000) { $0.key == $1 && $0.value == -$1 })
    }

    @Test("a visit from a key on ends when told") func visit() {
        let map = SortedMap((0..<500).map { ($0, "\($0)") })
        var seen: [Int] = []
        map.forEach(from: 126) { key, _ in
            seen.append(key)
            return key < 131
        }
        #expect(seen == [126, 127, 128, 129, 130, 131])
    }

    @Test("the first keys whose values are wanted come in order, as many as are asked for") func wantedKeys() {
        let map = SortedMap((0..<500).map { ($0, $0 % 3) })
        #expect(map.keys(200) { $0 == 1 } == Array(stride(from: 1, to: 500, by: 3)))
        #expect(map.keys(2) { $0 == 2 } == [2, 5])
        #expect(map.keys(0) { _ in true }.isEmpty && SortedMap<Int, Int>().keys(9) { _ in true }.isEmpty)
    }

    @Test("a value is changed in place where it is, and only there") func inPlace() {
        var map: SortedMap<String, [Int]> = ["a": [1]]
        map["b", default: []].append(2)
        #expect(map.update("a") { $0.append(3) } != nil)
        #expect(map.update("c") { $0.append(4) } == nil)
        #expect(map == ["a": [1, 3], "b": [2]])
        #expect(map["z", default: [9]] == [9] && map.count == 2)
        #expect(map.description == "[a: [1, 3], b: [2]]")
        #expect(SortedMap<Int, Int>().description == "[:]")
    }

    @Test("a copy keeps what it held while the original changes, also under a walk") func copies() {
        var map = SortedMap((0..<1000).map { ($0, $0) })
        let before = map
        for (key, value) in map where value % 2 == 0 { map[key] = nil }
        map.update(1) { $0 = -1 }
        #expect(before.count == 1000 && before[1] == 1 && before[0] == 0)
        #expect(map.count == 500 && map[1] == -1)
        map.removeAll { _, value in value > 0 }
        #expect(map == [1: -1])
        map.removeAll()
        #expect(map.isEmpty)
    }
}
