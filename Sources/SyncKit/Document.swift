public import Disk
public import RecordMerge

/// How a kind of document becomes bytes and comes back from them. A value without state: it does no input and no output, and never knows
/// where its document lies. `JSONFile` is the one for any `Codable` model; `DocumentSession` opens and saves.
public protocol Document<Model>: Sendable {
    associatedtype Model: Sendable

    /// Total: for every sequence of bytes it says what they are. A model comes with `success`, and with an older version that can be read.
    func decode(_ contents: DocumentContents) -> Decoded<Model>

    /// `replacing` is what is in the file now, as far as it was understood: what a model cannot hold is to be kept from there.
    /// An error is an error and never an empty or a missing document.
    func encode(_ model: Model, replacing: DocumentContents?) throws -> DocumentContents
}

extension Document {
    /// What is to be written. Who is lenient in what he reads is strict in what he writes: what could not be read again is no document.
    func written(_ model: Model, replacing: DocumentContents?) throws -> DocumentContents {
        let contents = try encode(model, replacing: replacing)
        let decoded = decode(contents)
        guard decoded.outcome == .success else {
            let problem = DocumentError(unreadable: decoded)
            throw DocumentError(
                .cannotEncode, reason: "what would be written could not be read again: \(problem.reason)",
                offset: problem.offset, codingPath: problem.codingPath)
        }
        return contents
    }
}

/// What came of loading a document: one vocabulary with the daemon and `syncctl doc check`. The first case is that nothing was loaded.
public typealias LoadOutcome = RecordMerge.LoadOutcome

/// The bytes of a file, or of the files in a directory that counts as one document.
public typealias DocumentContents = Item.Contents

public struct Decoded<Model: Sendable>: Sendable {
    public let outcome: LoadOutcome
    /// Nil unless the outcome is `success`, or an older version that could be read.
    public let model: Model?
    /// What in detail was wrong.
    public let problem: DocumentError?
    /// What in the document could not be decoded while the rest could, wherever it is: see `LossyArray`.
    public let failures: [DecodeFailure]

    public init(
        _ outcome: LoadOutcome, model: Model? = nil, problem: DocumentError? = nil, failures: [DecodeFailure] = []
    ) {
        self.outcome = outcome
        self.model = model
        self.problem = problem
        self.failures = failures
    }
}

extension Decoded: Equatable where Model: Equatable {}
extension Decoded: Hashable where Model: Hashable {}

/// Why something about a document was not done. What was in the file before is still there.
public struct DocumentError: Error, Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// It could not be loaded; the outcome says why.
        case unreadable(LoadOutcome)
        /// What is in the file may not be replaced by this program: it is newer, unknown, or could not be read.
        case protected(LoadOutcome)
        /// Something has that name already.
        case exists
        /// Somebody else has changed the file since it was loaded.
        case changedMeanwhile
        case cannotEncode
        /// The session is not open.
        case closed
        /// Another program would not let go of the file, or could not save it.
        case coordination(CoordinationError)
        /// The system refused; the number is errno.
        case system(Int32)
        /// It did not end within its time.
        case timedOut
    }

    public let kind: Kind
    /// In words, for a log.
    public let reason: String
    /// The byte of the file at which it was seen.
    public let offset: Int?
    /// The way to the value within the model.
    public let codingPath: [String]

    public init(_ kind: Kind, reason: String, offset: Int? = nil, codingPath: [String] = []) {
        self.kind = kind
        self.reason = reason
        self.offset = offset
        self.codingPath = codingPath
    }
}
