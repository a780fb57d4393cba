public import Coordination

/// What a program wants to do with a file, or with a directory and all that is in it: a package is one thing.
public struct FileAccess: Hashable, Sendable {
    public typealias Writing = Access.Writing

    public let path: DocumentPath
    public let kind: Access.Kind

    var isRead: Bool {
        switch kind {
        case .read: true
        case .write: false
        }
    }

    /// Times and rights of a directory are not those of what is in it.
    var coversContents: Bool { kind != .write(.metadata) }

    /// Whoever shows the file saves it first, unless it is to be taken as it is.
    public static func read(_ path: DocumentPath, savingFirst: Bool = true) -> FileAccess {
        FileAccess(path: path, kind: .read(savesFirst: savingFirst))
    }

    /// Whoever shows the file saves it first: for who reads it and writes what came of that.
    public static func merge(_ path: DocumentPath) -> FileAccess { write(path, .merging) }

    public static func write(_ path: DocumentPath, _ writing: Writing = .update) -> FileAccess {
        FileAccess(path: path, kind: .write(writing))
    }
}

/// Programs, and parts of one, that share files. All that is wanted is asked for in one call, so that nobody waits for somebody who waits
/// for him; and nobody waits for ever: a presenter that does not answer is passed over after ten seconds.
public protocol FileCoordinator: Sendable {
    /// Runs `body` while it may. Calls of one `purpose` never wait for each other. `body` reports what it did that others must know of
    /// through the grant it is given.
    func withAccess<Result: Sendable>(
        _ accesses: [FileAccess], for purpose: String?, within patience: Duration?,
        _ body: @Sendable (FileGrant) async throws -> Result
    ) async throws -> Result

    /// From now on it is asked before others touch what it shows, and told after. To be called within the access that loads the file,
    /// or a change may slip between.
    func present(_ presenter: any FilePresenter) async throws -> PresenterToken
    func withdraw(_ token: PresenterToken) async

    /// True once it was given back, or taken away by syncd because it was held for too long while others waited.
    func isOver(_ grant: FileGrant) -> Bool
}

extension FileCoordinator {
    public func withAccess<Result: Sendable>(
        _ accesses: [FileAccess], _ body: @Sendable (FileGrant) async throws -> Result
    ) async throws -> Result {
        try await withAccess(accesses, for: nil, within: nil, body)
    }
}

public struct PresenterToken: Hashable, Sendable {
    let id: PresenterID
}

/// Who shows a file. None of these may wait for a claim on the same file but one of the presenter's own purpose.
public protocol FilePresenter: AnyObject, Sendable {
    var presentedPath: DocumentPath { get async }
    /// Whose claims do not concern it.
    var purpose: String { get }

    /// Others are about to read, write or delete it. When this returns they may. What is thrown fails what they wanted.
    func prepare(for question: Question.Kind, savingFirst: Bool) async throws
    func take(_ news: FileNews) async
}

public enum FileNews: Hashable, Sendable {
    /// Whoever wanted it is done.
    case reacquired
    case changed
    case moved(to: DocumentPath)
    case deleted
    /// This presenter did not answer in time, and others went on without it.
    case skipped
    case warned(FileWarning)
}

/// Something about a file that lasts has begun or is over: another version of it lies beside it, its format is newer than what the
/// node understands. Told by syncd.
public struct FileWarning: Hashable, Sendable {
    /// As in `syncctl explain CODE`.
    public let code: String
    /// The file itself, or the other version.
    public let about: DocumentPath
    public let isOpen: Bool
}

/// Why an access was not granted.
public struct CoordinationError: Error, Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Which process has it, what for, as far as it said, and for how long. Without a daemon the process is known only if it is this one.
        case timedOut(process: Int?, purpose: String?, heldMilliseconds: UInt64)
        /// Programs that wait for each other in a circle. Without a daemon nobody sees that, and an access within another one that has
        /// waited for ten seconds counts as one.
        case wouldDeadlock([String])
        case presenterFailed(String)
        case tooMany
        /// The path leads nowhere, or has no place in the file system.
        case noPlace
        /// syncd said no.
        case refused(String)
    }

    public let kind: Kind

    public init(_ kind: Kind) {
        self.kind = kind
    }
}
