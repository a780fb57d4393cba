import SyncModel
import Testing

/// The ring against a plain array: wherever the ring wraps, grows or shrinks, both must hold the same.
struct DequeTests {
    @Test("it holds what a plain array holds, through thousands of random operations", arguments: 1...4)
    func model(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var deque = Deque<Int>()
        var array: [Int] = []
        for step in 0..<4000 {
            switch random.below(9) {
            case 0...2:
                deque.append(step)
                array.append(step)
            case 3...4:
                deque.prepend(step)
                array.insert(step, at: 0)
            case 5: #expect(deque.popFirst() == (array.isEmpty ? nil : array.removeFirst()))
            case 6: #expect(deque.popLast() == array.popLast())
            case 7 where !array.isEmpty:
                let index = random.below(array.count)
                deque[index] = -step
                array[index] = -step
            case 8 where random.chance(percent: 5):
                deque.removeAll { $0 % 3 == 0 }
                array.removeAll { $0 % 3 == 0 }
            default: break
            }
            #expect(deque.count == array.count && deque.first == array.first && deque.last == array.last)
            if step % 100 == 0 { #expect(Array(deque) == array) }
        }
        #expect(Array(deque) == array)
        #expect(deque == Deque(array))
    }

    @Test("taking from an empty queue gives nothing") func empty() {
        var deque: Deque<Int> = []
        #expect(deque.popFirst() == nil && deque.popLast() == nil && deque.isEmpty)
        deque.append(contentsOf: [1, 2])
        deque.removeAll()
        #expect(deque.isEmpty && deque.first == nil)
    }

    @Test("a copy keeps what it held") func copies() {
        var deque: Deque = ["a", "b", "c"]
        let before = deque
        _ = deque.popFirst()
        deque[0] = "x"
        #expect(before == ["a", "b", "c"])
        #expect(deque == ["x", "c"])
        #expect("\(deque)" == #"["x", "c"]"#)
    }

    @Test("what was taken out is let go at once") func release() {
        final class Token {}
        var deque = Deque<Token>()
        weak var observed: Token?
        do {
            let token = Token()
            observed = token
            deque.append(token)
        }
        #expect(observed != nil)
        _ = deque.popFirst()
        #expect(observed == nil)
    }
}
