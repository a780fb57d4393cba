/// One row of the base: everything this node knows about one path.
///
/// `heads` are the revisions that no other known revision has seen: one when both nodes agree or one is behind, two after
/// concurrent changes; never two of one author. The wanted state is a pure function of them, see `Resolution`.
/// `disk` and `reflected` say what this node's own folder holds. The two differ while something is still to be applied.
public struct Row: Hashable, Sendable {
    public let path: Path
    public var heads: [Revision]
    public var disk: DiskState?
    /// How much of both logs the disk shows at this path; what a new local change is made on.
    public var reflected: VersionVector
    public var condition: Condition
    /// Why this path waits, and since when (wall milliseconds); nil while nothing hinders it.
    public var waiting: Waiting?
    /// What is on disk lost a conflict before anybody else had it: it leaves its place only under the name of a conflict copy,
    /// whatever later revisions say they have seen.
    public var owesCopy: Bool
    /// Of a guarded file: what its header said when it was last read here.
    public var format: FormatMark?

    /// What is at the path in this node's folder, as last verified.
    public struct DiskState: Hashable, Sendable {
        public var entry: Entry
        public var stat: Stat
        /// Where each aspect on disk comes from: decides whether replacing it would lose a version, and what a local
        /// change changes.
        public var origins: Origins
        /// Read so soon after it was changed that another change could carry the same times, or changed since and not told of yet: to be
        /// read again.
        public var isRacy: Bool
        /// A sync of the file has failed, and the kernel may have dropped what was not on the disk yet. No later sync tells of
        /// that: it has to be written anew, into a new file.
        public var isUnwritten: Bool

        public init(entry: Entry, stat: Stat, origins: Origins, isRacy: Bool = false, isUnwritten: Bool = false) {
            self.entry = entry
            self.stat = stat
            self.origins = origins
            self.isRacy = isRacy
            self.isUnwritten = isUnwritten
        }

        /// The same of what is found now: another file has not been synced yet.
        public func isUnwritten(as found: Stat?) -> Bool { isUnwritten && found?.identity == stat.identity }

        /// Nothing has touched the path since, as far as times can tell.
        public func isStill(_ found: Stat) -> Bool { !isRacy && found.isUntouched(since: stat) }

        /// Written since `wallMilliseconds`, as far as times can tell: at a power cut it may not have been on stable storage.
        public func isYounger(than wallMilliseconds: Int64) -> Bool {
            let written = Int64(clamping: max(origins.content.time, origins.time.time).wallMilliseconds)
            return max(written, stat.changed.milliseconds) >= wallMilliseconds
        }
    }

    public enum Condition: UInt8, Sendable {
        case normal = 0
        /// Was on disk, is not now; not yet believed to be a delete.
        case missing = 1
        /// Absent or altered after a power cut: to be fetched from the peer, never taken for a change.
        case damaged = 2
        /// Below the rules of `.syncignore` here: neither watched nor written.
        case ignored = 3
    }

    public struct Waiting: Hashable, Sendable {
        public var reason: MessageCode
        public var sinceMilliseconds: Int64
        /// Failed tries so far: decides the next pause.
        public var tries: Int

        public init(reason: MessageCode, sinceMilliseconds: Int64, tries: Int = 0) {
            self.reason = reason
            self.sinceMilliseconds = sinceMilliseconds
            self.tries = tries
        }
    }

    public init(path: Path) {
        self.path = path
        heads = []
        disk = nil
        reflected = .none
        condition = .normal
        waiting = nil
        owesCopy = false
        format = nil
    }

    /// What all known revisions together include.
    public var version: VersionVector {
        var version = VersionVector.none
        for head in heads { version = version.joined(with: head.version) }
        return version
    }

    /// Takes in a revision; one that is known or overtaken changes nothing, so any order and any repetition give the same.
    public mutating func join(_ revision: Revision) {
        if heads.contains(where: { $0.includes(revision.origin) }) { return }
        heads.removeAll { revision.includes($0.origin) }
        heads.append(revision)
        heads.sort { $0.origin.author.rawValue < $1.origin.author.rawValue }
    }

    /// Before something is written of our own: what a power cut has taken back of our last revision is not shown, and yet it is seen. There
    /// are never two revisions of one author.
    public mutating func coverOwnHead() {
        guard let mine = head(by: .own) else { return }
        reflected.own = max(reflected.own, mine.origin.position)
    }

    public func head(by author: Author) -> Revision? { heads.first { $0.origin.author == author } }

    /// True while the disk does not show everything that is known.
    public var needsApply: Bool {
        !reflected.covers(version) || condition == .damaged || owesCopy || disk?.isUnwritten == true
    }

    /// True if the path belongs in the list of pending paths.
    public var isUnsettled: Bool {
        condition != .ignored && (condition != .normal || needsApply || waiting != nil)
    }
}
