/// The node's durable state: everything `SyncModel/Store.swift` speaks of, in one SQLite database.
///
/// Start here: `open` makes or finds the state (`StateDirectory`, `Opening`, `Schema`), `Database` does the work,
/// `Connection` is the wall to C. Exactly one connection is ever open, and it has the directory for itself: no second
/// process can write beside it, and Debian 12's SQLite, which can damage a journal that two connections reset at the same
/// moment, is not exposed to that.
import Glibc
public import SyncModel
import Synchronization

/// Every function blocks until it is done and may be called from any thread. Calls are performed one after the other, so
/// who needs them in an order makes them from one thread.
public final class Store: Sendable {
    private let opened: Mutex<Opened?>
    private let journal: JournalFile

    private init(_ opened: sending Opened) {
        journal = opened.journal
        self.opened = Mutex(opened)
    }

    /// Of the SQLite that is in use.
    public static var libraryVersion: String { Connection.libraryVersion }

    /// Opens `directory`/state.db; makes it first if it is not there. The directory is the store's own until `close`:
    /// a second open, by whatever process, throws `.busy`.
    ///
    /// After an end that was not orderly the whole file is checked, which takes about a second for 300 MB.
    public static func open(directory: [UInt8]) throws(StoreError) -> Store {
        try open(directory: directory) { fdatasync($0) }
    }

    /// `sync` takes the place of `fdatasync` for the journal: for tests of disks that are slow or broken.
    package static func open(
        directory: [UInt8], sync: @escaping @Sendable (Int32) -> Int32
    ) throws(StoreError) -> Store {
        Store(try Opened(directory, sync: sync))
    }

    /// True if there is a state.db, or something left of one.
    public static func exists(in directory: [UInt8]) throws(StoreError) -> Bool {
        try StateDirectory(directory).hasState()
    }

    /// Moves a damaged state.db, and its journal, aside under a dated name, and returns that name. Whatever had it open
    /// must have been closed.
    ///
    /// The store that is opened next is empty. Nothing can be deleted for that: a node without rows has no base against
    /// which anything could count as missing.
    public static func setAside(directory: [UInt8]) throws(StoreError) -> [UInt8] {
        let directory = try StateDirectory(directory)
        try directory.lock()
        return try directory.setAside()
    }

    /// Nil before the first `putNode`.
    public func node() throws(StoreError) -> NodeRecord? {
        try with { database throws(StoreError) in try database.node() }
    }

    /// Performs a batch in one transaction that is durable when this returns. If it throws, nothing of it has happened;
    /// only after `.inputOutput` that is not known before the next `open`. Of a `StoreBatch.ownMove` the entry is durable
    /// when this returns, and the rows change when somebody asks for rows: that takes long in a large directory.
    public func perform(_ batch: StoreBatch) throws(StoreError) {
        try commit(batch)
        try sync()
    }

    /// As `perform`, but it is durable only after the next `sync`. A killed process leaves all commits; a power cut may take the last of
    /// those that were not synced, and what it leaves is the state as it was after one of them.
    public func commit(_ batch: StoreBatch) throws(StoreError) {
        try with { database throws(StoreError) in try database.perform(batch) }
    }

    /// Makes durable what was committed before. Does not wait for those who work with the store, nor they for it. After a failure
    /// nothing can be written any more.
    public func sync() throws(StoreError) {
        do throws(StoreError) {
            try journal.sync()
        } catch {
            opened.withLock { $0?.database.note(error) }
            throw error
        }
    }

    /// The number of the last commit since the store was opened, whoever asked for it, and of the last that is known to be durable.
    public var commits: UInt64 { journal.commits }
    public var durable: UInt64 { journal.durable }

    public func answer(_ query: StoreQuery) throws(StoreError) -> StoreAnswer {
        try with { database throws(StoreError) in try database.answer(query) }
    }

    /// The rows directly in a directory, of paths that are on disk and of others, in path order after `after`. What lies
    /// deeper is stepped over.
    public func children(of directory: Path, after: Path?, limit: Int) throws(StoreError) -> [Row] {
        try with { database throws(StoreError) in
            try database.settleOwed()
            return try database.children(of: directory, after: after, limit: limit)
        }
    }

    /// A small fact of the daemon around the node; nil if it was never set.
    public func value(_ key: String) throws(StoreError) -> [UInt8]? {
        try with { database throws(StoreError) in try database.value(key) }
    }

    /// Durable when it returns. Nil takes the value away.
    public func setValue(_ key: String, _ value: [UInt8]?) throws(StoreError) {
        try with { database throws(StoreError) in try database.setValue(key, value) }
        try sync()
    }

    /// Rows, logs and change sets go; kept versions and intents stay. What there was lies in a file beside state.db afterwards, whose name is
    /// returned. If it throws, or the process ends, before the state is another one, the state is what it was.
    public func forgetPeer(as node: NodeRecord, setting facts: [StoreFact]) throws(StoreError) -> [UInt8] {
        let name = try withOpened { opened throws(StoreError) in
            let name = try opened.keepCopy()
            try opened.database.forgetPeer(as: node, setting: facts)
            return name
        }
        try sync()
        return name
    }

    /// What the rows say is on disk, as `.summary(.root)` counts it. Looked up, not counted.
    public func totals() throws(StoreError) -> StoreTotals {
        try with { database throws(StoreError) in
            try database.settleOwed()
            return try database.totals()
        }
    }

    /// Brings the journal into state.db if there is much in it. For a moment in which nobody waits for the store: otherwise a commit will
    /// have to do it. A disk that has no room for it is no reason to throw; nothing is lost by doing it later.
    public func bringInJournal() throws(StoreError) {
        do throws(StoreError) {
            try with { database throws(StoreError) in try database.bringInJournal() }
        } catch {
            if case .full = error { return }
            throw error
        }
    }

    /// Brings the journal into state.db and gives the directory free. Every later call throws `.failed`.
    public func close() {
        opened.withLock { opened in
            opened?.close()
            opened = nil
        }
    }

    deinit { close() }

    private func with<Result: Sendable>(
        _ body: (Database) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try withOpened { opened throws(StoreError) in try body(opened.database) }
    }

    private func withOpened<Result: Sendable>(
        _ body: (Opened) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try opened.withLock { opened throws(StoreError) in
            guard let opened else { throw .failed(StoreFault("use the state", "the store has been closed")) }
            return try body(opened)
        }
    }
}

/// Files, directories and bytes that the rows say are on disk.
public struct StoreTotals: Hashable, Sendable {
    /// All that are no directories.
    public var files: Int
    public var directories: Int
    public var bytes: UInt64

    public init(files: Int, directories: Int, bytes: UInt64) {
        self.files = files
        self.directories = directories
        self.bytes = bytes
    }
}
