import SyncModel

/// What lies in the stage and no intent tells of: the last process ended before it could store one. It may be whole, and by now nowhere else, for
/// its author may have lost it in a power cut. What a row wants is read, to learn what it holds, and copied from when that is wanted; the rest goes.
struct SpareState: Sendable {
    struct Spare: Sendable {
        let stat: Stat
        var stage = Stage.unknown
        /// The round under way began after it was known, so far.
        var isInRound = false
        var isWanted = false
    }

    enum Stage: Sendable {
        case unknown
        /// Some row wants a file of this size and time.
        case likely
        case named(ContentID, ChunkList)
    }

    static let bytesMax: UInt64 = 1 << 32
    var files = SortedMap<StageName, Spare>()
    private(set) var bySize = SortedMap<UInt64, [StageName]>()
    var reading: Reading?
    /// A row that wanted one does so no more: another round tells whether any does.
    var mayBeUnwanted = false

    struct Reading: Sendable {
        let name: StageName
        var hasher: ContentHasher
        var offset: UInt64 = 0
    }

    var isIdle: Bool {
        reading == nil && !mayBeUnwanted
            && files.allSatisfy { if case .likely = $0.value.stage { false } else { true } }
    }

    mutating func add(_ found: [StagedFile]) {
        for file in found {
            files[file.name] = Spare(stat: file.stat)
            bySize[file.stat.size, default: []].append(file.name)
        }
    }

    mutating func beginRound() {
        mayBeUnwanted = false
        for name in files.map(\.key) {
            files.update(name) { spare in
                spare.isInRound = true
                spare.isWanted = false
            }
        }
    }

    mutating func note(_ wanted: Entry) {
        guard case .file(let content, let size) = wanted.content else { return }
        for name in bySize[size] ?? [] {
            files.update(name) { spare in
                switch spare.stage {
                case .unknown: if spare.stat.modified.mayStand(for: wanted.modified) { spare.isWanted = true }
                case .likely: spare.isWanted = true
                case .named(let id, _): if id == content { spare.isWanted = true }
                }
            }
        }
    }

    /// Those that nobody wants.
    mutating func endRound() -> [StageName] {
        var unwanted: [StageName] = []
        for (name, spare) in files where spare.isInRound && reading?.name != name {
            if !spare.isWanted {
                unwanted.append(name)
            } else if case .unknown = spare.stage {
                files.update(name) { $0.stage = .likely }
            }
        }
        for name in unwanted { remove(name) }
        return unwanted
    }

    mutating func remove(_ name: StageName) {
        guard let size = files.removeValue(forKey: name)?.stat.size else { return }
        bySize.update(size) { $0.removeAll { $0 == name } }
    }

    /// Where a content lies, and what it is made of.
    func source(of content: ContentID, size: UInt64) -> (Place, ChunkList)? {
        for name in bySize[size] ?? [] {
            if case .named(content, let list)? = files[name]?.stage { return (.stage(name), list) }
        }
        return nil
    }
}

extension Node {
    /// A directory holds nothing, what is empty or a link is quickly made again, and reading what is very large takes too long.
    static func mayBeSpare(_ file: StagedFile) -> Bool {
        file.stat.kind == .file && file.stat.size > 0 && file.stat.size <= SpareState.bytesMax
    }

    mutating func noteSpares(wantedBy rows: [Row]) {
        guard !plan.spares.files.isEmpty else { return }
        for row in rows { if let wanted = wantedFile(row) { plan.spares.note(wanted) } }
    }

    /// The file that is to come to the path of a row and has not.
    func wantedFile(_ row: Row) -> Entry? {
        guard row.condition != .ignored else { return nil }
        let wanted = resolution(of: row).entry
        guard wanted.content.kind == .file, row.condition == .damaged || row.disk?.entry.content != wanted.content
        else { return nil }
        return wanted
    }

    mutating func noteSpareless(_ row: Row, before old: Row?) {
        guard !plan.spares.files.isEmpty, let old, let wanted = wantedFile(old),
            wantedFile(row)?.content != wanted.content,
            plan.spares.bySize[wanted.content.size]?.isEmpty == false
        else { return }
        plan.spares.mayBeUnwanted = true
    }

    mutating func pumpSpares(into effects: inout Effects) {
        guard isWorking, plan.spares.reading == nil else { return }
        let next = plan.spares.files.first { if case .likely = $0.value.stage { true } else { false } }
        guard let next else { return }
        plan.spares.reading = SpareState.Reading(name: next.key, hasher: ContentHasher(limits.chunking))
        readSpare(into: &effects)
    }

    private mutating func readSpare(into effects: inout Effects) {
        guard let reading = plan.spares.reading, let spare = plan.spares.files[reading.name] else { return }
        let request = ReadRequest(
            place: .stage(reading.name), expected: spare.stat, offset: reading.offset,
            length: limits.contentFrameBytesMax)
        effects.add(.read(newJob(.readingSpare), [request]))
    }

    mutating func finishReadingSpare(_ outcomes: [ReadOutcome], into effects: inout Effects) {
        guard var reading = plan.spares.reading, let spare = plan.spares.files[reading.name] else { return }
        guard case .bytes(let bytes)? = outcomes.first, !bytes.isEmpty else { return endReadingSpare(nil) }
        reading.hasher.update(bytes)
        reading.offset += UInt64(bytes.count)
        guard reading.offset >= spare.stat.size else {
            plan.spares.reading = reading
            return readSpare(into: &effects)
        }
        endReadingSpare(reading.hasher.finish())
    }

    private mutating func endReadingSpare(_ list: ChunkList?) {
        guard let name = plan.spares.reading?.name, let size = plan.spares.files[name]?.stat.size else { return }
        plan.spares.reading = nil
        guard let list, list.size == size else {
            plan.spares.remove(name)
            plan.abandoned.append(name)
            return
        }
        let content = ContentID(list.contentID(by: digest))
        plan.spares.files.update(name) { spare in
            spare.stage = .named(content, list)
            spare.isInRound = false
        }
        fetchAnew(content)
        plan.endRest { _ in true }
        plan.startRound()
    }
}
