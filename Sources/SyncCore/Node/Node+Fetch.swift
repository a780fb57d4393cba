import SyncModel

/// Getting a content into a temporary file: from chunks this node has, the rest from the peer. Every chunk is verified
/// before use, and the finished file is on stable storage before anything refers to it.
///
/// A fetch survives a cut link: what is still missing is asked for again when the peer is back.
struct FetchState: Sendable {
    struct Fetch: Sendable {
        let size: UInt64
        var stage: StageName
        /// The tasks that want it; the first that still does gets the file, the others will find a copy of it.
        var claimants: [Path]
        var chunks: [Chunk] = []
        var offsets: [UInt64] = []
        /// Pieces at hand that are not in the file yet.
        var pieces: [Piece] = []
        /// Chunks to ask the peer for, last first.
        var missing: [UInt32] = []
        /// Chunks asked for and not yet received.
        var asked = SortedMap<UInt32, Bool>()
        var isCreated = false
        /// The program under way begins by creating the file.
        var isFirstProgram = false
        var isWriting = false
        /// The program under way is the last.
        var isFinishing: Entry?
        /// Bytes counted in `wantedBytes` for an answer that has not come.
        var reserved = 0
        /// Bytes that the program under way writes.
        var writtenBytes = 0
        /// When something of it came last, or it was asked for (monotonic milliseconds).
        var heardAt: UInt64 = 0
        var isListComplete: Bool
        /// For every chunk it is decided where it comes from.
        var isSorted = false
        var mayCopy = true
        /// A content of ours whose chunk list may tell most of this one's.
        var base: ContentID?
        /// Chunks of zeros are left out, so the length has to be set in the end.
        var hasHoles = false

        /// What has come and is not in the file yet.
        var bytesAtHand: Int { pieces.reduce(writtenBytes) { $0 + $1.source.bytesAtHand } }

        var isComplete: Bool { isSorted && pieces.isEmpty && missing.isEmpty && asked.isEmpty }
    }

    struct Piece: Sendable {
        let index: UInt32
        let source: Source

        enum Source: Sendable {
            case bytes(VerifiedBytes)
            /// Of a record file, as this node writes it.
            case made([UInt8])
            case copy(Place, offset: UInt64)

            /// Those in memory.
            var bytesAtHand: Int {
                switch self {
                case .bytes(let verified): verified.bytes.count
                case .made(let bytes): bytes.count
                case .copy: 0
                }
            }
        }
    }

    var active = SortedMap<ContentID, Fetch>()
    /// Fetches that something can be done for.
    var moved: [ContentID] = []
    /// Contents to ask the peer for, oldest last.
    var toAsk: [ContentID] = []
    /// Fetches with chunks to ask for.
    var hungry: [ContentID] = []
    /// Symlinks and directories to prepare in the stage.
    var toStage: [Path] = []
    var wantedBytes = 0
    /// Of all fetches, what has come and is not on the disk yet.
    var heldBytes = 0
    var jobs = 0

    /// A disk that is slower than the link is not to fill the memory.
    func mayAsk(_ limits: Limits) -> Bool {
        wantedBytes < limits.wantedBytesMax && heldBytes < limits.heldBytesMax
    }

    mutating func hold(_ piece: Piece, for fetch: inout Fetch) {
        fetch.pieces.append(piece)
        heldBytes += piece.source.bytesAtHand
    }

    static let askedPerFrameMax = 4_096
    private static let holesMax = 2

    /// Chunks that come many times in a row and are nothing but zeros: a hole is made of them, and is one again if they are
    /// left out.
    static func holes(in chunks: [Chunk]) -> [Chunk] {
        var repeated: [Chunk] = []
        for (chunk, next) in zip(chunks, chunks.dropFirst()) where chunk == next {
            if !repeated.contains(chunk) { repeated.append(chunk) }
            if repeated.count == holesMax { break }
        }
        return repeated.filter { SHA256.digest(of: [UInt8](repeating: 0, count: Int($0.length))) == $0.digest }
    }

    static func areSound(_ chunks: [Chunk]) -> Bool {
        chunks.allSatisfy { $0.length > 0 && $0.length <= Limits.chunkBytesMax }
    }

    /// Each digest once: a hole is one chunk, millions of times.
    func digests(of content: ContentID) -> [Digest] {
        let chunks = active[content]?.chunks ?? []
        var digests: [Digest] = []
        for chunk in chunks where chunk.digest != digests.last { digests.append(chunk.digest) }
        return digests
    }

    var isIdle: Bool { active.isEmpty && jobs == 0 && toStage.isEmpty }
}

extension Node {
    mutating func nextStage() -> StageName {
        defer { record.nextStage += 1 }
        return StageName(raw: record.nextStage)
    }

    mutating func nextVersion() -> VersionID {
        defer { record.nextVersion += 1 }
        return VersionID(raw: record.nextVersion)
    }

    mutating func begin(_ content: ContentID, for task: PlanState.Errand, copying source: (Place, ChunkList)?) {
        let (path, size) = (task.path, task.wanted.entry.content.size)
        if var active = fetch.active[content] {
            if !active.claimants.contains(path) { active.claimants.append(path) }
            fetch.active[content] = active
            return
        }
        if size == 0 && content.digest != ChunkList().contentID {
            plan.tasks[path] = nil
            apply.blocked[path] = .contentUnavailable
            return
        }
        var new = FetchState.Fetch(size: size, stage: nextStage(), claimants: [path], isListComplete: size == 0)
        new.isSorted = size == 0
        new.base = size > UInt64(limits.chunking.maximum) ? task.base : nil
        if let file = recordFile(content, at: path) {
            setChunks(file.chunks.chunks, of: &new)
            new.isSorted = true
            for (index, chunk) in zip(new.offsets, file.chunks.chunks).enumerated() {
                let bytes = file.bytes[Int(chunk.0)..<(Int(chunk.0) + Int(chunk.1.length))]
                fetch.hold(
                    FetchState.Piece(index: UInt32(index), source: .made(Array(bytes))), for: &new)
            }
        } else if let (from, list) = source, list.size == size {
            setChunks(list.chunks, of: &new)
            new.isSorted = true
            new.pieces = list.chunks.indices.map { index in
                FetchState.Piece(index: UInt32(index), source: .copy(from, offset: new.offsets[index]))
            }
        } else if size > 0 {
            fetch.toAsk.append(content)
        }
        fetch.active[content] = new
        fetch.moved.append(content)
    }

    private func setChunks(_ chunks: [Chunk], of fetch: inout FetchState.Fetch) {
        fetch.chunks = chunks
        fetch.offsets = []
        var offset: UInt64 = 0
        for chunk in chunks {
            fetch.offsets.append(offset)
            offset += UInt64(chunk.length)
        }
        fetch.isListComplete = true
    }

    mutating func pumpFetch(into effects: inout Effects) {
        guard isWorking else { return }
        discardAbandoned(into: &effects)
        stagePlain(into: &effects)
        while let content = fetch.moved.popLast() { writePieces(of: content, into: &effects) }
        guard session.isLive else { return }
        askForContents(into: &effects)
        askForChunks(into: &effects)
    }

    private mutating func discardAbandoned(into effects: inout Effects) {
        guard !plan.abandoned.isEmpty else { return }
        let programs = plan.abandoned.map { DiskProgram([.discard(.stage($0))]) }
        plan.abandoned.removeAll()
        effects.add(.disk(newJob(.nothing), programs))
    }

    /// Symlinks and directories that will be exchanged into their places are made in the stage first.
    private mutating func stagePlain(into effects: inout Effects) {
        let paths = fetch.toStage
        fetch.toStage.removeAll()
        for path in paths {
            guard let task = plan.tasks[path], task.state == .fetching else { continue }
            let name = nextStage()
            var program = DiskProgram()
            switch task.wanted.entry.content {
            case .symlink(let target):
                program.operations = [.createSymlink(.stage(name), target: target)]
            case .directory:
                program.operations = [
                    .createDirectory(.stage(name), mode: task.wanted.entry.mode),
                    .setMode(.stage(name), task.wanted.entry.mode),
                ]
            case .absent, .file:
                continue
            }
            program.operations += [
                .setModified(.stage(name), task.wanted.entry.modified), .syncFile(.stage(name)), .inspect(.stage(name)),
            ]
            fetch.jobs += 1
            effects.add(.disk(newJob(.stagingPlain(path, name, task.wanted.entry)), [program]))
        }
    }

    mutating func finishStagingPlain(
        _ path: Path, _ name: StageName, _ entry: Entry, _ results: [DiskResult], into effects: inout Effects
    ) {
        fetch.jobs -= 1
        guard let result = results.first else { return }
        // The path may want something else by now, under a task that is fetching as well.
        guard result.failure == nil, let found = result.inspected.first, let stat = found, var task = plan.tasks[path],
            task.state == .fetching, task.stage == nil, task.wanted.entry.content == entry.content
        else {
            if result.failure?.index != 0 { plan.abandoned.append(name) }
            if let failure = result.failure, plan.tasks[path]?.state == .fetching {
                fail(path, failure.error, into: &effects)
            }
            return
        }
        task.stage = PlanState.Staged(name: name, stat: stat, chunks: nil, entry: entry)
        task.state = .ready
        plan.tasks[path] = task
    }

    // MARK: Writing

    private mutating func writePieces(of content: ContentID, into effects: inout Effects) {
        guard var fetch = fetch.active[content], !fetch.isWriting else { return }
        let claimant = fetch.claimants.first {
            plan.tasks[$0]?.content == content && plan.tasks[$0]?.state == .fetching
        }
        guard let claimant, let wanted = plan.tasks[claimant]?.wanted.entry else {
            drop(content, discarding: fetch)
            return
        }
        var operations: [DiskOperation] = []
        let place = Place.stage(fetch.stage)
        for piece in fetch.pieces {
            let index = Int(piece.index)
            fetch.writtenBytes += piece.source.bytesAtHand
            switch piece.source {
            case .made(let bytes):
                operations.append(.write(place, offset: fetch.offsets[index], bytes: bytes))
            case .bytes(let verified):
                operations.append(.write(place, offset: fetch.offsets[index], bytes: verified.bytes))
            case .copy(let source, let offset):
                let chunk = fetch.chunks[index]
                operations.append(
                    .copy(
                        from: source, offset: offset, length: UInt64(chunk.length), to: place,
                        at: fetch.offsets[index], digest: chunk.digest))
            }
        }
        fetch.pieces = []
        guard !operations.isEmpty || fetch.isComplete else { return }
        fetch.isFirstProgram = !fetch.isCreated
        if !fetch.isCreated { operations.insert(.createFile(place), at: 0) }
        fetch.isCreated = true
        if fetch.isComplete {
            fetch.isFinishing = wanted
            if fetch.hasHoles { operations.append(.truncate(place, size: fetch.size)) }
            operations += [
                .setMode(place, wanted.mode), .setModified(place, wanted.modified), .syncFile(place), .inspect(place),
            ]
        }
        fetch.isWriting = true
        self.fetch.active[content] = fetch
        self.fetch.jobs += 1
        effects.add(.disk(newJob(.staging(content, fetch.stage)), [DiskProgram(operations)]))
    }

    mutating func finishStaging(
        _ content: ContentID, _ stage: StageName, _ results: [DiskResult], into effects: inout Effects
    ) {
        fetch.jobs -= 1
        guard var done = fetch.active[content], done.stage == stage, let result = results.first else {
            // Given up meanwhile: the file, if it came to be, is nobody's.
            if results.first?.failure?.index != 0 { plan.abandoned.append(stage) }
            return
        }
        done.isWriting = false
        fetch.heldBytes -= done.writtenBytes
        done.writtenBytes = 0
        if let failure = result.failure {
            // Whatever reached the file cannot be told from what did not: it is written again, to a new one.
            if failure.index == 0 && done.isFirstProgram { done.isCreated = false }
            let usedCopies =
                done.mayCopy
                && [.mismatch, .notFound, .isDirectory, .notDirectory, .unsupported].contains(failure.error)
            drop(content, discarding: done)
            if usedCopies {
                restart(content, done)
            } else {
                for path in done.claimants where plan.tasks[path]?.content == content {
                    fail(path, failure.error, into: &effects)
                }
            }
            return
        }
        guard let entry = done.isFinishing else {
            fetch.active[content] = done
            fetch.moved.append(content)
            return
        }
        fetch.active[content] = nil
        guard let size = result.inspected.first.flatMap({ $0?.size }), size == done.size else {
            plan.abandoned.append(done.stage)
            restart(content, done)
            return
        }
        setAlarm(.diskFull, if: false, into: &effects)
        setAlarm(.diskError, if: false, into: &effects)
        var claimants = done.claimants.filter {
            plan.tasks[$0]?.content == content && plan.tasks[$0]?.state == .fetching
        }
        guard !claimants.isEmpty, let found = result.inspected.first, let stat = found else {
            plan.abandoned.append(done.stage)
            return
        }
        let winner = claimants.removeFirst()
        plan.tasks.update(winner) { task in
            task.stage = PlanState.Staged(name: done.stage, stat: stat, chunks: ChunkList(done.chunks), entry: entry)
            task.state = .ready
            task.followers = claimants
        }
        readStagedHeader(of: winner, into: &effects)
        for path in claimants { plan.tasks[path] = nil }
    }

    /// What could not be copied here is taken from the peer.
    private mutating func restart(_ content: ContentID, _ old: FetchState.Fetch) {
        let claimants = old.claimants.filter {
            plan.tasks[$0]?.content == content && plan.tasks[$0]?.state == .fetching
        }
        guard !claimants.isEmpty else { return }
        var new = FetchState.Fetch(size: old.size, stage: nextStage(), claimants: claimants, isListComplete: false)
        new.mayCopy = false
        fetch.active[content] = new
        fetch.toAsk.append(content)
    }

    /// It is here, as has turned out while it was asked for.
    mutating func fetchAnew(_ content: ContentID) {
        guard let old = fetch.active[content] else { return }
        drop(content, discarding: old)
        for path in old.claimants where plan.tasks[path]?.content == content { cancel(path) }
    }

    private mutating func drop(_ content: ContentID, discarding old: FetchState.Fetch) {
        fetch.active[content] = nil
        fetch.heldBytes -= old.bytesAtHand
        fetch.wantedBytes -= old.reserved
        for (index, _) in old.asked { fetch.wantedBytes -= Int(old.chunks[Int(index)].length) }
        if old.isCreated && !old.isWriting { plan.abandoned.append(old.stage) }
    }

    /// A task could not be done: its row says why, and it is tried again later.
    mutating func fail(_ path: Path, _ error: DiskError, into effects: inout Effects) {
        fail(path, reason: Node.reason(for: error), error.facts(at: path), into: &effects)
    }

    mutating func fail(
        _ path: Path, reason: MessageCode, _ facts: AlertFacts = AlertFacts(), into effects: inout Effects
    ) {
        if reason == .diskFull || reason == .diskError { setAlarm(reason, facts, if: true, into: &effects) }
        guard let task = plan.tasks[path] else { return }
        plan.tasks[path] = nil
        if let stage = task.stage { abandon(stage, of: path) }
        for follower in task.followers { plan.want(follower) }
        apply.blocked[path] = reason
        rest(path)
    }

    /// Not again before the next try of everything that waits, unless something new is learnt about the path.
    mutating func rest(_ path: Path) {
        timers.retrySoon(at: now, limits)
        if plan.resting.count < PlanState.freshMax { plan.resting[path] = true }
    }

    // MARK: Asking

    private mutating func askForContents(into effects: inout Effects) {
        var contents: [ContentID] = []
        var wishes: [ChangedWish] = []
        while fetch.mayAsk(limits), contents.count < 1_024, let content = fetch.toAsk.first {
            fetch.toAsk.removeFirst()
            guard let size = fetch.active[content]?.size, fetch.active[content]?.isListComplete == false else {
                continue
            }
            let reserved = Int(min(size, UInt64(limits.chunking.maximum)))
            fetch.active.update(content) {
                $0.reserved = reserved
                $0.heardAt = now.monotonicMilliseconds
            }
            fetch.wantedBytes += reserved
            if session.peerTellsChanges, let base = fetch.active[content]?.base {
                wishes.append(ChangedWish(content: content, base: base))
            } else {
                contents.append(content)
            }
        }
        if !wishes.isEmpty { send(.wantChanged(wishes), into: &effects) }
        if !contents.isEmpty { send(.want(contents), into: &effects) }
    }

    private mutating func askForChunks(into effects: inout Effects) {
        while fetch.mayAsk(limits), let content = fetch.hungry.first {
            guard var hungry = fetch.active[content], !hungry.missing.isEmpty else {
                fetch.hungry.removeFirst()
                continue
            }
            var indexes: [UInt32] = []
            if hungry.asked.isEmpty { hungry.heardAt = now.monotonicMilliseconds }
            while fetch.wantedBytes < limits.wantedBytesMax, indexes.count < FetchState.askedPerFrameMax,
                let next = hungry.missing.popLast()
            {
                indexes.append(next)
                hungry.asked[next] = true
                fetch.wantedBytes += Int(hungry.chunks[Int(next)].length)
            }
            fetch.active[content] = hungry
            send(.wantChunks(content, indexes), into: &effects)
        }
    }

    /// The link is new: everything that had been asked for is asked for again.
    mutating func askAgain() {
        fetch.toAsk = []
        fetch.hungry = []
        fetch.wantedBytes = 0
        var again = fetch.active
        for (content, old) in fetch.active {
            var new = old
            new.reserved = 0
            new.missing += old.asked.map(\.key).reversed()
            new.asked = SortedMap()
            again[content] = new
            if !new.isListComplete {
                new.chunks = []
                again[content] = new
                fetch.toAsk.append(content)
            } else if !new.isSorted {
                enqueue(.findChunks(content))
            } else if !new.missing.isEmpty {
                fetch.hungry.append(content)
            }
        }
        fetch.active = again
    }

    // MARK: Answers. What does not hash to what was asked for is asked for again later: a file can change between the
    // sender's look and its read, and one bad file must not take the link down.

    mutating func takeSmallContents(_ contents: [SmallContent], into effects: inout Effects) {
        for small in contents {
            guard var done = fetch.active[small.id], !done.isListComplete else { continue }
            guard let verified = VerifiedBytes(small, size: done.size, by: digest) else {
                takeRefusal(of: small.id, reason: .contentChanging, into: &effects)
                continue
            }
            release(&done)
            setChunks([verified.chunk], of: &done)
            done.isSorted = true
            fetch.hold(FetchState.Piece(index: 0, source: .bytes(verified)), for: &done)
            fetch.active[small.id] = done
            fetch.moved.append(small.id)
        }
    }

    private mutating func release(_ done: inout FetchState.Fetch) {
        fetch.wantedBytes -= done.reserved
        done.reserved = 0
    }

    mutating func takeChunkList(_ page: ContentPage, into effects: inout Effects) {
        let (known, isComplete, size) =
            fetch.active[page.content].map { ($0.chunks.count, $0.isListComplete, $0.size) } ?? (0, true, 0)
        guard !isComplete, Int(page.first) == known else { return }
        let countMax = size / UInt64(max(1, limits.chunking.minimum)) + 1
        guard UInt64(page.total) <= countMax, FetchState.areSound(page.chunks), !page.chunks.isEmpty else {
            takeRefusal(of: page.content, reason: .contentUnavailable, into: &effects)
            return
        }
        // In place: a list of millions must not be copied with each of its pages.
        fetch.active.update(page.content) {
            $0.chunks += page.chunks
            $0.heardAt = now.monotonicMilliseconds
        }
        guard known + page.chunks.count == Int(page.total), let done = fetch.active[page.content] else { return }
        if !take(ChunkList(done.chunks), of: page.content) {
            takeRefusal(of: page.content, reason: .contentUnavailable, into: &effects)
        }
    }

    /// The list is whole. False if it is that of another content.
    private mutating func take(_ list: ChunkList, of content: ContentID) -> Bool {
        guard var done = fetch.active[content], list.size == done.size, list.contentID(by: digest) == content.digest
        else { return false }
        release(&done)
        setChunks(list.chunks, of: &done)
        fetch.active[content] = done
        if done.mayCopy { enqueue(.findChunks(content)) } else { wantAllChunks(content, found: []) }
        return true
    }

    /// Taken once: if it does not fit, the whole list is asked for.
    mutating func takeChangedList(_ list: ChangedList) {
        guard let waiting = fetch.active[list.content], !waiting.isListComplete, waiting.chunks.isEmpty,
            waiting.base == list.base
        else { return }
        fetch.active.update(list.content) { $0.base = nil }
        enqueue(.rebuildList(list))
    }

    mutating func rebuildList(_ list: ChangedList, _ answers: inout Answers) {
        let known = answers.chunkList()
        guard var waiting = fetch.active[list.content], !waiting.isListComplete, waiting.chunks.isEmpty else { return }
        let countMax = waiting.size / UInt64(max(1, limits.chunking.minimum)) + 1
        if let chunks = known.flatMap({ list.applied(to: $0, countMax: countMax) }), FetchState.areSound(chunks),
            take(ChunkList(chunks), of: list.content)
        {
            return
        }
        release(&waiting)
        fetch.active[list.content] = waiting
        fetch.toAsk.append(list.content)
    }

    /// Chunks that are somewhere in this node's folder are copied, the rest is asked for.
    mutating func findChunks(_ content: ContentID, _ answers: inout Answers, into effects: inout Effects) {
        wantAllChunks(content, found: answers.chunkSources())
    }

    private mutating func wantAllChunks(_ content: ContentID, found: [ChunkSource]) {
        guard var done = fetch.active[content], done.isListComplete, !done.isSorted else { return }
        done.isSorted = true
        let sources = SortedMap(found.map { ($0.digest, $0) })
        let holes = FetchState.holes(in: done.chunks)
        done.hasHoles = !holes.isEmpty
        for (index, chunk) in done.chunks.enumerated() {
            if holes.contains(chunk) { continue }
            if let source = sources[chunk.digest], source.length == chunk.length, !apply.touches(source.path) {
                done.pieces.append(
                    FetchState.Piece(index: UInt32(index), source: .copy(.tree(source.path), offset: source.offset)))
            } else {
                done.missing.append(UInt32(index))
            }
        }
        done.missing.reverse()
        let isHungry = !done.missing.isEmpty
        fetch.active[content] = done
        if isHungry { fetch.hungry.append(content) }
        fetch.moved.append(content)
    }

    mutating func takeChunks(_ content: ContentID, _ chunks: [ChunkData], into effects: inout Effects) {
        guard var done = fetch.active[content] else { return }
        for data in chunks {
            guard done.asked.contains(key: data.index) else { continue }
            let chunk = done.chunks[Int(data.index)]
            guard let verified = VerifiedBytes(data.bytes, as: chunk, by: digest) else {
                takeRefusal(of: content, reason: .contentChanging, into: &effects)
                return
            }
            done.asked[data.index] = nil
            done.heardAt = now.monotonicMilliseconds
            fetch.wantedBytes -= Int(chunk.length)
            fetch.hold(FetchState.Piece(index: data.index, source: .bytes(verified)), for: &done)
        }
        fetch.active[content] = done
        fetch.moved.append(content)
    }

    /// The peer cannot give the content, now or ever. Usually a newer state is on its way.
    mutating func takeRefusal(of content: ContentID, reason: MessageCode, into effects: inout Effects) {
        guard let done = fetch.active[content] else { return }
        drop(content, discarding: done)
        for path in done.claimants where plan.tasks[path]?.content == content {
            fail(path, reason: reason, into: &effects)
        }
    }
}
