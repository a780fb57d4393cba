import ControlProtocol
import RecordMerge
import SyncCore
import SyncModel

/// Reads a conflict off the rows: the name of the copy tells whose version lost; the version that won has the name.
enum ConflictReading {
    static func id(of copy: Path) -> String { "c" + SHA256.digest(of: copy.bytes).hex(digits: 10) }

    /// `current` and `copy` are the digests of the two files. A downgrade lost by its format, and not by its time.
    static func document(
        _ conflict: NodeHost.Conflict, isDowngrade: Bool, current: Digest?, copy digest: Digest?, node: [UInt8],
        peer: [UInt8]
    ) -> ConflictDocument? {
        guard let parts = ConflictName.parts(of: conflict.copy) else { return nil }
        let loser = ConflictDocument.Version(
            id: copyID, node: parts.node, timeMilliseconds: parts.milliseconds ?? conflict.milliseconds,
            sha256: digest?.hex(digits: 64),
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
            id: id(of: conflict.copy), code: CodeText(isDowngrade ? .formatDowngradeHeld : .conflictFile),
            kind: isDowngrade ? .downgrade : .file, path: parts.original.bytes, subject: parts.original.bytes,
            sinceMilliseconds: conflict.milliseconds, reason: isDowngrade ? "olderFormat" : "editedOnBoth",
            versions: versions, isOpen: conflict.isOpen)
    }

    /// What the two versions of a conflict are called.
    static let currentID = "current"
    static let copyID = "copy"

    private static func size(_ entry: Entry) -> Int? {
        entry.content.kind == .file ? Int(clamping: entry.content.size) : nil
    }
}

/// Words an alert: what the registry says, and where it is about a format which version meets which programs.
enum AlertReading {
    static func document(_ item: AlertBook.Item, node: [UInt8], peer: [UInt8]) -> AlertDocument {
        let state: AlertDocument.State =
            item.clearedMilliseconds != nil ? .cleared : item.isAcknowledged ? .acknowledged : .open
        let format = item.key.format
        let reader = format.map { name(of: $0.node, node, peer) } ?? ""
        var document = AlertDocument(
            id: item.id, code: item.key.code, subject: item.key.subject, state: state,
            firstSeenMilliseconds: item.firstMilliseconds, lastSeenMilliseconds: item.lastMilliseconds,
            count: item.count, found: format?.found.map { JSON.count(Int($0)) },
            supported: format.map {
                .array([.count(Int($0.supported.lowerBound)), .count(Int($0.supported.upperBound))])
            },
            writer: item.writer.map { name(of: $0, node, peer) }, text: format.flatMap { text(of: $0, reader) },
            cure: format.flatMap { cure(of: $0, reader) })
        document.fault = item.violation.map { violation in
            AlertDocument.Fault(
                entity: "\(violation.record.entity)", property: violation.property.map { "\($0)" },
                record: "\(violation.record)", changeSet: set(of: violation))
        }
        return document
    }

    /// For the journal.
    static func text(of violation: Violation) -> String {
        "\(violation.record)\(violation.property.map { ".\($0)" } ?? ""), change set \(set(of: violation))"
    }

    private static func set(of violation: Violation) -> String {
        "\(violation.set.epoch.number)/\(violation.set.seq)"
    }

    private static func name(of author: Author, _ node: [UInt8], _ peer: [UInt8]) -> String {
        let name = author == .own ? node : peer
        return name.isEmpty ? "the other node" : Path.escape(name)
    }

    private static func text(of format: FormatFinding, _ reader: String) -> String? {
        guard let found = format.found else { return nil }
        return
            "This file is in version \(found) of its format; \(reader) understands \(range(of: format)). It is stored and "
            + "passed on byte for byte, and \(reader) never changes, merges, moves or deletes it; other files go on."
    }

    private static func cure(of format: FormatFinding, _ reader: String) -> String? {
        guard let found = format.found else { return nil }
        return
            "Upgrade the program and its format rules on \(reader) to some that understand version \(found); the message "
            + "goes by itself then."
    }

    private static func range(of format: FormatFinding) -> String {
        let (low, high) = (format.supported.lowerBound, format.supported.upperBound)
        return low == high ? "version \(low)" : "versions \(low) to \(high)"
    }
}

/// Why a path is as it is: what is known of it, what lies there, and whether a rule leaves it out.
struct PathReading {
    let path: Path
    let row: Row?
    /// Nil if the folder cannot be looked at.
    let found: Inspection.Result?
    let rule: IgnoreReason?
    let node: [UInt8]
    let peer: [UInt8]

    /// Nil if there is nothing to be said of it.
    func document(code: MessageCode?) -> ExplainDocument? {
        if path.isReserved {
            return about(
                "This is what syncd itself needs in the folder. It is never sent, and nothing of it is to be changed.")
        }
        if isSpecial { return about(nil, code: .pathSpecial) }
        if let rule, row == nil || row?.condition == .ignored {
            let place = Path.escape(rule.directory + (rule.directory.isEmpty ? [] : [UInt8(ascii: "/")]))
            return about(
                "A rule leaves this path out: what lies there stays on this node, and nothing of it is sent or changed.",
                facts: ["the rule is line \(rule.line) of \"\(place).syncignore\""])
        }
        guard let row else {
            guard case .found? = found else { return nil }
            return about("This path has only just come, and has not been read yet.")
        }
        let plain =
            row.isUnsettled ? "This path is being brought up to date." : "The folder shows what is known of this path."
        return about(code == nil ? plain : nil, code: code)
    }

    private var isSpecial: Bool { if case .found(let stat)? = found { stat.kind == .special } else { false } }

    private func about(_ meaning: String?, code: MessageCode? = nil, facts: [String] = []) -> ExplainDocument {
        ExplainDocument(
            subject: path.bytes, kind: .path, code: code, meaning: meaning ?? code?.kind.meaning ?? "",
            cure: code?.kind.cure, facts: facts + known)
    }

    private var known: [String] {
        guard let row else { return [] }
        var facts: [String] = []
        for head in row.heads {
            let name = Path.escape(head.origin.author == .own ? node : peer)
            let time = TimeText.seconds(Int64(clamping: head.origin.time.wallMilliseconds))
            facts.append("\(name) wrote \(PathReading.describe(head.entry.content)) at \(time)")
            if let from = head.movedFrom { facts.append("it came from \"\(from)\"") }
            if let to = head.movedTo { facts.append("it went to \"\(to)\"") }
        }
        if let format = row.format { facts.append("its header here: \(PathReading.describe(format.reading))") }
        facts.append("in the folder here: \(row.disk.map { PathReading.describe($0.entry.content) } ?? "nothing")")
        return facts
    }

    private static func describe(_ reading: FormatReading) -> String {
        switch reading {
        case .zeroLength: "empty"
        case .corrupt: "not in its format"
        case .version(0): "no version"
        case .version(let number): "version \(number)"
        case .unknown: "no version that is known"
        }
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
