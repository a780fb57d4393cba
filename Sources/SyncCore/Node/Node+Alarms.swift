import SyncModel

/// Lasting conditions: raised once, cleared when they are gone, listed by `status`.
struct AlarmState: Sendable {
    var raised = SortedMap<AlertKey, Alert>()
}

extension Node {
    mutating func setAlarm(_ code: MessageCode, subject: [UInt8] = [], if holds: Bool, into effects: inout Effects) {
        setAlarm(AlertKey(code: code, subject: subject), if: holds, into: &effects)
    }

    mutating func setAlarm(
        _ key: AlertKey, writer: Author? = nil, violation: Violation? = nil, if holds: Bool,
        into effects: inout Effects
    ) {
        let isRaised = alarms.raised.contains(key: key)
        if holds && !isRaised {
            let alert = Alert(
                key: key, sinceMilliseconds: now.wallMilliseconds, writer: writer, violation: violation)
            alarms.raised[key] = alert
            effects.add(.report(.raised(alert)))
            noteSight(of: key.code, key.subject, isOpen: true, into: &effects)
        } else if !holds && isRaised {
            alarms.raised[key] = nil
            effects.add(.report(.cleared(key)))
            noteSight(of: key.code, key.subject, isOpen: false, into: &effects)
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
        for (key, _) in alarms.raised where key.code == .conflictFile {
            guard let path = Path(key.subject), path.isBelow(from), let moved = path.rebased(from: from, to: to) else {
                continue
            }
            setAlarm(.conflictFile, subject: key.subject, if: false, into: &effects)
            setAlarm(.conflictFile, subject: moved.bytes, if: true, into: &effects)
        }
    }
}
