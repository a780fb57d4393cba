import SyncModel

/// The tables of state.db and how they came to be: one numbered step for each version there ever was.
///
/// `application_id` is "sycd", `user_version` the number of the last step (`StateFormat`). Steps are only ever added, and what one has
/// written is never changed by editing it: `Tests/Vectors/store-1-schema.txt` holds the schema of version 1.
enum Schema {
    struct Migration: Sendable {
        let version: Int
        let name: String
        let run: @Sendable (Connection) throws(StoreError) -> Void
    }

    static let migrations = [
        Migration(version: 1, name: "first tables") { connection throws(StoreError) in
            try connection.execute(Schema.version1, "make the tables")
        },
        Migration(version: 2, name: "change sets of records") { connection throws(StoreError) in
            try connection.execute(Schema.version2, "make the table of change sets")
        },
        Migration(version: 3, name: "formats of guarded files") { connection throws(StoreError) in
            try connection.execute(Schema.version3, "mark the rows of guarded files")
        },
        Migration(version: 4, name: "change sets beside their positions") { connection throws(StoreError) in
            try connection.execute(Schema.version4, "look up change sets by their positions")
        },
    ]

    static let version = StateFormat.version

    /// Keys are blobs in the order of the values they stand for: paths as in `PathKey`, numbers big-endian, digests as
    /// they are, and where a digest only finds what is verified afterwards, a beginning of it.
    private static let version1 = """
        -- What the node knows of itself (NodeCodec; NULL before it was set up), and the batches so far.
        CREATE TABLE node (
            only INTEGER PRIMARY KEY CHECK (only = 1), record BLOB, batches INTEGER NOT NULL
        ) STRICT;
        INSERT INTO node VALUES (1, NULL, 0);

        -- One row per path (RowCodec), and what rows are looked for by.
        CREATE TABLE base (
            path BLOB PRIMARY KEY, row BLOB NOT NULL, inode INTEGER, content INTEGER, unsettled INTEGER,
            ignore_file INTEGER, conflict_copy INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX base_inode ON base (inode) WHERE inode IS NOT NULL;
        CREATE INDEX base_content ON base (content) WHERE content IS NOT NULL;
        CREATE INDEX base_unsettled ON base (path) WHERE unsettled IS NOT NULL;
        CREATE INDEX base_ignore_file ON base (path) WHERE ignore_file IS NOT NULL;
        CREATE INDEX base_conflict_copy ON base (path) WHERE conflict_copy IS NOT NULL;

        -- What lies below the root and below each directory in it, counted (SumsCodec).
        CREATE TABLE sums (directory BLOB PRIMARY KEY, sums BLOB NOT NULL) STRICT, WITHOUT ROWID;

        CREATE TABLE log (position BLOB PRIMARY KEY, record BLOB NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE intent (stage BLOB PRIMARY KEY, intent BLOB NOT NULL) STRICT, WITHOUT ROWID;

        CREATE TABLE version (
            id BLOB PRIMARY KEY, path BLOB NOT NULL, kept INTEGER NOT NULL, version BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX version_path ON version (path);
        CREATE INDEX version_kept ON version (kept);

        -- The chunks of a content, in pages (ChunkPages).
        CREATE TABLE chunk_list (
            content BLOB NOT NULL, page INTEGER NOT NULL, chunks BLOB NOT NULL, PRIMARY KEY (content, page)
        ) STRICT, WITHOUT ROWID;
        -- Where each chunk lies first in each content; both by the first half of their digests.
        CREATE TABLE chunk_place (
            chunk BLOB NOT NULL, content BLOB NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL,
            PRIMARY KEY (chunk, content)
        ) STRICT, WITHOUT ROWID;
        -- Contents that have a chunk list and are at no path, and the batch since which that is so.
        CREATE TABLE chunk_unheld (content BLOB PRIMARY KEY, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE INDEX chunk_unheld_since ON chunk_unheld (since);

        -- Small facts of the daemon around the node.
        CREATE TABLE value (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
        """

    /// Of this node (0) and the peer (1), as they came.
    private static let version2 = """
        CREATE TABLE change_set (
            author INTEGER NOT NULL, position BLOB NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (author, position)
        ) STRICT, WITHOUT ROWID;
        """

    /// Rows of files whose header was read (`Row.format`).
    private static let version3 = """
        ALTER TABLE base ADD COLUMN guarded INTEGER;
        CREATE INDEX base_guarded ON base (path) WHERE guarded IS NOT NULL;
        """

    /// Without a rowid the key and the bytes are one record of a tree, and SQLite reads the whole of each that it compares a key with: a
    /// first set of many megabytes would be read with every set that comes after it. Of this table it compares what lies in the index.
    private static let version4 = """
        ALTER TABLE change_set RENAME TO change_set_before;
        CREATE TABLE change_set (
            author INTEGER NOT NULL, position BLOB NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (author, position)
        ) STRICT;
        INSERT INTO change_set SELECT author, position, bytes FROM change_set_before ORDER BY author, position;
        DROP TABLE change_set_before;
        """
}
