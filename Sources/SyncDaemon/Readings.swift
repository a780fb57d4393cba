import ControlProtocol
import SyncModel

/// Reads a conflict off the row of its copy: the name tells whose version it holds and when that was written.
enum ConflictReading {
    static func document(_ row: Row) -> ConflictDocument? {
        guard let disk = row.disk, let parts = ConflictName.parts(of: row.path) else { return nil }
        let id = "c" + SHA256.digest(of: row.path.bytes).hex(digits: 10)
        var digest: String?
        var size: Int?
        if case .file(let content, let bytes) = disk.entry.content {
            (digest, size) = (content.digest.hex(digits: 64), Int(clamping: bytes))
        }
        let time = Int64(clamping: disk.origins.content.time.wallMilliseconds)
        let loser = ConflictDocument.Version(
            id: "copy", node: parts.node, timeMilliseconds: time, sha256: digest, isCurrent: false, record: nil,
            path: row.path.bytes, size: size)
        let winner = ConflictDocument.Version(
            id: "current", node: [], timeMilliseconds: time, sha256: nil, isCurrent: true, record: nil,
            path: parts.original.bytes, size: nil)
        return ConflictDocument(
            id: id, code: CodeText(.conflictFile), kind: .file, path: parts.original.bytes,
            subject: parts.original.bytes,
            sinceMilliseconds: time, reason: "editedOnBoth", versions: [winner, loser])
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
