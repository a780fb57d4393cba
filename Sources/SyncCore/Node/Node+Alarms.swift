import SyncModel

/// Lasting conditions: raised once, cleared when they are gone, listed by `status`.
struct AlarmState: Sendable {
    var raised = SortedMap<AlertKey, Alert>()
}

extension Node {
    mutating func setAlarm(_ code: MessageCode, subject: [UInt8] = [], if holds: Bool, into effects: inout Effects) {
        let key = AlertKey(code: code, subject: subject)
        let isRaised = alarms.raised.contains(key: key)
        if holds && !isRaised {
            let alert = Alert(key: key, sinceMilliseconds: now.wallMilliseconds)
            alarms.raised[key] = alert
            effects.add(.report(.raised(alert)))
        } else if !holds && isRaised {
            alarms.raised[key] = nil
            effects.add(.report(.cleared(key)))
        }
    }

    /// A conflict is open as long as its copy lies in the folder, so both nodes list the same ones.
    mutating func watchConflictCopy(_ row: Row, before: Row?, into effects: inout Effects) {
        guard (row.disk == nil) != (before?.disk == nil), ConflictName.isConflictCopy(row.path) else { return }
        setAlarm(.conflictFile, subject: row.path.bytes, if: row.disk != nil, into: &effects)
    }
}
