import Disk
import Store
import SyncCore
import SyncModel

/// What the shell asks of store and folder beside the core; answered after everything the core has given to the store.
extension NodeHost {
    /// What only the store can count.
    struct Tally: Sendable {
        var bytes: UInt64
        var conflicts: Int
    }

    /// A conflict copy that lies in the folder, or was set aside; and what bears the name it was made of.
    struct Conflict: Sendable {
        let copy: Path
        let lost: Entry
        let milliseconds: Int64
        /// Where the bytes are now.
        let place: Place
        /// What the copy was made of. Of a long name only the beginning is in that of its copy: nil if nothing that is known is called like it, or several things are.
        let path: Path?
        let original: Row?
        /// The copy lost by its format. Nil where the two cannot be compared any more.
        let isDowngrade: Bool?

        /// Settled are those whose copy is not in the folder any more.
        var isOpen: Bool { if case .tree = place { true } else { false } }

        /// It is settled, and what was in the copy has the name.
        var isTaken: Bool { !isOpen && original?.disk?.entry.content == lost.content }
    }

    private static let pageRows = 256

    func tally(then: @escaping (Tally) -> Void) {
        question(
            { (store: Store) throws(StoreError) -> Tally in
                let conflicts = try NodeHost.rows(store, .conflictCopies(limit: Limits.conflictCopiesMax)).count
                return Tally(bytes: try store.totals().bytes, conflicts: conflicts)
            }, then: then)
    }

    /// With `all` also the settled ones, as long as their copies are kept.
    func conflicts(all: Bool, then: @escaping ([Conflict]) -> Void) {
        question(
            { (store: Store) throws(StoreError) -> [Conflict] in
                let copies = try NodeHost.rows(store, .conflictCopies(limit: Limits.conflictCopiesMax))
                let settled = all ? try NodeHost.settledCopies(store) : []
                let made = try NodeHost.originals(of: copies.map(\.path) + settled.map(\.path), store)
                let paths = Set(made.values).sorted()
                let rows = Dictionary(
                    try NodeHost.rows(store, .rows(paths)).map { ($0.path, $0) },
                    uniquingKeysWith: { first, _ in first })
                return copies.compactMap { NodeHost.conflict($0, made[$0.path], rows) }
                    + settled.map { NodeHost.conflict($0, made[$0.path], rows) }
            }, then: then)
    }

    private static func conflict(_ copy: Row, _ path: Path?, _ rows: [Path: Row]) -> Conflict? {
        guard let disk = copy.disk else { return nil }
        let original = path.flatMap { rows[$0] }
        return Conflict(
            copy: copy.path, lost: disk.entry,
            milliseconds: Int64(clamping: disk.origins.content.time.wallMilliseconds), place: .tree(copy.path),
            path: path, original: original, isDowngrade: copy.isDowngrade(of: original))
    }

    private static func conflict(_ copy: KeptVersion, _ path: Path?, _ rows: [Path: Row]) -> Conflict {
        Conflict(
            copy: copy.path, lost: copy.entry, milliseconds: copy.keptMilliseconds, place: copy.place,
            path: path, original: path.flatMap { rows[$0] }, isDowngrade: nil)
    }

    /// What each copy was made of, see `Conflict.path`.
    private static func originals(of copies: [Path], _ store: Store) throws(StoreError) -> [Path: Path] {
        var originals: [Path: Path] = [:]
        for copy in copies {
            let named = ConflictName.parts(of: copy)?.original
            guard let beginning = ConflictName.cutOriginal(of: copy) else {
                originals[copy] = named
                continue
            }
            originals[copy] = try longOriginal(of: copy, named, beginning, store)
        }
        return originals
    }

    /// What is called like it and lies in the folder, or did, if nothing does.
    private static func longOriginal(
        of copy: Path, _ named: Path?, _ beginning: Path, _ store: Store
    ) throws(StoreError) -> Path? {
        guard let directory = beginning.parent else { return nil }
        var fitting = try rows(store, .rows([named].compactMap(\.self)))
        var cursor = beginning
        while true {
            let page = try rows(store, .below(directory, after: cursor, limit: pageRows))
            fitting += page.filter { row in
                // Copies begin alike as well, and of a copy's copy the name does not tell.
                row.path != named && !ConflictName.isConflictCopy(row.path)
                    && ConflictName.isNamed(copy, after: row.path)
            }
            // Names that begin alike, and what is below them, come one after the other.
            guard let last = page.last, page.count == pageRows,
                last.path.bytes.starts(with: beginning.bytes)
            else { break }
            cursor = last.path
        }
        let live = fitting.filter { $0.disk != nil }
        let candidates = live.isEmpty ? fitting : live
        return candidates.count == 1 ? candidates.first?.path : nil
    }

    /// The latest kept version of each conflict copy that is not in the folder any more.
    private static func settledCopies(_ store: Store) throws(StoreError) -> [KeptVersion] {
        guard case .versions(let all) = try store.answer(.versions(nil, limit: .max)) else { return [] }
        var latest = SortedMap<Path, KeptVersion>()
        for version in all where ConflictName.isConflictCopy(version.path) { latest[version.path] = version }
        for row in try rows(store, .rows(Array(latest.keys))) where row.disk != nil { latest[row.path] = nil }
        return latest.map(\.value).suffix(Limits.conflictCopiesMax)
    }

    /// Versions of files that lie below a directory, or did, newest first. A record in quarantine is brought back
    /// by its conflict.
    func versions(below directory: Path, then: @escaping ([KeptVersion]) -> Void) {
        question(
            { (store: Store) throws(StoreError) -> [KeptVersion] in
                guard case .versions(let all) = try store.answer(.versionsBelow(directory)) else { return [] }
                return all.filter { $0.isPrunable || $0.isOfDamage }
            }, then: then)
    }

    /// Everything that lies in quarantine.
    func quarantined(then: @escaping (Set<VersionID>) -> Void) {
        question(
            { (store: Store) throws(StoreError) -> Set<VersionID> in
                guard case .versions(let all) = try store.answer(.versions(nil, limit: .max)) else { return [] }
                return Set(all.filter(\.isOfDamage).map(\.id))
            }, then: then)
    }

    /// What waits for room, and what takes it that need not.
    struct Room: Sendable {
        var files: Int
        var neededBytes: UInt64 = 0
        var keptBytes: UInt64 = 0
    }

    func room(neededAt paths: [Path], then: @escaping (Room) -> Void) {
        question(
            { (store: Store) throws(StoreError) -> Room in
                var room = Room(files: paths.count)
                let needed = try NodeHost.rows(store, .rows(paths)).map { row in
                    row.heads.map(\.entry.content.size).max() ?? 0
                }
                room.neededBytes = UInt64(clamping: needed.reduce(UInt128(0)) { $0 + UInt128($1) })
                if case .prunable(_, let bytes) = try store.answer(.prunable(limit: 0)) { room.keptBytes = bytes }
                return room
            }, then: then)
    }

    func row(at path: Path, then: @escaping (Row?) -> Void) {
        rows(at: [path]) { then($0.first) }
    }

    /// The latest own entries, oldest first; all that are kept if `count` is nil.
    func ownLog(last count: Int?, then: @escaping ([LogRecord]) -> Void) {
        guard count != 0 else { return then([]) }
        question(
            { (store: Store) throws(StoreError) -> [LogRecord] in
                guard case .log(let records) = try store.answer(.log(after: .none, limit: .max)) else { return [] }
                return count.map { Array(records.suffix($0)) } ?? records
            }, then: then)
    }

    /// Page by page, so that the node's own work goes on in between.
    func savedSets(_ sets: SavedSets, then: @escaping (SavedSets) -> Void) {
        if sets.isEmpty { return then(sets) }
        look(sets, .own, after: .none) { [unowned self] in look($0, .peer, after: .none, then: then) }
    }

    private func look(
        _ sets: SavedSets, _ author: Author, after: LogPosition, then: @escaping (SavedSets) -> Void
    ) {
        question(
            { (store: Store) throws(StoreError) -> (SavedSets, LogPosition?) in
                let answer = try store.answer(.changeSets(author, after: after, limit: NodeHost.logPage))
                guard case .changeSets(let page) = answer else { return (sets, nil) }
                var sets = sets
                for stored in page { sets.look(at: stored) }
                return (sets, page.count < NodeHost.logPage ? nil : page.last?.position)
            }) { [unowned self] sets, last in
                guard let last else { return then(sets) }
                look(sets, author, after: last, then: then)
            }
    }

    /// Whether the stored change sets of both nodes can be read.
    func checkSets(then: @escaping (_ own: SetCheck, _ peer: SetCheck) -> Void) {
        question(
            { (store: Store) throws(StoreError) -> [SetCheck] in
                let chunking = Limits().chunking
                var checks: [SetCheck] = []
                for author in [Author.own, .peer] {
                    let answer = try store.answer(.changeSets(author, after: .none, limit: .max))
                    let sets = if case .changeSets(let sets) = answer { sets } else { [StoredChangeSet]() }
                    checks.append(SetCheck(sets) { ContentHasher.chunks(of: $0, chunking).contentID })
                }
                return checks
            }) { checks in then(checks[0], checks[1]) }
    }

    /// The other node's latest entry about each path, oldest first. What a later one has replaced is not kept here.
    func peerLog(last count: Int?, then: @escaping ([PeerEntry]) -> Void) {
        guard count != 0 else { return then([]) }
        gatherPeerLog(after: nil, count, [], then: then)
    }

    /// Page by page, so that the node's own work goes on in between.
    private func gatherPeerLog(
        after: Path?, _ count: Int?, _ found: [PeerEntry], then: @escaping ([PeerEntry]) -> Void
    ) {
        page(after: after, limit: NodeHost.logPage) { [unowned self] rows, next in
            var found = found
            for row in rows {
                for head in row.heads where head.origin.author == .peer {
                    found.append(PeerEntry(path: row.path, revision: head))
                }
            }
            // Only what is shown need be in order.
            if next == nil || count != nil { found.sort { $0.revision.origin.position < $1.revision.origin.position } }
            if let count { found = found.suffix(count) }
            guard let next else { return then(found) }
            gatherPeerLog(after: next, count, found, then: then)
        }
    }

    private static let logPage = 4_096

    /// A page of rows, and where the next one begins; nil after the last.
    func page(after: Path?, limit: Int, then: @escaping ([Row], Path?) -> Void) {
        question({ (store: Store) throws(StoreError) -> [Row] in
            try NodeHost.rows(store, .below(.root, after: after, limit: limit))
        }) { rows in then(rows, rows.count == limit ? rows.last?.path : nil) }
    }

    func rows(at paths: [Path], then: @escaping ([Row]) -> Void) {
        question({ (store: Store) throws(StoreError) -> [Row] in try NodeHost.rows(store, .rows(paths)) }, then: then)
    }

    /// Reads files whole, beside the core.
    func hash(_ paths: [Path], then: @escaping ([HashOutcome]) -> Void) { crew.hash(paths, then: then) }

    /// What comes of parsing files of the folder, as they are now: of each as much as is asked for of one of its size.
    func parse<Found: Sendable>(
        _ paths: [Path], bytesNeeded: @escaping @Sendable (Path, UInt64) -> Int,
        by parser: @escaping @Sendable (Path, _ bytes: [UInt8], _ size: UInt64) -> Found,
        then: @escaping ([ParseOutcome<Found>]) -> Void
    ) {
        crew.parse(paths, bytesNeeded: bytesNeeded, by: parser, then: then)
    }

    /// The beginnings of what lies at these places.
    func contents(of places: [Place], bytesMax: Int, then: @escaping ([ReadOutcome]) -> Void) {
        crew.contents(of: places, bytesMax: bytesMax, then: then)
    }

    /// What lies there now, beside the core.
    func look(at path: Path, then: @escaping (Inspection.Result?) -> Void) { crew.look(at: path, then: then) }

    /// What lies in a package, as that, beside the core.
    func packages(around paths: [Path], then: @escaping ([Path]) -> Void) { crew.packages(around: paths, then: then) }

    /// SHA-256 of what lies at these places now, as `sha256sum` tells it; nil where nothing can be read, and for
    /// what is too much to be read for an answer.
    func digests(of places: [Place], then: @escaping ([Digest?]) -> Void) {
        crew.digests(of: places, bytesMax: NodeHost.digestBytesMax, then: then)
    }

    private static let digestBytesMax: UInt64 = 256 << 20

    private static func rows(_ store: Store, _ query: StoreQuery) throws(StoreError) -> [Row] {
        guard case .rows(let rows) = try store.answer(query) else { return [] }
        return rows
    }
}

/// What the other node wrote about a path.
struct PeerEntry: Sendable {
    let path: Path
    let revision: Revision
}
