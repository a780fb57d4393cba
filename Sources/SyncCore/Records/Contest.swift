public import RecordMerge
public import SyncModel

/// Why a group of records is in quarantine, by the one whose trouble it is; or a second name that says something else than the record it
/// stands for.
public struct Contest: Hashable, Sendable {
    /// Nil if it is settled, and only lies there.
    public let code: MessageCode?
    public let group: RecordID
    /// Nil if the one whose trouble it is is not in quarantine itself.
    public let reason: RecordView.Reason?
    /// Who has the place, if that is what it is about, or what two names of one record show together; then all that left the folder
    /// together.
    public let versions: [Version]

    public struct Version: Hashable, Sendable {
        public let record: RecordID
        public let author: Author
        public let wallMilliseconds: Int64
        public let isCurrent: Bool
        /// Where its file stands or stood, and what it says.
        public let path: Path?
        public let bytes: [UInt8]
        /// Its file in quarantine, once it lies there.
        public var kept: VersionID?
    }
}
