/// What the node remembers of itself, as a blob. Version 1, in this order:
///
/// ```
/// id · name (bytes) · folder · peer name (bytes)
/// flags      bit 0 stopped cleanly · 1 paused · 2 first import done · 3 forked · 4 peer · 5 held · 6 distrust since
///            · 7 rollback common · 8 adopt beyond · 9 adopt sparing · 10 rules considered
///            · 11 formats considered · 12 formats of the peer · 13 marks of change sets · 14 steady since
///            · 15 lost · 16 distrust of what rules left out
///            · 17 told before the cut · 18 written · 19 clock · 20 untold rules   (a number)
/// own head · pruned through · imported head · number of imported epochs, each a head · acknowledged
/// applied (position) · clock (8) · alive (signed) · next stage · next version
/// then what the flags 4 to 20 promise, in their order: id; id, signed files, signed since; signed; position; position;
/// epoch (8); digest; digest; number of formats, each model (bytes), name (bytes), rule, lowest, highest version;
/// positions own, peer and promised; signed; position and epoch (8); signed; signed; signed; number of
/// stretches, each signed lowest and highest, and the monotonic time; number of files, each a path (bytes)
/// ```
import SyncModel

enum NodeCodec {
    static let version: UInt8 = 1

    static func encode(_ node: NodeRecord) -> [UInt8] {
        var writer = BlobWriter()
        writer.put(node.id.digest)
        writer.put(node.name)
        writer.put(node.folder.digest)
        writer.put(node.peerName)
        writer.put(number: flags(of: node))
        for head in [node.ownHead, node.prunedThrough, node.importedHead] { writer.put(head) }
        writer.put(count: node.importedEpochs.count)
        for head in node.importedEpochs { writer.put(head) }
        writer.put(node.acknowledged)
        writer.put(node.applied)
        writer.put(fixed: node.clock.raw, width: 8)
        writer.put(signed: node.aliveMilliseconds)
        writer.put(number: node.nextStage)
        writer.put(number: node.nextVersion)
        putOptionals(of: node, into: &writer)
        return Blob.seal(writer.bytes, version: version, key: [])
    }

    private static func flags(of node: NodeRecord) -> UInt64 {
        let flags = [
            node.stoppedCleanly, node.isPaused, node.initialImportDone, node.isForked, node.peer != nil,
            node.held != nil, node.distrustSince != nil, node.rollbackCommon != nil, node.adoptBeyond != nil,
            node.adoptSparing != nil, node.rulesConsidered != nil, node.formatsConsidered != nil,
            !node.peerFormats.isEmpty, node.setMarks != .none, node.steadySince != nil, node.lost != nil,
            node.distrustOfIgnored != nil, node.toldBeforeCut != nil, node.writtenMilliseconds != nil,
            node.clockShown != nil, !node.untoldRules.isEmpty,
        ]
        return flags.enumerated().reduce(0) { $1.element ? $0 | 1 << UInt64($1.offset) : $0 }
    }

    private static func putOptionals(of node: NodeRecord, into writer: inout BlobWriter) {
        if let peer = node.peer { writer.put(peer.digest) }
        if let held = node.held {
            writer.put(number: held.id)
            writer.put(signed: Int64(held.files))
            writer.put(signed: held.sinceMilliseconds)
        }
        if let since = node.distrustSince { writer.put(signed: since) }
        if let position = node.rollbackCommon { writer.put(position) }
        if let position = node.adoptBeyond { writer.put(position) }
        if let epoch = node.adoptSparing { writer.put(fixed: epoch.raw, width: 8) }
        if let digest = node.rulesConsidered { writer.put(digest) }
        if let digest = node.formatsConsidered { writer.put(digest) }
        if !node.peerFormats.isEmpty { put(node.peerFormats, into: &writer) }
        if node.setMarks != .none {
            for position in [node.setMarks.own, node.setMarks.peer, node.setMarks.promised] { writer.put(position) }
        }
        if let since = node.steadySince { writer.put(signed: since) }
        if let lost = node.lost {
            writer.put(lost.after)
            writer.put(fixed: lost.before.raw, width: 8)
        }
        if let since = node.distrustOfIgnored { writer.put(signed: since) }
        if let told = node.toldBeforeCut { writer.put(signed: told) }
        if let written = node.writtenMilliseconds { writer.put(signed: written) }
        if let shown = node.clockShown {
            writer.put(count: shown.stretches.count)
            for stretch in shown.stretches {
                for end in [stretch.lowerBound, stretch.upperBound] { writer.put(signed: end) }
            }
            writer.put(number: shown.monotonicMilliseconds)
        }
        if !node.untoldRules.isEmpty {
            writer.put(count: node.untoldRules.count)
            for file in node.untoldRules { writer.put(file.bytes) }
        }
    }

    static func decode(_ sealed: [UInt8]) throws(BlobError) -> NodeRecord {
        var reader = try Blob.open(sealed, version: version, key: [])
        let id = NodeID(try reader.digest())
        let name = try reader.counted()
        var node = NodeRecord(id: id, name: name, folder: FolderID(try reader.digest()))
        node.peerName = try reader.counted()
        let flags = try reader.number()
        if flags >= 1 << 21 { throw .damaged }
        (node.stoppedCleanly, node.isPaused) = (flags & 1 != 0, flags & 2 != 0)
        (node.initialImportDone, node.isForked) = (flags & 4 != 0, flags & 8 != 0)
        try readLogs(of: &node, from: &reader)
        try readOptionals(of: &node, flags: flags, from: &reader)
        try reader.finish()
        return node
    }

    private static func readLogs(of node: inout NodeRecord, from reader: inout BlobReader) throws(BlobError) {
        node.ownHead = try reader.head()
        node.prunedThrough = try reader.head()
        node.importedHead = try reader.head()
        for _ in 0..<(try reader.count()) { node.importedEpochs.append(try reader.head()) }
        node.acknowledged = try reader.head()
        node.applied = try reader.position()
        node.clock = HybridTime(raw: try reader.fixed(width: 8))
        node.aliveMilliseconds = try reader.signed()
        node.nextStage = try reader.number()
        node.nextVersion = try reader.number()
    }

    private static func readOptionals(
        of node: inout NodeRecord, flags: UInt64, from reader: inout BlobReader
    ) throws(BlobError) {
        if flags & 1 << 4 != 0 { node.peer = NodeID(try reader.digest()) }
        if flags & 1 << 5 != 0 {
            let (id, files) = (try reader.number(), try reader.int())
            node.held = NodeRecord.HeldDeletes(id: id, files: files, sinceMilliseconds: try reader.signed())
        }
        if flags & 1 << 6 != 0 { node.distrustSince = try reader.signed() }
        if flags & 1 << 7 != 0 { node.rollbackCommon = try reader.position() }
        if flags & 1 << 8 != 0 { node.adoptBeyond = try reader.position() }
        if flags & 1 << 9 != 0 { node.adoptSparing = Epoch(raw: try reader.fixed(width: 8)) }
        if flags & 1 << 10 != 0 { node.rulesConsidered = try reader.digest() }
        if flags & 1 << 11 != 0 { node.formatsConsidered = try reader.digest() }
        if flags & 1 << 12 != 0 { node.peerFormats = try formats(from: &reader) }
        if flags & 1 << 13 != 0 {
            let (own, peer) = (try reader.position(), try reader.position())
            node.setMarks = NodeRecord.SetMarks(own: own, peer: peer, promised: try reader.position())
        }
        if flags & 1 << 14 != 0 { node.steadySince = try reader.signed() }
        if flags & 1 << 15 != 0 {
            let after = try reader.position()
            node.lost = NodeRecord.LostLog(after: after, before: Epoch(raw: try reader.fixed(width: 8)))
        }
        if flags & 1 << 16 != 0 { node.distrustOfIgnored = try reader.signed() }
        if flags & 1 << 17 != 0 { node.toldBeforeCut = try reader.signed() }
        if flags & 1 << 18 != 0 { node.writtenMilliseconds = try reader.signed() }
        if flags & 1 << 19 != 0 { node.clockShown = try clock(from: &reader) }
        if flags & 1 << 20 != 0 { node.untoldRules = try paths(from: &reader) }
    }

    private static func clock(from reader: inout BlobReader) throws(BlobError) -> NodeRecord.ClockShown {
        var stretches: [ClosedRange<Int64>] = []
        for _ in 0..<(try reader.count()) {
            let (low, high) = (try reader.signed(), try reader.signed())
            guard low <= high else { throw .damaged }
            stretches.append(low...high)
        }
        return NodeRecord.ClockShown(stretches: stretches, monotonicMilliseconds: try reader.number())
    }

    private static func paths(from reader: inout BlobReader) throws(BlobError) -> [Path] {
        var paths: [Path] = []
        for _ in 0..<(try reader.count()) {
            guard let path = Path(try reader.counted()) else { throw .damaged }
            paths.append(path)
        }
        return paths
    }

    private static func put(_ formats: [FormatSupport], into writer: inout BlobWriter) {
        writer.put(count: formats.count)
        for format in formats {
            writer.put(format.model)
            writer.put(format.name)
            for number in [format.rule, format.versions.lowerBound, format.versions.upperBound] {
                writer.put(number: UInt64(number))
            }
        }
    }

    private static func formats(from reader: inout BlobReader) throws(BlobError) -> [FormatSupport] {
        var formats: [FormatSupport] = []
        for _ in 0..<(try reader.count()) {
            let (model, name) = (try reader.counted(), try reader.counted())
            let (rule, low, high) = (try reader.number32(), try reader.number32(), try reader.number32())
            guard low <= high else { throw .damaged }
            formats.append(FormatSupport(model: model, name: name, rule: rule, versions: low...high))
        }
        return formats
    }
}
