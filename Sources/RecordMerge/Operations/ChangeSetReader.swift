/// Reads what `ChangeSetCodec` specifies. Every method gives nil for what cannot be.
import SyncModel

struct ChangeSetReader {
    let version: UInt16
    let prologue: ChangeSetCodec.Prologue
    /// The content that a file's changes were made to, if `set` failed for want of it.
    private(set) var lacking: (path: Path, content: ContentID)?
    private var reader: ByteReader

    /// Reads the prologue.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Limits.changeSetBytesMax else { return nil }
        var reader = ByteReader(bytes)
        guard let version = reader.uint16(), let prologue = ChangeSetCodec.Prologue(from: &reader) else { return nil }
        self.version = version
        self.prologue = prologue
        self.reader = reader
    }

    mutating func set(base: ChangeSetCodec.Base, hash: ChangeSetCodec.Hash) -> ChangeSet? {
        guard version >= 1, let operations = operations(), var files = files(base, hash),
            version < 2 || takeLocks(into: &files),
            !prologue.needs.features.contains(Needs.unreadSaves) || takeOverwritten(into: &files), reader.isAtEnd
        else { return nil }
        let set = ChangeSet(
            author: prologue.author, position: prologue.position, time: prologue.time, seen: prologue.seen,
            operations: [], needs: prologue.needs)
        return ChangeSet(set, keeping: operations, files: files)
    }

    // MARK: Operations

    mutating func operations() -> [(number: UInt32, operation: Operation)]? {
        guard let count = reader.uint32() else { return nil }
        var operations: [(number: UInt32, operation: Operation)] = []
        for _ in 0..<count {
            guard let number = reader.uint32(), operations.last.map({ $0.number < number }) ?? true,
                let record = reader.uint32(), record < prologue.records.count, let action = action()
            else { return nil }
            operations.append((number, Operation(prologue.records[Int(record)], action)))
        }
        return operations
    }

    private mutating func action() -> Operation.Action? {
        switch reader.byte() {
        case 1: return .insert
        case 2: return .delete
        case 3: return .restore
        case 4:
            guard let name = name(), let value = value() else { return nil }
            return .set(name, value)
        case 5:
            guard let name = name(), let target = optional(), let order = text() else { return nil }
            return .link(name, target, order: order)
        case 6:
            guard let name = name(), let target = text(), let order = text() else { return nil }
            return .add(name, target, order: order)
        case 7:
            guard let name = name(), let target = text() else { return nil }
            return .remove(name, target)
        case .some, .none:
            return nil
        }
    }

    private mutating func text() -> [UInt8]? { reader.counted(max: Limits.jsonBytesMax) }
    private mutating func name() -> PropertyName? { text().map { PropertyName($0) } }

    /// Outer nil: broken. Inner nil: nothing there.
    private mutating func optional() -> [UInt8]?? {
        guard let isPresent = reader.bool(), let bytes = text(), isPresent || bytes.isEmpty else { return nil }
        return .some(isPresent ? bytes : nil)
    }

    private mutating func value() -> JSONText?? {
        guard let optional = optional() else { return nil }
        guard let bytes = optional else { return .some(nil) }
        guard let value = try? JSONText(parsing: bytes), value.bytes == bytes else { return nil }
        return .some(value)
    }

    // MARK: Files

    private mutating func files(
        _ base: ChangeSetCodec.Base, _ hash: ChangeSetCodec.Hash
    ) -> [ChangeSet.SavedFile]? {
        var files: [ChangeSet.SavedFile] = []
        for path in prologue.paths {
            guard let file = file(path, base, hash) else { return nil }
            files.append(file)
        }
        return files
    }

    /// Where body 1 ends, whatever its files were told against.
    mutating func endOfFiles() -> Int? { outline() == nil ? nil : reader.offset }

    mutating func outline() -> ChangeSetCodec.Outline? {
        guard let operations = operations() else { return nil }
        var contents: [ContentID?] = []
        for _ in prologue.paths {
            guard let kind = reader.byte(), kind <= 2, reader.raw(2 + 8 + 4) != nil else { return nil }
            if kind == 0 {
                contents.append(nil)
                continue
            }
            let base = kind == 1 ? 0 : Digest.byteCount + 4 + 4
            guard let content = reader.digest(), reader.raw(base) != nil, text() != nil else { return nil }
            contents.append(ContentID(content))
        }
        return ChangeSetCodec.Outline(prologue: prologue, operationCount: operations.count, contents: contents)
    }

    private mutating func takeLocks(into files: inout [ChangeSet.SavedFile]) -> Bool {
        guard let count = reader.uint32(), count > 0 else { return false }
        var next = 0
        for _ in 0..<count {
            guard let place = reader.uint32().map({ Int($0) }), place >= next, place < files.count,
                let fence = reader.uint64(), let isApart = reader.bool()
            else { return false }
            files[place] = files[place].saved(under: SaveLock(fence: fence, isApart: isApart))
            next = place + 1
        }
        return true
    }

    private mutating func takeOverwritten(into files: inout [ChangeSet.SavedFile]) -> Bool {
        guard let count = reader.uint32(), count > 0 else { return false }
        var next = 0
        for _ in 0..<count {
            guard let place = reader.uint32().map({ Int($0) }), place >= next, place < files.count,
                let bytes = files[place].bytes, let overwritten = overwritten(by: bytes)
            else { return false }
            files[place] = files[place].unread(over: overwritten)
            next = place + 1
        }
        return true
    }

    private mutating func overwritten(by file: [UInt8]) -> Overwritten? {
        guard let isThere = reader.bool() else { return nil }
        if !isThere { return Overwritten(bytes: nil) }
        guard let prefix = reader.uint32(), let suffix = reader.uint32(), let middle = text() else { return nil }
        let delta = ByteDelta(prefixBytes: Int(prefix), suffixBytes: Int(suffix), middle: middle)
        return delta.applied(to: file, bytesMax: Limits.jsonBytesMax).map { Overwritten(bytes: $0) }
    }

    private mutating func file(
        _ path: Path, _ base: ChangeSetCodec.Base, _ hash: ChangeSetCodec.Hash
    ) -> ChangeSet.SavedFile? {
        guard let kind = reader.byte(), let mode = reader.uint16(), mode <= 0o777, let seconds = reader.int64(),
            let nanoseconds = reader.uint32(), nanoseconds < 1_000_000_000
        else { return nil }
        let modified = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
        if kind == 0 { return ChangeSet.SavedFile(deleted: path, mode: mode, modified: modified) }
        guard kind <= 2, let content = reader.digest(),
            let bytes = kind == 1 ? text() : changed(path, base), hash(bytes) == content
        else { return nil }
        return ChangeSet.SavedFile(
            path: path, content: ContentID(content), bytes: bytes, mode: mode, modified: modified)
    }

    private mutating func changed(_ path: Path, _ base: ChangeSetCodec.Base) -> [UInt8]? {
        guard let digest = reader.digest(), let prefix = reader.uint32(), let suffix = reader.uint32(),
            let middle = text()
        else { return nil }
        let known = base(path)
        guard let known, known.content == ContentID(digest) else {
            lacking = (path, ContentID(digest))
            return nil
        }
        let delta = ByteDelta(prefixBytes: Int(prefix), suffixBytes: Int(suffix), middle: middle)
        return delta.applied(to: known.bytes, bytesMax: Limits.jsonBytesMax)
    }
}

extension ChangeSetCodec.Prologue {
    fileprivate init?(from reader: inout ByteReader) {
        guard let author = reader.byte().flatMap(Party.init), let position = reader.position(),
            let time = reader.uint64(), let first = reader.position(), let second = reader.position(),
            let needs = reader.needs(), let records = reader.records(), let paths = reader.paths()
        else { return nil }
        self.init(
            author: author, position: position, time: HybridTime(raw: time),
            seen: Applied(first: first, second: second), needs: needs, records: records, paths: paths)
        // Nobody has seen what it is still writing.
        if seen[author] >= position { return nil }
    }
}

extension ByteReader {
    fileprivate mutating func position() -> LogPosition? {
        guard let epoch = uint64(), let seq = uint64() else { return nil }
        return LogPosition(epoch: Epoch(raw: epoch), seq: seq)
    }

    fileprivate mutating func needs() -> Needs? {
        guard let model = counted(max: Limits.nameBytesMax), let version = uint64().flatMap({ Int(exactly: $0) }),
            let count = uint16(), count <= Limits.featureCountMax
        else { return nil }
        var features: [UInt32] = []
        for _ in 0..<count {
            guard let feature = uint32() else { return nil }
            features.append(feature)
        }
        return Needs(model: model, modelVersion: version, features: features)
    }

    fileprivate mutating func records() -> [RecordID]? {
        guard let count = uint32() else { return nil }
        var records: [RecordID] = []
        for _ in 0..<count {
            guard let entity = counted(max: Limits.nameBytesMax), let key = counted(max: Limits.jsonBytesMax) else {
                return nil
            }
            records.append(RecordID(EntityName(entity), key))
        }
        return records
    }

    fileprivate mutating func paths() -> [Path]? {
        guard let count = uint32() else { return nil }
        var paths: SortedMap<Path, Bool> = [:]
        var ordered: [Path] = []
        for _ in 0..<count {
            guard let path = counted(max: Limits.pathBytesMax).flatMap({ Path($0) }), !path.isRoot, !path.isReserved,
                paths.updateValue(true, forKey: path) == nil
            else { return nil }
            ordered.append(path)
        }
        return ordered
    }
}
