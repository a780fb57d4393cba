/// The one connection to SQLite. Its C functions are called here and in `Statement`, and nowhere else.
/// Knows nothing of what is stored: that is in `Schema`, `SQL` and the `Database` files.
import CSQLite
import Glibc

/// Opened without SQLite's own mutexes, so whoever owns a connection holds a lock of his own (see `Store`).
@safe final class Connection {
    /// Set from a good `sqlite3_open_v2` until `close`; every statement is finalised before it goes.
    private var handle: OpaquePointer?
    /// Prepared once and kept, by the number of their text.
    private var statements: [Statement] = []
    /// Leave the journal as it is when closing.
    var keepsJournal = false

    /// Of the SQLite that is in use.
    static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }

    /// The path is absolute and holds no links: see `StateDirectory`.
    init(path: [UInt8]) throws(StoreError) {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW
        let text = path.map { CChar(bitPattern: $0) } + [0]
        let code = unsafe sqlite3_open_v2(text, &handle, flags, nil)
        if code != SQLITE_OK {
            let error = error("open state.db", code: code)
            close()
            throw error
        }
    }

    deinit { close() }

    /// SQLite first brings the journal into the database and removes it. If it cannot, the journal stays and the next
    /// start reads it: nothing to report.
    func close() {
        guard unsafe handle != nil else { return }
        for statement in statements { statement.finalize() }
        statements = []
        if keepsJournal { _ = unsafe csqlite_set_option(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nil) }
        _ = unsafe sqlite3_close(handle)
        unsafe handle = nil
    }
}

// MARK: Settings and schema

extension Connection {
    func setOption(_ option: Int32, _ isOn: Bool) throws(StoreError) {
        var now: Int32 = -1
        let code = unsafe csqlite_set_option(handle, option, isOn ? 1 : 0, &now)
        guard code == SQLITE_OK, now == (isOn ? 1 : 0) else { throw error("set up the connection", code: code) }
    }

    /// Runs statements that are not worth keeping.
    func execute(_ sql: String, _ operation: String) throws(StoreError) {
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw error(operation, code: code) }
    }

    /// All values in a column of the answer, as text.
    func texts(_ sql: String, _ operation: String, column: Int32 = 0) throws(StoreError) -> [String] {
        let statement = try prepare(sql, operation)
        defer { statement.finalize() }
        var texts: [String] = []
        while try step(statement, operation) { texts.append(statement.text(column)) }
        return texts
    }

    func integer(_ sql: String, _ operation: String) throws(StoreError) -> Int64 {
        let statement = try prepare(sql, operation)
        defer { statement.finalize() }
        return try step(statement, operation) ? statement.integer(0) : 0
    }

    /// The whole database, as it is now, into an empty file. SQLite does not sync it.
    func copy(to path: [UInt8]) throws(StoreError) {
        let operation = "copy state.db"
        // (A name is bytes, and SQLite wants text.)
        let statement = try prepare("VACUUM INTO CAST(?1 AS TEXT)", operation)
        defer { statement.finalize() }
        let code = statement.bind(.bytes(path), at: 1)
        if code != SQLITE_OK { throw error(operation, code: code) }
        while try step(statement, operation) {}
    }

    /// Pages that commits have written to the journal since this was last asked.
    func takePagesWritten() throws(StoreError) -> Int {
        var pages: Int32 = 0
        var most: Int32 = 0
        let code = unsafe sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &most, 1)
        guard code == SQLITE_OK else { throw error("count the pages of the journal", code: code) }
        return Int(pages)
    }

    /// Brings the journal into the database as far as it goes; the next commit writes over it from its beginning.
    func checkpoint() throws(StoreError) {
        let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        if code != SQLITE_OK { throw error("bring the journal into state.db", code: code) }
    }

    /// Prepares every statement there is. What does not fit the schema is found here and not in the middle of work.
    func prepareAll() throws(StoreError) {
        for sql in SQL.allCases { statements.append(try prepare(sql.text, sql.operation)) }
    }

    private func prepare(_ sql: String, _ operation: String) throws(StoreError) -> Statement {
        var prepared: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        if code == SQLITE_OK, let prepared = unsafe prepared { return unsafe Statement(prepared) }
        // Every text is ours and fits our schema, so if SQLite does not understand one, the schema is not ours any more.
        let error = error(operation, code: code)
        if code & 0xFF == SQLITE_ERROR, let fault = error.fault { throw .damaged(fault) }
        throw error
    }
}

// MARK: Work

extension Connection {
    /// True if it changed anything.
    @discardableResult
    func run(_ sql: SQL, _ values: Value...) throws(StoreError) -> Bool {
        let statement = try ready(sql, values)
        defer { statement.reset() }
        while try step(statement, sql.operation) {}
        return unsafe sqlite3_changes(handle) > 0
    }

    /// What `read` makes of the first row of the answer; nil if there is none.
    func first<Result>(
        _ sql: SQL, _ values: Value..., read: (Statement) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        let statement = try ready(sql, values)
        defer { statement.reset() }
        return try step(statement, sql.operation) ? try read(statement) : nil
    }

    /// Hands out the rows of the answer until `read` gives false. The same statement must not be used in between.
    func each(_ sql: SQL, _ values: [Value], read: (Statement) throws(StoreError) -> Bool) throws(StoreError) {
        let statement = try ready(sql, values)
        defer { statement.reset() }
        while try step(statement, sql.operation), try read(statement) {}
    }

    /// All or nothing, and written when it returns. It is durable once the journal is synced: see `JournalFile`.
    func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try run(.begin)
        do throws(StoreError) {
            try body()
            try run(.commit)
        } catch {
            rollBack()
            throw error
        }
    }

    private func rollBack() {
        // After some errors SQLite has already done it. If it cannot, the next BEGIN fails and says so.
        if unsafe sqlite3_get_autocommit(handle) == 0 { _ = unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }

    private func ready(_ sql: SQL, _ values: [Value]) throws(StoreError) -> Statement {
        guard sql.rawValue < statements.count else {
            throw .failed(StoreFault(sql.operation, "the store has been closed"))
        }
        let statement = statements[sql.rawValue]
        for (index, value) in values.enumerated() {
            let code = statement.bind(value, at: Int32(index) + 1)
            if code != SQLITE_OK { throw error(sql.operation, code: code) }
        }
        return statement
    }

    private func step(_ statement: Statement, _ operation: String) throws(StoreError) -> Bool {
        switch statement.step() {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw error(operation, code: code)
        }
    }
}

// MARK: Errors

extension Connection {
    /// The one place where SQLite's codes get their meaning.
    private func error(_ operation: String, code: Int32) -> StoreError {
        let text = unsafe handle == nil ? sqlite3_errstr(code) : sqlite3_errmsg(handle)
        let detail = unsafe text.map { unsafe String(cString: $0) } ?? "no text"
        let isOfSystem = [SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN].contains(code & 0xFF)
        let number = isOfSystem ? unsafe sqlite3_system_errno(handle) : 0
        let fault = StoreFault(operation, detail, code: code, errno: number)

        // SQLite calls only a write without space "full"; a quota or a journal that cannot be made is the same to us.
        // Space that is missing at an fsync is not: what was written before it may be lost.
        let isSync = code == Code.fsync || code == Code.directoryFsync
        if isOfSystem, [ENOSPC, EDQUOT].contains(number), !isSync { return .full(fault) }
        switch code & 0xFF {
        case SQLITE_FULL: return .full(fault)
        case SQLITE_IOERR: return .inputOutput(fault)
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_CONSTRAINT, SQLITE_MISMATCH: return .damaged(fault)
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: return .busy
        default: return .failed(fault)
        }
    }

    /// Extended codes that sqlite3.h builds with arithmetic, which the importer drops.
    private enum Code {
        static let fsync = SQLITE_IOERR | 4 << 8
        static let directoryFsync = SQLITE_IOERR | 5 << 8
    }
}
