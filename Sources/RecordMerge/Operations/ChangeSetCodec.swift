/// The byte format of a change set, versions 1 and 2; numbers big-endian. First vectors are in `Tests/Vectors`.
///
/// ```
/// prologue   (never changes its shape: whoever cannot read the rest still knows whose it is and what it touches)
///    2  version of the body
///    1  author (0 the node with the smaller key, 1 the other)
///    8  epoch      8  seq      8  hybrid time
///   32  seen: epoch and seq in the log of author 0, then of author 1
///       needs: 4 length, name of the model · 8 its version · 2 n, n × 4 number of a log feature
///    4  n, n × (4 length, entity · 4 length, key): the records it writes to
///    4  n, n × (4 length, path): the files it saves, each once
/// body 1
///    4  n, n × operation, then one file for each path of the prologue, in that order
/// operation   4 number in the set, ascending · 4 record, as its place in the prologue · 1 kind
///    1 insert   2 delete   3 restore
///    4 set      4 length, property · 1 present · 4 length, JSON without white space around it
///    5 link     4 length, property · 1 present · 4 length, target · 4 length, order
///    6 add      4 length, property · 4 length, target · 4 length, order
///    7 remove   4 length, property · 4 length, target
/// file        1 kind · 2 mode · 8 seconds · 4 nanoseconds
///    0 deleted
///    1 whole    32 content id · 4 length, bytes
///    2 changed  32 content id · 32 content id of the base · 4 bytes of it kept at the start · 4 kept at the end
///               4 length, what is between
/// body 2     body 1, and after it, of files that were saved under a lock
///    4 n, at least 1, n × (4 file, as its place in the prologue, ascending · 8 fence · 1 whether the nodes were apart)
/// feature 1  after the body, of files that the author's model does not read, which are all written whole
///    4 n, at least 1, n × (4 file, as its place in the prologue, ascending · 1 whether it took the place of another, and if so
///    that one as changes to the file: 4 bytes of it kept at the start · 4 kept at the end · 4 length, what is between)
/// ```
/// Decoding is total. A count is believed only as far as the bytes reach; what a changed file comes to is bounded by
/// the reader's own file and `Limits`.
public import SyncModel

public enum ChangeSetCodec {
    /// What the author had at a path, and the reader has as well.
    public typealias Base = (Path) -> (content: ContentID, bytes: [UInt8])?
    public typealias Hash = ([UInt8]) -> Digest

    /// Written where there is a lock to tell of; everything else is in version 1.
    static let version: UInt16 = 2
    /// Features that this program knows.
    static let knownFeatures = [Needs.unreadSaves]

    /// What stands before the body.
    public struct Prologue: Hashable, Sendable {
        public let author: Party
        public let position: LogPosition
        public let time: HybridTime
        public let seen: Applied
        public let needs: Needs
        public let records: [RecordID]
        public let paths: [Path]
    }

    /// What a set is about, without what its files hold.
    public struct Outline: Hashable, Sendable {
        public let prologue: Prologue
        public let operationCount: Int
        /// In the order of the paths; nil for a file that was deleted.
        public let contents: [ContentID?]
    }

    public enum Decoded: Hashable, Sendable {
        case set(ChangeSet)
        /// Made by a program that knows more: to be held as it is.
        case beyondUs(Prologue)
        /// A file was written as changes to this content, and `base` gave another or none.
        case withoutBase(Prologue, Path, ContentID)
        case broken
    }

    /// Nil for a set that is beyond what a reader takes.
    public static func encode(_ set: ChangeSet, base: Base = { _ in nil }) -> [UInt8]? {
        guard set.needs.features.count <= Limits.featureCountMax, set.needs.model.count <= Limits.nameBytesMax else {
            return nil
        }
        var writer = ChangeSetWriter(set)
        writer.putPrologue()
        writer.putOperations()
        for file in set.files { writer.put(file, over: base(file.path)) }
        writer.putLocks()
        writer.putOverwritten()
        return writer.bytes.count <= Limits.changeSetBytesMax ? writer.bytes : nil
    }

    public static func decode(
        _ bytes: [UInt8], base: Base = { _ in nil }, hash: Hash = { SHA256.digest(of: $0) }
    ) -> Decoded {
        guard var reader = ChangeSetReader(bytes) else { return .broken }
        let prologue = reader.prologue
        guard reader.version <= version, prologue.needs.features.allSatisfy(knownFeatures.contains) else {
            return .beyondUs(prologue)
        }
        if let set = reader.set(base: base, hash: hash) { return .set(set) }
        if let lacking = reader.lacking { return .withoutBase(prologue, lacking.path, lacking.content) }
        return .broken
    }

    /// Made by a program that knows more.
    public static func isBeyondUs(_ bytes: [UInt8]) -> Bool {
        guard let reader = ChangeSetReader(bytes) else { return false }
        return reader.version > version || !reader.prologue.needs.features.allSatisfy(knownFeatures.contains)
    }

    /// What it does to records, whether or not its files can be made here. Nil for what this program cannot read.
    public static func operations(of bytes: [UInt8]) -> [Operation]? {
        guard var reader = ChangeSetReader(bytes), reader.version <= version else { return nil }
        return reader.operations()?.map(\.operation)
    }

    /// Nil for what this program cannot read.
    public static func outline(of bytes: [UInt8]) -> Outline? {
        guard var reader = ChangeSetReader(bytes), reader.version <= version else { return nil }
        return reader.outline()
    }

    /// The same in version 1, for a program that knows no locks. What is in version 1, or cannot be read, stays as it is, and so does what
    /// such a program has no use for.
    public static func withoutLocks(_ bytes: [UInt8]) -> [UInt8] {
        guard var reader = ChangeSetReader(bytes), reader.version == 2, reader.prologue.needs.features.isEmpty,
            let end = reader.endOfFiles()
        else {
            return bytes
        }
        var writer = ByteWriter(capacity: end)
        writer.put(UInt16(1))
        writer.putRaw(bytes[2..<end])
        return writer.bytes
    }

    /// Whose it is and what it touches, whatever its body holds. Nil if not even that can be read.
    public static func prologue(of bytes: [UInt8]) -> Prologue? { ChangeSetReader(bytes)?.prologue }
}

private struct ChangeSetWriter {
    private let set: ChangeSet
    private let places: SortedMap<RecordID, Int>
    private let records: [RecordID]
    private var writer = ByteWriter(capacity: 256)

    init(_ set: ChangeSet) {
        self.set = set
        var places: SortedMap<RecordID, Int> = [:]
        var records: [RecordID] = []
        for operation in set.operations where !places.contains(key: operation.record) {
            places[operation.record] = records.count
            records.append(operation.record)
        }
        self.places = places
        self.records = records
    }

    var bytes: [UInt8] { writer.bytes }

    private var hasLocks: Bool { self.set.files.contains { $0.lock != nil } }

    mutating func putPrologue() {
        writer.put(UInt16(hasLocks ? 2 : 1))
        writer.put(set.author.rawValue)
        put(set.position)
        writer.put(set.time.raw)
        put(set.seen.first)
        put(set.seen.second)
        put(set.needs)
        putCount(records.count)
        for record in records {
            writer.putCounted(record.entity.bytes)
            writer.putCounted(record.key)
        }
        putCount(set.files.count)
        for file in set.files { writer.putCounted(file.path.bytes) }
    }

    private mutating func put(_ position: LogPosition) {
        writer.put(position.epoch.raw)
        writer.put(position.seq)
    }

    private mutating func put(_ needs: Needs) {
        writer.putCounted(needs.model)
        writer.put(UInt64(clamping: needs.modelVersion))
        writer.put(UInt16(truncatingIfNeeded: needs.features.count))
        for feature in needs.features { writer.put(feature) }
    }

    private mutating func putCount(_ count: Int) { writer.put(UInt32(truncatingIfNeeded: count)) }

    mutating func putOperations() {
        putCount(set.operations.count)
        for (place, operation) in set.operations.enumerated() {
            writer.put(set.number(of: place))
            putCount(places[operation.record] ?? 0)
            put(operation.action)
        }
    }

    private mutating func put(_ action: Operation.Action) {
        switch action {
        case .insert: writer.put(UInt8(1))
        case .delete: writer.put(UInt8(2))
        case .restore: writer.put(UInt8(3))
        case .set(let name, let value):
            put(4, name)
            put(value?.bytes)
        case .link(let name, let target, let order):
            put(5, name)
            put(target)
            writer.putCounted(order)
        case .add(let name, let target, let order):
            put(6, name)
            writer.putCounted(target)
            writer.putCounted(order)
        case .remove(let name, let target):
            put(7, name)
            writer.putCounted(target)
        }
    }

    private mutating func put(_ kind: UInt8, _ name: PropertyName) {
        writer.put(kind)
        writer.putCounted(name.bytes)
    }

    private mutating func put(_ bytes: [UInt8]?) {
        writer.put(bytes != nil)
        writer.putCounted(bytes ?? [])
    }

    mutating func putLocks() {
        guard hasLocks else { return }
        let locked = set.files.enumerated().compactMap { place, file in file.lock.map { (place, $0) } }
        putCount(locked.count)
        for (place, lock) in locked {
            putCount(place)
            writer.put(lock.fence)
            writer.put(lock.isApart)
        }
    }

    mutating func putOverwritten() {
        guard self.set.isUnread else { return }
        let unread = self.set.files.enumerated().compactMap { place, file in file.overwritten.map { (place, file, $0) }
        }
        putCount(unread.count)
        for (place, file, overwritten) in unread {
            putCount(place)
            writer.put(overwritten.bytes != nil)
            guard let old = overwritten.bytes else { continue }
            let delta = ByteDelta(from: file.bytes ?? [], to: old)
            putCount(delta.prefixBytes)
            putCount(delta.suffixBytes)
            writer.putCounted(delta.middle)
        }
    }

    /// As changes to the base where that is shorter. (Who cannot read the author's earlier saves has no base of this one.)
    mutating func put(_ file: ChangeSet.SavedFile, over base: (content: ContentID, bytes: [UInt8])?) {
        guard let content = file.content, let bytes = file.bytes else { return putState(of: file, kind: 0) }
        if let base, file.overwritten == nil {
            let delta = ByteDelta(from: base.bytes, to: bytes)
            if delta.middle.count + Digest.byteCount + 8 < bytes.count {
                return put(file, content, delta, over: base.content)
            }
        }
        putState(of: file, kind: 1)
        writer.put(content.digest)
        writer.putCounted(bytes)
    }

    private mutating func put(
        _ file: ChangeSet.SavedFile, _ content: ContentID, _ delta: ByteDelta, over base: ContentID
    ) {
        putState(of: file, kind: 2)
        writer.put(content.digest)
        writer.put(base.digest)
        putCount(delta.prefixBytes)
        putCount(delta.suffixBytes)
        writer.putCounted(delta.middle)
    }

    private mutating func putState(of file: ChangeSet.SavedFile, kind: UInt8) {
        writer.put(kind)
        writer.put(file.mode)
        writer.put(file.modified.seconds)
        writer.put(file.modified.nanoseconds)
    }
}
