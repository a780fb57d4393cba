import RecordMerge
import SyncModel

/// Guarded files: whose header has to be read before their content counts, and what it said.
struct FormatState: Sendable {
    var rules = FormatRules()
    /// Files that have been read, and whose header is being read before that goes to their row.
    var unread = SortedMap<Path, HashedPath>()
    /// Headers that were read and are not in a row yet.
    var headers = SortedMap<Path, FormatMark>()
    /// What is wrong with headers that were read, until an alert says it.
    var faults = SortedMap<Path, Fault>()
    /// Since when a file is empty or corrupt that was not: who saves may not be done yet.
    var brokenSince = SortedMap<Path, UInt64>()
    /// Since when a guarded file is missing: who deletes it and makes it anew in one breath saves it.
    var missingSince = SortedMap<Path, UInt64>()
    /// Rows are to be gone through, for what the peer understands or for rules that are new.
    var mustReview = false
    var review: Review?
    /// What cannot be read is read once more by each process: what ended the last one may be among it.
    var isFirstReview = true
    /// Of these the header is read, whatever is known of it.
    var toRead = SortedMap<Path, Bool>()
    /// Contents of files that are not understood here, of which a copy is to be kept.
    var toKeep = SortedMap<Path, ContentID>()
    /// Whose copy is being made.
    var keeping: Path?
    /// Where a person has put back a version, whatever its format is.
    var insisted = SortedMap<Path, Bool>()
    /// Contents of guarded files that the other node has been sent.
    var served = SortedMap<ContentID, Bool>()
    /// Conflict copies to be compared with their originals.
    var copies = SortedMap<Path, Bool>()
    /// Documents of records that have some.
    var copied = SortedMap<Path, Bool>()
    var isJudging = false
    /// Copies that lost by their format, and the alert each belongs to.
    var downgrades = SortedMap<Path, AlertKey>()

    struct Fault: Sendable {
        let content: ContentID
        let facts: AlertFacts
    }

    struct Review: Sendable {
        var after: Path?
        /// Every row, and not only those that were guarded when they were written.
        let isWhole: Bool
        var isAsked = false
    }

    /// No more files than this are to be read before the review goes on.
    static let reviewedMax = 4_096
    static let servedMax = 4_096

    static let support = Array("formats".utf8)

    var isIdle: Bool { unread.isEmpty && review == nil && !mustReview && copies.isEmpty && !isJudging }
}

extension FormatRules {
    /// For the other node.
    var support: [FormatSupport] {
        rules.map { FormatSupport(model: $0.model, name: $0.name, rule: $0.fingerprint, versions: $0.supports) }
    }
}
