/// The sums over everything below a directory, kept up to date with each batch for the root and the directories in it.
///
/// The core asks for them with every delete it judges, and walking the rows each time would take longer the bigger the
/// folder is. Counts and the fingerprint can be taken back when a row changes. The latest positions cannot, but they
/// hardly ever go back: when one may have, the sums are `isStale`, and whoever asks counts the rows once.
import SyncModel

struct Sums: Hashable {
    /// Over the rows that were counted in; its latest positions only ever rise.
    var summary = SubtreeSummary()
    /// Of the files on disk.
    var bytes: UInt64 = 0
    /// The latest positions may be those of rows that are no more, or an earlier version has counted what this one does not.
    var isStale = false
}

/// What a batch changes in the sums of one directory.
struct SumsChange {
    private let directory: Path
    private var gained = Sums()
    private var lost = Sums()
    /// The latest positions that a row had and has no more.
    private var ownDropped = LogPosition.none
    private var peerDropped = LogPosition.none

    init(of directory: Path) {
        self.directory = directory
    }

    mutating func replace(_ old: Row?, by new: Row?) {
        if let old { lost.count(old, below: directory) }
        if let new { gained.count(new, below: directory) }
        let (before, after) = (old?.version ?? .none, new?.version ?? .none)
        if after.own < before.own { ownDropped = max(ownDropped, before.own) }
        if after.peer < before.peer { peerDropped = max(peerDropped, before.peer) }
    }

    func apply(to sums: inout Sums) {
        sums.summary.add(gained.summary)
        sums.summary.subtract(lost.summary)
        sums.bytes = sums.bytes &+ gained.bytes &- lost.bytes
        let (own, peer) = (sums.summary.ownLatest, sums.summary.peerLatest)
        if ownDropped != .none, ownDropped >= own { sums.isStale = true }
        if peerDropped != .none, peerDropped >= peer { sums.isStale = true }
    }
}

extension Sums {
    mutating func count(_ row: Row, below directory: Path) {
        summary.count(row, below: directory)
        bytes &+= row.disk?.entry.content.size ?? 0
    }
}

extension SubtreeSummary {
    /// Counts wrap instead of trapping: a damaged record must not bring the program down.
    mutating func add(_ other: SubtreeSummary) {
        contents.liveRows &+= other.contents.liveRows
        contents.fingerprint &+= other.contents.fingerprint
        files &+= other.files
        directories &+= other.directories
        unsettled &+= other.unsettled
        missing &+= other.missing
        pendingRows &+= other.pendingRows
        entangled &+= other.entangled
        ownLatest = max(ownLatest, other.ownLatest)
        peerLatest = max(peerLatest, other.peerLatest)
    }

    /// All but the latest positions.
    fileprivate mutating func subtract(_ other: SubtreeSummary) {
        contents.liveRows &-= other.contents.liveRows
        contents.fingerprint &-= other.contents.fingerprint
        files &-= other.files
        directories &-= other.directories
        unsettled &-= other.unsettled
        missing &-= other.missing
        pendingRows &-= other.pendingRows
        entangled &-= other.entangled
    }
}
