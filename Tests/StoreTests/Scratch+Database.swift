/// State directories as no orderly end leaves them.
import Glibc
import SyncModel
import Testing

@testable import Store

extension Scratch {
    /// Every file and its bytes.
    func everything() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in names { files[name] = try bytes(name) }
        return files
    }

    func mode(_ name: String) throws -> UInt32 {
        var status = stat()
        try #require(unsafe stat("\(path)/\(name)", &status) == 0)
        return status.st_mode & 0o777
    }

    /// What `open` says of the damage; nil if it opens.
    func damage() -> StoreFault? {
        do throws(StoreError) {
            try Store.open(directory: directory).close()
        } catch {
            if case .damaged(let fault) = error { return fault }
            Issue.record("\(error)")
        }
        return nil
    }

    /// The database as it is, without anything that `Store` does.
    func withDatabase(_ body: (Connection) throws -> Void) throws {
        let connection = try Connection(path: Array("\(path)/state.db".utf8))
        defer { connection.close() }
        try body(connection)
    }
}

extension Connection {
    /// What is written from now on stays in the journal, as after a crash.
    func leaveJournal() throws {
        _ = try texts("PRAGMA locking_mode = EXCLUSIVE", "test")
        #expect(try texts("PRAGMA journal_mode = WAL", "test") == ["wal"])
        keepsJournal = true
    }
}
