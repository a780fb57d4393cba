import SyncModel

/// Lasting conditions: raised once, cleared when they are gone, listed by `status`.
struct AlarmState: Sendable {
    var raised = SortedMap<AlertKey, Alert>()
}

extension Node {
    mutating func setAlarm(
        _ code: MessageCode, subject: [UInt8] = [], _ facts: AlertFacts = AlertFacts(), if holds: Bool,
        into effects: inout Effects
    ) {
        setAlarm(AlertKey(code: code, subject: subject), facts, if: holds, into: &effects)
    }

    /// `isAnother` if it is the same condition of something that has come since.
    mutating func setAlarm(
        _ key: AlertKey, _ facts: AlertFacts = AlertFacts(), isAnother: Bool = false, if holds: Bool,
        into effects: inout Effects
    ) {
        if !holds, !alarms.raised.contains(key: key) { return }
        switch (alarms.raised[key], holds) {
        case (nil, true):
            let alert = Alert(key: key, sinceMilliseconds: now.wallMilliseconds, facts: facts)
            alarms.raised[key] = alert
            effects.add(.report(.raised(alert)))
            noteSight(of: key, isOpen: true, into: &effects)
        case (var alert?, true):
            let known = alert.facts
            alert.facts = facts.over(known)
            guard isAnother || alert.facts != known else { return }
            alarms.raised[key] = alert
            effects.add(.report(.raisedAgain(alert)))
        case (_?, false):
            alarms.raised[key] = nil
            effects.add(.report(.cleared(key)))
            noteSight(of: key, isOpen: false, into: &effects)
        case (nil, false): break
        }
    }

    /// A disk that failed is believed again when it has done everything that was to be done.
    mutating func pumpAlarms(into effects: inout Effects) {
        guard !alarms.raised.isEmpty, counts.unsettled == 0, isQuiet else { return }
        setAlarm(.diskError, if: false, into: &effects)
        setAlarm(.diskFull, if: false, into: &effects)
    }

    /// The two folders have met: what the other node had when they did is here. It is written down with whatever comes next.
    mutating func noteInitialImport(into effects: inout Effects) {
        guard !record.initialImportDone, isInSync(butFor: records.barredCount) else { return }
        record.initialImportDone = true
        records.endFirstImport(at: now.monotonicMilliseconds)
        effects.add(.report(.note(Note(code: .initialMerged))))
    }

    /// A conflict is open as long as its copy lies in the folder, so both nodes list the same ones.
    mutating func watchConflictCopy(_ row: Row, before: Row?, into effects: inout Effects) {
        guard (row.disk == nil) != (before?.disk == nil), ConflictName.isConflictCopy(row.path) else { return }
        if hasHeader(row.path) {
            formats.copies[row.path] = true
            return
        }
        setAlarm(.conflictFile, subject: row.path.bytes, if: row.disk != nil, into: &effects)
    }

    /// The copies below a directory that moved are called otherwise now.
    mutating func renameConflicts(from: Path, to: Path, into effects: inout Effects) {
        // A directory may be one itself, where it had to make room for another.
        for path in [from, to] where ConflictName.isConflictCopy(path) {
            setAlarm(.conflictFile, subject: path.bytes, if: path == to, into: &effects)
        }
        for (key, _) in alarms.raised where key.code == .conflictFile {
            guard let path = Path(key.subject), path.isBelow(from), let moved = path.rebased(from: from, to: to) else {
                continue
            }
            setAlarm(.conflictFile, subject: key.subject, if: false, into: &effects)
            setAlarm(.conflictFile, subject: moved.bytes, if: true, into: &effects)
        }
    }
}

extension DiskError {
    /// What the disk said, and to what.
    func facts(at path: Path? = nil) -> AlertFacts {
        let words =
            switch self {
            case .noSpace: "there is no space left"
            case .inputOutput: "it could not be read or written"
            case .readOnly: "the file system can only be read"
            case .permission: "this user may not do that"
            case .nameTooLong: "the name is too long for the file system"
            case .crossDevice: "another disk is mounted there"
            case .unsupported: "the file system cannot hold it"
            case .notFound, .exists, .notEmpty, .notDirectory, .isDirectory, .busy, .mismatch:
                "it is not as it was a moment ago"
            }
        return AlertFacts(detail: path.map { "At \"\($0)\": \(words)." } ?? "Among the kept versions: \(words).")
    }
}
