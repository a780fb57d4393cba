public import RecordMerge
public import SyncModel

/// A file whose content counts only once it has been parsed. That may take longer than a turn, so it is done where the file is read; the
/// core is told what came of it. Pure: every reader makes the same of the same bytes.
public struct ParseRequest: Sendable {
    public let place: Place
    /// Refuse to read if the file is not this one, untouched.
    public let expected: Stat?
    /// So much from the beginning.
    public let length: Int
    let parser: Parser

    /// What is looked for.
    enum Parser: Sendable {
        /// The version in the header of a file of this size.
        case header(FormatRule, size: UInt64)
        /// The records of a file that a model claims.
        case document(Path, Model, ChunkerParameters)
    }

    /// Any bytes give an answer. Nil for fewer than were asked for.
    public func parse(_ bytes: [UInt8]) -> Parsed? {
        guard bytes.count == length else { return nil }
        switch parser {
        case .header(let rule, let size): return .header(rule.header(of: bytes, size: size))
        case .document(let path, let model, let chunking):
            return .document(SavedDocument(bytes, at: path, model, chunking))
        }
    }

    /// What comes of it where bytes are read and parsed in one, as nobody dies of anything there.
    public func outcome(of read: ReadOutcome) -> ParseOutcome<Parsed> {
        switch read {
        case .bytes(let bytes): parse(bytes).map { .parsed($0) } ?? .failed(.mismatch)
        case .failed(let error): .failed(error)
        }
    }
}

public enum Parsed: Sendable {
    case header(FormatHeader)
    case document(SavedDocument)
}

public enum ParseOutcome<Found: Sendable>: Sendable {
    case parsed(Found)
    /// `.mismatch` if the file is not the one expected.
    case failed(DiskError)
    /// Parsing the same bytes has ended the process twice.
    case poisoned
}

/// A file of records as it was saved: its bytes, their name, and what they say.
public struct SavedDocument: Sendable {
    let bytes: [UInt8]
    let chunks: ChunkList
    public let content: ContentID
    let document: Result<RecordDocument, DocumentFault>

    public init(_ bytes: [UInt8], at path: Path, _ model: Model, _ chunking: ChunkerParameters) {
        self.bytes = bytes
        chunks = ContentHasher.chunks(of: bytes, chunking)
        content = ContentID(chunks.contentID)
        document = Result { () throws(DocumentFault) in try RecordDocument(parsing: bytes, at: path, model: model) }
    }
}
