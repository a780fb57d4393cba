import Coordination
import Disk
import RecordMerge

/// The session behind `makeDocumentSession`: one actor, whose loads and saves go one after the other under one purpose, so that whoever asks
/// it to save is passed by the save.
actor FileSession<Kind: Document>: DocumentSession, ClosableDocument {
    typealias Model = Kind.Model

    private(set) var path: DocumentPath
    private(set) var state = DocumentState.closed {
        didSet { if state != oldValue { for listener in listeners.values { listener.yield(state) } } }
    }
    private(set) var outcome = LoadOutcome.notLoaded
    private(set) var lastError: DocumentError?
    private(set) var model: Model?
    private(set) var failures: [DecodeFailure] = []
    private(set) var warnings: [FileWarning] = []

    nonisolated let purpose: String
    private let document: Kind
    private let derived: [DerivedData<Model>]
    private let coordinator: any FileCoordinator
    private let clock: any DocumentClock
    private let autosave: Autosave
    private let files: DocumentFiles

    /// What is in the file, as it was read or written last.
    private var basis: DocumentContents?
    /// What was given to a disk that did not answer in time: it may be in the file now, or soon.
    private var unsettled: DocumentContents?
    private var token: PresenterToken?
    private var undoing: [Model] = []
    private var redoing: [Model] = []
    /// Where the history of changes stands, and where it stood when the file was written.
    private var position = 0
    private var savedPosition: Int? = 0
    private var firstChange: UInt64?
    private var lastChange: UInt64 = 0
    private var autosaving: Task<Void, Never>?
    private var listeners: [Int: AsyncStream<DocumentState>.Continuation] = [:]
    private var readers: [Int: AsyncStream<Model>.Continuation] = [:]
    private var lastListener = 0
    /// Saves and loads go one after the other.
    private var isBusy = false
    private var isLookWanted = false
    private var queue: [CheckedContinuation<Void, Never>] = []

    private static var undoMax: Int { 100 }
    private static var lookPause: UInt64 { 250 }

    init(
        _ document: Kind, at path: DocumentPath, deriving derived: [DerivedData<Model>],
        coordinator: any FileCoordinator, purpose: String?, autosave: Autosave, files: DocumentFiles,
        clock: any DocumentClock
    ) {
        self.document = document
        self.derived = derived
        self.path = path
        self.coordinator = coordinator
        self.autosave = autosave
        self.files = files
        self.clock = clock
        self.purpose = purpose ?? "document \(SessionNumber.next())"
    }

    var hasUnsavedChanges: Bool { position != savedPosition }
    var canUndo: Bool { !undoing.isEmpty }
    var canRedo: Bool { !redoing.isEmpty }

    // MARK: Opening

    func open() async -> LoadOutcome {
        await inTurn { session in
            guard session.token == nil else { return session.outcome }
            return await session.load()
        }
    }

    nonisolated func open(then: @escaping @Sendable (LoadOutcome) -> Void) {
        Task { then(await open()) }
    }

    func revert() async -> LoadOutcome {
        await inTurn { session in await session.load() }
    }

    private func load() async -> LoadOutcome {
        state = .inProgress
        lastError = nil
        do {
            let contents = try await persistently {
                try await coordinator.withAccess([.read(path)], for: purpose, within: nil) { _ in
                    try await self.attach()
                    return try await self.files.contents(at: self.path)
                }
            }
            take(contents)
        } catch {
            let failure = DocumentError(error)
            outcome = failure.outcome
            fail(with: failure)
        }
        return outcome
    }

    /// Who would have closed a circle of programs that wait for each other tries again: the others go on meanwhile.
    private func persistently<Result>(_ body: () async throws -> Result) async throws -> Result {
        for pause in [10, 20, 40, 80, 160] as [UInt64] {
            do {
                return try await body()
            } catch let error as CoordinationError {
                guard case .wouldDeadlock = error.kind else { throw error }
            }
            try await clock.sleep(until: clock.milliseconds + pause)
        }
        return try await body()
    }

    private func take(_ contents: DocumentContents?) {
        basis = contents
        undoing = []
        redoing = []
        markClean()
        failures = []
        guard let contents else {
            outcome = .noSuchFile
            model = nil
            state = .normal
            return
        }
        let decoded = document.decode(contents)
        outcome = decoded.outcome
        model = decoded.model
        failures = decoded.failures
        lastError = decoded.model == nil ? DocumentError(unreadable: decoded) : nil
        state = decoded.model != nil || outcome == .zeroLength ? .normal : .editingDisabled
        tellReaders()
    }

    private func tellReaders() {
        if let model { for reader in readers.values { reader.yield(model) } }
    }

    private func fail(with error: DocumentError) {
        lastError = error
        model = nil
        failures = []
        basis = nil
        state = .editingDisabled
    }

    private func attach() async throws {
        guard token == nil else { return }
        token = try await coordinator.present(self)
        OpenDocuments.add(self)
    }

    // MARK: Changing

    func begin(with model: Model) throws(DocumentError) {
        try requireOpen()
        guard self.model == nil, outcome == .noSuchFile || outcome == .zeroLength else {
            throw DocumentError(.protected(outcome), reason: "there is a document already, or one that cannot be read")
        }
        self.model = model
        changed()
    }

    func update(_ change: @Sendable (inout Model) -> Void) throws(DocumentError) { try step(change) }

    func mutate(_ change: @Sendable (inout Model) -> Void) throws(DocumentError) {
        let before = model
        try step { model in
            change(&model)
            _ = derive(into: &model, ApplyContext(origin: .local, before: before))
        }
    }

    /// True if anything was changed by it.
    private func derive(into model: inout Model, _ context: ApplyContext<Model>) -> Bool {
        var isAny = false
        for one in derived where one.origins.contains(context.origin) {
            if one.derive(&model, context) { isAny = true }
        }
        return isAny
    }

    private func step(_ change: (inout Model) -> Void) throws(DocumentError) {
        try requireOpen()
        guard var changing = model else { throw DocumentError(.protected(outcome), reason: "there is no document yet") }
        undoing.append(changing)
        if undoing.count > FileSession.undoMax { undoing.removeFirst() }
        redoing = []
        change(&changing)
        model = changing
        changeCount(.done)
    }

    func undo() throws(DocumentError) {
        try requireOpen()
        guard let earlier = undoing.popLast(), let present = model else { return }
        redoing.append(present)
        model = earlier
        changeCount(.undone)
    }

    func redo() throws(DocumentError) {
        try requireOpen()
        guard let later = redoing.popLast(), let present = model else { return }
        undoing.append(present)
        model = later
        changeCount(.redone)
    }

    func changeCount(_ change: DocumentChange) {
        switch change {
        case .done:
            // What was saved cannot be come back to by undoing once other changes have taken the place of its.
            if let saved = savedPosition, saved > position { savedPosition = nil }
            changed()
        case .redone: changed()
        case .undone: changed(by: -1)
        case .cleared: markClean()
        }
    }

    /// What came of it is a change of this session, to be saved like any other.
    private func deriveFromImport(since before: Model?) {
        guard var deriving = model, derive(into: &deriving, ApplyContext(origin: .imported, before: before)) else {
            return
        }
        model = deriving
        changed()
        tellReaders()
    }

    private func changed(by step: Int = 1) {
        position += step
        lastChange = clock.milliseconds
        if firstChange == nil { firstChange = lastChange }
        scheduleAutosave()
    }

    private func markClean() {
        position = 0
        savedPosition = 0
        firstChange = nil
        autosaving?.cancel()
        autosaving = nil
    }

    private func requireOpen() throws(DocumentError) {
        guard token != nil else { throw DocumentError(.closed, reason: "\(path) is not open") }
    }

    // MARK: Saving

    func save(_ operation: SaveOperation) async throws(DocumentError) {
        try await inTurn { session async throws(DocumentError) in try await session.write(operation) }
    }

    /// Under our own purpose, so that it passes the claim of who has asked for it.
    private func write(_ operation: SaveOperation) async throws(DocumentError) {
        try requireOpen()
        guard let model else { throw DocumentError(.protected(outcome), reason: "there is nothing to save") }
        if operation == .overwriting, basis != nil, !hasUnsavedChanges, !isMigration { return }
        let before = state
        state = .inProgress
        let written = position
        do {
            let contents = try encoded(model, operation)
            let old = operation == .creating ? nil : basis
            if contents != old { try await put(contents, in: old) }
            basis = contents
            savedPosition = written
            outcome = .success
            firstChange = hasUnsavedChanges ? lastChange : nil
            lastError = nil
            state = .normal
        } catch {
            lastError = error
            state =
                switch error.kind {
                case .changedMeanwhile: .inConflict
                case .exists where operation == .creating: before
                case .exists, .unreadable, .protected, .cannotEncode, .closed, .coordination, .system, .timedOut:
                    .savingError
                }
            throw error
        }
    }

    private var isMigration: Bool { if case .olderVersion = outcome { true } else { false } }

    private func encoded(_ model: Model, _ operation: SaveOperation) throws(DocumentError) -> DocumentContents {
        do {
            return try document.written(model, replacing: operation == .creating ? nil : basis)
        } catch let error as DocumentError {
            throw error
        } catch {
            let path = (error as? EncodingError)?.codingPath ?? []
            throw DocumentError(.cannotEncode, reason: "\(error)", codingPath: path)
        }
    }

    /// A disk that did not answer in time may have got what it was given all the same: then that is what is expected.
    private func put(_ contents: DocumentContents, in old: DocumentContents?) async throws(DocumentError) {
        do {
            try await place(contents, in: old)
        } catch {
            if error.kind == .timedOut { unsettled = contents }
            guard let late = unsettled, error.kind == .exists || error.kind == .changedMeanwhile else { throw error }
            try await place(contents, in: late)
        }
        unsettled = nil
    }

    private func place(_ contents: DocumentContents, in old: DocumentContents?) async throws(DocumentError) {
        let (path, files) = (path, files)
        do {
            try await coordinator.withAccess([.write(path)], for: purpose, within: nil) { grant in
                if let old {
                    try await files.replace(old, with: contents, at: path)
                } else {
                    try await files.create(contents, at: path)
                }
                grant.note(.changed(path))
            }
        } catch {
            throw DocumentError(error)
        }
    }

    func reinitialise(with model: Model) async throws(DocumentError) {
        try await inTurn { session async throws(DocumentError) in
            try session.requireOpen()
            switch session.outcome {
            case .corrupt, .zeroLength: break
            case .notLoaded, .success, .noSuchFile, .olderVersion, .newerVersion, .unknownVersion, .accessDenied,
                .changedDuringRead:
                throw DocumentError(protected: session.outcome)
            }
            guard let old = session.basis else { throw DocumentError(protected: session.outcome) }
            let contents = try session.encoded(model, .creating)
            try await session.keepBeside(old)
            try await session.put(contents, in: old)
            session.take(contents)
        }
    }

    /// Under a name that nobody takes for the document, and that no second one takes again.
    private func keepBeside(_ old: DocumentContents) async throws(DocumentError) {
        for number in 1...1_000 {
            let beside = DocumentPath(path.bytes + Array(".unreadable-\(number)".utf8))
            do {
                return try await files.create(old, at: beside)
            } catch {
                guard error.kind == .exists else { throw error }
            }
        }
        throw DocumentError(.exists, reason: "a thousand unreadable states of \(path) lie beside it")
    }

    // MARK: Closing

    func close() async throws(DocumentError) { try await close(endingStreams: true) }

    func close(endingStreams: Bool) async throws(DocumentError) {
        try await inTurn { session async throws(DocumentError) in
            guard session.token != nil else { return }
            if session.hasUnsavedChanges { try await session.write(session.basis == nil ? .creating : .overwriting) }
            session.autosaving?.cancel()
            session.autosaving = nil
            if let token = session.token { await session.coordinator.withdraw(token) }
            session.token = nil
            OpenDocuments.remove(session)
            session.state = .closed
            guard endingStreams else { return }
            for listener in session.listeners.values { listener.finish() }
            session.listeners = [:]
            for reader in session.readers.values { reader.finish() }
            session.readers = [:]
        }
    }

    func states() -> AsyncStream<DocumentState> {
        let (stream, listener) = AsyncStream.makeStream(of: DocumentState.self)
        lastListener += 1
        let number = lastListener
        listeners[number] = listener
        listener.onTermination = { [weak self] _ in Task { await self?.forgetListener(number) } }
        listener.yield(state)
        return stream
    }

    func models() -> AsyncStream<Model> {
        let (stream, reader) = AsyncStream.makeStream(of: Model.self)
        lastListener += 1
        let number = lastListener
        readers[number] = reader
        reader.onTermination = { [weak self] _ in Task { await self?.forgetListener(number) } }
        if let model { reader.yield(model) }
        return stream
    }

    private func forgetListener(_ number: Int) {
        listeners[number] = nil
        readers[number] = nil
    }

    // MARK: Autosave

    private func scheduleAutosave() {
        autosaving?.cancel()
        autosaving = nil
        guard let idle = autosave.idleMilliseconds, hasUnsavedChanges, let first = firstChange else { return }
        let due = min(lastChange + idle, first + autosave.capMilliseconds)
        autosaving = Task { [weak self, clock] in
            do { try await clock.sleep(until: due) } catch { return }
            await self?.saveByItself()
        }
    }

    /// A failure is in `lastError` and in the state, and is tried again after a pause; not a conflict, which is for the application.
    private func saveByItself() async {
        // From here on it is no pause any more that the next change could end.
        autosaving = nil
        guard hasUnsavedChanges, state != .inConflict else { return }
        do {
            try await save(basis == nil ? .creating : .overwriting)
        } catch {
            guard state == .savingError, autosaving == nil else { return }
            firstChange = clock.milliseconds
            lastChange = clock.milliseconds
            scheduleAutosave()
        }
    }

    // MARK: One after the other

    private func inTurn<Result, Failure>(
        _ body: (isolated FileSession<Kind>) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        if isBusy { await withCheckedContinuation { queue.append($0) } }
        isBusy = true
        defer { if queue.isEmpty { isBusy = false } else { queue.removeFirst().resume() } }
        return try await body(self)
    }
}

extension FileSession: FilePresenter {
    var presentedPath: DocumentPath { path }

    func prepare(for question: Question.Kind, savingFirst: Bool) async throws {
        guard savingFirst, hasUnsavedChanges, model != nil else { return }
        try await save(basis == nil ? .creating : .overwriting)
    }

    func take(_ news: FileNews) async {
        switch news {
        case .reacquired, .skipped: return
        case .moved(let target): path = target
        case .deleted: if state != .closed { basis = nil }
        case .changed: lookSoon()
        case .warned(let warning):
            warnings.removeAll { $0.code == warning.code && $0.about == warning.about }
            if warning.isOpen { warnings.append(warning) }
        }
    }

    /// Not at once: whoever asks this session for something meanwhile is answered first, and may be the one that is to be waited for.
    private func lookSoon() {
        guard !isLookWanted else { return }
        isLookWanted = true
        Task { [weak self] in await self?.look() }
    }

    /// What is in the file now; nil if it cannot be read, or has gone.
    private func contentsNow() async -> DocumentContents? {
        do {
            return try await coordinator.withAccess([.read(path, savingFirst: false)], for: purpose, within: nil) { _ in
                try await self.files.contents(at: self.path)
            }
        } catch is CoordinationError {
            // Somebody was in the way. What has changed is still to be seen.
            lookLater()
            return nil
        } catch {
            return nil
        }
    }

    private func lookLater() {
        let due = clock.milliseconds + FileSession.lookPause
        Task { [weak self, clock] in
            do { try await clock.sleep(until: due) } catch { return }
            await self?.lookSoon()
        }
    }

    /// What others wrote is loaded, unless there are changes here: then it is for the application to say what becomes of them. That
    /// somebody has written need not mean that anything has changed: it may have been this session.
    private func look() async {
        await inTurn { session in
            session.isLookWanted = false
            guard session.token != nil else { return }
            guard let found = await session.contentsNow(), found != session.basis else { return }
            if found == session.unsettled {
                // Late, but what this session wrote.
                session.basis = found
                session.unsettled = nil
            } else if session.hasUnsavedChanges {
                session.state = .inConflict
            } else {
                let before = session.model
                session.take(found)
                session.deriveFromImport(since: before)
            }
        }
    }
}

extension EncodingError {
    fileprivate var codingPath: [String] {
        switch self {
        case .invalidValue(_, let context): context.codingPath.map(\.stringValue)
        @unknown default: []
        }
    }
}
