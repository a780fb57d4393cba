/// A prepared statement: values in, columns out. It belongs to its `Connection`, which finalises it.
import CSQLite

/// What is put in the place of a `?`.
enum Value {
    case bytes([UInt8])
    case integer(Int64)
    case text(String)
    case null

    init(_ bytes: [UInt8]?) {
        self = bytes.map { .bytes($0) } ?? .null
    }

    init(_ integer: Int64?) {
        self = integer.map { .integer($0) } ?? .null
    }

    /// 1 or nothing: what a partial index asks for.
    init(mark: Bool) {
        self = mark ? .integer(1) : .null
    }
}

@safe final class Statement {
    /// Set from preparation until `finalize`; SQLite accepts nil everywhere as a statement that does nothing.
    private var handle: OpaquePointer?

    init(_ prepared: OpaquePointer) {
        unsafe handle = prepared
    }

    func finalize() {
        // The code repeats the last error of `step`, which has been reported.
        _ = unsafe sqlite3_finalize(handle)
        unsafe handle = nil
    }

    /// Ready for the next use. Values that were bound stay until they are replaced, so each use binds all of them.
    func reset() {
        // As above.
        _ = unsafe sqlite3_reset(handle)
    }

    func step() -> Int32 { unsafe sqlite3_step(handle) }

    func bind(_ value: Value, at index: Int32) -> Int32 {
        switch value {
        case .null:
            return unsafe sqlite3_bind_null(handle, index)
        case .integer(let integer):
            return unsafe sqlite3_bind_int64(handle, index, integer)
        case .text(let text):
            return unsafe sqlite3_bind_text(handle, index, text, -1, csqlite_transient())
        case .bytes(let bytes):
            // An empty array has no address, and without one SQLite would bind NULL.
            if bytes.isEmpty { return unsafe sqlite3_bind_zeroblob(handle, index, 0) }
            return unsafe sqlite3_bind_blob64(handle, index, bytes, UInt64(bytes.count), csqlite_transient())
        }
    }

    func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    /// Empty for NULL.
    func bytes(_ column: Int32) -> [UInt8] {
        // The pointer is good until the next step, reset or conversion; it is copied before.
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
}
