import SyncModel

/// Answering the peer's wishes for contents: small ones many to a frame, large ones as a chunk list and then the chunks
/// the peer does not have. Never more in memory than the link will take.
struct ServeState: Sendable {
    enum Request: Sendable {
        /// The peer may have the list of another content, from which this one's can be told.
        case content(ContentID, base: ContentID?)
        case chunks(ContentID, [UInt32])

        var content: ContentID {
            switch self {
            case .content(let content, _), .chunks(let content, _): content
            }
        }

        var base: ContentID? { if case .content(_, let base) = self { base } else { nil } }
    }

    /// One piece that is being read, and what it is for.
    struct Reading: Sendable {
        let content: ContentID
        let path: Path
        /// Nil for a whole small content.
        let index: UInt32?
    }

    static let queueMax = 8_192
    static let servedMax = 1_024

    var queue = Deque<Request>()
    var isReading = false
    /// What was read for the peer not long ago.
    private var served = SortedMap<ContentID, Bool>()

    mutating func noteServed(_ content: ContentID) {
        if served.count >= ServeState.servedMax { served.removeAll() }
        served[content] = true
    }

    /// The peer asks again for what it was sent. It may not have been what our row says: a write through `mmap` changes a
    /// file without any time.
    mutating func isAskedAgain(_ content: ContentID) -> Bool { served.removeValue(forKey: content) != nil }
}

extension Node {
    mutating func noteWishes(_ requests: [ServeState.Request]) -> Bool {
        serve.queue.append(contentsOf: requests)
        return serve.queue.count <= ServeState.queueMax
    }

    mutating func pumpServe(into effects: inout Effects) {
        guard isWorking, !record.isPaused, mayFillLink, !serve.isReading, !serve.queue.isEmpty else { return }
        var requests: [ServeState.Request] = []
        while requests.count < limits.batchPathsMax, let next = serve.queue.popFirst() { requests.append(next) }
        serve.isReading = true
        enqueue(.serve(requests))
    }

    /// Looks up where the contents are and reads as much as one frame holds; the rest goes back to the queue.
    mutating func readForPeer(_ requests: [ServeState.Request], _ answers: inout Answers, into effects: inout Effects) {
        serve.isReading = false
        guard session.isLive else { return }
        let holders = Holders(answers.rows())
        let lists = requests.map { _ in answers.chunkList() }
        let bases = requests.map { $0.base == nil ? nil : answers.chunkList() }
        var readings: [ServeState.Reading] = []
        var reads: [ReadRequest] = []
        var bytes = 0
        var postponed: [ServeState.Request] = []
        for (index, request) in requests.enumerated() {
            if bytes >= limits.contentFrameBytesMax {
                postponed.append(request)
                continue
            }
            guard let holder = holders[request.content].first, let stat = holder.disk?.stat else {
                send(.gone(request.content), into: &effects)
                continue
            }
            guard let list = lists[index], holder.condition == .normal || isLeftOutUntold(holder) else {
                // What the rules leave out is not looked at, but it is not gone: once they let go of it, or the other node has
                // them as well, nobody waits for it any more.
                if holder.condition != .ignored { watch.toHash[holder.path] = true }
                send(.later(request.content), into: &effects)
                continue
            }
            switch request {
            case .content(let content, let base):
                if serve.isAskedAgain(content), holder.condition == .normal { watch.toHash[holder.path] = true }
                if list.chunks.count == 1 {
                    readings.append(ServeState.Reading(content: content, path: holder.path, index: nil))
                    reads.append(read(holder.path, stat, at: 0, list.chunks[0].length))
                    bytes += Int(list.chunks[0].length)
                } else if let base, let known = bases[index],
                    let changed = ChangedList(of: content, list, since: base, known)
                {
                    send(.changedList(changed), into: &effects)
                } else {
                    sendChunkList(content, list, into: &effects)
                }
            case .chunks(let content, let indexes):
                let rest = addReads(content, indexes, list, holder.path, stat, &readings, &reads, &bytes)
                if !rest.isEmpty { postponed.append(.chunks(content, rest)) }
            }
        }
        for request in postponed.reversed() { serve.queue.prepend(request) }
        guard !reads.isEmpty else { return }
        serve.isReading = true
        effects.add(.read(newJob(.serving(readings)), reads))
    }

    private func read(_ path: Path, _ stat: Stat, at offset: UInt64, _ length: UInt32) -> ReadRequest {
        ReadRequest(place: .tree(path), expected: stat, offset: offset, length: Int(length))
    }

    /// Adds the chunks that fit; returns those that do not.
    private func addReads(
        _ content: ContentID, _ indexes: [UInt32], _ list: ChunkList, _ path: Path, _ stat: Stat,
        _ readings: inout [ServeState.Reading], _ reads: inout [ReadRequest], _ bytes: inout Int
    ) -> [UInt32] {
        var offsets: [UInt64] = []
        var offset: UInt64 = 0
        for chunk in list.chunks {
            offsets.append(offset)
            offset += UInt64(chunk.length)
        }
        for (position, index) in indexes.enumerated() {
            guard Int(index) < list.chunks.count else { continue }
            if bytes >= limits.contentFrameBytesMax { return Array(indexes[position...]) }
            let chunk = list.chunks[Int(index)]
            readings.append(ServeState.Reading(content: content, path: path, index: index))
            reads.append(read(path, stat, at: offsets[Int(index)], chunk.length))
            bytes += Int(chunk.length)
        }
        return []
    }

    private mutating func sendChunkList(_ content: ContentID, _ list: ChunkList, into effects: inout Effects) {
        var first = 0
        let total = list.chunks.count
        repeat {
            let end = min(first + Limits.chunksPerPageMax, total)
            let page = ContentPage(
                content: content, first: UInt32(first), total: UInt32(total), chunks: Array(list.chunks[first..<end]))
            send(.chunkList(page), into: &effects)
            first = end
        } while first < total
    }

    mutating func finishReading(_ job: JobID, _ outcomes: [ReadOutcome], into effects: inout Effects) {
        switch jobs.removeValue(forKey: job) {
        case .ignoreFiles(let files, let areAll)?: takeRules(files, areAll: areAll, outcomes, into: &effects)
        case .readingKept(let wanted, let version)?:
            finishReadingKept(wanted, version, outcomes, into: &effects)
        case .readingSpare?: finishReadingSpare(outcomes, into: &effects)
        case .serving(let readings)?: sendRead(readings, outcomes, into: &effects)
        case .some, .none: break
        }
    }

    private mutating func sendRead(
        _ readings: [ServeState.Reading], _ outcomes: [ReadOutcome], into effects: inout Effects
    ) {
        serve.isReading = false
        guard session.isLive else { return }
        var small: [SmallContent] = []
        var chunks: [(ContentID, ChunkData)] = []
        var unread = SortedMap<ContentID, Bool>()
        for (reading, outcome) in zip(readings, outcomes) {
            switch outcome {
            case .bytes(let bytes):
                serve.noteServed(reading.content)
                noteServed(reading.content, at: reading.path, isWhole: true)
                if let index = reading.index {
                    chunks.append((reading.content, ChunkData(index: index, bytes: bytes)))
                } else {
                    small.append(SmallContent(id: reading.content, bytes: bytes))
                }
            case .failed:
                // It is not what our row says: look again, and let the newer entry tell the peer.
                look(at: reading.path)
                noteServed(reading.content, at: reading.path, isWhole: false)
                unread[reading.content] = true
            }
        }
        if !small.isEmpty { send(.contents(small), into: &effects) }
        var start = 0
        while start < chunks.count {
            var end = start
            while end < chunks.count, chunks[end].0 == chunks[start].0 { end += 1 }
            if !unread.contains(key: chunks[start].0) {
                send(.chunks(chunks[start].0, chunks[start..<end].map(\.1)), into: &effects)
            }
            start = end
        }
        for (content, _) in unread { send(.later(content), into: &effects) }
    }
}
