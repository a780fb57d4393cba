import ControlProtocol
import SyncModel

/// Reads a conflict off the rows: the name of the copy tells whose version lost; the version that won has the name.
enum ConflictReading {
    static func id(of copy: Path) -> String { "c" + SHA256.digest(of: copy.bytes).hex(digits: 10) }

    /// `current` and `copy` are the digests of the two files.
    static func document(
        _ conflict: NodeHost.Conflict, current: Digest?, copy digest: Digest?, node: [UInt8], peer: [UInt8]
    ) -> ConflictDocument? {
        guard let parts = ConflictName.parts(of: conflict.copy) else { return nil }
        let loser = ConflictDocument.Version(
            id: copyID, node: parts.node, timeMilliseconds: conflict.milliseconds, sha256: digest?.hex(digits: 64),
            path: conflict.isOpen ? conflict.copy.bytes : nil, size: size(conflict.lost))
        var versions = [loser]
        if let original = conflict.original, let won = original.disk {
            let origin = won.origins.content
            versions.insert(
                ConflictDocument.Version(
                    id: currentID, node: origin.author == .own ? node : peer,
                    timeMilliseconds: Int64(clamping: origin.time.wallMilliseconds), sha256: current?.hex(digits: 64),
                    isCurrent: true, path: original.path.bytes, size: size(won.entry)), at: 0)
        }
        return ConflictDocument(
            id: id(of: conflict.copy), code: CodeText(.conflictFile), kind: .file, path: parts.original.bytes,
            subject: parts.original.bytes, sinceMilliseconds: conflict.milliseconds, reason: "editedOnBoth",
            versions: versions, isOpen: conflict.isOpen)
    }

    /// What the two versions of a conflict are called.
    static let currentID = "current"
    static let copyID = "copy"

    private static func size(_ entry: Entry) -> Int? {
        entry.content.kind == .file ? Int(clamping: entry.content.size) : nil
    }
}

/// Tells from a row why a path is as it is.
enum PathReading {
    static func document(_ row: Row, node: [UInt8], peer: [UInt8]) -> ExplainDocument {
        let code = row.waiting?.reason
        var facts: [String] = []
        for head in row.heads {
            let name = Path.escape(head.origin.author == .own ? node : peer)
            let time = TimeText.seconds(Int64(clamping: head.origin.time.wallMilliseconds))
            facts.append("\(name) wrote \(describe(head.entry.content)) at \(time)")
            if let from = head.movedFrom { facts.append("it came from \"\(from)\"") }
            if let to = head.movedTo { facts.append("it went to \"\(to)\"") }
        }
        facts.append("in the folder here: \(row.disk.map { describe($0.entry.content) } ?? "nothing")")
        let plain =
            row.isUnsettled ? "This path is being brought up to date." : "The folder shows what is known of this path."
        return ExplainDocument(
            subject: row.path.bytes, kind: .path, code: code, meaning: code?.kind.meaning ?? plain,
            cure: code?.kind.cure,
            facts: facts)
    }

    private static func describe(_ content: Content) -> String {
        switch content {
        case .absent: "nothing"
        case .directory: "a directory"
        case .file(let id, let size): "a file of \(size) bytes (\(id.digest.hex(digits: 12)))"
        case .symlink(let target): "a symlink to \"\(Path.escape(target))\""
        }
    }
}
