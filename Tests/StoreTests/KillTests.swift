/// A process that is killed in the middle of its work: whatever it was told is stored is there.
import Glibc
import Store
import SyncModel
import SyncSim
import Testing

@Suite("A killed process")
struct KillTests {
    @Test("every batch that was acknowledged is there, whole, and at most one more", arguments: 0..<8)
    func killed(seed: UInt64) async throws {
        let scratch = try Scratch()
        let path = scratch.path
        // The child commits batches and notes each that `perform` has returned from, until the timer kills it.
        await #expect(processExitsWith: .signal(SIGALRM)) { [path = path as String, seed = seed as UInt64] in
            var draws = Draws(seed: seed, stream: "kill")
            let store = try Store.open(directory: Array(path.utf8))
            let file = unsafe open("\(path)/acknowledged", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            try store.perform(StoreBatch([.putNode(draws.node())]))
            startTimer(microseconds: 20_000 + Int(seed) * 37_003)
            for number in UInt64(1)... {
                try store.perform(draws.numberedBatch(number))
                var bytes = number
                unsafe pwrite(file, &bytes, 8, 0)
            }
        }
        var acknowledged: UInt64 = 0
        for byte in try scratch.bytes("acknowledged").reversed() { acknowledged = acknowledged << 8 | UInt64(byte) }
        try expectPrefix(in: scratch, acknowledged, seed)
    }

    private func expectPrefix(in scratch: Scratch, _ acknowledged: UInt64, _ seed: UInt64) throws {
        let store = try scratch.open()
        let last = try #require(try store.node()).nextStage
        #expect(last == acknowledged || last == acknowledged + 1)
        var draws = Draws(seed: seed, stream: "kill")
        var virtual = VirtualStore(node: draws.node())
        virtual.perform(StoreBatch())
        if last > 0 { for number in 1...last { virtual.perform(draws.numberedBatch(number)) } }
        #expect(try virtual.isIn(store))
        store.close()
    }
}

extension Draws {
    /// A batch whose node record carries its number.
    fileprivate mutating func numberedBatch(_ number: UInt64) -> StoreBatch {
        let isMove = random.chance(percent: 20)
        let operations =
            isMove
            ? ownMove()
            : (0..<3).flatMap { _ in batch().operations }.filter {
                if case .putNode = $0 { false } else { true }
            }
        var node = node()
        node.nextStage = number
        return StoreBatch(operations + [.putNode(node)])
    }
}

/// Kills this process by a signal that nobody handles, wherever it is by then.
private func startTimer(microseconds: Int) {
    var timer = itimerval()
    timer.it_value.tv_usec = microseconds % 1_000_000
    timer.it_value.tv_sec = microseconds / 1_000_000
    unsafe setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
}
