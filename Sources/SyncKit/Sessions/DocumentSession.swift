/// One open document: its model, what has changed, and when that is written. Made by `makeDocumentSession`.
///
/// The model is a value. It is changed by `update`, or by `mutate` with what follows from the change, and written by `save` or by itself (two seconds after the last change, fifteen after the
/// first), and what is changed while a save runs goes into the next one.
public protocol DocumentSession<Model>: Actor {
    associatedtype Model: Sendable

    var path: DocumentPath { get }
    var state: DocumentState { get }
    /// What came of the last `open` or `revert`; `notLoaded` before.
    var outcome: LoadOutcome { get }
    var lastError: DocumentError? { get }
    /// Nil until something was loaded or created.
    var model: Model? { get }
    /// What of the file could not be decoded while the rest could. It stays as it is, also through a save.
    var failures: [DecodeFailure] { get }
    var hasUnsavedChanges: Bool { get }
    /// What syncd has to say about the file and is not over: another version of it beside it, a format it does not understand.
    var warnings: [FileWarning] { get }
    var canUndo: Bool { get }
    var canRedo: Bool { get }

    /// Loads it. A missing file is an outcome like others, and nothing is made.
    @discardableResult func open() async -> LoadOutcome
    /// The same for who has no task: called exactly once.
    nonisolated func open(then: @escaping @Sendable (LoadOutcome) -> Void)

    /// Begins a document that is not there yet, or is empty.
    func begin(with model: Model) throws(DocumentError)
    /// Changes it, and nothing else.
    func update(_ change: @Sendable (inout Model) -> Void) throws(DocumentError)
    /// Changes it, and lets the data be derived that follows from that, in one step: undone as one, saved as one, and the other node gets
    /// both as one.
    func mutate(_ change: @Sendable (inout Model) -> Void) throws(DocumentError)
    func undo() throws(DocumentError)
    func redo() throws(DocumentError)
    /// For programs that count changes by an undo manager of their own.
    func changeCount(_ change: DocumentChange)

    func save(_ operation: SaveOperation) async throws(DocumentError)
    /// Loads it anew and forgets what was not saved.
    @discardableResult func revert() async -> LoadOutcome
    /// Puts a new document in the place of one that cannot be read, and the old bytes beside it. Refused for what is newer or unknown.
    func reinitialise(with model: Model) async throws(DocumentError)
    /// Saves what is not saved, and ends. If that fails the session stays open, with everything in it.
    func close() async throws(DocumentError)

    /// The present state and every one that follows, until it is closed.
    func states() -> AsyncStream<DocumentState>
    /// The present model, and every one that is read from the file after it because others have changed that.
    func models() -> AsyncStream<Model>
}

extension DocumentSession {
    /// What is there is written over.
    public func save() async throws(DocumentError) { try await save(.overwriting) }
}

public enum DocumentState: Hashable, Sendable, CaseIterable {
    case closed
    /// Loading or saving.
    case inProgress
    case normal
    /// There is nothing to edit: it could not be read, or is newer than this program.
    case editingDisabled
    /// Somebody else has changed the file, and so has this session.
    case inConflict
    /// The last save failed; everything is still in the model.
    case savingError
}

public enum SaveOperation: Hashable, Sendable {
    /// Fails if anything has the name, without touching it.
    case creating
    case overwriting
}

public enum DocumentChange: Hashable, Sendable {
    case done, undone, redone, cleared
}

/// How long a session waits before it saves by itself.
public struct Autosave: Hashable, Sendable {
    /// Nil: only `save` and `close` write.
    public var idleMilliseconds: UInt64?
    public var capMilliseconds: UInt64

    public init(idleMilliseconds: UInt64? = 2_000, capMilliseconds: UInt64 = 15_000) {
        self.idleMilliseconds = idleMilliseconds
        self.capMilliseconds = capMilliseconds
    }

    public static let never = Autosave(idleMilliseconds: nil)
}

/// Touches nothing on the disk. A session of a `purpose` may be used within an access for the same purpose, which then holds the file from
/// before it is opened until after it is saved; otherwise each session has one of its own. Data is derived in the order of `derived`, each
/// from what those before it have left. A disk that does not answer within `diskPatience` is given up: the load or the save ends in `timedOut`.
public func makeDocumentSession<Model: Sendable>(
    _ document: some Document<Model>, at path: DocumentPath, deriving derived: [DerivedData<Model>] = [],
    coordinator: any FileCoordinator = makeFileCoordinator(), purpose: String? = nil, autosave: Autosave = Autosave(),
    diskPatience: Duration = .seconds(60), clock: any DocumentClock = makeSystemClock()
) -> any DocumentSession<Model> {
    FileSession(
        document, at: path, deriving: derived, coordinator: coordinator, purpose: purpose, autosave: autosave,
        files: DocumentFiles(patience: diskPatience), clock: clock)
}
