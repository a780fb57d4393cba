/// An intent as a blob; its stage is the key. Version 1:
///
/// ```
/// path
/// action     0 place: 1 and an identity or 0, entry · 1 remove · 2 rename: path from
/// flags      bit 0 expected · bit 1 displaced · bit 2 staged time · bit 3 shown; then in this order
/// expected   stat
/// displaced  0 version, 2 quarantine: id, kept version · 1 conflict copy: path
/// staged     time
/// shown      vector · 3 origins
/// identity   device · inode · birth time
/// ```
import SyncModel

enum IntentCodec {
    static let version: UInt8 = 1

    static func encode(_ intent: Intent) -> [UInt8] {
        var writer = BlobWriter()
        writer.put(intent.path)
        put(intent.action, into: &writer)
        writer.put(
            byte: (intent.expected == nil ? 0 : 1) | (intent.displaced == nil ? 0 : 2)
                | (intent.stagedTime == nil ? 0 : 4) | (intent.shown == nil ? 0 : 8))
        if let stat = intent.expected { writer.put(stat) }
        if let displaced = intent.displaced { put(displaced, into: &writer) }
        if let time = intent.stagedTime { writer.put(time) }
        if let shown = intent.shown {
            writer.put(shown.version)
            writer.put(shown.origins)
        }
        return Blob.seal(writer.bytes, version: version, key: intent.stage.raw.key)
    }

    private static func put(_ action: Intent.Action, into writer: inout BlobWriter) {
        switch action {
        case .place(let identity, let entry):
            writer.put(byte: 0)
            writer.put(byte: identity == nil ? 0 : 1)
            if let identity {
                writer.put(number: identity.device)
                writer.put(number: identity.inode)
                writer.put(identity.birth)
            }
            writer.put(entry)
        case .remove:
            writer.put(byte: 1)
        case .rename(let from):
            writer.put(byte: 2)
            writer.put(from)
        }
    }

    private static func put(_ displaced: Intent.Displaced, into writer: inout BlobWriter) {
        switch displaced {
        case .conflictCopy(let path):
            writer.put(byte: 1)
            writer.put(path)
        case .version(let kept), .quarantine(let kept):
            if case .version = displaced { writer.put(byte: 0) } else { writer.put(byte: 2) }
            writer.put(number: kept.id.raw)
            writer.put(kept)
        }
    }

    static func decode(_ sealed: [UInt8], key: [UInt8]) throws(BlobError) -> Intent {
        var reader = try Blob.open(sealed, version: version, key: key)
        var number = ByteReader(key)
        guard let stage = number.uint64(), number.isAtEnd else { throw .damaged }
        let (path, action) = (try reader.path(), try action(from: &reader))
        let flags = try reader.byte()
        if flags > 15 { throw .damaged }
        let expected = flags & 1 == 0 ? nil : try reader.stat()
        let displaced = flags & 2 == 0 ? nil : try displaced(from: &reader)
        let time = flags & 4 == 0 ? nil : try reader.time()
        let shown = flags & 8 == 0 ? nil : try shown(from: &reader)
        try reader.finish()
        return Intent(
            stage: StageName(raw: stage), path: path, action: action, expected: expected, displaced: displaced,
            stagedTime: time, shown: shown)
    }

    private static func action(from reader: inout BlobReader) throws(BlobError) -> Intent.Action {
        switch try reader.byte() {
        case 0:
            var identity: FileIdentity?
            if try reader.byte() != 0 {
                let (device, inode) = (try reader.number(), try reader.number())
                identity = FileIdentity(device: device, inode: inode, birth: try reader.time())
            }
            return .place(identity, try reader.entry())
        case 1: return .remove
        case 2: return .rename(from: try reader.path())
        default: throw .damaged
        }
    }

    private static func displaced(from reader: inout BlobReader) throws(BlobError) -> Intent.Displaced {
        let kind = try reader.byte()
        if kind == 1 { return .conflictCopy(try reader.path()) }
        if kind > 2 { throw .damaged }
        let id = VersionID(raw: try reader.number())
        let kept = try reader.keptVersion(id)
        return kind == 0 ? .version(kept) : .quarantine(kept)
    }

    private static func shown(from reader: inout BlobReader) throws(BlobError) -> Intent.Shown {
        let version = try reader.vector()
        return Intent.Shown(version: version, origins: try reader.origins())
    }
}
