/// The journal of state.db as far as the disk has it. A commit only writes it (`synchronous=NORMAL`); here it is synced, beside the
/// connection, so that nobody who reads or commits meanwhile waits for the disk. One sync is for all commits before it.
///
/// What a power cut leaves of commits that were not synced is the first few of them: each frame carries a checksum over all before it,
/// and SQLite itself syncs the journal before it brings it into the database, and its new header before it writes over it.
import Glibc
import Synchronization

/// It has a descriptor of its own, which is told of every failed write-back since it was opened. (SQLite locks nothing in this file,
/// so closing it drops no lock.)
final class JournalFile: Sendable {
    /// `fdatasync`, but for tests.
    typealias Sync = @Sendable (Int32) -> Int32

    private struct State {
        /// Until `close`.
        var descriptor: Int32
        /// A sync has failed. One that succeeds later proves nothing: the kernel may have dropped what it could not write.
        var fault: StoreFault?
    }

    private let state: Mutex<State>
    private let syncFile: Sync
    private let written = Atomic<UInt64>(0)
    private let synced = Atomic<UInt64>(0)

    init(descriptor: Int32, sync: @escaping Sync) {
        state = Mutex(State(descriptor: descriptor))
        syncFile = sync
    }

    deinit { close() }

    /// Commits that have been written since the state was opened, whoever asked for them.
    var commits: UInt64 { written.load(ordering: .sequentiallyConsistent) }
    /// So many of them are durable.
    var durable: UInt64 { synced.load(ordering: .sequentiallyConsistent) }

    /// To be called after each commit.
    func noteCommit() { written.add(1, ordering: .sequentiallyConsistent) }

    /// All commits that were written before are durable when it returns. Whoever comes while another sync runs waits for it, and then
    /// for one of his own, if that was not for his commits too.
    func sync() throws(StoreError) {
        try state.withLock { state throws(StoreError) in
            if let fault = state.fault { throw .inputOutput(fault) }
            let written = commits
            guard written > durable else { return }
            try JournalFile.sync(&state, syncFile)
            synced.store(written, ordering: .sequentiallyConsistent)
        }
    }

    /// What the last process had written and read back without knowing whether it was synced.
    func syncWhatWasThere() throws(StoreError) {
        try state.withLock { state throws(StoreError) in try JournalFile.sync(&state, syncFile) }
    }

    private static func sync(_ state: inout State, _ syncFile: Sync) throws(StoreError) {
        guard state.descriptor >= 0 else { throw .failed(StoreFault("sync the journal", "the store has been closed")) }
        guard syncFile(state.descriptor) != 0 else { return }
        let number = errno
        // No matter which: also space that is missing at a sync means that something written may be lost.
        let text = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "no text"
        let fault = StoreFault("sync the journal", text, errno: number)
        state.fault = fault
        throw .inputOutput(fault)
    }

    /// Waits for a sync that is running.
    func close() {
        state.withLock { state in
            if state.descriptor >= 0 { Glibc.close(state.descriptor) }
            state.descriptor = -1
        }
    }
}
