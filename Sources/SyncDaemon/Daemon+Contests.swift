import ControlProtocol
import Disk
import RecordMerge
import SyncCore
import SyncModel

/// Conflicts of records: what lost its place in the folder, and what people decide about it.
extension Daemon {
    /// With `all` also those that were discarded and can be restored.
    func contests(all: Bool, then: @escaping ([Contest]) -> Void) {
        guard !models.models.isEmpty else { return then([]) }
        host.ask(.contests) { [unowned self] answer in
            guard case .contests(let contests) = answer else { return then([]) }
            guard all else { return then(contests) }
            host.ask(.discardedContests) { answer in
                if case .contests(let discarded) = answer { then(contests + discarded) } else { then(contests) }
            }
        }
    }

    /// With `texts` also what short versions say.
    func document(_ contest: Contest, texts: Bool = false) -> ConflictDocument {
        let versions = contest.versions.enumerated().map { index, version in
            ConflictDocument.Version(
                id: version.isCurrent ? ConflictReading.currentID : "\(version.record)",
                node: version.author == .own ? record.name : record.peerName,
                timeMilliseconds: version.wallMilliseconds, sha256: Program.digest(of: version.bytes).hex(digits: 64),
                isCurrent: version.isCurrent, record: "\(version.record)",
                path: version.isCurrent ? version.path?.bytes : version.kept?.quarantinePath, size: version.bytes.count,
                text: texts && index < Daemon.textsMax ? Daemon.text(of: version.bytes) : nil)
        }
        let lost = contest.versions.first { $0.record == contest.group }
        return ConflictDocument(
            id: Daemon.contestID(of: contest.group), code: CodeText(contest.code ?? .conflictSlot), kind: contest.kind,
            path: lost?.path?.bytes ?? [], subject: Array("\(contest.group)".utf8),
            sinceMilliseconds: contest.versions.map(\.wallMilliseconds).max() ?? 0, reason: contest.word,
            versions: versions, isOpen: contest.code != nil)
    }

    static func contestID(of record: RecordID) -> String { contestID(ofRecordNamed: Array("\(record)".utf8)) }

    static func contestID(ofRecordNamed name: [UInt8]) -> String { "r" + SHA256.digest(of: name).hex(digits: 10) }

    func showContest(_ id: String, _ asker: Asker) {
        findContest(id, asker) { [unowned self] in asker.finish(document($0, texts: true)) }
    }

    /// Of a version that a person can take in at a glance; nil for what is long or no text.
    static func text(of bytes: [UInt8]) -> String? {
        guard bytes.count <= Daemon.textBytesMax, !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    static let textBytesMax = 8 << 10
    private static let textsMax = 16

    private func findContest(_ id: String, _ asker: Asker, then: @escaping (Contest) -> Void) {
        contests(all: true) { contests in
            guard let contest = contests.first(where: { Daemon.contestID(of: $0.group) == id }) else {
                return asker.refuse(ControlError(.requestNotFound, text: "there is no conflict \(id)"))
            }
            then(contest)
        }
    }

    /// What was discarded is not in quarantine any more: it is looked for among the deleted records.
    func restoreContest(_ id: String, _ asker: Asker) {
        host.ask(.deadRecords) { [unowned self] answer in
            guard case .records(let dead) = answer, let record = dead.first(where: { Daemon.contestID(of: $0) == id })
            else {
                let text = "no deleted record has the conflict \(id)"
                return asker.refuse(ControlError(.requestNotFound, text: text))
            }
            tell(.settleContest(.restore, record), asker)
        }
    }

    /// `version` is nil where only one is meant.
    func settle(_ choice: ContestChoice, _ id: String, version: String? = nil, _ asker: Asker) {
        findContest(id, asker) { [unowned self] contest in
            switch version {
            case nil: settle(choice, contest.group, of: contest, asker)
            case ConflictReading.currentID?: settle(.discard, contest.group, of: contest, asker)
            case let version?:
                guard let chosen = contest.versions.first(where: { !$0.isCurrent && "\($0.record)" == version }) else {
                    let names = contest.versions.map { $0.isCurrent ? ConflictReading.currentID : "\($0.record)" }
                    let text = "this conflict has the versions \(names.joined(separator: ", ")), not \"\(version)\""
                    return asker.refuse(ControlError(.requestNotFound, text: text))
                }
                // Of a group only the one whose trouble it is can be put in the place; of two names either.
                let record = contest.code == .conflictIdentity ? chosen.record : contest.group
                settle(choice, record, of: contest, asker)
            }
        }
    }

    private func settle(_ choice: ContestChoice, _ record: RecordID, of contest: Contest, _ asker: Asker) {
        host.ask(.settleContest(choice, record)) { [unowned self] answer in
            switch answer {
            case .refused(.requestRefused): refuse(contest, asker)
            case .refused(let code): asker.refuse(Daemon.error(refusing: code))
            case .done, .status, .history, .contests, .records, .explanation, .scan, .claims, .claimRefused:
                asker.finish(DoneDocument())
            }
        }
    }

    /// The choice means nothing for the records as they are.
    private func refuse(_ contest: Contest, _ asker: Asker) {
        host.ask(.deadRecords) { answer in
            guard case .records(let dead) = answer, dead.contains(contest.group) else {
                let (text, cure) = contest.obstacle
                return asker.refuse(ControlError(.requestRefused, text: "\(text); nothing was changed", cure: cure))
            }
            let id = Daemon.contestID(of: contest.group)
            asker.refuse(
                ControlError(
                    .requestRefused, text: "\(contest.group) was discarded already; nothing was changed",
                    cure: "syncctl conflicts restore \(id) brings it back, and then it can be taken."))
        }
    }

    static func isContest(_ id: String) -> Bool { id.hasPrefix("r") }

    // MARK: Why a record is where it is

    /// `Entity/id`, if a model has such an entity.
    func recordID(_ text: [UInt8]) -> RecordID? {
        guard let slash = text.firstIndex(of: UInt8(ascii: "/")), slash + 1 < text.count else { return nil }
        let entity = EntityName(Array(text[..<slash]))
        guard models.models.contains(where: { $0.model.entity(entity) != nil }) else { return nil }
        return RecordID(entity, Array(text[(slash + 1)...]))
    }

    func explain(_ id: RecordID, _ asker: Asker) {
        host.ask(.explainRecord(id)) { [unowned self] answer in
            guard case .explanation(let explanation, let own) = answer else {
                return asker.refuse(ControlError(.requestNotFound, text: "no change ever named the record \(id)"))
            }
            asker.finish(
                ExplainDocument(
                    subject: Array("\(id)".utf8), kind: .record, code: nil,
                    meaning: "\(id) \(explanation.outcome), because \(explanation.rule).", cure: nil,
                    facts: explanation.steps.map { words(for: $0, own) }))
        }
    }

    /// As the log tells of it, and what has become of it.
    private func words(for step: Explanation.Step, _ own: Party) -> String {
        let name = Path.escape(step.stamp.author == own ? record.name : record.peerName)
        return "\(name) set \(step.stamp.position.seq): \(step.operation): \(step.fate.rawValue)"
    }
}

extension Contest {
    fileprivate var kind: ConflictDocument.Kind {
        if code == .conflictIdentity { return .identity }
        return code == .conflictDeletedWhileEdited ? .deletedEdit : .slot
    }

    /// Why nothing can be chosen, and what helps instead.
    fileprivate var obstacle: (text: String, cure: String) {
        let cure = "Or let \(group) go with syncctl conflicts discard \(Daemon.contestID(of: group))."
        return switch reason {
        case .lostSlot(_, let holder, _)?:
            (
                "\(holder) holds several, and all its places are taken",
                "Take one of them out of the list of \(holder), and \(group) comes back by itself. \(cure)"
            )
        case .missing?:
            (
                "no record names \(group) any more, so there is no place to put it in",
                "Name it in the file of the record that is to have it, and it comes back by itself. \(cure)"
            )
        case .gone(_, let partner)?:
            (
                "\(group) needs \(partner), and that cannot be brought back by choosing \(group)",
                "syncctl explain \(partner) tells what became of it; \(group) comes back with it by itself. \(cure)"
            )
        case .invalidValue(let name)?:
            (
                "\(group) has no \(name), or not of the type that its model says",
                "Save its file again with a right value there, and it comes back by itself. \(cure)"
            )
        case .deletedWhileEdited?, nil:
            ("this conflict is settled already", "syncctl conflicts --all lists what was settled, and how.")
        }
    }

    /// The reason as one word.
    fileprivate var word: String {
        if code == .conflictIdentity { return "sameIdentity" }
        return switch reason {
        case .lostSlot?: "lostSlot"
        case .missing?: "missing"
        case .gone?, nil: "gone"
        case .deletedWhileEdited?: "deletedWhileEdited"
        case .invalidValue?: "invalidValue"
        }
    }
}
