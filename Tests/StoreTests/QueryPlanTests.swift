/// No statement of the daily work goes through a table: SQLite's own plan of each says so.
import Testing

@testable import Store

@Suite("How statements are answered")
struct QueryPlanTests {
    @Test("every statement looks up what it needs", arguments: SQL.allCases) func looksUp(sql: SQL) throws {
        let scratch = try Scratch()
        let opened = try Opened(scratch.directory)
        defer { opened.close() }
        let plan = try opened.database.connection.plan(of: sql)
        if sql != .begin && sql != .commit && !sql.text.hasPrefix("INSERT") { #expect(!plan.isEmpty) }
        for step in plan where !sql.mayDo(step) { Issue.record("\(sql): \(step)") }
    }

    @Test("a lookup through a partial index uses that index") func usesIndexes() throws {
        let scratch = try Scratch()
        let opened = try Opened(scratch.directory)
        defer { opened.close() }
        let expected: [(SQL, String)] = [
            (.rowsOfInode, "base_inode (inode=?)"), (.rowsOfContent, "base_content (content=?)"),
            (.unsettledAfter, "base_unsettled (path>?)"), (.unsettledBefore, "base_unsettled (path<?)"),
            (.versionsOfPath, "version_path (path=?)"), (.versionsFrom, "version_path (path>?"),
            (.versionsKept, "version_kept (kept>?)"),
            (.unheldUpTo, "chunk_unheld_since (since<?)"),
        ]
        for (sql, index) in expected {
            let plan = try opened.database.connection.plan(of: sql)
            #expect(plan.contains { $0.contains("INDEX \(index)") }, "\(sql): \(plan)")
        }
    }
}

extension SQL {
    /// What is asked for whole may be read whole, along an index that holds nothing else; and what was kept since a time
    /// is few enough to be sorted.
    fileprivate func mayDo(_ step: String) -> Bool {
        if step.hasPrefix("SEARCH") { return true }
        return switch self {
        case .intents: step == "SCAN intent"
        case .versions: step == "SCAN version"
        case .ignoreFiles: step == "SCAN base USING INDEX base_ignore_file"
        case .conflictCopies: step == "SCAN base USING INDEX base_conflict_copy"
        case .unsettledFrom, .unsettledLast: step == "SCAN base USING INDEX base_unsettled"
        case .logLatest: step == "SCAN log"
        case .versionsKept: step == "USE TEMP B-TREE FOR ORDER BY"
        default: false
        }
    }
}

extension Connection {
    fileprivate func plan(of sql: SQL) throws -> [String] {
        // The fourth column says in words what is done.
        try texts("EXPLAIN QUERY PLAN \(sql.text)", "plan", column: 3)
    }
}
