package import SyncCore
package import SyncModel

/// One of the two computers: its disk, its store, its clock, and the process that may be running on it.
///
/// The store has no volatile layer of its own. It performs requests strictly one after the other, and a batch is durable
/// at the moment at which it is performed: what a kill or a power cut loses is the rest of the queue, whole batches, so
/// that exactly a prefix is kept. `.stored` is told later; a process may die in between.
package final class Machine {
    package let index: Int
    package let name: String
    package let id: NodeID

    /// The process; nil when it does not run.
    package var node: Node?
    /// Counts starts: whatever was meant for an earlier process is dropped.
    package var process = 0
    package var isPowered = true
    package var boots = 1
    /// A start is already on its way.
    package var isStarting = false
    /// Somebody keeps the process down: no automatic restart.
    package var isHeldDown = false

    package var disk: VirtualDisk
    package var store: VirtualStore
    package var clock: VirtualClock
    package var image: Image?

    /// What the process has asked for and not been told of; all of it is gone with the process.
    package var work = Work()

    /// So many batches still succeed, then the store fails: its disk is full or broken. Nil while it is well.
    package var storeFailsAfter: Int?

    package var alerts: SortedMap<AlertKey, Alert> = [:]
    /// The last notes, oldest first.
    package var notes: Deque<Note> = []
    package var status: Status?
    package var commands: UInt64 = 0
    package var answers: [CommandAnswer] = []
    /// What programs that hold or show files were told.
    package var words: [ProgramWord] = []
    package var counters = Counters()
    package var lastAlive: Int64 = 0
    /// Times given to files so far.
    var stamps: UInt64 = 0
    /// Files that people wrote to by a name of which the daemon knew nothing, and the last such name of each.
    var writtenByNewName = SortedMap<FileIdentity, Path>()

    package static let notesMax = 200

    package init(_ index: Int, of plan: SeedPlan) {
        self.index = index
        name = Machine.names[index]
        id = Machine.id(index, seed: plan.seed)
        store = VirtualStore(node: Machine.freshRecord(index, seed: plan.seed))
        clock = VirtualClock(offset: plan.clockOffsets[index], driftPerMillion: plan.clockDriftsPerMillion[index])
        disk = VirtualDisk(
            device: 1 + UInt64(index), folder: store.node.folder,
            now: Timestamp(milliseconds: clock.wall(at: 0)))
        disk.faults.random = SeededRandom(seed: plan.seed, stream: "diskfaults\(index)")
        disk.faults.stampNanoseconds = plan.stampNanoseconds
        disk.seesWriters = plan.seesWriters
        disk.faults.reusesInodes = plan.isOn(.inodeReuse)
        disk.faults.timesMayTrailData = plan.isOn(.timesTrailData)
    }

    // By reference, because a copy of a node, a disk or a store costs more than the answer.

    package var isRunning: Bool { Machine.isRunning(&node) }
    /// How much the node holds.
    package var footprint: Footprint? { Machine.footprint(of: &node) }
    package var hasNotices: Bool { Machine.hasNotices(on: &disk) }
    /// What the store knows.
    func answers(to queries: [StoreQuery]) -> [StoreAnswer] { Machine.answers(to: queries, of: &store) }

    private static func isRunning(_ node: inout Node?) -> Bool { node != nil }
    private static func footprint(of node: inout Node?) -> Footprint? { node?.footprint }
    private static func hasNotices(on disk: inout VirtualDisk) -> Bool { disk.hasNotices }
    private static func answers(to queries: [StoreQuery], of store: inout VirtualStore) -> [StoreAnswer] {
        queries.map { store.answer($0) }
    }

    /// What the machine did so far; the difference of two looks tells whether it is quiet.
    package struct Counters: Sendable, Equatable {
        package var framesSent = 0
        package var bytesSent = 0
        /// Operations of the daemon that change its disk.
        package var mutations = 0
        /// Scans, inspections, hashes and reads.
        package var looks = 0
        /// Batches that hold more than the node's own record.
        package var batches = 0
        package var reports = 0
        package var starts = 0
    }

    /// The answer to a command, for whoever gave it.
    package struct CommandAnswer: Sendable {
        package let command: CommandID
        package let answer: Answer
    }

    /// A copy of the whole machine but its clock, to be put back later.
    package struct Image: Sendable {
        package let disk: VirtualDisk
        package let store: VirtualStore
        package let time: Int64
    }

    package struct Work: Sendable {
        /// A batch has failed: whatever is mended meanwhile, no later one succeeds.
        package var hasStoreFailed = false
        package var diskJobs: SortedMap<JobID, DiskJob> = [:]
        package var hashJobs: SortedMap<JobID, [HashRun]> = [:]
        package var storeQueue: Deque<StoreRequest> = []
        package var storeAnswers: Deque<Event> = []
        /// When the store has performed all requests, and given all answers, that it has now.
        package var storeFree: Int64 = 0
        package var storeAnswered: Int64 = 0
        /// Effects with a job number that were not yet answered.
        package var outstanding = 0
        /// The last wish of `Effect.wake`, and its number.
        package var wishTime: UInt64?
        package var wish = 0
        package var areNoticesScheduled = false
    }

    /// A job of `Effect.disk`: executed one operation per happening, so that anything may fall in between.
    package struct DiskJob: Sendable {
        package let programs: [DiskProgram]
        package var run: ProgramRun
        /// Of the programs that have ended.
        package var results: [DiskResult]
        /// `run` is that of the program after the results.
        var isBegun: Bool
    }

    package enum StoreRequest: Sendable {
        case load(JobID, [StoreQuery])
        case store(JobID, StoreBatch)
    }
}

extension Machine {
    package static let names = ["alpha", "beta"]

    /// From the seed, so that either node may have the smaller key.
    private static func id(_ index: Int, seed: UInt64) -> NodeID {
        NodeID(SHA256.digest(of: Array("node \(index) of \(seed)".utf8)))
    }

    /// Already paired, nothing known yet.
    package static func freshRecord(_ index: Int, seed: UInt64) -> NodeRecord {
        let folder = FolderID(SHA256.digest(of: Array("folder of \(seed)".utf8)))
        var record = NodeRecord(id: id(index, seed: seed), name: Array(names[index].utf8), folder: folder)
        record.peer = id(1 - index, seed: seed)
        record.peerName = Array(names[1 - index].utf8)
        return record
    }
}
