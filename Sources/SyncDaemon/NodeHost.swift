import Config
import Disk
import EventLoop
import Store
import SyncCore
import SyncModel

/// A node with a disk, a store and a clock: performs what the core asks of them and turns what comes back into events.
/// The link and people are not its business: they are told through `on…`.
final class NodeHost {
    private let folder: Folder
    private let watcher: Watcher
    private let storeWorker: WorkerPool
    /// Its one thread waits for the disk under state.db.
    private let syncWorker: WorkerPool
    private let diskPool: WorkerPool
    private let watchWorker: WorkerPool
    /// One thread: what the process dies of while it is parsed is known by being the only thing that is.
    private let parseWorker: WorkerPool
    private let deadline: Timer
    private let driver: NodeDriver
    private let storeLine: StoreLine
    private var outputs = OutputGate<Effect>()
    let crew: DiskCrew
    private let keeper: WatchKeeper
    private let rootWatch: RootWatch
    private let patrol: Patrol
    private let commands = PendingCommands()

    var onSend: (LinkID, [UInt8]) -> Void = { _, _ in }
    var onClose: (LinkID, MessageCode) -> Void = { _, _ in }
    var onReport: (Report) -> Void = { _ in }
    var onProgram: (ProgramWord) -> Void = { _ in }
    var onFinish: (FinishReason) -> Void = { _ in }
    var onStoreFailure: (StoreError) -> Void = { _ in }
    var onFolderFailure: (FolderError) -> Void = { _ in }
    /// What was done in the folder may not be on its disk, and the node stops.
    var onUnsynced: () -> Void = {}
    /// The kernel watches no more directories for us, or does again.
    var onWatchLimit: (Bool) -> Void = { _ in }
    /// The folder is back, but has to be opened anew.
    var onReturn: () -> Void = {}
    /// A batch is durable.
    var onStored: (StoreBatch) -> Void = { _ in }

    /// The core is this far behind the peer: it should send no more for now. False when it may again.
    var onFlood: (Bool) -> Void = { _ in }
    private(set) var gate = FloodGate()

    /// Disk work waits more than it computes, so there are more threads than processors on a small machine.
    private static let diskThreads = 4

    init(loop: Loop, store: Store, folder: Folder, watcher: Watcher, chunking: ChunkerParameters) throws(LoopError) {
        self.folder = folder
        self.watcher = watcher
        storeWorker = try WorkerPool(loop: loop, name: "store", threads: 1)
        syncWorker = try WorkerPool(loop: loop, name: "sync", threads: 1)
        diskPool = try WorkerPool(loop: loop, name: "disk", threads: NodeHost.diskThreads)
        watchWorker = try WorkerPool(loop: loop, name: "watch", threads: 1)
        parseWorker = try WorkerPool(loop: loop, name: "parse", threads: 1)
        deadline = Timer(loop: loop)
        let driver = NodeDriver()
        self.driver = driver
        storeLine = StoreLine(store, loop: loop, worker: storeWorker, syncer: syncWorker) { driver.post($0) }
        crew = DiskCrew(
            folder: folder, watcher: watcher, store: store, pool: diskPool, threads: NodeHost.diskThreads,
            parser: parseWorker, chunking: chunking
        ) { driver.post($0) }
        keeper = WatchKeeper(watcher, loop: loop, worker: watchWorker) { driver.post($0) }
        rootWatch = RootWatch(folder, loop: loop, pool: diskPool) { driver.post($0) }
        patrol = Patrol(loop: loop) { driver.post($0) }
        driver.perform = { [unowned self] in if outputs.letsPass($0) { perform($0) } }
        crew.onFailure = { [unowned self] in
            onFolderFailure($0)
            finish(.diskFailed)
        }
        crew.onAway = { [rootWatch] in rootWatch.hold($0) }
        rootWatch.onReturn = { [unowned self] in onReturn() }
        storeLine.onFailure = { [unowned self] in onStoreFailure($0) }
        storeLine.onStored = { [unowned self] in onStored($0) }
        storeLine.onCommitted = { [unowned self] in outputs.tell(of: $0) }
        storeLine.onDurable = { [unowned self] in
            outputs.note(durable: $0)
            while let effect = outputs.next() { perform(effect) }
        }
        storeLine.onLost = { [unowned self] in
            outputs.shut()
            onStoreFailure($0)
            finish(.storeFailed)
        }
        keeper.onLimit = { [unowned self] in
            onWatchLimit($0)
            patrol.setNeeded($0)
        }
        patrol.ask = { [unowned self] in ask(.status, then: $0) }
        patrol.onScanned = { [keeper] in keeper.noteLimit() }
        keeper.onOverflow = { [unowned self] in onReport(.note(Note(code: .watchOverflow))) }
    }

    func start(_ start: Start) {
        keeper.begin()
        rootWatch.begin()
        driver.start(start)
    }

    /// To be called before the start.
    func watchParsing(in file: [UInt8]) { crew.parsing = ParsingWatch(file: file) }

    /// The peer is held back with the frame that is too much: what is still to come of one read may be, unpacked, more than there is
    /// memory.
    func post(_ event: Event) {
        driver.post(event)
        followGate()
    }

    /// What the node knows now; no question to it.
    func reasonNotInSync(_ row: Row) -> MessageCode? { driver.node.reasonNotInSync(row) }

    func hasLostByFormat(_ copy: Path) -> Bool { driver.node.hasLostByFormat(copy) }

    func ruleLeavingOut(_ path: Path, isDirectory: Bool) -> IgnoreReason? {
        driver.node.ruleLeavingOut(path, isDirectory: isDirectory)
    }

    func ask(_ command: Command, then: @escaping (Answer) -> Void) {
        guard driver.isAlive else { return then(.refused(.nodeStopped)) }
        driver.post(.command(commands.add(then), command))
    }

    /// Asks the store once everything that the core has given to it is durable. What cannot be read cannot be worked on:
    /// the node stops, and the question is never answered.
    func question<Value: Sendable>(
        _ body: @escaping @Sendable (Store) throws(StoreError) -> Value, then: @escaping (Value) -> Void
    ) {
        storeLine.ask(body) { [unowned self] in
            switch $0 {
            case .success(let value): then(value)
            case .failure(let error):
                // Of what is lost people have been told.
                if !storeLine.isLost { onStoreFailure(error) }
                finish(.storeFailed)
            }
        }
    }

    /// Writes down small facts of the shell in this order; `then` comes when they are durable or cannot be.
    func keep(_ facts: [(key: String, value: [UInt8]?)], then: @escaping (Result<Void, StoreError>) -> Void) {
        storeLine.ask({ (store: Store) throws(StoreError) in
            for fact in facts { try store.setValue(fact.key, fact.value) }
        }) { then($0) }
    }

    /// Does something of the shell's where the store is, once everything that was given to that before is durable.
    func atStore<Value: Sendable>(_ body: @escaping @Sendable (Store) -> Value, then: @escaping (Value) -> Void) {
        storeLine.ask({ (store: Store) throws(StoreError) in body(store) }) {
            if case .success(let value) = $0 { then(value) }
        }
    }

    /// Runs `then` when the core has been told of everything that people have done up to now: what it answers then is true
    /// of that moment.
    func catchUp(then: @escaping () -> Void) { keeper.flush(then: then) }

    /// As it was when it was last looked at (each second, by `RootWatch`): a disk that hangs is not to hang the loop.
    var rootState: RootState { folder.lastRootState }
    /// What was wrong then.
    var rootTrouble: RootTrouble? { folder.rootTrouble }
    /// What the peer sends leaves this much free.
    func setReserve(_ reserve: Configuration.Reserve) { folder.setReserve { reserve.bytes(of: $0) } }

    var watchCount: Int { watcher.count }
    var isWatchLimited: Bool { watcher.isLimited }

    var space: Folder.Space? {
        do throws(FolderError) { return try folder.space() } catch { return nil }
    }

    /// To be called before each poll; true if more is waiting.
    func turn() -> Bool {
        defer {
            crew.sendOff()
            storeLine.sendOff(isAwaited: !outputs.isEmpty)
            followGate()
        }
        return driver.turn()
    }

    private func followGate() {
        if gate.follow(driver.unread) { onFlood(gate.isClosed) }
    }

    var isAlive: Bool { driver.isAlive }

    /// Runs `body` once nobody works for the node that has finished: an answer to it must not reach the next, whose jobs
    /// have the same numbers.
    func whenQuiet(_ body: @escaping () -> Void) {
        guard !storeLine.isQuiet || diskPool.outstanding > 0 || parseWorker.outstanding > 0 else { return body() }
        deadline.start(afterMilliseconds: NodeHost.quietPauseMilliseconds) { [self] in whenQuiet(body) }
    }

    private static let quietPauseMilliseconds: UInt64 = 5

    /// Waits for what the workers are doing.
    func close() {
        driver.retire()
        outputs.clear()
        commands.abandon()
        deadline.close()
        rootWatch.close()
        patrol.close()
        keeper.close()
        storeLine.close()
        // What is read can be read again; what is written is written to its end.
        folder.interrupt()
        watchWorker.close()
        parseWorker.close()
        diskPool.close()
        storeWorker.close()
        syncWorker.close()
    }

    private func perform(_ effect: Effect) {
        switch effect {
        case .load(let job, let queries): storeLine.load(job, queries)
        case .store(let job, let batch): storeLine.store(job, batch)
        case .scan(let job, let request, let rules): crew.scan(job, request, rules)
        case .inspect(let job, let paths): crew.inspect(job, paths)
        case .hash(let job, let paths): crew.hash(job, paths)
        case .read(let job, let requests): crew.read(job, requests)
        case .parse(let job, let request): crew.parse(job, request)
        case .disk(let job, let programs): crew.run(job, programs)
        case .listStage(let job): crew.listStage(job)
        case .send(let link, let frame): onSend(link, frame)
        case .close(let link, let code): onClose(link, code)
        case .wake(let milliseconds): wake(at: milliseconds)
        case .report(let report): onReport(report)
        case .answer(let command, let answer): commands.settle(command, answer)
        case .program(let word): onProgram(word)
        case .finish(let reason):
            if reason == .diskFailed { onUnsynced() }
            finish(reason)
        }
    }

    private func wake(at milliseconds: UInt64) {
        let now = Clock.monotonicMilliseconds()
        let pause = milliseconds > now ? milliseconds - now : 0
        deadline.start(afterMilliseconds: pause) { [driver] in driver.post(.deadline) }
    }

    private func finish(_ reason: FinishReason) {
        guard driver.isAlive else { return }
        driver.retire()
        outputs.clear()
        crew.forgetWaiting()
        commands.abandon()
        rootWatch.forget()
        deadline.stop()
        onFinish(reason)
    }
}
