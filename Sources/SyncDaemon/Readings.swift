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
        let path = conflict.path ?? parts.original
        let loser = ConflictDocument.Version(
            id: copyID, node: parts.node, timeMilliseconds: parts.milliseconds ?? conflict.milliseconds,
            sha256: digest?.hex(digits: 64),
            path: conflict.isOpen ? conflict.copy.bytes : nil, size: size(conflict.lost),
            target: conflict.lost.content.target)
        var versions = [loser]
        if let original = conflict.original, let won = original.disk {
            let origin = won.origins.content
            versions.insert(
                ConflictDocument.Version(
                    id: currentID, node: origin.author == .own ? node : peer,
                    timeMilliseconds: Int64(clamping: origin.time.wallMilliseconds), sha256: current?.hex(digits: 64),
                    isCurrent: true, path: original.path.bytes, size: size(won.entry), target: won.entry.content.target),
                at: 0)
        }
        return ConflictDocument(
            id: id(of: conflict.copy), code: CodeText(isDowngrade ? .formatDowngradeHeld : .conflictFile),
            kind: isDowngrade ? .downgrade : .file, path: path.bytes, subject: path.bytes,
            sinceMilliseconds: conflict.milliseconds, reason: isDowngrade ? "olderFormat" : "editedOnBoth",
            versions: versions, isOpen: conflict.isOpen, isTaken: conflict.isTaken)
    }

    /// What the two versions of a conflict are called.
    static let currentID = "current"
    static let copyID = "copy"

    private static func size(_ entry: Entry) -> Int? {
        entry.content.kind == .file ? Int(clamping: entry.content.size) : nil
    }
}

/// Words an alert: what the registry says, where it is about a format which version meets which programs, and what else is known.
enum AlertReading {
    static func document(_ item: AlertBook.Item, id: String, node: [UInt8], peer: [UInt8]) -> AlertDocument {
        let state: AlertDocument.State =
            item.clearedMilliseconds != nil ? .cleared : item.isAcknowledged ? .acknowledged : .open
        let format = item.key.format
        let version = format?.found.map { JSON.count(Int($0)) }
        let found = version ?? item.facts.found.map(JSON.string)
        let words = format.flatMap { wording(of: $0, item.facts, name(of: $0.node, node, peer)) }
        var document = AlertDocument(
            id: id, code: item.key.code, subject: item.key.subject, state: state,
            firstSeenMilliseconds: item.firstMilliseconds, lastSeenMilliseconds: item.lastMilliseconds,
            count: item.count, found: found,
            supported: format?.supported.map {
                .array([.count(Int($0.lowerBound)), .count(Int($0.upperBound))])
            },
            writer: item.facts.writer.map { name(of: $0, node, peer) },
            text: ([words?.text ?? item.key.code.kind.meaning] + details(of: item.facts)).joined(separator: " "),
            cure: words?.cure)
        if case .keeps(let version?)? = format?.measure { document.kept = JSON.count(Int(version)) }
        document.offset = item.facts.offset
        document.fault = item.facts.violation.map { violation in
            AlertDocument.Fault(
                entity: "\(violation.record.entity)", property: violation.property.map { "\($0)" },
                record: "\(violation.record)", changeSet: violation.set.setName)
        }
        if let conflict = conflictID(of: item) {
            document.conflict = conflict
            document.cure = naming(conflict, in: document.cure)
        }
        return document
    }

    /// The conflict it tells of. Of several copies of one file that is the last.
    static func conflictID(of item: AlertBook.Item) -> String? {
        let (code, subject) = (item.key.code, item.key.subject)
        if code == .conflictFile { return Path(subject).map { ConflictReading.id(of: $0) } }
        if code == .formatDowngradeHeld { return item.facts.copy.map { ConflictReading.id(of: $0) } }
        return contestCodes.contains(code) ? Daemon.contestID(ofRecordNamed: subject) : nil
    }

    private static let contestCodes: Set<MessageCode> = [
        .conflictSlot, .conflictIdentity, .conflictDeletedWhileEdited,
    ]

    /// What the registry says of any conflict, as a command about this one.
    private static func naming(_ conflict: String, in cure: String) -> String {
        cure.split(separator: " ", omittingEmptySubsequences: false).map { word in
            word == "ID" ? conflict : word == "ID." ? conflict + "." : String(word)
        }.joined(separator: " ")
    }

    /// For `explain`.
    static func explanation(_ alert: AlertDocument, _ code: MessageCode) -> ExplainDocument {
        var document = ExplainDocument(
            subject: alert.subject, kind: .alert, code: code, meaning: alert.text, cure: alert.cure,
            facts: facts(of: alert))
        if alert.state == .cleared { document.cure = "Nothing is to be done: this is over." }
        return document
    }

    private static func facts(of alert: AlertDocument) -> [String] {
        let words: [(String, String?)] = [
            (alert.found?.text == nil ? "version found: " : "found: ", alert.found.map(text)),
            ("versions understood: ", alert.supported.map(text)),
            ("version kept: ", alert.kept.map(text)), ("written by ", alert.writer),
            ("first seen at ", TimeText.seconds(alert.firstSeenMilliseconds)),
            ("last seen at ", TimeText.seconds(alert.lastSeenMilliseconds)),
        ]
        return words.compactMap { word, value in value.map { word + $0 } }
    }

    private static func text(_ versions: JSON) -> String {
        guard let ends = versions.items, let low = ends.first, let high = ends.last else {
            return versions.text ?? String(decoding: versions.bytes, as: UTF8.self)
        }
        return low == high ? text(low) : "\(text(low)) to \(text(high))"
    }

    private static func details(of facts: AlertFacts) -> [String] {
        let fault = facts.violation.map { violation in
            let what = "\(violation.record)\(violation.property.map { ".\($0)" } ?? "")"
            return "It is about \(Path.escape(Array(what.utf8))), change set \(violation.set.setName)."
        }
        return [fault, facts.detail.isEmpty ? nil : facts.detail].compactMap(\.self)
    }

    private static func name(of author: Author, _ node: [UInt8], _ peer: [UInt8]) -> String {
        let name = author == .own ? node : peer
        return name.isEmpty ? "the other node" : Path.escape(name)
    }

    private static func wording(
        of finding: FormatFinding, _ facts: AlertFacts, _ name: String
    ) -> (text: String, cure: String)? {
        switch finding.measure {
        case .supports(let range): wording(of: finding, range, name)
        case .supportsOnBoth(let range): wording(of: finding, onBoth: range)
        case .keeps(let version): wording(of: finding, kept: version, name, facts)
        case .reads(let range): wording(of: finding, reads: range, name)
        }
    }

    private static func words(_ versions: ClosedRange<UInt32>) -> String {
        let (low, high) = (versions.lowerBound, versions.upperBound)
        return low == high ? "version \(low)" : "versions \(low) to \(high)"
    }

    /// Of a file of records that is in a later version than their model here, or in none.
    private static func wording(
        of format: FormatFinding, reads: ClosedRange<UInt32>, _ node: String
    ) -> (text: String, cure: String) {
        guard let found = format.found else {
            return (
                "No usable version stands in this file of records. The file stays as it is, and what was known of its records stays as "
                    + "it was on both nodes; what is in it is sent once it can be read. Other files go on.",
                "Correct its version, or bring back an earlier state with syncctl restore PATH."
            )
        }
        return (
            "This file of records is in version \(found); the model on \(node) reads \(words(reads)). It stands on both nodes "
                + "as it was saved, and nothing is merged into it. Other files go on.",
            "Install a model on \(node) that reads version \(found), and restart syncd: what was saved on both nodes is merged then, and the "
                + "message goes by itself."
        )
    }

    private static func wording(
        of format: FormatFinding, _ supported: ClosedRange<UInt32>, _ reader: String
    ) -> (text: String, cure: String)? {
        guard let found = format.found else { return nil }
        return (
            "This file is in version \(found) of its format; \(reader) understands \(words(supported)). It is stored and passed on byte "
                + "for byte, and \(reader) never changes, merges, moves or deletes it; other files go on.",
            "Upgrade the program and its format rules on \(reader) to some that understand version \(found); the message goes "
                + "by itself then."
        )
    }

    private static func wording(
        of format: FormatFinding, onBoth supported: ClosedRange<UInt32>
    ) -> (text: String, cure: String)? {
        guard let found = format.found else { return nil }
        return (
            "This file is in version \(found) of its format; both nodes understand \(words(supported)). It is stored and passed on "
                + "byte for byte, and neither changes, merges, moves or deletes it; other files go on.",
            "Upgrade the program and its format rules on both nodes to some that understand version \(found); the message "
                + "goes by itself then."
        )
    }

    /// Of a downgrade.
    private static func wording(
        of format: FormatFinding, kept: UInt32?, _ writer: String, _ facts: AlertFacts
    ) -> (text: String, cure: String) {
        let saved =
            switch format.found {
            case nil: "left this file empty or broken"
            case 0?: "saved this file without a version, as before there were any"
            case let version?: "saved this file in version \(version) of its format"
            }
        let newer = kept.map { "version \($0)" } ?? "a version that is not known"
        let copies = facts.size == 1 ? "a conflict copy" : "\(facts.size) conflict copies"
        let take = facts.copy.map { "syncctl conflicts take \(ConflictReading.id(of: $0)) \(ConflictReading.copyID)" }
        return (
            "A program on \(writer) \(saved), where \(newer) stands. The newer content stays at the path on both nodes, and "
                + "what was written over it is beside it as \(copies); nothing was lost.",
            "Upgrade the program on \(writer). To keep the older content all the same, run "
                + "\(take ?? "syncctl conflicts take ID copy")."
        )
    }
}

/// Why a path is as it is: what is known of it, what lies there, and whether a rule leaves it out.
struct PathReading {
    let path: Path
    let row: Row?
    /// Of a conflict copy what it is a copy of; the row itself otherwise.
    let original: Row?
    /// Its conflict copies that nobody has settled.
    var copies: [Path] = []
    /// A conflict copy of a document of records, in an earlier version than that.
    var hasLostByFormat = false
    /// Nil if the folder cannot be looked at.
    let found: Inspection.Result?
    let rule: IgnoreReason?
    /// By which its header is read.
    let format: FormatRule?
    let peerFormats: [FormatSupport]
    /// Those about it that are open.
    let alerts: [(code: MessageCode, document: AlertDocument)]
    let node: [UInt8]
    let peer: [UInt8]

    /// Nil if there is nothing to be said of it.
    func document(code: MessageCode?) -> ExplainDocument? {
        if path.isReserved {
            return about(
                "This is what syncd itself needs in the folder. It is never sent, and nothing of it is to be changed.")
        }
        if path.isRoot { return about("This is the folder that is kept the same on both nodes.") }
        if isSpecial { return about(nil, code: .pathSpecial) }
        if let rule, row == nil || row?.condition == .ignored {
            return about(
                "A rule leaves this path out: what lies there stays on this node, and nothing of it is sent or changed.",
                facts: ["the rule is line \(rule.line) of \(Path.quote(rule.file))"])
        }
        guard let row else {
            guard case .found? = found else { return nil }
            return about("This path has only just come, and has not been read yet.")
        }
        let plain =
            row.isUnsettled ? "This path is being brought up to date." : "The folder shows what is known of this path."
        if let code { return about(nil, code: code) }
        // What stands there is right, and people are told something about it.
        guard let alert = alerts.max(by: { $0.code.severity < $1.code.severity }) else { return about(plain) }
        return about(alert.document.text, code: alert.code, cure: alert.document.cure)
    }

    private var isSpecial: Bool { if case .found(let stat)? = found { stat.kind == .special } else { false } }

    private func about(
        _ meaning: String?, code: MessageCode? = nil, cure: String? = nil, facts: [String] = []
    ) -> ExplainDocument {
        ExplainDocument(
            subject: path.isRoot ? Array(path.description.utf8) : path.bytes, kind: .path, code: code,
            meaning: meaning ?? code?.kind.meaning ?? "",
            cure: cure ?? code?.kind.cure, facts: facts + known + told)
    }

    private var told: [String] { alerts.map { "alert \($0.document.id), \($0.code): \($0.document.text)" } }

    private var known: [String] {
        guard let row else { return [] }
        var facts: [String] = []
        for head in row.heads {
            facts += authors(of: head)
            if let from = head.movedFrom { facts.append("it came from \(from.quoted)") }
            if let to = head.movedTo { facts.append("it went to \(to.quoted)") }
        }
        if let format = row.format { facts.append("its header here: \(PathReading.describe(format.reading))") }
        if let format { facts += support(of: format) }
        facts.append("in the folder here: \(standing(row.disk))")
        if let lost = loss(of: row) { facts.append(lost) }
        return facts
            + copies.map { copy in
                let id = ConflictReading.id(of: copy)
                let why = rule(against: copy, row)
                return "a conflict copy of it is \(copy.quoted)\(why): syncctl conflicts show \(id)"
            }
    }

    /// Who wrote what stands there; and who told of it since, which says nothing of the content.
    private func authors(of head: Revision) -> [String] {
        let (content, latest) = (head.origins.content, head.origin)
        let wrote = "\(name(of: content)) wrote \(PathReading.describe(head.entry.content)) at \(time(of: content))"
        guard !latest.isSameEntry(as: content) else { return [wrote] }
        let isTouched = [head.origins.mode, head.origins.time].contains { $0.isSameEntry(as: latest) }
        let deed =
            if isTouched {
                "gave it another mode or time"
            } else if latest.author == content.author {
                "told of it once more"
            } else {
                "settled it with what both nodes had there"
            }
        return [wrote, "\(name(of: latest)) \(deed) at \(time(of: latest))"]
    }

    private func name(of origin: Origin) -> String { Path.escape(origin.author == .own ? node : peer) }

    private func time(of origin: Origin) -> String {
        TimeText.seconds(Int64(clamping: origin.time.wallMilliseconds))
    }

    /// Why the other has the name, where it is for its time: not in a downgrade, and not where a directory has it.
    private func rule(against copy: Path, _ row: Row) -> String {
        guard let disk = row.disk, !disk.entry.content.isDirectory,
            !alerts.contains(where: { $0.code == .formatDowngradeHeld }),
            let lost = ConflictName.parts(of: copy)?.milliseconds,
            lost <= Int64(clamping: disk.origins.content.time.wallMilliseconds)
        else { return "" }
        return ", which lost the name to the later save"
    }

    /// As it is known, unless something else is there by now, or nothing: a save that waits, or a delete, is in no row.
    private func standing(_ disk: Row.DiskState?) -> String {
        if case .absent? = found { return "nothing" }
        guard let disk, !isSavedSince(disk) else { return unread }
        return PathReading.describe(disk.entry.content)
    }

    /// True if the file that lies there is another than the one that is known.
    private func isSavedSince(_ disk: Row.DiskState?) -> Bool {
        guard let known = disk?.stat, case .found(let stat)? = found else { return false }
        guard stat.kind == .file, known.kind == .file else { return false }
        return stat.identity != known.identity || stat.size != known.size || stat.modified != known.modified
    }

    /// What lies in the folder and is in no row yet: a save that waits, as the reason says.
    private var unread: String {
        guard case .found(let stat)? = found else { return "nothing" }
        return switch stat.kind {
        case .file: "a file of \(stat.size) bytes that was not taken in yet"
        case .directory: "a directory that was not taken in yet"
        case .symlink: "a symlink that was not taken in yet"
        case .special: "nothing that can be synced"
        }
    }

    private func support(of format: FormatRule) -> [String] {
        let theirs = peerFormats.first {
            $0.model == format.model && $0.name == format.name && $0.rule == format.fingerprint
        }
        let own = PathReading.understands(Path.escape(node), format.supports)
        let named = "the format rule \"\(Path.escape(format.name))\" of \"\(Path.escape(format.model))\" names it"
        return [named, own, theirs.map { PathReading.understands(Path.escape(peer), $0.versions) }].compactMap(\.self)
    }

    private static func understands(_ name: String, _ versions: ClosedRange<UInt32>) -> String {
        let (low, high) = (versions.lowerBound, versions.upperBound)
        return "\(name) understands " + (low == high ? "version \(low)" : "versions \(low) to \(high)")
    }

    /// Why a conflict copy has not got the name.
    private func loss(of row: Row) -> String? {
        guard let parts = ConflictName.parts(of: path), row.disk != nil else { return nil }
        let isOlder = hasLostByFormat || row.isDowngrade(of: original)
        let reason = isOlder ? "it is older in its format" : "it is the earlier one"
        let loser = "the version of \(Path.escape(parts.node)) lost because \(reason)"
        return
            "a copy of \((original?.path ?? parts.original).quoted): \(original?.disk == nil ? "that is gone by now" : loser)"
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
        case .symlink(let target): "a symlink to \(Path.quote(target))"
        }
    }
}
