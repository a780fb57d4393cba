import Disk
import Dispatch
import RecordMerge
import SyncModel
import Synchronization

/// Files off the threads of Swift's tasks: a disk may take its time, and those threads are few. A disk that does not answer is not waited
/// for beyond its time: that ends in `timedOut`, and what was asked of it may still come to pass.
struct DocumentFiles {
    /// By the machine's clock: a disk knows of no other.
    private let patienceMilliseconds: UInt64
    private let queue: DispatchQueue

    init(patience: Duration = DocumentFiles.patienceMax, queue: DispatchQueue = DocumentFiles.queue) {
        patienceMilliseconds = patience.milliseconds
        self.queue = queue
    }

    static let patienceMax = Duration.seconds(60)

    static let queue = DispatchQueue(label: "net.syncd.files", attributes: .concurrent)

    /// Nil if nothing is there.
    func contents(at path: DocumentPath) async throws(DocumentError) -> DocumentContents? {
        let reading: Item.Reading?
        do throws(DocumentError) {
            reading = try await run(path) { (item) throws(Item.Failure) in try item.read() }
        } catch {
            if error.isAbsence { return nil }
            throw error
        }
        switch reading {
        case .contents(let contents): return contents
        case .unsteady:
            throw DocumentError(.unreadable(.changedDuringRead), reason: "somebody goes on writing to \(path)")
        case .tooLarge, nil:
            let reason = "\(path) is larger than \(Item.bytesMax) bytes"
            throw DocumentError(.unreadable(.corrupt(reason: reason, offset: Item.bytesMax)), reason: reason)
        }
    }

    func create(_ contents: DocumentContents, at path: DocumentPath) async throws(DocumentError) {
        try checkName(in: contents, path)
        try await run(path) { (item) throws(Item.Failure) in try item.create(contents) }
    }

    /// Fails with `changedMeanwhile` if something else than `old` is there.
    func replace(
        _ old: DocumentContents, with new: DocumentContents, at path: DocumentPath
    ) async throws(DocumentError) {
        try checkName(in: new, path)
        try check(await run(path) { (item) throws(Item.Failure) in try item.replace(old, with: new) }, path)
    }

    /// The same if something else than `old` is there: then it stays.
    func remove(_ old: DocumentContents, at path: DocumentPath) async throws(DocumentError) {
        try check(await run(path) { (item) throws(Item.Failure) in try item.remove(old) }, path)
    }

    /// The mark of a package is the user's: it is made, kept and taken away beside the contents.
    private func checkName(in contents: DocumentContents, _ path: DocumentPath) throws(DocumentError) {
        guard case .package(let files) = contents, files.keys.contains(where: { $0.bytes == Item.packageMark }) else {
            return
        }
        throw DocumentError(.cannotEncode, reason: "\(path) cannot have a part with the name that marks a package")
    }

    private func check(_ result: Item.Replacement, _ path: DocumentPath) throws(DocumentError) {
        switch result {
        case .done: return
        case .raced:
            throw DocumentError(.changedMeanwhile, reason: "somebody else has changed \(path) since it was read")
        }
    }

    func names(in directory: DocumentPath) async throws(DocumentError) -> [Name] {
        try await run(describing: directory) { () throws(Item.Failure) in
            try Item.regularFiles(in: directory.bytes)
        }
    }

    private func run<Value: Sendable>(
        _ path: DocumentPath, _ body: @escaping @Sendable (Item) throws(Item.Failure) -> Value
    ) async throws(DocumentError) -> Value {
        guard let item = Item(path: path.bytes) else {
            throw DocumentError(.system(0), reason: "\(path) does not end in a file's name")
        }
        return try await run(describing: path) { () throws(Item.Failure) in try body(item) }
    }

    private func run<Value: Sendable>(
        describing path: DocumentPath, _ body: @escaping @Sendable () throws(Item.Failure) -> Value
    ) async throws(DocumentError) -> Value {
        let result: Result<Value, Item.Failure>? = await withCheckedContinuation { waiting in
            let first = FirstAnswer(waiting)
            let watchdog = Task { [patienceMilliseconds] in
                do { try await Task.sleep(for: .milliseconds(patienceMilliseconds)) } catch { return }
                first.give(nil)
            }
            queue.async {
                let result: Result<Value, Item.Failure>
                do throws(Item.Failure) {
                    result = .success(try body())
                } catch {
                    result = .failure(error)
                }
                watchdog.cancel()
                first.give(result)
            }
        }
        switch result {
        case .success(let value): return value
        case .failure(let failure): throw DocumentError(failure, at: path)
        case nil:
            throw DocumentError(
                .timedOut, reason: "the disk has not answered about \(path) for \(patienceMilliseconds) ms")
        }
    }
}

/// Of two who answer one question, the one who comes first.
private final class FirstAnswer<Answer: Sendable>: Sendable {
    private let waiting: Mutex<CheckedContinuation<Answer, Never>?>

    init(_ waiting: CheckedContinuation<Answer, Never>) {
        self.waiting = Mutex(waiting)
    }

    func give(_ answer: Answer) {
        waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }?.resume(returning: answer)
    }
}

extension DocumentError {
    init(_ failure: Item.Failure, at path: DocumentPath) {
        switch failure.error {
        case .notFound, .notDirectory:
            self.init(.unreadable(.noSuchFile), reason: "there is no \(path)")
        case .exists, .notEmpty: self.init(.exists, reason: "something is at \(path) already")
        case .permission: self.init(.unreadable(.accessDenied), reason: "this program may not use \(path)")
        case .unsupported:
            self.init(
                .unreadable(.corrupt(reason: "no regular file, and no directory of files alone", offset: 0)),
                reason: "\(path) is no regular file, and no directory of files alone")
        case .isDirectory, .noSpace, .inputOutput, .readOnly, .busy, .nameTooLong, .crossDevice, .mismatch:
            self.init(.system(failure.errno), reason: "\(path): \(failure.error)")
        }
    }

    init<Model>(unreadable decoded: Decoded<Model>) {
        self = decoded.problem ?? DocumentError(.unreadable(decoded.outcome), reason: "\(decoded.outcome)")
    }

    init(protected outcome: LoadOutcome) {
        self.init(.protected(outcome), reason: "what is in the file is not replaced by this program: \(outcome)")
    }

    /// Whatever an access may end with.
    init(_ error: any Error) {
        switch error {
        case let error as DocumentError: self = error
        case let error as CoordinationError: self.init(.coordination(error), reason: "\(error.kind)")
        default: self.init(.timedOut, reason: "\(error)")
        }
    }

    /// What a load that ended so has come to.
    var outcome: LoadOutcome {
        switch kind {
        case .unreadable(let found): found
        case .timedOut: .notLoaded
        case .protected, .exists, .changedMeanwhile, .cannotEncode, .closed, .coordination, .system: .accessDenied
        }
    }

    var isAbsence: Bool { kind == .unreadable(.noSuchFile) }
}
