import ControlProtocol
import EventLoop
import Store
import SyncCore
import SyncModel

/// Reads every file again and compares it with what is known (`syncctl verify`). A file that differs though its times say that
/// nobody has written to it is damaged: the core is told, and fetches a good copy.
final class Verifier {
    struct Findings {
        var checked = 0
        var bytes: UInt64 = 0
        /// Files that were left out, because they were changed too short a time ago.
        var young = 0
        var damaged: [Path] = []
        var repaired = 0
        /// Files that could not be read, and the first of them.
        var unread = 0
        var unreadFirst: Path?
        var milliseconds: UInt64 = 0
        var isComplete = true
    }

    private let host: NodeHost
    private let timer: Timer
    private let budget: VerifyBudget
    private let begun = Clock.monotonicMilliseconds()
    private var cursor: Path?
    private var findings = Findings()
    private var isCancelled = false
    /// Called once, with where the next run goes on.
    private let finish: (Findings, Path?) -> Void

    private static let rowsPerPage = 128
    /// What a mapping has written may show its time late: younger files are left to the usual looks.
    private static let quietMilliseconds: Int64 = 600_000
    private static let repairMillisecondsMax: UInt64 = 30_000
    private static let repairPauseMilliseconds: UInt64 = 100

    init(
        _ host: NodeHost, loop: Loop, from cursor: Path?, _ budget: VerifyBudget,
        finish: @escaping (Findings, Path?) -> Void
    ) {
        self.host = host
        self.cursor = cursor
        self.budget = budget
        self.finish = finish
        timer = Timer(loop: loop)
    }

    func begin() { readPage() }

    /// Nobody waits for it any more.
    func cancel() {
        isCancelled = true
        timer.close()
    }

    private var elapsed: UInt64 { Clock.monotonicMilliseconds() - begun }

    private func readPage() {
        host.page(after: cursor, limit: Verifier.rowsPerPage) { [weak self] rows, next in
            guard let self, !isCancelled else { return }
            let files = rows.filter(isWhole).filter(isCalm)
            findings.young += rows.count { isWhole($0) && !isCalm($0) }
            host.hash(files.map(\.path)) { [weak self] outcomes in
                guard let self, !isCancelled else { return }
                cursor = next
                for (row, outcome) in zip(files, outcomes) {
                    guard case .failed = outcome else { continue }
                    findings.unread += 1
                    findings.unreadFirst = findings.unreadFirst ?? row.path
                }
                let strange = zip(files, outcomes).compactMap { difference($0, $1) }
                doubt(strange[...])
            }
        }
    }

    private func isWhole(_ row: Row) -> Bool {
        row.disk?.entry.content.kind == .file && row.condition == .normal
    }

    /// At rest for long enough.
    private func isCalm(_ row: Row) -> Bool {
        guard let disk = row.disk, !disk.isRacy else { return false }
        return disk.stat.modified.milliseconds < Clock.wallMilliseconds() - Verifier.quietMilliseconds
    }

    /// What was read, if it is not what is known and nothing tells of a change.
    private func difference(_ row: Row, _ outcome: HashOutcome) -> (path: Path, found: Content, stat: Stat)? {
        guard let disk = row.disk, case .content(let content, _, let stat) = outcome else { return nil }
        findings.checked += 1
        findings.bytes += stat.size
        guard content != disk.entry.content, stat.isUntouched(since: disk.stat) else { return nil }
        return (row.path, content, stat)
    }

    /// The core looks whether it knows of a change by now.
    private func doubt(_ strange: ArraySlice<(path: Path, found: Content, stat: Stat)>) {
        guard let first = strange.first else { return goOn() }
        host.ask(.doubt(first.path, first.found, first.stat)) { [weak self] answer in
            guard let self, !isCancelled else { return }
            if case .done = answer { findings.damaged.append(first.path) }
            doubt(strange.dropFirst())
        }
    }

    private func goOn() {
        guard cursor != nil else { return awaitRepairs(since: Clock.monotonicMilliseconds()) }
        if let limit = budget.milliseconds, elapsed >= limit {
            findings.isComplete = false
            return awaitRepairs(since: Clock.monotonicMilliseconds())
        }
        guard let rate = budget.bytesPerSecond, rate > 0 else { return readPage() }
        let due = findings.bytes.multipliedReportingOverflow(by: 1_000).partialValue / rate
        if due <= elapsed { return readPage() }
        timer.start(afterMilliseconds: due - elapsed) { [weak self] in self?.readPage() }
    }

    /// Good copies come from the other node, if it is there and has them.
    private func awaitRepairs(since start: UInt64) {
        host.rows(at: findings.damaged) { [weak self] rows in
            guard let self, !isCancelled else { return }
            findings.repaired = rows.count { $0.condition == .normal && !$0.needsApply && $0.disk != nil }
            let isOver = Clock.monotonicMilliseconds() - start >= Verifier.repairMillisecondsMax
            if isOver || findings.repaired >= findings.damaged.count { return end() }
            timer.start(afterMilliseconds: Verifier.repairPauseMilliseconds) { [weak self] in
                self?.awaitRepairs(since: start)
            }
        }
    }

    private func end() {
        timer.close()
        isCancelled = true
        findings.milliseconds = elapsed
        finish(findings, cursor)
    }
}
