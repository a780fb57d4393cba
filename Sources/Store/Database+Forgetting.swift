/// The state of a node that is to have another partner: what it knows of two logs goes, what it keeps of files stays.
import SyncModel

extension Database {
    /// One transaction, so that whoever ends in the middle finds the state of before. Kept versions stay, and so do intents: what was
    /// left in the middle of a change to the folder is finished at the next start, with or without rows.
    func forgetPeer(as node: NodeRecord, setting facts: [StoreFact]) throws(StoreError) {
        try settleOwed()
        try write { () throws(StoreError) in
            batches += 1
            for table in Database.tablesOfPair { try connection.execute("DELETE FROM \(table)", "empty \(table)") }
            try connection.run(.putNode, .bytes(NodeCodec.encode(node)))
            for fact in facts { try put(fact) }
            try connection.run(.putBatches, .integer(batches))
        }
        recentLists = RecentLists()
        recentRows = RecentRows()
        staleAsked = []
    }

    /// All that is about what the two nodes of a pair have told each other. Chunk lists go with the rows that hold their contents.
    private static let tablesOfPair = [
        "base", "sums", "log", "change_set", "chunk_list", "chunk_place", "chunk_unheld",
    ]
}

/// A small fact of the daemon; nil takes it away.
public typealias StoreFact = (key: String, value: [UInt8]?)
