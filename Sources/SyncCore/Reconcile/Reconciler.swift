public import SyncModel

/// Decides what this node must do at one path so that its folder shows what both nodes know.
///
/// Reads nothing, writes nothing: the answer is a `Step` that the apply protocol turns into a `DiskProgram`.
/// The whole decision table of the product is `Resolution` (which state is wanted) and this file (how to get there
/// without losing what is there now). See `ConflictName` for how the loser of a conflict is called.
public struct Reconciler: Sendable {
    public let precedence: Precedence

    public init(precedence: Precedence) {
        self.precedence = precedence
    }

    public func resolution(of row: Row) -> Resolution {
        Resolution(of: row.heads, precedence: precedence)
    }

    /// How to bring the disk to the resolution.
    public enum Step: Hashable, Sendable {
        /// The disk shows it already.
        case agree
        /// Same content; set permission bits and time.
        case adjust
        /// Put a file or symlink at a free name.
        case place
        /// Put a file or symlink in the place of what is there.
        case replace(Displacement)
        case makeDirectory
        /// Put a directory in the place of a file or symlink.
        case replaceByDirectory(Displacement)
        /// Put a file or symlink in the place of a directory, which must be empty by then.
        case replaceDirectory
        case remove(Displacement)
        case removeDirectory
    }

    /// What becomes of the file that has to go.
    public enum Displacement: Hashable, Sendable {
        /// Its content was seen by whoever wrote the new state: history.
        case keep
        /// Nobody has seen it: it stays in the tree under another name.
        case conflictCopy
        /// It is damage, not a version: aside, with an alert.
        case quarantine
    }

    public func step(from row: Row, to wanted: Resolution) -> Step {
        guard let disk = row.disk else {
            switch wanted.entry.content {
            case .absent: return .agree
            case .directory: return .makeDirectory
            case .file, .symlink: return .place
            }
        }
        if disk.entry.content == wanted.entry.content {
            if disk.isUnwritten { return .replace(.keep) }
            return disk.entry.agrees(with: wanted.entry) ? .agree : .adjust
        }
        let displacement = displacement(of: row, disk: disk, by: wanted)
        switch (disk.entry.content, wanted.entry.content) {
        case (.directory, .absent): return .removeDirectory
        case (.directory, _): return .replaceDirectory
        case (_, .absent): return .remove(displacement)
        case (_, .directory): return .replaceByDirectory(displacement)
        case (_, .file), (_, .symlink): return .replace(displacement)
        }
    }

    /// True if what is on disk would lose its place to the resolution without anybody having seen it.
    public func losesUnseen(_ row: Row) -> Bool {
        guard let disk = row.disk, !disk.entry.content.isDirectory, row.condition != .damaged else { return false }
        let wanted = resolution(of: row)
        guard wanted.entry.content != disk.entry.content else { return false }
        return displacement(of: row, disk: disk, by: wanted) == .conflictCopy
    }

    /// History if the author of the winning content, or of a later state of it, had seen what is on disk.
    private func displacement(of row: Row, disk: Row.DiskState, by wanted: Resolution) -> Displacement {
        if row.condition == .damaged { return .quarantine }
        if row.owesCopy { return .conflictCopy }
        let isSeen = row.heads.contains { head in
            head.entry.content == wanted.entry.content && head.includes(disk.origins.content)
        }
        return isSeen ? .keep : .conflictCopy
    }
}
