public import SyncModel

/// The byte format of a change log entry, version 1; numbers big-endian. Bytes once released are in `Tests/Vectors`.
///
/// ```
/// prologue   (never changes its shape, so that an older program can always tell what an entry touches)
///    4  needs: bit n set means "a reader must know feature n"; an entry with an unknown bit is held, never guessed
///    8  epoch      8  seq      8  hybrid time
///    1  number of touched paths, then each: 4 length, bytes
/// body
///    4  length, then:
///    1  kind: 1 put, 2 relocate
///       put:       32 seen (own epoch, seq, peer epoch, seq) · entry · 3 origins · moved-from path? · moved-to path?
///       relocate:  16 seen peer position · 8 live rows · 8 fingerprint       (paths: from, to)
/// entry   1 content kind (0 absent, 1 file, 2 directory, 3 symlink) · file: 32 id, 8 size · symlink: 4 length, target
///         2 mode · 8 seconds · 4 nanoseconds
/// origin  1 author (0 the log's node, 1 the other) · 8 epoch · 8 seq · 8 hybrid time
/// path?   1 present · 4 length, bytes
/// ```
/// Author and vectors are named from the side of the node whose log it is; a reader flips them.
/// Chain: `SHA-256("syncd log 1" · previous chain · entry bytes)`; the first of an epoch follows
/// `SHA-256("syncd epoch 1" · node id · epoch)`.
public enum LogCodec {
    /// Features this program knows; none yet.
    static let knownNeeds: UInt32 = 0

    public static func encode(_ record: LogRecord) -> [UInt8] {
        var writer = ByteWriter(capacity: 256)
        writer.put(UInt32(0))
        put(record.head.position, into: &writer)
        writer.put(record.time.raw)
        switch record.change {
        case .put(let path, let revision):
            writer.put(UInt8(1))
            writer.putCounted(path.bytes)
            var body = ByteWriter(capacity: 192)
            body.put(UInt8(1))
            put(revision, into: &body)
            writer.putCounted(body.bytes)
        case .relocate(let move):
            writer.put(UInt8(2))
            writer.putCounted(move.from.bytes)
            writer.putCounted(move.to.bytes)
            var body = ByteWriter(capacity: 40)
            body.put(UInt8(2))
            put(move.seenPeer, into: &body)
            body.put(move.summary.liveRows)
            body.put(move.summary.fingerprint)
            writer.putCounted(body.bytes)
        }
        return writer.bytes
    }

    public enum Decoded: Hashable, Sendable {
        case record(LogRecord)
        /// Whole and chained, but it needs what this program does not know.
        case beyondUs
        case broken
    }

    /// Reads one entry of a log whose node is `node` and whose chain stood at `previous`. Total.
    public static func decode(
        _ bytes: [UInt8], after previous: LogHead, node: NodeID,
        digest: SHA256.Function = { SHA256.digest(of: $0) }
    ) -> Decoded {
        var reader = ByteReader(bytes)
        guard let needs = reader.uint32(), let position = position(from: &reader), let time = reader.uint64(),
            let paths = paths(from: &reader), let body = reader.counted(max: Limits.frameBytesMax), reader.isAtEnd
        else { return .broken }
        guard needs & ~knownNeeds == 0 else { return .beyondUs }
        let chain = chain(of: bytes, at: position, after: previous, node: node, digest: digest)
        let head = LogHead(position: position, chain: chain)
        var content = ByteReader(body)
        guard let change = change(from: &content, paths: paths, position: position, time: HybridTime(raw: time)),
            content.isAtEnd
        else { return .broken }
        return .record(LogRecord(head: head, time: HybridTime(raw: time), change: change))
    }

    /// The record of a change at its place in the chain of its own node's log.
    public static func record(
        _ change: LogRecord.Change, at position: LogPosition, time: HybridTime, after previous: LogHead, node: NodeID,
        digest: SHA256.Function = { SHA256.digest(of: $0) }
    ) -> LogRecord {
        write(change, at: position, time: time, after: previous, node: node, digest: digest).record
    }

    /// The same with its bytes, which the chain is made over.
    static func write(
        _ change: LogRecord.Change, at position: LogPosition, time: HybridTime, after previous: LogHead, node: NodeID,
        digest: SHA256.Function
    ) -> (record: LogRecord, bytes: [UInt8]) {
        let bytes = encode(LogRecord(head: LogHead(position: position, chain: .zero), time: time, change: change))
        let chain = chain(of: bytes, at: position, after: previous, node: node, digest: digest)
        return (LogRecord(head: LogHead(position: position, chain: chain), time: time, change: change), bytes)
    }

    public static func chain(
        of entry: [UInt8], at position: LogPosition, after previous: LogHead, node: NodeID,
        digest: SHA256.Function = { SHA256.digest(of: $0) }
    ) -> Digest {
        var writer = ByteWriter(capacity: domain.count + Digest.byteCount + entry.count)
        writer.putRaw(domain)
        writer.put(position.seq == 1 ? start(of: position.epoch, node: node) : previous.chain)
        writer.putRaw(entry)
        return digest(writer.bytes)
    }

    private static let domain = Array("syncd log 1".utf8)

    private static func start(of epoch: Epoch, node: NodeID) -> Digest {
        var hasher = SHA256()
        hasher.update(Array("syncd epoch 1".utf8))
        hasher.update(node.digest)
        hasher.update(bigEndian: epoch.raw)
        return hasher.finish()
    }

    // MARK: Parts, also used by `FrameCodec`

    static func put(_ position: LogPosition, into writer: inout ByteWriter) {
        writer.put(position.epoch.raw)
        writer.put(position.seq)
    }

    static func position(from reader: inout ByteReader) -> LogPosition? {
        guard let epoch = reader.uint64(), let seq = reader.uint64() else { return nil }
        return LogPosition(epoch: Epoch(raw: epoch), seq: seq)
    }

    static func put(_ revision: Revision, into writer: inout ByteWriter) {
        put(revision.seen.own, into: &writer)
        put(revision.seen.peer, into: &writer)
        put(revision.entry, into: &writer)
        for origin in [revision.origins.content, revision.origins.mode, revision.origins.time] {
            put(origin, into: &writer)
        }
        put(revision.movedFrom, into: &writer)
        put(revision.movedTo, into: &writer)
    }

    static func revision(from reader: inout ByteReader, origin: Origin) -> Revision? {
        guard let own = position(from: &reader), let peer = position(from: &reader), let entry = entry(from: &reader),
            let content = Self.origin(from: &reader), let mode = Self.origin(from: &reader),
            let time = Self.origin(from: &reader),
            let movedFrom = optionalPath(from: &reader), let movedTo = optionalPath(from: &reader)
        else { return nil }
        let seen = VersionVector(own: own, peer: peer)
        let revision = Revision(
            origin: origin, seen: seen, entry: entry, origins: Origins(content: content, mode: mode, time: time),
            movedFrom: movedFrom, movedTo: movedTo)
        return isSane(revision) ? revision : nil
    }

    /// An entry can only have seen what was before it, and its aspects can only come from what it saw or from itself.
    private static func isSane(_ revision: Revision) -> Bool {
        let origins = [revision.origins.content, revision.origins.mode, revision.origins.time]
        return revision.seen[revision.origin.author] < revision.origin.position
            && origins.allSatisfy { revision.version.covers($0) && $0.time <= revision.origin.time }
    }

    static func put(_ entry: Entry, into writer: inout ByteWriter) {
        switch entry.content {
        case .absent:
            writer.put(UInt8(0))
        case .file(let id, let size):
            writer.put(UInt8(1))
            writer.put(id.digest)
            writer.put(size)
        case .directory:
            writer.put(UInt8(2))
        case .symlink(let target):
            writer.put(UInt8(3))
            writer.putCounted(target)
        }
        writer.put(entry.mode)
        writer.put(entry.modified.seconds)
        writer.put(entry.modified.nanoseconds)
    }

    static func entry(from reader: inout ByteReader) -> Entry? {
        guard let content = content(from: &reader), let mode = reader.uint16(), mode <= 0o777,
            let seconds = reader.int64(), let nanoseconds = reader.uint32(), nanoseconds < 1_000_000_000
        else { return nil }
        return Entry(
            content: content, mode: mode, modified: Timestamp(seconds: seconds, nanoseconds: nanoseconds))
    }

    private static func content(from reader: inout ByteReader) -> Content? {
        switch reader.byte() {
        case 0:
            return .absent
        case 1:
            guard let id = reader.digest(), let size = reader.uint64(), size <= Limits.fileBytesMax else { return nil }
            return .file(ContentID(id), size: size)
        case 2:
            return .directory
        case 3:
            guard let target = reader.counted(max: Limits.symlinkBytesMax), !target.isEmpty, !target.contains(0) else {
                return nil
            }
            return .symlink(target)
        case .some, .none:
            return nil
        }
    }

    static func put(_ origin: Origin, into writer: inout ByteWriter) {
        writer.put(origin.author.rawValue)
        put(origin.position, into: &writer)
        writer.put(origin.time.raw)
    }

    static func origin(from reader: inout ByteReader) -> Origin? {
        guard let raw = reader.byte(), let author = Author(rawValue: raw), let position = position(from: &reader),
            let time = reader.uint64()
        else { return nil }
        return Origin(author: author, position: position, time: HybridTime(raw: time))
    }

    private static func put(_ path: Path?, into writer: inout ByteWriter) {
        writer.put(path != nil)
        if let path { writer.putCounted(path.bytes) }
    }

    /// Outer nil: broken. Inner nil: no path.
    private static func optionalPath(from reader: inout ByteReader) -> Path?? {
        guard let isPresent = reader.bool() else { return nil }
        if !isPresent { return .some(nil) }
        guard let path = path(from: &reader) else { return nil }
        return .some(path)
    }

    /// A path a peer may name: valid, not the root, not our own folder.
    static func path(from reader: inout ByteReader) -> Path? {
        guard let bytes = reader.counted(max: Limits.pathBytesMax), let path = Path(bytes), !path.isRoot,
            !path.isReserved
        else { return nil }
        return path
    }

    private static func paths(from reader: inout ByteReader) -> [Path]? {
        guard let count = reader.byte() else { return nil }
        var paths: [Path] = []
        for _ in 0..<count {
            guard let path = path(from: &reader) else { return nil }
            paths.append(path)
        }
        return paths
    }

    private static func change(
        from reader: inout ByteReader, paths: [Path], position: LogPosition, time: HybridTime
    ) -> LogRecord.Change? {
        let origin = Origin(author: .own, position: position, time: time)
        switch reader.byte() {
        case 1:
            guard paths.count == 1, let revision = revision(from: &reader, origin: origin) else { return nil }
            return .put(paths[0], revision)
        case 2:
            guard paths.count == 2, let seenPeer = Self.position(from: &reader), let rows = reader.uint64(),
                let fingerprint = reader.uint64(), paths[0] != paths[1], !paths[1].isBelow(paths[0]),
                !paths[0].isBelow(paths[1])
            else { return nil }
            let summary = SubtreeSummary.Contents(liveRows: rows, fingerprint: fingerprint)
            return .relocate(
                Relocation(from: paths[0], to: paths[1], origin: origin, seenPeer: seenPeer, summary: summary))
        case .some, .none:
            return nil
        }
    }
}
