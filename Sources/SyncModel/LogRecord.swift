/// One entry of a node's change log, as it is stored, chained and sent.
/// The byte format is specified in `LogCodec` (SyncCore); this is its vocabulary.
public struct LogRecord: Hashable, Sendable {
    /// Where it stands, and the hash chain including it.
    public let head: LogHead
    public let time: HybridTime
    public let change: Change

    public enum Change: Hashable, Sendable {
        /// The author's state of one path.
        case put(Path, Revision)
        /// A whole directory changed its place, with everything the author knew below it.
        case relocate(Relocation)
    }

    public init(head: LogHead, time: HybridTime, change: Change) {
        self.head = head
        self.time = time
        self.change = change
    }
}

/// A directory move as one entry. It stands for "deleted at the old path, there at the new one" for each row below.
public struct Relocation: Hashable, Sendable {
    public let from: Path
    public let to: Path
    /// The log entry of the move itself.
    public let origin: Origin
    /// What the mover had applied of the other node's log; everything below `from` was settled on it.
    public let seenPeer: LogPosition
    /// What the mover moved: the receiver may do it with one rename only if it holds exactly the same.
    public let summary: SubtreeSummary.Contents
    /// Where a node does the move in its own rows after a power cut, as in `NodeRecord`. No log tells of it.
    public var distrustOfIgnored: Int64?

    public init(from: Path, to: Path, origin: Origin, seenPeer: LogPosition, summary: SubtreeSummary.Contents) {
        self.from = from
        self.to = to
        self.origin = origin
        self.seenPeer = seenPeer
        self.summary = summary
    }

    public var flipped: Relocation {
        Relocation(from: from, to: to, origin: origin.flipped, seenPeer: seenPeer, summary: summary)
    }

    /// What becomes of one settled row at or below `from`: the deleted half and the half that lives on at the new path.
    /// `replacing` is the row, if any, that stood for the new path before. Nil where the new path would be none.
    public func applied(to row: Row, replacing: Row?) -> (old: Row, new: Row)? {
        guard let target = row.path.rebased(from: from, to: to), let disk = row.disk else { return nil }
        var gone = disk.entry
        gone.content = .absent

        var old = row
        old.disk = nil
        old.condition = .normal
        old.waiting = nil
        old.format = nil
        old.heads = [
            Revision(
                origin: origin, seen: row.version, entry: gone, origins: Origins(all: origin), movedTo: target)
        ]
        old.reflected = old.version

        var origins = disk.origins
        origins.content = origin
        var new = Row(path: target)
        new.disk = disk
        new.disk?.origins = origins
        new.format = row.format
        new.heads = [
            Revision(
                origin: origin, seen: row.version.joined(with: replacing?.version ?? .none), entry: disk.entry,
                origins: origins, movedFrom: row.path)
        ]
        new.reflected = new.version
        // A file that is in doubt stays left out until it has been read, whatever the rules say of its new name: what
        // happened to it is on no other record.
        if row.condition == .ignored, disk.entry.content.kind == .file, let distrustOfIgnored,
            disk.isYounger(than: distrustOfIgnored)
        {
            new.condition = .ignored
        }
        return (old, new)
    }
}

/// What lies at and below a directory, counted by the store in one pass.
public struct SubtreeSummary: Hashable, Sendable {
    /// The part that both nodes must agree on; independent of order.
    public struct Contents: Hashable, Sendable {
        public var liveRows: UInt64 = 0
        public var fingerprint: UInt64 = 0

        public init() {}

        public init(liveRows: UInt64, fingerprint: UInt64) {
            self.liveRows = liveRows
            self.fingerprint = fingerprint
        }

        public mutating func count(_ row: Row, below directory: Path) {
            guard let disk = row.disk else { return }
            liveRows += 1
            fingerprint &+= SubtreeSummary.fingerprint(of: disk.entry, at: row.path, below: directory)
        }
    }

    public var contents = Contents()
    public var files = 0
    public var directories = 0
    /// Rows that something is still to happen to, other than being believed missing.
    public var unsettled = 0
    public var missing = 0
    /// Rows that count as pending (`Row.isUnsettled`).
    public var pendingRows = 0
    /// Rows on disk with more than one head.
    public var entangled = 0
    public var ownLatest = LogPosition.none
    public var peerLatest = LogPosition.none

    public init() {}

    public mutating func count(_ row: Row, below directory: Path) {
        if row.needsApply || row.waiting != nil || row.condition == .damaged { unsettled += 1 }
        if row.condition == .missing { missing += 1 }
        if row.isUnsettled { pendingRows += 1 }
        let version = row.version
        ownLatest = max(ownLatest, version.own)
        peerLatest = max(peerLatest, version.peer)
        guard let disk = row.disk else { return }
        if row.heads.count != 1 { entangled += 1 }
        contents.count(row, below: directory)
        guard row.condition != .ignored else { return }
        if disk.entry.content.isDirectory { directories += 1 } else { files += 1 }
    }

    /// 64 bits over relative path, content and mode: guards against a mistake, not against an enemy, who could
    /// only make the receiver move what it holds itself.
    private static func fingerprint(of entry: Entry, at path: Path, below directory: Path) -> UInt64 {
        var state: UInt64 = 0xcbf2_9ce4_8422_2325
        func mix(_ value: UInt64) {
            state = (state ^ value) &* 0x9E37_79B9_7F4A_7C15
            state ^= state >> 29
        }
        for byte in path.bytes[min(directory.bytes.count, path.bytes.count)...] { mix(UInt64(byte)) }
        mix(UInt64(entry.mode))
        switch entry.content {
        case .absent: mix(1)
        case .directory: mix(2)
        case .file(let id, let size):
            mix(size)
            mix(id.digest.words.0)
        case .symlink(let target):
            for byte in target { mix(UInt64(byte) + 256) }
        }
        return state
    }
}
