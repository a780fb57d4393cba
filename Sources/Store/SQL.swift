/// Every statement of the daily work, in one list: prepared at the start, and each held against its query plan by a test
/// (`QueryPlanTests`), so that none goes through a table when it should look something up.
///
/// Where SQLite would rather walk the primary key, which is in the wanted order, the index is named (`INDEXED BY`). If it
/// is gone the statement does not prepare, which is better than being slow.
enum SQL: Int, CaseIterable {
    case begin, commit

    case node, putNode, batches, putBatches

    case row, putRow, changeRow, changeMarkedRow, dropRow, rowsFrom
    case unsettledFrom, unsettledAfter, unsettledBefore, unsettledLast
    case rowsOfInode, rowsOfContent, ignoreFiles, conflictCopies, guardedFrom

    case sums, putSums

    case putLog, dropLog, logAfter, logLatest, logAt
    case putIntent, dropIntent, intents
    case putVersion, dropVersion, version, versions, versionsOfPath, versionsFrom, versionsKept

    case chunkPages, hasChunkList, putChunkPage, dropChunkPages
    case putChunkPlace, dropChunkPlace, chunkPlaces
    case putUnheld, dropUnheld, unheldUpTo

    case putSet, dropSets, setsAfter

    case value, putValue, dropValue

    /// For messages.
    var operation: String {
        switch self {
        case .begin: "begin a transaction"
        case .commit: "commit"
        case .node, .batches: "read the node's record"
        case .putNode, .putBatches: "write the node's record"
        case .row, .rowsFrom, .unsettledFrom, .unsettledAfter, .unsettledBefore, .unsettledLast, .rowsOfInode,
            .rowsOfContent, .ignoreFiles, .conflictCopies, .guardedFrom:
            "read rows"
        case .putRow, .changeRow, .changeMarkedRow, .dropRow: "write a row"
        case .sums: "read the sums"
        case .putSums: "write the sums"
        case .logAfter, .logLatest, .logAt: "read the log"
        case .putLog, .dropLog: "write the log"
        case .intents: "read intents"
        case .putIntent, .dropIntent: "write an intent"
        case .version, .versions, .versionsOfPath, .versionsFrom, .versionsKept: "read kept versions"
        case .putVersion, .dropVersion: "write a kept version"
        case .chunkPages, .hasChunkList, .chunkPlaces, .unheldUpTo: "read chunk lists"
        case .putChunkPage, .dropChunkPages, .putChunkPlace, .dropChunkPlace, .putUnheld, .dropUnheld:
            "write a chunk list"
        case .setsAfter: "read change sets"
        case .putSet, .dropSets: "write a change set"
        case .value: "read a value"
        case .putValue, .dropValue: "write a value"
        }
    }

    var text: String {
        switch self {
        case .begin: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"

        case .node: "SELECT record FROM node WHERE only = 1"
        case .putNode: "UPDATE node SET record = ?1 WHERE only = 1"
        case .batches: "SELECT batches FROM node WHERE only = 1"
        case .putBatches: "UPDATE node SET batches = ?1 WHERE only = 1"

        case .row: "SELECT path, row FROM base WHERE path = ?1"
        case .putRow: "INSERT OR REPLACE INTO base VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
        case .changeRow: "UPDATE base SET row = ?2 WHERE path = ?1"
        case .changeMarkedRow:
            """
            UPDATE base SET row = ?2, inode = ?3, content = ?4, unsettled = ?5, ignore_file = ?6, conflict_copy = ?7,
            guarded = ?8 WHERE path = ?1
            """
        case .dropRow: "DELETE FROM base WHERE path = ?1"
        case .rowsFrom: "SELECT path, row FROM base WHERE path >= ?1 AND path < ?2 ORDER BY path LIMIT ?3"

        case .unsettledFrom: SQL.unsettled("", "ASC")
        case .unsettledAfter: SQL.unsettled("AND path > ?2", "ASC")
        case .unsettledBefore: SQL.unsettled("AND path < ?2", "DESC")
        case .unsettledLast: SQL.unsettled("", "DESC")

        case .rowsOfInode: "SELECT path, row FROM base INDEXED BY base_inode WHERE inode = ?1 ORDER BY path"
        case .rowsOfContent: "SELECT path, row FROM base INDEXED BY base_content WHERE content = ?1 ORDER BY path"
        case .ignoreFiles:
            """
            SELECT path, row FROM base INDEXED BY base_ignore_file WHERE ignore_file IS NOT NULL ORDER BY path
            """
        case .conflictCopies:
            """
            SELECT path, row FROM base INDEXED BY base_conflict_copy WHERE conflict_copy IS NOT NULL
            ORDER BY path LIMIT ?1
            """
        case .guardedFrom:
            """
            SELECT path, row FROM base INDEXED BY base_guarded WHERE guarded IS NOT NULL AND path >= ?1
            ORDER BY path LIMIT ?2
            """

        case .sums: "SELECT sums FROM sums WHERE directory = ?1"
        case .putSums: "INSERT OR REPLACE INTO sums VALUES (?1, ?2)"

        case .putLog: "INSERT OR REPLACE INTO log VALUES (?1, ?2)"
        case .dropLog: "DELETE FROM log WHERE position <= ?1"
        case .logAfter: "SELECT position, record FROM log WHERE position > ?1 ORDER BY position LIMIT ?2"
        case .logLatest: "SELECT position, record FROM log ORDER BY position DESC LIMIT ?1"
        case .logAt: "SELECT position, record FROM log WHERE position = ?1"

        case .putSet: "INSERT OR REPLACE INTO change_set VALUES (?1, ?2, ?3)"
        case .dropSets: "DELETE FROM change_set WHERE author = ?1 AND position <= ?2"
        case .setsAfter:
            """
            SELECT position, bytes FROM change_set WHERE author = ?1 AND position > ?2 ORDER BY position LIMIT ?3
            """

        case .putIntent: "INSERT OR REPLACE INTO intent VALUES (?1, ?2)"
        case .dropIntent: "DELETE FROM intent WHERE stage = ?1"
        case .intents: "SELECT stage, intent FROM intent ORDER BY stage"

        case .putVersion: "INSERT OR REPLACE INTO version VALUES (?1, ?2, ?3, ?4)"
        case .dropVersion: "DELETE FROM version WHERE id = ?1"
        case .version: "SELECT id, version FROM version WHERE id = ?1"
        case .versions: "SELECT id, version FROM version ORDER BY id LIMIT ?1"
        case .versionsOfPath: "SELECT id, version FROM version WHERE path = ?1 ORDER BY id DESC LIMIT ?2"
        case .versionsFrom: "SELECT id, version FROM version WHERE path >= ?1 AND path < ?2"
        case .versionsKept:
            "SELECT id, version FROM version INDEXED BY version_kept WHERE kept >= ?1 ORDER BY id DESC LIMIT ?2"

        case .chunkPages: "SELECT page, chunks FROM chunk_list WHERE content = ?1 ORDER BY page"
        case .hasChunkList: "SELECT 1 FROM chunk_list WHERE content = ?1 LIMIT 1"
        case .putChunkPage: "INSERT OR IGNORE INTO chunk_list VALUES (?1, ?2, ?3)"
        case .dropChunkPages: "DELETE FROM chunk_list WHERE content = ?1"
        case .putChunkPlace: "INSERT OR IGNORE INTO chunk_place VALUES (?1, ?2, ?3, ?4)"
        case .dropChunkPlace: "DELETE FROM chunk_place WHERE chunk = ?1 AND content = ?2"
        case .chunkPlaces: "SELECT content, start, length FROM chunk_place WHERE chunk = ?1 ORDER BY content"
        case .putUnheld: "INSERT OR REPLACE INTO chunk_unheld VALUES (?1, ?2)"
        case .dropUnheld: "DELETE FROM chunk_unheld WHERE content = ?1"
        case .unheldUpTo: "SELECT content FROM chunk_unheld WHERE since <= ?1 ORDER BY since"

        case .value: "SELECT value FROM value WHERE key = ?1"
        case .putValue: "INSERT OR REPLACE INTO value VALUES (?1, ?2)"
        case .dropValue: "DELETE FROM value WHERE key = ?1"
        }
    }

    private static func unsettled(_ bound: String, _ order: String) -> String {
        """
        SELECT path, row FROM base INDEXED BY base_unsettled WHERE unsettled IS NOT NULL \(bound)
        ORDER BY path \(order) LIMIT ?1
        """
    }
}
