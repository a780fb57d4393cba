/// Rows that were read or written lately, with what is known to have none. A path on its way through the node is asked
/// for five or six times within a second, and looking its row up and decoding it would be a third of the store's work.
///
/// Only whoever writes to the table knows what is in it, so this belongs to the one connection: every write of a row
/// comes by here, and a transaction that is taken back leaves nothing.
import SyncModel

struct RecentRows {
    /// Two generations: when the younger one is full it takes the place of the older.
    private var younger: [[UInt8]: Row?] = [:]
    private var older: [[UInt8]: Row?] = [:]

    /// Of a generation; about a megabyte.
    private static let countMax = 1_024

    /// Nil if nothing is known; the nil inside it if there is known to be no row.
    mutating func row(key: [UInt8]) -> Row?? {
        if let known = younger[key] { return .some(known) }
        guard let known = older[key] else { return nil }
        keep(known, key: key)
        return .some(known)
    }

    mutating func forget(key: [UInt8]) {
        younger[key] = nil
        older[key] = nil
    }

    mutating func keep(_ row: Row?, key: [UInt8]) {
        if younger.count >= RecentRows.countMax {
            older = younger
            younger = [:]
        }
        younger[key] = .some(row)
    }
}
