import Synchronization

/// The right to do what was asked for, while `withAccess` runs.
public struct FileGrant: Sendable {
    private final class Done: Sendable {
        let deeds = Mutex<[FileDeed]>([])
    }

    /// Where the files are: they may have been renamed while the claim waited.
    public let paths: [DocumentPath]
    /// Higher than that of every grant before it: of all programs where a daemon coordinates them, else of this process.
    public let fence: UInt64
    /// What the coordinator of the process knows it by.
    let number: UInt64
    /// What is held for it against other processes.
    private let held: [any HeldAccess]
    private let done = Done()

    init(paths: [DocumentPath], fence: UInt64, number: UInt64, held: [any HeldAccess]) {
        self.paths = paths
        self.fence = fence
        self.number = number
        self.held = held
    }

    /// Somebody else has been given the files.
    var isTakenAway: Bool { held.contains(where: \.isOver) }

    /// Whoever shows the file is told when the access ends.
    public func note(_ deed: FileDeed) { done.deeds.withLock { $0.append(deed) } }

    var deeds: [FileDeed] { done.deeds.withLock { $0 } }
}

public enum FileDeed: Hashable, Sendable {
    case changed(DocumentPath)
    case moved(DocumentPath, to: DocumentPath)
    case deleted(DocumentPath)
}
