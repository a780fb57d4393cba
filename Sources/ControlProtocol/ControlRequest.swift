/// Everything that can be asked of a running daemon. Methods are called like the commands of `syncctl`; each answer is
/// exactly the document that the command prints with `--json`. See `ControlRequest+Parameters` for how they are written.
public enum ControlRequest: Hashable, Sendable {
    /// Answered by `StatusDocument`. Watching: one item at once and one after each change, until the connection ends.
    case status(watch: Bool)
    /// Answered by `StatusDocument` as soon as it holds, or refused with `wait.timed-out` and the reason in its text.
    case wait(for: WaitCondition, timeoutMilliseconds: UInt64?)

    /// Answered by `InviteDocument`.
    case invite
    /// Answered by `PairedDocument` when the other node has joined; refused when the invitation has expired.
    case inviteWait
    /// Answered by `PairedDocument`.
    case join(token: String)
    case unpair
    /// Unpair, and be ready for another partner. Answered by `DoneDocument`, whose notes say what is kept where.
    case forgetPeer
    /// Answered by `RenewedKeyDocument` when the other node accepts the new key and no other.
    case renewKey

    /// Answered by `AlertsDocument`; open and acknowledged ones only, unless all.
    case alerts(all: Bool, page: Page)
    /// Answered by `AlertDocument`, as is the next.
    case alertShow(id: String)
    case alertAcknowledge(id: String)

    /// Answered by `ConflictsDocument`; open ones only, unless all.
    case conflicts(all: Bool, page: Page)
    /// Answered by `ConflictDocument`.
    case conflictShow(id: String)
    case conflictTake(id: String, version: String)
    case conflictDiscard(id: String)
    case conflictRestore(id: String)

    /// Answered by `HistoryDocument`.
    case history(path: PathArgument, page: Page)
    /// Put a kept version back, the newest unless one is named, at its path or another.
    case restore(path: PathArgument, version: String?, to: PathArgument?)

    /// Answered by `DocumentChecks`.
    case documentCheck([PathArgument])
    /// Answered by any JSON: the records in a file.
    case documentShow(PathArgument)
    /// Answered by `ExplainDocument`: an alert, a path or a record. Codes need no daemon.
    case explain(PathArgument)

    /// Items are `LogLine`, the last `count` or all that are kept; then a result, unless followed.
    case log(count: Int?, follow: Bool, node: String?)
    /// Answered by `LogVerifyDocument`.
    case logVerify
    /// Items are `EventLine`: recent ones and then a result, or from now on without end.
    case events(follow: Bool)

    /// Answered by `LockDocument` when it is held, or refused with `wait.timed-out`.
    case lock(LockRequest)
    /// Give back a lock that was granted to this connection, by its id, while the connection goes on. If `isQuiet`, only a refusal is answered.
    case release(lock: String, deeds: [DoneDeed], isQuiet: Bool = false)
    /// Answered by items, each a `PresenterLine`, until it is withdrawn or the connection ends.
    case present(PresentRequest)
    /// To what a presenter of this connection was asked.
    case answer(question: String, PresenterReply)
    case withdraw(presenter: String)
    /// Give up locks that outlive their connection: those on these paths, or all of them.
    case unlock([PathArgument])
    /// Answered by `LocksDocument`.
    case locks

    case pause
    case resume
    /// A directory, or everything.
    case rescan(PathArgument?)
    /// Read the configuration anew. Notes of the answer say what has changed and what needs a restart.
    case reload
    case logLevel(Int, forMilliseconds: UInt64?)
    /// Let a held mass deletion go on, or take it back: the one there is, unless named.
    case approve(id: String?)
    case reject(id: String?)
    /// Answered by `VerifyDocument`: read everything and compare it with what is known.
    case verify(budget: String?)
    /// Answered by `DoctorDocument`.
    case doctor
    /// Answered by `MetricsDocument`.
    case metrics
    /// Answered by `VersionDocument`.
    case version
}

public enum WaitCondition: String, CaseIterable, Hashable, Sendable {
    case inSync = "in-sync"
    case connected
    case initialImport = "initial-import"
}

/// Which part of a long list: a list that would not fit a line carries `next`, and the rest is asked for with `after`.
public struct Page: Hashable, Sendable {
    public static let all = Page()

    public var limit: Int?
    public var after: String?

    public init(limit: Int? = nil, after: String? = nil) {
        self.limit = limit
        self.after = after
    }
}
