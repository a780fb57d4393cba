package import SyncCore
package import SyncModel

/// Something that comes to pass at one moment of a world. Between two of them nothing moves.
/// The two large cases are boxed.
package enum Happening: Sendable {
    /// A micro-step of an agent, by its index in `World.agents`.
    case agent(Int)
    /// The node is told; dropped if the process is not the one it was meant for.
    indirect case tell(machine: Int, process: Int, Event)
    /// The next operation of a disk job.
    case diskOperation(machine: Int, process: Int, JobID)
    /// A scan, a look, a read, a hash begins or ends.
    indirect case diskRequest(machine: Int, process: Int, DiskRequest)
    case hashEnd(machine: Int, process: Int, JobID)
    /// The oldest request in the store's queue is performed.
    case storeRequest(machine: Int, process: Int)
    /// The oldest of the store's answers is given.
    case storeAnswer(machine: Int, process: Int)
    /// What the kernel noted reaches the watcher.
    case notices(machine: Int, process: Int)
    /// The wish of `Effect.wake`, unless a newer one has replaced it.
    case deadline(machine: Int, process: Int, wish: Int)
    case link(LinkHappening)
    /// A fault of this trait strikes; a lasting one ends, by its number.
    case fault(Trait)
    case faultEnd(Int)
    /// The service manager starts the process.
    case start(machine: Int)
    case powerOn(machine: Int)
    /// Unsynced data reaches the disk by and by.
    case writeBack(machine: Int)
    /// The operator of the healing phase looks at both nodes.
    case inspection
}

/// Disk work that is one look at the disk.
package enum DiskRequest: Sendable {
    case scan(JobID, ScanRequest, IgnoreRules)
    case inspect(JobID, [Path])
    case hash(JobID, [Path])
    case read(JobID, [ReadRequest])
    case parse(JobID, ParseRequest)
    case listStage(JobID)
}

/// What happens on the wire. `life` is the connection it belongs to; what is left of an older one is dropped.
package enum LinkHappening: Sendable {
    case attempt
    case up(machine: Int, life: UInt64)
    case deliver(to: Int, life: UInt64)
    case left(machine: Int, life: UInt64, bytes: Int)
    case down(machine: Int, life: UInt64)
    /// Has anything been heard since?
    case silence(machine: Int, life: UInt64)
}

/// Everything that is to happen, in order of (time, seeded tie-break, order of insertion).
package struct HappeningQueue: Sendable {
    private struct Turn: Comparable {
        let time: Int64
        let tie: UInt32

        static func < (left: Turn, right: Turn) -> Bool {
            left.time == right.time ? left.tie < right.tie : left.time < right.time
        }
    }

    /// Where in `waiting` each of them is: a heap moves its items about a great deal, and a number costs nothing to move.
    private var heap = Heap<Turn, Int>()
    private var waiting: [Happening?] = []
    private var free: [Int] = []

    package init() {}

    package var count: Int { heap.count }
    package var isEmpty: Bool { heap.isEmpty }
    package var nextTime: Int64? { heap.first?.priority.time }

    package mutating func insert(_ happening: Happening, at time: Int64, tie: UInt32) {
        let place = free.popLast() ?? waiting.count
        if place == waiting.count { waiting.append(happening) } else { waiting[place] = happening }
        heap.push(place, at: Turn(time: time, tie: tie))
    }

    package mutating func popFirst() -> (time: Int64, happening: Happening)? {
        guard let (turn, place) = heap.pop(), let happening = waiting[place].take() else { return nil }
        free.append(place)
        return (turn.time, happening)
    }
}
