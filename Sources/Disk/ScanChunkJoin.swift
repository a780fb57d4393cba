/// One chunk of a scan: the walk and the rows side by side, in path order. The simulator's scan does the same
/// (`VirtualDisk.scan`); what both share is `ScanJoin`.
import SyncModel

struct ScanChunkJoin {
    typealias Pages = (_ directory: Path, _ after: Path?) -> [Row]?

    private let request: ScanRequest
    private let ground: ScanWalk.Ground
    private(set) var walk = ScanWalk()
    private(set) var differences: [Difference] = []
    private(set) var resume: Path?

    private var page: ArraySlice<Row> = []
    private var hasMoreRows = true
    private var hasStoreFailed = false

    /// Entries and rows that are compared before the worker is given back, whatever they are.
    private static let pathsMax = 131_072

    init(_ request: ScanRequest, _ ground: ScanWalk.Ground) {
        self.request = request
        self.ground = ground
    }

    /// With a walk that has stopped just where this chunk begins, if there is one.
    mutating func run(_ kept: ScanWalk?, rows: Pages) {
        if let kept {
            walk = kept
            walk.rest(at: request.after ?? request.directory)
        } else if !walk.begin(request, on: ground) {
            return
        }
        var last = request.after ?? request.directory
        var entry = walk.next(on: ground)
        var known = nextRow(after: last, rows)
        var seen = 0
        while let path = [entry?.path, known?.path].compactMap({ $0 }).min() {
            if isOver(seen) {
                walk.putBack(entry)
                resume = last
                break
            }
            seen += 1
            let found = entry.flatMap { $0.path == path ? $0.stat : nil }
            let stored = known.flatMap { $0.path == path ? $0 : nil }
            if let difference = difference(at: path, stored, found) { differences.append(difference) }
            if found != nil { entry = walk.next(on: ground) }
            if stored != nil { known = nextRow(after: path, rows) }
            last = path
        }
        if hasStoreFailed { resume = last }
    }

    private func isOver(_ seen: Int) -> Bool {
        differences.count >= max(1, request.limit) || seen >= ScanChunkJoin.pathsMax || hasStoreFailed
            || ground.folder.isInterrupted
    }

    private mutating func nextRow(after path: Path, _ rows: Pages) -> Row? {
        if page.isEmpty, hasMoreRows {
            // The first page begins at the start of the directory, which is not below itself.
            let after = path == request.directory ? nil : path
            if let next = rows(request.directory, after) {
                page = next[...]
                hasMoreRows = !next.isEmpty
            } else {
                hasStoreFailed = true
                hasMoreRows = false
            }
        }
        return page.popFirst()
    }

    // MARK: One path

    private mutating func difference(at path: Path, _ row: Row?, _ stat: Stat?) -> Difference? {
        var stat = stat
        if stat == nil, let row {
            if path.isReserved || walk.hides(path) { return nil }
            let isDirectory = row.disk?.entry.content.isDirectory ?? false
            if ground.rules.isIgnored(path.bytes, isDirectory: isDirectory) { return newlyIgnored(row) }
            if row.disk == nil { return nil }
            do throws(Failure) {
                stat = try confirmed(path)
            } catch {
                walk.hide(path, error)
                return nil
            }
        } else if row?.condition == .ignored {
            // The rules name it no longer, or the walk would not have come here: the core has to be told that too.
            return Difference(path: path, stat: stat)
        }
        return ScanJoin.difference(at: path, row: row, stat: stat, distrustSince: request.distrustSince)
    }

    /// A path that the walk has not met is looked at by its whole name: a directory that was listed may be another one
    /// by now, and nothing may count as absent because of that.
    private func confirmed(_ path: Path) throws(Failure) -> Stat? {
        guard let stat = try ground.folder.look(.tree(path)) else { return nil }
        return ground.rules.isIgnored(path.bytes, isDirectory: stat.kind == .directory) ? nil : stat
    }

    /// A row that still says the path is on disk although the rules ignore it now.
    private mutating func newlyIgnored(_ row: Row) -> Difference? {
        guard row.disk != nil, row.condition != .ignored else { return nil }
        do throws(Failure) {
            return Difference(path: row.path, stat: try ground.folder.look(.tree(row.path)))
        } catch {
            walk.hide(row.path, error)
            return nil
        }
    }
}
