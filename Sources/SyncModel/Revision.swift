/// The state of one path as one node wrote it, with what that node had seen when it did.
///
/// Each aspect (content, mode, time) remembers the log entry that last gave it its value, so that two revisions can be
/// merged aspect by aspect: a permission change on one node and an edit on the other are no conflict.
public struct Revision: Hashable, Sendable {
    /// The log entry that recorded this revision.
    public var origin: Origin
    /// What the author's disk reflected of both logs at this path, its own earlier entries included.
    public var seen: VersionVector
    public var entry: Entry
    public var origins: Origins
    /// Where the content came from, if this revision is half of a move. A hint: nothing depends on it.
    public var movedFrom: Path?
    /// Where the content went, if this revision is the deleted half of a move.
    public var movedTo: Path?

    public init(
        origin: Origin, seen: VersionVector, entry: Entry, origins: Origins, movedFrom: Path? = nil,
        movedTo: Path? = nil
    ) {
        self.origin = origin
        self.seen = seen
        self.entry = entry
        self.origins = origins
        self.movedFrom = movedFrom
        self.movedTo = movedTo
    }

    /// True if whoever wrote this revision had seen `other`, or it is the same one.
    public func includes(_ other: Origin) -> Bool {
        seen.covers(other) || origin.isSameEntry(as: other)
    }

    /// Everything this revision stands for: what its author had seen, and itself.
    public var version: VersionVector {
        var version = seen
        version[origin.author] = max(version[origin.author], origin.position)
        return version
    }

    /// The same revision as the other node holds it.
    public var flipped: Revision {
        Revision(
            origin: origin.flipped, seen: seen.flipped, entry: entry, origins: origins.flipped, movedFrom: movedFrom,
            movedTo: movedTo)
    }
}

/// The log entry that last changed each aspect of an entry.
public struct Origins: Hashable, Sendable {
    public var content: Origin
    public var mode: Origin
    public var time: Origin

    public init(content: Origin, mode: Origin, time: Origin) {
        self.content = content
        self.mode = mode
        self.time = time
    }

    /// Everything from one log entry.
    public init(all origin: Origin) {
        self.init(content: origin, mode: origin, time: origin)
    }

    public var flipped: Origins { Origins(content: content.flipped, mode: mode.flipped, time: time.flipped) }
}
