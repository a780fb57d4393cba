import Disk
import EventLoop
import Store
import SyncCore
import SyncModel
import Synchronization

/// Disk work of the core, done by a few threads; each answer becomes an event.
final class DiskCrew {
    private let folder: Folder
    private let watcher: Watcher
    private let store: Store
    private let pool: WorkerPool
    private let threads: Int
    private let parser: WorkerPool
    private let chunking: ChunkerParameters
    private let post: (Event) -> Void
    var onFailure: (FolderError) -> Void = { _ in }
    /// The folder is away, and this is to be done when it is back.
    var onAway: (@escaping () -> Void) -> Void = { _ in }
    /// Small staged files that can be finished together.
    private var finishing: [Ending] = []
    private var groupsUnderWay = 0
    /// Notes what is parsed while it is.
    var parsing: ParsingWatch?

    private typealias Ending = (job: JobID, program: DiskProgram)

    /// So many files are worth all threads. For fewer, some stay free for other work, however large the files are.
    private static let pathsForAllThreads = 32
    private static let threadsForFewPaths = 2
    private static let pathsForTwo = 64
    /// One group is filled while the other is synced.
    private static let groupsMax = 2
    private static let filesPerGroupMax = 256
    /// A group takes as long as its slowest member.
    private static let bytesOfSmallFileMax = 256 << 10

    init(
        folder: Folder, watcher: Watcher, store: Store, pool: WorkerPool, threads: Int, parser: WorkerPool,
        chunking: ChunkerParameters,
        post: @escaping (Event) -> Void
    ) {
        self.folder = folder
        self.watcher = watcher
        self.store = store
        self.pool = pool
        self.threads = threads
        self.parser = parser
        self.chunking = chunking
        self.post = post
    }

    /// Two threads look at many paths.
    func inspect(_ job: JobID, _ paths: [Path]) {
        let folder = folder
        guard paths.count >= DiskCrew.pathsForTwo else {
            return pool.run({ folder.inspect(paths) }) { [post] in post(.inspected(job, $0)) }
        }
        let middle = paths.count / 2
        let parts = [Array(paths[..<middle]), Array(paths[middle...])]
        var seen: [Int: Inspection] = [:]
        for (index, part) in parts.enumerated() {
            pool.run({ folder.inspect(part) }) { [post] in
                seen[index] = $0
                guard let first = seen[0], let second = seen[1] else { return }
                let root = first.root == .healthy ? second.root : first.root
                post(.inspected(job, Inspection(root: root, results: first.results + second.results)))
            }
        }
    }

    func read(_ job: JobID, _ requests: [ReadRequest]) {
        let folder = folder
        pool.run({ folder.read(requests) }) { [post] in post(.readFinished(job, $0)) }
    }

    func parse(_ job: JobID, _ request: ParseRequest) {
        let (folder, parsing) = (folder, parsing)
        parser.run({
            let read = ReadRequest(
                place: request.place, expected: request.expected, offset: 0, length: request.length)
            return DiskCrew.parsed(folder.read([read]).first, parsing) { request.parse($0) }
        }) { [post] in post(.parsed(job, $0)) }
    }

    private static func parsed<Found: Sendable>(
        _ outcome: ReadOutcome?, _ parsing: ParsingWatch?, _ body: ([UInt8]) -> Found?
    ) -> ParseOutcome<Found> {
        switch outcome {
        case .failed(let error)?: .failed(error)
        case .bytes(let bytes)?:
            if let parsing {
                parsing.parse(bytes) { body(bytes) }.map { $0.map { .parsed($0) } ?? .failed(.mismatch) } ?? .poisoned
            } else {
                body(bytes).map { .parsed($0) } ?? .failed(.mismatch)
            }
        case nil: .failed(.inputOutput)
        }
    }

    /// The end of a small file waits for `sendOff`, and goes to the disk with others of its kind.
    func run(_ job: JobID, _ programs: [DiskProgram]) {
        if programs.count == 1, DiskCrew.finishesSmallFile(programs[0]) {
            finishing.append((job, programs[0]))
            return
        }
        run(programs) { [post] in post(.diskFinished(job, $0)) }
    }

    private func run(_ programs: [DiskProgram], then: @escaping ([DiskResult]) -> Void) {
        let folder = folder
        pool.run({ folder.rootState == .healthy ? folder.run(programs) : nil }) { [self] results in
            if let results { return then(results) }
            onAway { [self] in run(programs, then: then) }
        }
    }

    /// To be called at the end of a turn.
    func sendOff() {
        while !finishing.isEmpty, groupsUnderWay < DiskCrew.groupsMax {
            let group = Array(finishing.prefix(DiskCrew.filesPerGroupMax))
            finishing.removeFirst(group.count)
            groupsUnderWay += 1
            run(group.map(\.program)) { [self] results in
                groupsUnderWay = max(0, groupsUnderWay - 1)
                for (member, result) in zip(group, results) { post(.diskFinished(member.job, [result])) }
            }
        }
    }

    /// Of a node that has finished: nobody waits for it.
    func forgetWaiting() {
        finishing = []
        groupsUnderWay = 0
    }

    private static func finishesSmallFile(_ program: DiskProgram) -> Bool {
        var bytes = 0
        var isSynced = false
        for operation in program.operations {
            switch operation {
            case .write(_, _, let written): bytes += written.count
            case .syncFile(.stage): isSynced = true
            case .createFile(.stage), .setMode(.stage, _), .setModified(.stage, _), .inspect(.stage): break
            case .createFile, .createDirectory, .createSymlink, .copy, .truncate, .syncFile, .setMode, .setModified,
                .inspect, .move, .exchange, .discard, .removeDirectory, .syncParent, .expect, .expectAbsent,
                .expectContent, .expectIdentity, .expectUnheld:
                return false
            }
        }
        return isSynced && bytes <= bytesOfSmallFileMax
    }

    func parse<Found: Sendable>(
        _ paths: [Path], bytesNeeded: @escaping @Sendable (Path, UInt64) -> Int,
        by body: @escaping @Sendable (Path, _ bytes: [UInt8], _ size: UInt64) -> Found,
        then: @escaping ([ParseOutcome<Found>]) -> Void
    ) {
        let (folder, parsing) = (folder, parsing)
        parser.run(
            {
                zip(paths, folder.inspect(paths).results).map { path, found in
                    switch found {
                    case .absent: return .failed(.notFound)
                    case .failed(let error): return .failed(error)
                    case .found(let stat):
                        let request = ReadRequest(
                            place: .tree(path), expected: stat, offset: 0, length: bytesNeeded(path, stat.size))
                        return DiskCrew.parsed(folder.read([request]).first, parsing) { body(path, $0, stat.size) }
                    }
                }
            }, then: then)
    }

    func contents(of places: [Place], bytesMax: Int, then: @escaping ([ReadOutcome]) -> Void) {
        let folder = folder
        let requests = places.map { ReadRequest(place: $0, expected: nil, offset: 0, length: bytesMax) }
        pool.run({ folder.read(requests) }, then: then)
    }

    func look(at path: Path, then: @escaping (Inspection.Result?) -> Void) {
        let folder = folder
        pool.run({ folder.inspect([path]).results.first }, then: then)
    }

    /// What lies in a package, as that.
    func packages(around paths: [Path], then: @escaping ([Path]) -> Void) {
        let folder = folder
        pool.run({ paths.map { folder.package(around: $0) } }, then: then)
    }

    func digests(of places: [Place], bytesMax: UInt64, then: @escaping ([Digest?]) -> Void) {
        let folder = folder
        pool.run({ folder.digests(of: places, bytesMax: bytesMax) }, then: then)
    }

    /// A stage that cannot be listed may hold the only copy of a file: only another start can tell.
    func listStage(_ job: JobID) {
        let folder = folder
        pool.run({ DiskCrew.staged(in: folder) }) { [self] in
            switch $0 {
            case .success(let files): post(.stageListed(job, files))
            case .failure(let error): onFailure(error)
            }
        }
    }

    private static func staged(in folder: Folder) -> Result<[StagedFile], FolderError> {
        Result { () throws(FolderError) in try folder.stagedFiles() }
    }

    /// The listing of the folder meets the rows of the store page by page. A store that fails ends the chunk where it
    /// stands; the next question to the store tells the core.
    func scan(_ job: JobID, _ request: ScanRequest, _ rules: IgnoreRules) {
        let (folder, watcher, store) = (folder, watcher, store)
        pool.run({
            folder.scan(request, rules: rules, watcher: watcher) { directory, after in
                DiskCrew.rows(below: directory, after: after, in: store)
            }
        }) { [post] in post(.scanned(job, $0)) }
    }

    private static let rowsPerPage = 512

    private static func rows(below directory: Path, after: Path?, in store: Store) -> [Row]? {
        do throws(StoreError) {
            guard case .rows(let rows) = try store.answer(.below(directory, after: after, limit: rowsPerPage)) else {
                return nil
            }
            return rows
        } catch {
            return nil
        }
    }

    /// Reading is most of the work, so files are shared out among threads: each takes the next as soon as it is done
    /// with one, because nobody knows here which are large.
    func hash(_ job: JobID, _ paths: [Path]) {
        hash(paths) { [post] in post(.hashed(job, $0)) }
    }

    func hash(_ paths: [Path], then: @escaping ([HashOutcome]) -> Void) {
        let (folder, chunking, share) = (folder, chunking, SharedPaths(paths))
        guard !paths.isEmpty else { return then([]) }
        let most = paths.count < DiskCrew.pathsForAllThreads ? DiskCrew.threadsForFewPaths : threads
        var working = min(most, paths.count)
        var outcomes = [HashOutcome?](repeating: nil, count: paths.count)
        for _ in 0..<working {
            pool.run({ share.forEachLeft { folder.hash([$0], chunking: chunking) } }) { done in
                for (index, outcome) in done { outcomes[index] = outcome }
                working -= 1
                if working == 0 { then(outcomes.compactMap(\.self)) }
            }
        }
    }
}

/// Paths that several threads work off, one after the other.
private final class SharedPaths: Sendable {
    private let paths: [Path]
    private let taken = Atomic(0)

    init(_ paths: [Path]) {
        self.paths = paths
    }

    /// Until none is left; what comes of each, with its place in the list.
    func forEachLeft(_ work: (Path) -> [HashOutcome]) -> [(Int, HashOutcome)] {
        var done: [(Int, HashOutcome)] = []
        while true {
            let index = taken.add(1, ordering: .relaxed).oldValue
            guard index < paths.count else { return done }
            for outcome in work(paths[index]) { done.append((index, outcome)) }
        }
    }
}
