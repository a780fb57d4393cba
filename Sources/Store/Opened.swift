/// How a state is opened: who may, what is looked at before anything is touched, and what is set up.
import CSQLite
import Glibc
import SyncModel

/// An open state: the directory that is ours meanwhile, and the database in it.
final class Opened {
    let database: Database
    let journal: JournalFile
    private let directory: StateDirectory

    init(_ path: [UInt8], sync: @escaping JournalFile.Sync = { fdatasync($0) }) throws(StoreError) {
        directory = try StateDirectory(path)
        try directory.lock()
        switch try directory.findings() {
        case .nothing: try Opened.make(in: directory)
        case .state: break
        case .remains(let what): throw .damaged(StoreFault("open state.db", what))
        }
        // A journal that is not empty means that the last process did not end in order.
        let hadJournal = try directory.hasJournal()
        let connection = try Connection(path: directory.path(of: StateDirectory.state))
        do throws(StoreError) {
            try Opened.accept(connection, hadJournal: hadJournal)
            try Opened.setUp(connection)
            if hadJournal { try Opened.check(connection) }
            try Opened.migrate(connection, with: Schema.migrations)
            journal = try Opened.journal(in: directory, sync)
            database = try Database(connection, journal)
        } catch {
            connection.close()
            throw error
        }
    }

    func close() {
        database.connection.close()
        journal.close()
        directory.close()
    }

    /// All that is in the state now, in a file of its own beside it, under a dated name: put in the place of state.db it is the state of this
    /// moment again, as from a backup. It has its name once it is whole.
    func keepCopy() throws(StoreError) -> [UInt8] {
        try directory.makeEmptyFile(StateDirectory.copy)
        do throws(StoreError) {
            try database.connection.copy(to: directory.path(of: StateDirectory.copy))
            return try directory.nameCopy()
        } catch {
            // On a full disk it would be in the way of what comes next.
            directory.dropCopy()
            throw error
        }
    }

    /// A new state is made under another name and gets its own when it is whole: a state.db that is empty or without
    /// tables is therefore damage, never a beginning.
    private static func make(in directory: StateDirectory) throws(StoreError) {
        try directory.makeEmptyFile(StateDirectory.newState)
        let connection = try Connection(path: directory.path(of: StateDirectory.newState))
        do throws(StoreError) {
            // Nobody needs the half of a new file after a crash, so its journal need not be one.
            try connection.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL", "make state.db")
            try connection.execute("PRAGMA application_id = \(StateFormat.applicationID)", "make state.db")
            try migrate(connection, with: Schema.migrations)
            connection.close()
        } catch {
            connection.close()
            throw error
        }
        try directory.nameNewState()
    }

    /// Refuses what is not ours to touch. Up to here nothing has been written, and if it is refused nothing will be.
    private static func accept(_ connection: Connection, hadJournal: Bool) throws(StoreError) {
        // Else a close would bring the journal into a database that we are about to refuse. One that is empty, or that the
        // reading makes, goes away with the close.
        connection.keepsJournal = hadJournal
        try connection.setOption(SQLITE_DBCONFIG_DEFENSIVE, true)
        try connection.setOption(SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)
        try connection.execute(
            """
            PRAGMA locking_mode = EXCLUSIVE; PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON;
            PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON
            """, "set up the connection")
        let application = try connection.integer("PRAGMA application_id", "open state.db")
        if application != Int64(StateFormat.applicationID) { throw .notOurs }
        let version = try connection.integer("PRAGMA user_version", "open state.db")
        if version > Int64(Schema.version) { throw .newer(found: Int(version), supported: Schema.version) }
        if version < 1 { throw .damaged(StoreFault("open state.db", "it has no version")) }
    }

    /// EXCLUSIVE comes before WAL, so that there is no shared memory file and no second connection, ever. Commits are
    /// synced by `JournalFile`.
    private static func setUp(_ connection: Connection) throws(StoreError) {
        let modes = try connection.texts("PRAGMA journal_mode = WAL", "set up the connection")
        guard modes == ["wal"] else {
            throw .failed(StoreFault("set up the connection", "the journal is in mode \(modes.joined())"))
        }
        try connection.execute(
            """
            PRAGMA synchronous = NORMAL; PRAGMA secure_delete = OFF; PRAGMA cache_size = -8192;
            PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864
            """, "set up the connection")
        guard try connection.integer("PRAGMA synchronous", "set up the connection") == 1 else {
            throw .failed(StoreFault("set up the connection", "the journal could be written over too early"))
        }
        connection.keepsJournal = false
    }

    /// Once somebody has read the database its journal is there. Its name may be new; what is in it was read without anybody
    /// knowing whether the last process had synced it, and may be promised to the peer by this one.
    private static func journal(
        in directory: StateDirectory, _ sync: @escaping JournalFile.Sync
    ) throws(StoreError) -> JournalFile {
        let journal = JournalFile(descriptor: try directory.openJournal(), sync: sync)
        try journal.syncWhatWasThere()
        try directory.sync()
        return journal
    }

    private static func check(_ connection: Connection) throws(StoreError) {
        let findings = try connection.texts("PRAGMA quick_check(1)", "check state.db")
        if findings != ["ok"] {
            throw .damaged(StoreFault("check state.db", findings.first ?? "the check gave no answer"))
        }
    }

    /// Every step is one transaction together with its number.
    static func migrate(_ connection: Connection, with steps: [Schema.Migration]) throws(StoreError) {
        let version = try connection.integer("PRAGMA user_version", "read the version")
        for step in steps where step.version > version {
            try connection.execute("BEGIN IMMEDIATE", step.name)
            try step.run(connection)
            try connection.execute("PRAGMA user_version = \(step.version); COMMIT", step.name)
        }
    }
}
