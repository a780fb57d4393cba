import SyncModel
import Testing

/// The heap against a list that is kept sorted; equal priorities must leave in the order they came.
struct HeapTests {
    @Test(
        "the smallest comes first and equals keep their order, through thousands of random operations", arguments: 1...4
    )
    func model(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var heap = Heap<Int, Int>()
        /// Kept sorted; an equal priority is placed after those already there.
        var array: [(priority: Int, element: Int)] = []
        for step in 0..<4000 {
            if random.chance(percent: 55) {
                let priority = random.below(20)
                heap.push(step, at: priority)
                array.insert((priority, step), at: array.firstIndex { $0.priority > priority } ?? array.count)
            } else if random.chance(percent: 2) {
                heap.removeAll { $0 % 4 == 0 }
                array.removeAll { $0.element % 4 == 0 }
            } else {
                let expected = array.isEmpty ? nil : array.removeFirst()
                let taken = heap.pop()
                #expect(taken?.priority == expected?.priority && taken?.element == expected?.element)
            }
            #expect(heap.count == array.count && heap.first?.element == array.first?.element)
        }
        #expect(heap.inOrder.map(\.element) == array.map(\.element))
        while let next = heap.pop() { #expect(next.element == array.removeFirst().element) }
        #expect(heap.isEmpty && array.isEmpty)
    }

    @Test("only what is due comes out") func due() {
        var heap = Heap<UInt64, String>()
        heap.push("late", at: 20)
        heap.push("first", at: 10)
        heap.push("second", at: 10)
        #expect(heap.pop(upTo: 9) == nil)
        #expect(heap.pop(upTo: 10)?.element == "first")
        #expect(heap.pop(upTo: 19)?.element == "second")
        #expect(heap.pop(upTo: 19) == nil)
        #expect(heap.count == 1)
    }

    @Test("elements may be their own priority") func plain() {
        var heap = Heap<Int, Int>()
        for number in [5, 3, 9, 3, 1] { heap.push(number) }
        var sorted: [Int] = []
        while let next = heap.pop() { sorted.append(next.element) }
        #expect(sorted == [1, 3, 3, 5, 9])
        heap.push(7)
        heap.removeAll()
        #expect(heap.pop() == nil)
    }
}
