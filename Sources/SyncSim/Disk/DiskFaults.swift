/// Everything that can be wrong with a virtual disk. All off at first; the operator switches them while the world runs.
package import SyncModel

package struct DiskFaults: Sendable {
    /// More than this and writing or creating fails with `.noSpace`, for the daemon and for users alike.
    package var capacityBytes: UInt64?
    /// So much longer than any disk does it take to read files for their digests.
    package var hashMilliseconds = 0
    package var failedSyncs = FaultChance()
    /// Reading a content or listing a directory.
    package var readErrors = FaultChance()
    package var writeErrors = FaultChance()
    package var isReadOnly = false
    /// What stands here can be neither read, written nor renamed, and nothing below it can be reached.
    package var permissionDenied: [Path] = []
    /// What stands here can be neither written nor renamed: somebody holds it.
    package var busy: [Path] = []
    /// Directories over which something else is mounted: nothing in them can be reached.
    package var covered: [Path] = []
    /// The step of the clock that stamps files: 1 ns, 10 ms or 1 s.
    package var stampNanoseconds: UInt32 = 1
    /// The finest time the file system can keep, also one that a program sets.
    package var storedNanoseconds: UInt32 = 1
    /// A new file gets the lowest inode number that is free.
    package var reusesInodes = false
    /// Unread notices beyond this are dropped, and the watcher is told only that there were some.
    package var noticesMax = 16_384
    /// In a power cut, data may reach the disk and the times that go with it not. Such damage can be found only by reading.
    package var timesMayTrailData = false
    /// Where the per-mille chances come from.
    package var random = SeededRandom(seed: 0)

    package init() {}
}

/// When one kind of operation fails: for the next few, by chance, and always for some paths.
package struct FaultChance: Sendable {
    package var next = 0
    package var perMille = 0
    /// Paths from the root; those of our own files begin with `.syncd`.
    package var paths: [Path] = []

    package init(next: Int = 0, perMille: Int = 0, paths: [Path] = []) {
        self.next = next
        self.perMille = perMille
        self.paths = paths
    }

    /// One operation at this path: does it fail?
    mutating func strikes(_ path: Path, random: inout SeededRandom) -> Bool {
        if next > 0 {
            next -= 1
            return true
        }
        if !paths.isEmpty, paths.contains(path) { return true }
        return perMille > 0 && random.chance(perMille: perMille)
    }
}

extension DiskFaults {
    /// The time of the kernel's clock as it stands in an inode.
    func stamp(_ now: Timestamp) -> Timestamp {
        DiskFaults.cut(now, to: max(stampNanoseconds, storedNanoseconds))
    }

    /// A time set by a program as the inode keeps it.
    func stored(_ time: Timestamp) -> Timestamp {
        DiskFaults.cut(time, to: storedNanoseconds)
    }

    private static func cut(_ time: Timestamp, to step: UInt32) -> Timestamp {
        if step <= 1 { return time }
        return Timestamp(seconds: time.seconds, nanoseconds: time.nanoseconds - time.nanoseconds % step)
    }

    mutating func strikesRead(_ path: Path) -> Bool { readErrors.strikes(path, random: &random) }
    mutating func strikesWrite(_ path: Path) -> Bool { writeErrors.strikes(path, random: &random) }
    mutating func strikesSync(_ path: Path) -> Bool { failedSyncs.strikes(path, random: &random) }
}
