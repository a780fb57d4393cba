import SyncCore
import SyncModel

/// What leaves the node waits here until everything is durable that the core had been told is stored when it gave it.
///
/// The core is told as soon as something is committed, and what it does next waits for no disk. A crash may take commits that are not
/// synced, the last ones first. Because nothing that was done after the first of these has left, whoever looks from outside cannot tell
/// that run from one in which they were never made.
struct OutputGate<Output> {
    /// What an output does, as far as its way out is concerned.
    enum Kind {
        /// Asks for something of the node's own state.
        case inside
        /// Leaves nothing in the folder that the next start would heed, but must not come before a change that was asked for earlier.
        case look
        /// Changes the folder.
        case change
        /// Tells somebody something.
        case word
        /// The end of the node.
        case end
    }

    private struct Waiting {
        let output: Output
        let kind: Kind
        /// The commit that has to be durable.
        let commit: UInt64
    }

    /// In the order in which they came.
    private var waiting = Deque<Waiting>()
    private var changesWaiting = 0
    /// The last commit that the core may have been told of, and the last that is durable.
    private var told: UInt64 = 0
    private var durable: UInt64 = 0
    private var isShut = false

    var isEmpty: Bool { waiting.isEmpty }

    /// To be called before the core can hear of it.
    mutating func tell(of commit: UInt64) { told = max(told, commit) }

    mutating func note(durable commit: UInt64) { durable = max(durable, commit) }

    /// True if it may leave at once; otherwise `next` gives it out later.
    mutating func letsPass(_ output: Output, _ kind: Kind) -> Bool {
        switch kind {
        case .inside: return true
        case .look where changesWaiting == 0: return true
        case .end where isShut: return true
        case .look, .change, .word, .end: break
        }
        guard !isShut else { return false }
        if waiting.isEmpty, told <= durable { return true }
        waiting.append(Waiting(output: output, kind: kind, commit: kind == .look ? 0 : told))
        if kind == .change { changesWaiting += 1 }
        return false
    }

    /// The next one that may leave now.
    mutating func next() -> Output? {
        guard let first = waiting.first, first.commit <= durable else { return nil }
        _ = waiting.popFirst()
        if first.kind == .change { changesWaiting -= 1 }
        return first.output
    }

    /// Of a node that has finished: nothing that waits leaves any more.
    mutating func clear() {
        waiting = Deque()
        changesWaiting = 0
    }

    /// What was told of will never be durable: nothing but the end leaves any more.
    mutating func shut() {
        clear()
        isShut = true
    }
}

extension OutputGate where Output == Effect {
    mutating func letsPass(_ effect: Effect) -> Bool { letsPass(effect, OutputGate.kind(of: effect)) }

    private static func kind(of effect: Effect) -> Kind {
        switch effect {
        case .load, .store, .wake: .inside
        case .scan, .inspect, .hash, .read, .parse, .listStage: .look
        case .disk(_, let programs): programs.allSatisfy(\.isOfNewStage) ? .look : .change
        case .send, .close, .report, .answer, .program: .word
        case .finish: .end
        }
    }
}

extension DiskProgram {
    /// It only makes a file in the stage. No intent can name that yet, and what none names the next start reads first, or sweeps away.
    fileprivate var isOfNewStage: Bool {
        guard case .createFile(.stage(let name))? = operations.first else { return false }
        let stage = Place.stage(name)
        return operations.allSatisfy {
            switch $0 {
            case .createFile(let place), .write(let place, _, _), .truncate(let place, _), .setMode(let place, _),
                .setModified(let place, _), .syncFile(let place), .inspect(let place):
                place == stage
            case .copy, .createDirectory, .createSymlink, .syncParent, .expectAbsent, .expect, .expectContent,
                .expectIdentity, .expectUnheld, .exchange, .move, .removeDirectory, .discard:
                false
            }
        }
    }
}
