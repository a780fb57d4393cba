import SyncModel

/// Told again is told once.
package final class ReimportChangesNothing: Invariant {
    package static let id = "R-05"
    package static let sentence =
        "After connecting anew at rest, with everything told once more, rows and logs are what they were."

    private var before: [(rows: SortedMap<Path, Row>, log: SortedMap<LogPosition, LogRecord>)] = []

    package init() {}

    package func see(_ turn: ProcessTurn, _ court: inout Court) { before = [] }

    package func see(_ sight: Sight, _ court: inout Court) {
        defer { before = sight.machines.map { ($0.store.rows, $0.store.log) } }
        guard sight.look > 1, before.count == sight.machines.count else { return }
        for (index, (was, machine)) in zip(before, sight.machines).enumerated() {
            for (path, row) in machine.store.rows where was.rows[path] != row {
                court.find(self, on: index, "connecting anew changed the row of \(path)")
            }
            // Entries and rows may be forgotten once the peer is known to have them; none may appear.
            for (position, _) in machine.store.log where was.log[position] == nil {
                court.find(self, on: index, "connecting anew made the log entry \(position)")
            }
        }
    }
}
