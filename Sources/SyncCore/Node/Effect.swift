public import Coordination
public import RecordMerge
public import SyncModel

/// Everything a node can ask of the world. Effects are performed after `Node.step` has returned, in order;
/// each one that has a `JobID` is answered by exactly one event with the same number. The large cases are boxed.
public enum Effect: Sendable {
    // Store: performed strictly in order, queries included.
    /// Answered by `.loaded`.
    case load(JobID, [StoreQuery])
    /// Answered by `.stored` or `.storeFailed`.
    case store(JobID, StoreBatch)

    // Disk
    /// Compare a part of the tree with the rows (`ScanJoin`), skipping what the rules ignore. Answered by `.scanned`.
    case scan(JobID, ScanRequest, IgnoreRules)
    /// Look at paths and at the root. A root that is found healthy is being watched by then, wherever it was meanwhile.
    /// Answered by `.inspected`.
    case inspect(JobID, [Path])
    /// Read whole files (or symlink targets) and cut them into chunks. Answered by `.hashed`.
    case hash(JobID, [Path])
    /// Read pieces of files. Answered by `.readFinished`.
    case read(JobID, [ReadRequest])
    /// Read a file and have it parsed, no two at a time. The shell sees to it that what ends the process there does so no third time.
    /// Answered by `.parsed`.
    indirect case parse(JobID, ParseRequest)
    /// Run programs. Answered by `.diskFinished`.
    case disk(JobID, [DiskProgram])
    /// What lies in `.syncd/stage`. Answered by `.stageListed`.
    case listStage(JobID)

    // Link
    /// One frame. Answered by `.sent` when its bytes are out.
    case send(LinkID, [UInt8])
    case close(LinkID, MessageCode)

    /// Deliver `.deadline` at this monotonic time; replaces an earlier wish.
    case wake(atMilliseconds: UInt64)
    indirect case report(Report)
    indirect case answer(CommandID, Answer)
    /// For a program that holds or shows files.
    case program(ProgramWord)
    /// The node is done: end the process with this reason. No event is expected after it.
    case finish(FinishReason)
}

public enum FinishReason: UInt8, Hashable, Sendable {
    case stopped
    case storeFailed
    /// The folder's disk did not keep what it was told to keep.
    case diskFailed
}

/// Something people should be able to learn.
public enum Report: Hashable, Sendable {
    /// A condition that lasts: one per code and subject.
    case raised(Alert)
    /// It lasts, was met once more, or is about more or something else by now.
    case raisedAgain(Alert)
    case cleared(AlertKey)
    /// A decision or an event that is over once it is told.
    case note(Note)
    /// The peer's log is written by another name than this node was started with: it has to be started anew with this one.
    case peerIs(NodeID)
}

public struct AlertKey: Hashable, Comparable, Sendable {
    public let code: MessageCode
    /// The path or other thing it is about; empty for the node as a whole.
    public let subject: [UInt8]
    /// What was found and what is understood, if it is about the format of a file.
    public let format: FormatFinding?

    public init(code: MessageCode, subject: [UInt8] = [], format: FormatFinding? = nil) {
        self.code = code
        self.subject = subject
        self.format = format
    }

    public static func < (left: AlertKey, right: AlertKey) -> Bool {
        if left.code != right.code { return left.code < right.code }
        if left.subject != right.subject { return left.subject.lexicographicallyPrecedes(right.subject) }
        guard let first = left.format, let second = right.format else {
            return left.format == nil && right.format != nil
        }
        return first < second
    }
}

public struct Alert: Hashable, Sendable {
    public let key: AlertKey
    public let sinceMilliseconds: Int64
    public var facts: AlertFacts

    public init(key: AlertKey, sinceMilliseconds: Int64, facts: AlertFacts = AlertFacts()) {
        self.key = key
        self.sinceMilliseconds = sinceMilliseconds
        self.facts = facts
    }
}

/// What is known of a condition beside its key. It may change while that lasts.
public struct AlertFacts: Hashable, Sendable {
    /// Who wrote what it is about, where that matters.
    public var writer: Author?
    /// What is wrong with a record, if it is about one.
    public var violation: Violation?
    /// Whole sentences for the end of the text: the reason, the place, the numbers. Empty where nothing is known.
    public var detail: String
    /// How much it is about: held deletes, copies; of clocks, how many digits the seconds have. If that grows, nobody has seen all of it.
    public var size: Int
    /// The conflict copy of a downgrade that came last.
    public var copy: Path?
    /// What stands in a file where its version should; nil if that is a version, or nothing.
    public var found: String?
    /// The byte at which a file cannot be read as its format any more.
    public var offset: Int?

    public init(
        writer: Author? = nil, violation: Violation? = nil, detail: String = "", size: Int = 1, copy: Path? = nil,
        found: String? = nil, offset: Int? = nil
    ) {
        self.writer = writer
        self.violation = violation
        self.detail = detail
        self.size = size
        self.copy = copy
        self.found = found
        self.offset = offset
    }

    /// What is known anew, and where that says nothing what was known before.
    public func over(_ known: AlertFacts) -> AlertFacts {
        // What was found, and where, is what the sentences say.
        let latest = detail.isEmpty ? known : self
        return AlertFacts(
            writer: writer ?? known.writer, violation: violation ?? known.violation, detail: latest.detail, size: size,
            copy: copy ?? known.copy, found: latest.found, offset: latest.offset)
    }
}

public struct Note: Hashable, Sendable {
    public let code: MessageCode
    public let subject: [UInt8]

    public init(code: MessageCode, subject: [UInt8] = []) {
        self.code = code
        self.subject = subject
    }
}

public enum Answer: Hashable, Sendable {
    case done
    case refused(MessageCode)
    case status(Status)
    case history([KeptVersion])
    case contests([Contest])
    case records([RecordID])
    /// `own` is this node in it.
    case explanation(Explanation, own: Party)
    case scan(GraphScan)
    case claims([Claim])
    case claimRefused(ClaimRefusal)
}

/// What programs that hold or show files are told unasked.
public enum ProgramWord: Hashable, Sendable {
    /// To be answered by `Command.answerQuestion`.
    case ask(Question)
    case tell(presenter: PresenterID, News)
    /// Held for longer than was agreed, while somebody waits.
    case revoked(claim: Claim.ID, client: ClientID)
}

/// The effects of one step, in the order in which they are to be performed.
public struct Effects: Sendable {
    public private(set) var list: [Effect] = []

    public init() {}

    public mutating func add(_ effect: Effect) { list.append(effect) }

    public mutating func removeAll() { list.removeAll(keepingCapacity: true) }
}
