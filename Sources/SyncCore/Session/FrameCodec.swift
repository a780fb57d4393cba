public import SyncModel

/// The byte format of a frame, wire version 1; numbers big-endian. First vectors are in `Tests/Vectors`.
///
/// ```
///    4  length of what follows, at most 1 MiB
///    1  type
///       body
///    4  CRC-32 of type and body
///
///  1 hello        2 min · 2 max · 2 n, n × (4 length, feature) · 4 length, name · 4 length, program · 8 wall ms
///                 48 own head · 2 n, n × 48 known head          (head: 8 epoch, 8 seq, 32 chain)
///  2 log          4 n, n × (4 length, log entry)
///  3 acknowledge  48 head · 1 settled
///  4 rows         4 n, n × row         (row: 4 length, path · 25 origin · revision as in the log)
///  5 rows end     48 head
///  6 want         4 n, n × 32 content id
///  7 chunk list   32 content id · 4 first · 4 total · 4 n, n × (32 digest, 4 length)
///  8 want chunks  32 content id · 4 n, n × 4 index
///  9 chunks       32 content id · 4 n, n × (4 index, 4 length, bytes)
/// 10 gone         32 content id
/// 11 rolled back  16 position
/// 12 expand       16 position
/// 13 expansion    16 position · 1 last · 4 n, n × row
/// 14 ping
/// 15 pong         8 wall ms
/// 16 halt         4 length, code
/// 18 later        32 content id
/// 17 contents     4 n, n × (32 content id, 4 length, bytes)
/// 19 want changed 4 n, n × (32 content id, 32 id of the content whose list is known)
/// 20 changed list 32 content id · 32 id of the known content · 4 n, n × part
///                 (part: 0, 4 first, 4 count, chunks of the known list · 1, 32 digest, 4 length, another chunk)
/// 21 records      2 n, n × (4 length, name · 4 version · 32 digest) · 16 own, before and known position each
/// 22 change set   1 author (0 own, 1 peer) · 16 position · 4 length of the whole · 4 offset · 4 length, bytes
/// 23 sets taken   16 position
/// 24 formats      2 n, n × (4 length, model · 4 length, name · 4 rule · 4 lowest · 4 highest version)
/// 25 sets shown   16 position
/// 26 claim        8 number · 1 read · 1 held · 4 process · 4 length, holder · 2 n, n × (4 length, path)
/// 27 claim answer 8 number · 1 granted
/// 28 release      8 number
/// 29 sets base    1 step (0 forgotten, 1 wanted, 2 begins, 3 ends) · 16 own, peer, own end and peer end position each
/// 30 pausing      1 paused
/// 31 claim for    a claim as above · 4 length, purpose (not empty; only for a peer that offers `Hello.claimPurposes`)
/// 32 holding      4 files
/// 33 claim waits  2 n, n × (4 length, purpose · 4 length, purpose that is waited for; neither empty)
/// ```
/// Decoding is total. A count is believed only as far as the bytes reach, so a frame cannot make the reader allocate
/// more than a small multiple of its own length. Unknown types are skipped, never guessed.
public enum FrameCodec {
    public static func encode(_ frame: Frame, checksum: CRC32.Checksum = { CRC32.checksum($0) }) -> [UInt8] {
        var whole = ByteWriter(capacity: roomForContent(of: frame) + 64)
        whole.put(UInt32(0))
        whole.put(type(of: frame))
        put(frame, into: &whole)
        whole.replace(at: 0, by: UInt32(whole.bytes.count))
        whole.put(checksum(whole.bytes[4...]))
        return whole.bytes
    }

    /// Frames that carry contents are large: they are not to be copied while they grow.
    private static func roomForContent(of frame: Frame) -> Int {
        switch frame {
        case .chunks(_, let chunks): chunks.reduce(0) { $0 + $1.bytes.count + 8 }
        case .changeSet(let piece): piece.bytes.count
        case .contents(let contents): contents.reduce(0) { $0 + $1.bytes.count + 36 }
        case .hello, .log, .acknowledge, .rows, .rowsEnd, .want, .wantChanged, .chunkList, .changedList, .wantChunks,
            .gone,
            .later, .rolledBack, .expand, .expansion, .ping, .pong, .records, .setsTaken, .formats, .setsShown,
            .setsBase, .claim, .claimAnswer, .releaseClaim, .claimWaits, .pausing, .holding, .halt, .unknown:
            0
        }
    }

    /// Nil for anything that is not one whole, sound frame.
    public static func decode(_ bytes: [UInt8], checksum: CRC32.Checksum = { CRC32.checksum($0) }) -> Frame? {
        guard bytes.count >= 9, bytes.count <= Limits.frameBytesMax + 4 else { return nil }
        var reader = ByteReader(bytes)
        guard let length = reader.uint32(), Int(length) == bytes.count - 4 else { return nil }
        let body = bytes[4..<(bytes.count - 4)]
        var tail = ByteReader(bytes[(bytes.count - 4)...])
        guard tail.uint32() == checksum(body) else { return nil }
        var content = ByteReader(bytes, in: body.indices)
        guard let type = content.byte() else { return nil }
        guard let frame = frame(type: type, from: &content) else { return nil }
        if case .unknown = frame { return frame }
        // Who speaks none of our versions may have more to say in his hello: its beginning is what it ever was.
        if case .hello(let hello) = frame, hello.versionMin > Hello.protocolMax { return frame }
        return content.isAtEnd ? frame : nil
    }

    private static func type(of frame: Frame) -> UInt8 {
        switch frame {
        case .hello: 1
        case .log: 2
        case .acknowledge: 3
        case .rows: 4
        case .rowsEnd: 5
        case .want: 6
        case .chunkList: 7
        case .wantChunks: 8
        case .chunks: 9
        case .gone: 10
        case .rolledBack: 11
        case .expand: 12
        case .expansion: 13
        case .ping: 14
        case .pong: 15
        case .halt: 16
        case .contents: 17
        case .later: 18
        case .wantChanged: 19
        case .changedList: 20
        case .records: 21
        case .changeSet: 22
        case .setsTaken: 23
        case .formats: 24
        case .setsShown: 25
        case .claim(let claim): claim.purpose.isEmpty ? 26 : 31
        case .claimAnswer: 27
        case .releaseClaim: 28
        case .setsBase: 29
        case .pausing: 30
        case .holding: 32
        case .claimWaits: 33
        case .unknown(let type): type
        }
    }

    // MARK: Writing

    private static func put(_ frame: Frame, into writer: inout ByteWriter) {
        switch frame {
        case .hello(let hello):
            put(hello, into: &writer)
        case .log(let entries):
            writer.put(UInt32(entries.count))
            for entry in entries { writer.putCounted(entry) }
        case .acknowledge(let acknowledgement):
            put(acknowledgement.head, into: &writer)
            writer.put(acknowledgement.isSettled)
        case .rows(let rows):
            put(rows, into: &writer)
        case .rowsEnd(let head):
            put(head, into: &writer)
        case .want(let contents):
            writer.put(UInt32(contents.count))
            for content in contents { writer.put(content.digest) }
        case .wantChanged(let wishes):
            writer.put(UInt32(wishes.count))
            for wish in wishes {
                writer.put(wish.content.digest)
                writer.put(wish.base.digest)
            }
        case .chunkList(let page):
            writer.put(page.content.digest)
            writer.put(page.first)
            writer.put(page.total)
            writer.put(UInt32(page.chunks.count))
            for chunk in page.chunks { put(chunk, into: &writer) }
        case .changedList(let list):
            put(list, into: &writer)
        case .wantChunks(let content, let indexes):
            writer.put(content.digest)
            writer.put(UInt32(indexes.count))
            for index in indexes { writer.put(index) }
        case .chunks(let content, let chunks):
            writer.put(content.digest)
            writer.put(UInt32(chunks.count))
            for chunk in chunks {
                writer.put(chunk.index)
                writer.putCounted(chunk.bytes)
            }
        case .contents(let contents):
            writer.put(UInt32(contents.count))
            for content in contents {
                writer.put(content.id.digest)
                writer.putCounted(content.bytes)
            }
        case .gone(let content), .later(let content):
            writer.put(content.digest)
        case .rolledBack(let position), .expand(let position), .setsTaken(let position), .setsShown(let position):
            LogCodec.put(position, into: &writer)
        case .records(let hello):
            put(hello, into: &writer)
        case .setsBase(let base):
            writer.put(base.step.rawValue)
            for position in [base.own, base.peer, base.ownEnd, base.peerEnd] { LogCodec.put(position, into: &writer) }
        case .changeSet(let piece):
            writer.put(piece.author.rawValue)
            LogCodec.put(piece.position, into: &writer)
            writer.put(piece.total)
            writer.put(piece.offset)
            writer.putCounted(piece.bytes)
        case .claim(let claim):
            put(claim, into: &writer)
        case .claimAnswer(let id, let isGranted):
            writer.put(id.number)
            writer.put(isGranted)
        case .releaseClaim(let id):
            writer.put(id.number)
        case .claimWaits(let waits):
            writer.put(UInt16(waits.count))
            for wait in waits {
                writer.putCounted(wait.purpose)
                writer.putCounted(wait.awaited)
            }
        case .formats(let formats):
            writer.put(UInt16(formats.count))
            for format in formats {
                writer.putCounted(format.model)
                writer.putCounted(format.name)
                writer.put(format.rule)
                writer.put(format.versions.lowerBound)
                writer.put(format.versions.upperBound)
            }
        case .expansion(let position, let rows, let isLast):
            LogCodec.put(position, into: &writer)
            writer.put(isLast)
            put(rows, into: &writer)
        case .halt(let code):
            writer.putCounted(Array(code.rawValue.utf8))
        case .pong(let wall):
            writer.put(wall)
        case .pausing(let isPaused):
            writer.put(isPaused)
        case .holding(let files):
            writer.put(files)
        case .ping, .unknown:
            break
        }
    }

    private static func put(_ hello: Hello, into writer: inout ByteWriter) {
        writer.put(hello.versionMin)
        writer.put(hello.versionMax)
        writer.put(UInt16(clamping: hello.features.count))
        for feature in hello.features { writer.putCounted(feature) }
        writer.putCounted(hello.name)
        writer.putCounted(hello.program)
        writer.put(hello.wallMilliseconds)
        put(hello.ownHead, into: &writer)
        writer.put(UInt16(clamping: hello.known.count))
        for head in hello.known { put(head, into: &writer) }
    }

    private static func put(_ hello: RecordsHello, into writer: inout ByteWriter) {
        writer.put(UInt16(clamping: hello.models.count))
        for model in hello.models {
            writer.putCounted(model.name)
            writer.put(model.version)
            writer.put(model.digest)
        }
        LogCodec.put(hello.own, into: &writer)
        LogCodec.put(hello.before, into: &writer)
        LogCodec.put(hello.known, into: &writer)
    }

    private static func put(_ chunk: Chunk, into writer: inout ByteWriter) {
        writer.put(chunk.digest)
        writer.put(chunk.length)
    }

    private static func put(_ list: ChangedList, into writer: inout ByteWriter) {
        writer.put(list.content.digest)
        writer.put(list.base.digest)
        writer.put(UInt32(list.parts.count))
        for part in list.parts {
            switch part {
            case .known(let first, let count):
                writer.put(UInt8(0))
                writer.put(first)
                writer.put(count)
            case .other(let chunk):
                writer.put(UInt8(1))
                put(chunk, into: &writer)
            }
        }
    }

    private static func put(_ head: LogHead, into writer: inout ByteWriter) {
        LogCodec.put(head.position, into: &writer)
        writer.put(head.chain)
    }

    private static func put(_ rows: [RowState], into writer: inout ByteWriter) {
        writer.put(UInt32(rows.count))
        for row in rows {
            writer.putCounted(row.path.bytes)
            LogCodec.put(row.revision.origin, into: &writer)
            LogCodec.put(row.revision, into: &writer)
        }
    }

    // MARK: Reading

    private static func frame(type: UInt8, from reader: inout ByteReader) -> Frame? {
        switch type {
        case 1: return hello(from: &reader).map { .hello($0) }
        case 2: return list(from: &reader) { $0.counted(max: Limits.frameBytesMax) }.map { .log($0) }
        case 3:
            guard let head = head(from: &reader), let isSettled = reader.bool() else { return nil }
            return .acknowledge(Acknowledgement(head: head, isSettled: isSettled))
        case 4: return list(from: &reader, row).map { .rows($0) }
        case 5: return head(from: &reader).map { .rowsEnd($0) }
        case 6: return list(from: &reader) { $0.digest().map { ContentID($0) } }.map { .want($0) }
        case 7: return page(from: &reader).map { .chunkList($0) }
        case 8:
            guard let id = reader.digest(), let indexes = list(from: &reader, { $0.uint32() }) else { return nil }
            return .wantChunks(ContentID(id), indexes)
        case 9:
            guard let id = reader.digest(), let chunks = list(from: &reader, chunkData) else { return nil }
            return .chunks(ContentID(id), chunks)
        case 10: return reader.digest().map { .gone(ContentID($0)) }
        case 11: return LogCodec.position(from: &reader).map { .rolledBack($0) }
        case 12: return LogCodec.position(from: &reader).map { .expand($0) }
        case 13:
            guard let position = LogCodec.position(from: &reader), let isLast = reader.bool(),
                let rows = list(from: &reader, row)
            else { return nil }
            return .expansion(position, rows, isLast: isLast)
        case 14: return .ping
        case 15: return reader.int64().map { .pong(wallMilliseconds: $0) }
        case 16:
            guard let code = reader.counted(max: 64) else { return nil }
            let text = String(decoding: code, as: UTF8.self)
            return .halt(MessageCode(rawValue: text) ?? .nodeHalted)
        case 18: return reader.digest().map { .later(ContentID($0)) }
        case 17: return list(from: &reader, smallContent).map { .contents($0) }
        case 19: return list(from: &reader, wish).map { .wantChanged($0) }
        case 20: return changedList(from: &reader).map { .changedList($0) }
        case 21: return recordsHello(from: &reader).map { .records($0) }
        case 22: return setPiece(from: &reader).map { .changeSet($0) }
        case 23: return LogCodec.position(from: &reader).map { .setsTaken($0) }
        case 24: return formats(from: &reader).map { .formats($0) }
        case 25: return LogCodec.position(from: &reader).map { .setsShown($0) }
        case 26: return claim(from: &reader).map { .claim($0) }
        case 27:
            guard let id = reader.uint64(), let isGranted = reader.bool() else { return nil }
            return .claimAnswer(Claim.ID(id), isGranted: isGranted)
        case 28: return reader.uint64().map { .releaseClaim(Claim.ID($0)) }
        case 29: return setsBase(from: &reader).map { .setsBase($0) }
        case 30: return reader.bool().map { .pausing($0) }
        case 31: return claimWithPurpose(from: &reader).map { .claim($0) }
        case 32: return reader.uint32().map { .holding(files: $0) }
        case 33: return waits(from: &reader).map { .claimWaits($0) }
        case let other: return .unknown(other)
        }
    }

    private static func list<Element>(
        from reader: inout ByteReader, _ element: (inout ByteReader) -> Element?
    ) -> [Element]? {
        guard let count = reader.uint32() else { return nil }
        var elements: [Element] = []
        for _ in 0..<count {
            guard let next = element(&reader) else { return nil }
            elements.append(next)
        }
        return elements
    }

    private static func hello(from reader: inout ByteReader) -> Hello? {
        guard let min = reader.uint16(), let max = reader.uint16(), min <= max,
            let featureCount = reader.uint16(), Int(featureCount) <= Limits.featureCountMax
        else { return nil }
        var features: [[UInt8]] = []
        for _ in 0..<featureCount {
            guard let feature = reader.counted(max: 64) else { return nil }
            features.append(feature)
        }
        guard let name = reader.counted(max: Limits.nodeNameBytesMax),
            let program = reader.counted(max: Limits.programBytesMax), let wall = reader.int64(),
            let ownHead = head(from: &reader), let knownCount = reader.uint16(),
            Int(knownCount) <= Limits.epochsRememberedMax + 1
        else { return nil }
        var known: [LogHead] = []
        for _ in 0..<knownCount {
            guard let head = head(from: &reader) else { return nil }
            known.append(head)
        }
        return Hello(
            versionMin: min, versionMax: max, features: features, name: name, program: program,
            wallMilliseconds: wall, ownHead: ownHead, known: known)
    }

    private static func setsBase(from reader: inout ByteReader) -> SetsBase? {
        guard let step = reader.byte().flatMap(SetsBase.Step.init), let own = LogCodec.position(from: &reader),
            let peer = LogCodec.position(from: &reader), let ownEnd = LogCodec.position(from: &reader),
            let peerEnd = LogCodec.position(from: &reader)
        else { return nil }
        return SetsBase(step, own: own, peer: peer, ownEnd: ownEnd, peerEnd: peerEnd)
    }

    private static func recordsHello(from reader: inout ByteReader) -> RecordsHello? {
        guard let count = reader.uint16(), Int(count) <= Limits.modelsMax else { return nil }
        var models: [RecordsHello.Model] = []
        for _ in 0..<count {
            guard let name = reader.counted(max: Limits.nameBytesMax), let version = reader.uint32(),
                let digest = reader.digest()
            else { return nil }
            models.append(RecordsHello.Model(name: name, version: version, digest: digest))
        }
        guard let own = LogCodec.position(from: &reader), let before = LogCodec.position(from: &reader),
            let known = LogCodec.position(from: &reader)
        else { return nil }
        return RecordsHello(models: models, own: own, before: before, known: known)
    }

    private static func put(_ claim: PeerClaim, into writer: inout ByteWriter) {
        writer.put(claim.id.number)
        writer.put(claim.isRead)
        writer.put(claim.isHeld)
        writer.put(claim.process)
        writer.putCounted(claim.holder)
        writer.put(UInt16(claim.paths.count))
        for path in claim.paths { writer.putCounted(path.bytes) }
        if !claim.purpose.isEmpty { writer.putCounted(claim.purpose) }
    }

    private static func claim(from reader: inout ByteReader) -> PeerClaim? {
        guard let id = reader.uint64(), let isRead = reader.bool(), let isHeld = reader.bool(),
            let process = reader.uint32(), let holder = reader.counted(max: Limits.holderBytesMax),
            let count = reader.uint16(), Int(count) <= Limits.claimedPathsMax
        else { return nil }
        var paths: [Path] = []
        for _ in 0..<count {
            guard let bytes = reader.counted(max: Limits.pathBytesMax), let path = Path(bytes) else { return nil }
            paths.append(path)
        }
        return PeerClaim(
            id: Claim.ID(id), isRead: isRead, isHeld: isHeld, process: process, holder: holder, paths: paths)
    }

    private static func claimWithPurpose(from reader: inout ByteReader) -> PeerClaim? {
        guard var claim = claim(from: &reader), let purpose = reader.counted(max: Limits.holderBytesMax),
            !purpose.isEmpty
        else { return nil }
        claim.purpose = purpose
        return claim
    }

    private static func waits(from reader: inout ByteReader) -> [PeerWait]? {
        guard let count = reader.uint16(), Int(count) <= Limits.claimWaitsMax else { return nil }
        var waits: [PeerWait] = []
        for _ in 0..<count {
            guard let purpose = reader.counted(max: Limits.holderBytesMax),
                let awaited = reader.counted(max: Limits.holderBytesMax), !purpose.isEmpty, !awaited.isEmpty
            else { return nil }
            waits.append(PeerWait(purpose: purpose, awaited: awaited))
        }
        return waits
    }

    private static func formats(from reader: inout ByteReader) -> [FormatSupport]? {
        guard let count = reader.uint16(), Int(count) <= Limits.formatsMax else { return nil }
        var formats: [FormatSupport] = []
        for _ in 0..<count {
            guard let model = reader.counted(max: Limits.nameBytesMax),
                let name = reader.counted(max: Limits.nameBytesMax),
                let rule = reader.uint32(), let low = reader.uint32(), let high = reader.uint32(), low <= high
            else { return nil }
            formats.append(FormatSupport(model: model, name: name, rule: rule, versions: low...high))
        }
        return formats
    }

    private static func setPiece(from reader: inout ByteReader) -> SetPiece? {
        guard let author = reader.byte().flatMap({ Author(rawValue: $0) }),
            let position = LogCodec.position(from: &reader), let total = reader.uint32(),
            Int(total) <= Limits.changeSetBytesMax, let offset = reader.uint32(),
            let bytes = reader.counted(max: Limits.frameBytesMax), UInt64(offset) + UInt64(bytes.count) <= UInt64(total)
        else { return nil }
        return SetPiece(author: author, position: position, total: total, offset: offset, bytes: bytes)
    }

    private static func head(from reader: inout ByteReader) -> LogHead? {
        guard let position = LogCodec.position(from: &reader), let chain = reader.digest() else { return nil }
        return LogHead(position: position, chain: chain)
    }

    private static func row(from reader: inout ByteReader) -> RowState? {
        guard let path = LogCodec.path(from: &reader), let origin = LogCodec.origin(from: &reader),
            origin.author == .own, let revision = LogCodec.revision(from: &reader, origin: origin)
        else { return nil }
        return RowState(path: path, revision: revision)
    }

    private static func page(from reader: inout ByteReader) -> ContentPage? {
        guard let id = reader.digest(), let first = reader.uint32(), let total = reader.uint32(),
            let chunks = list(from: &reader, chunk), chunks.count <= Limits.chunksPerPageMax,
            UInt64(first) + UInt64(chunks.count) <= UInt64(total)
        else { return nil }
        return ContentPage(content: ContentID(id), first: first, total: total, chunks: chunks)
    }

    private static func chunk(from reader: inout ByteReader) -> Chunk? {
        guard let digest = reader.digest(), let length = reader.uint32() else { return nil }
        return Chunk(digest: digest, length: length)
    }

    private static func wish(from reader: inout ByteReader) -> ChangedWish? {
        guard let content = reader.digest(), let base = reader.digest() else { return nil }
        return ChangedWish(content: ContentID(content), base: ContentID(base))
    }

    private static func changedList(from reader: inout ByteReader) -> ChangedList? {
        guard let content = reader.digest(), let base = reader.digest(), let parts = list(from: &reader, listPart),
            parts.count <= Limits.chunksPerPageMax
        else { return nil }
        return ChangedList(content: ContentID(content), base: ContentID(base), parts: parts)
    }

    private static func listPart(from reader: inout ByteReader) -> ChangedList.Part? {
        guard let isOther = reader.bool() else { return nil }
        if isOther { return chunk(from: &reader).map { .other($0) } }
        guard let first = reader.uint32(), let count = reader.uint32() else { return nil }
        return .known(first: first, count: count)
    }

    private static func chunkData(from reader: inout ByteReader) -> ChunkData? {
        guard let index = reader.uint32(), let bytes = reader.counted(max: Limits.frameBytesMax) else { return nil }
        return ChunkData(index: index, bytes: bytes)
    }

    private static func smallContent(from reader: inout ByteReader) -> SmallContent? {
        guard let id = reader.digest(), let bytes = reader.counted(max: Limits.frameBytesMax) else { return nil }
        return SmallContent(id: ContentID(id), bytes: bytes)
    }
}
