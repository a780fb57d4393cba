import SyncModel
import Testing

@testable import SyncCore

@Suite("claims: who holds paths still, and who waits")
struct ClaimTests {
    private static func path(_ text: String) -> Path { Path(text) ?? .root }

    private static let places = ["a", "a/b", "a/b/c", "ab", "d"].map(path)

    private func claim(
        _ id: UInt64, _ path: String, isRead: Bool = false, mode: Claim.Mode = .pair, node: Author = .own
    ) -> Claim {
        Claim(
            id: id, paths: [ClaimTests.path(path)], isRead: isRead, mode: mode, holder: [], process: 1, node: node)
    }

    @Test("a path stands for itself and all below it; readers share; one node's own affairs do not concern the other")
    func excludes() {
        let (a, below, beside) = (claim(1, "a"), claim(2, "a/b"), claim(3, "ab"))
        #expect(a.excludes(below) && below.excludes(a) && !a.excludes(beside))
        #expect(!claim(1, "a", isRead: true).excludes(claim(2, "a/b", isRead: true)))
        #expect(claim(1, "a", isRead: true).excludes(claim(2, "a/b")))
        let theirs = claim(4, "a", node: .peer)
        #expect(a.excludes(theirs) && !claim(5, "a", mode: .local).excludes(theirs))
        #expect(claim(5, "a", mode: .local).excludes(claim(6, "a", mode: .local)))
    }

    /// Requests and releases at random, granted in the order in which `isFree` allows them.
    @Test(
        "whoever waits is passed by nobody he excludes, and in the end all have had their turn",
        arguments: 0..<UInt64(50))
    func isFair(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var queue = ClaimQueue()
        var granted: [UInt64] = []
        var last: UInt64 = 0
        func grant() {
            for index in queue.entries.indices where !queue.entries[index].claim.isHeld && queue.isFree(index) {
                let mine = queue.entries[index].claim
                let passed = queue.entries[..<index].contains { !$0.claim.isHeld && $0.claim.excludes(mine) }
                #expect(!passed)
                queue.entries[index].claim.isHeld = true
                granted.append(mine.id)
            }
            let held = queue.entries.filter(\.claim.isHeld).map(\.claim)
            for first in held { for second in held where first.id != second.id { #expect(!first.excludes(second)) } }
        }
        for _ in 0..<300 {
            if random.chance(percent: 60) || queue.isEmpty {
                last += 1
                let count = 1 + random.below(2)
                let paths = (0..<count).map { _ in random.pick(ClaimTests.places) ?? .root }
                let mode = random.pick([Claim.Mode.local, .pair, .strict]) ?? .pair
                queue.entries.append(
                    ClaimQueue.Entry(
                        claim: Claim(
                            id: last, paths: paths, isRead: random.chance(percent: 40), mode: mode, holder: [],
                            process: 1, node: random.chance(percent: 70) ? .own : .peer)))
            } else {
                queue.entries.remove(at: random.below(queue.entries.count))
            }
            grant()
        }
        while let index = queue.entries.firstIndex(where: \.claim.isHeld) {
            queue.entries.remove(at: index)
            grant()
        }
        #expect(queue.isEmpty, "these wait for nobody: \(queue.entries.map(\.claim.id))")
        #expect(Set(granted).count == granted.count)
    }

    @Test("C5: two claims of one program on one path wait for each other in turn, never in a circle") func twice() {
        var queue = ClaimQueue()
        queue.entries = [claim(1, "a"), claim(2, "a/b"), claim(3, "a")].map { ClaimQueue.Entry(claim: $0) }
        for expected: [Bool] in [[true, false, false], [true, false], [true]] {
            #expect(queue.entries.indices.map { queue.isFree($0) } == expected)
            queue.entries.removeFirst()
        }
    }
}
