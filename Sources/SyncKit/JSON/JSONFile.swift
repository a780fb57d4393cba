public import Disk
import RecordMerge

/// A document that is one JSON object with a number for its format: `{"format": 1, …}` and the members of a `Codable` model.
///
/// What the model does not know is kept: a save changes only what the model changed (see `DocumentEdit`). A file of an older format is
/// read if `reads` has its number, by a model that looks at `Decoder.documentFormat`, and becomes one of the new format with the first
/// save. A file of a newer format is never written.
public struct JSONFile<Model: Codable & Sendable>: Document {
    /// A file without a number is of format 0.
    public let reads: ClosedRange<UInt32>
    public let writes: UInt32
    public let formatKey: String

    public init(reads: ClosedRange<UInt32> = 1...1, writes: UInt32? = nil, formatKey: String = "format") {
        precondition(writes.map(reads.contains) ?? true, "a program reads what it writes")
        self.reads = reads
        self.writes = writes ?? reads.upperBound
        self.formatKey = formatKey
    }

    public func decode(_ contents: DocumentContents) -> Decoded<Model> {
        guard case .file(let bytes) = contents else {
            return corrupt("a directory stands where a file is expected", at: 0)
        }
        guard !bytes.isEmpty else { return Decoded(.zeroLength) }
        let document: JSONDocument
        do throws(JSONFault) {
            document = try JSONDocument(parsing: bytes)
        } catch {
            return corrupt(error.reason, at: error.offset)
        }
        guard document.kind(of: .root) == .object else { return corrupt("the document is no object", at: 0) }
        switch format(of: document) {
        case .failure(let unknown): return Decoded(.unknownVersion(found: unknown.text))
        case .success(let found) where found > reads.upperBound:
            return Decoded(.newerVersion(found: found, supported: reads))
        case .success(let found) where found < reads.lowerBound:
            return Decoded(.unknownVersion(found: Array(String(found).utf8)))
        case .success(let found): return decode(document, of: found)
        }
    }

    private func decode(_ document: JSONDocument, of format: UInt32) -> Decoded<Model> {
        let collector = DecodeErrorCollector()
        let source = DecodingSource(document, userInfo: [.documentFormat: format, .decodeErrors: collector])
        do {
            let model = try Model(from: source.root)
            return Decoded(
                format < writes ? .olderVersion(found: format) : .success, model: model, failures: collector.failures)
        } catch let error as DecodingError {
            let (path, text) = error.details
            let place = document.place(at: JSONPointer(tokens: path.map { Array($0.utf8) }))
            return corrupt(text, at: place.map { document.text(of: $0).startIndex } ?? 0, path)
        } catch {
            return corrupt("\(error)", at: 0)
        }
    }

    private func corrupt(_ reason: String, at offset: Int, _ path: [String] = []) -> Decoded<Model> {
        let outcome = LoadOutcome.corrupt(reason: reason, offset: offset)
        let problem = DocumentError(.unreadable(outcome), reason: reason, offset: offset, codingPath: path)
        return Decoded(outcome, problem: problem)
    }

    // MARK: Format

    private struct UnknownFormat: Error { let text: [UInt8] }

    private func format(of document: JSONDocument) -> Result<UInt32, UnknownFormat> {
        guard let place = document.member(Array(formatKey.utf8), of: .root) else { return .success(0) }
        let text = Array(document.text(of: place))
        guard document.kind(of: place) == .number, let number = UInt32(String(decoding: text, as: UTF8.self)),
            number >= 1
        else { return .failure(UnknownFormat(text: text)) }
        return .success(number)
    }

    // MARK: Encoding

    public func encode(_ model: Model, replacing: DocumentContents?) throws -> DocumentContents {
        let new = try tree(of: model)
        guard let replacing, let (source, before, format) = understood(replacing) else { return .file(new.file) }
        if format != writes { return .file(new.keeping(.root, of: source, except: [Array(formatKey.utf8)]).file) }
        return .file(try DocumentEdit.bytes(of: source.document, from: try tree(of: before), to: new))
    }

    /// What is in the file now, and what the model makes of it; nil for what it could make nothing of.
    private func understood(
        _ contents: DocumentContents
    ) -> (source: DecodingSource, model: Model, format: UInt32)? {
        guard case .file(let bytes) = contents else { return nil }
        do {
            let basis = try JSONDocument(parsing: bytes)
            guard case .success(let format) = self.format(of: basis), reads.contains(format) else { return nil }
            let source = DecodingSource(basis, userInfo: [.documentFormat: format], notesAsked: format != writes)
            return (source, try Model(from: source.root), format)
        } catch {
            return nil
        }
    }

    private func tree(of model: Model) throws -> JSONTree {
        guard case .object(let members) = try TreeEncoder.tree(of: model) else {
            throw EncodingError.invalidValue(
                model, .init(codingPath: [], debugDescription: "a document is an object with members"))
        }
        let key = Array(formatKey.utf8)
        let format = JSONTree.Member(key: key, value: .text(Array(String(writes).utf8)))
        return .object([format] + members.filter { $0.key != key })
    }
}

extension JSONTree {
    /// With the members that nobody who read an older format asked for: they are not of that format, so somebody else put them there.
    fileprivate func keeping(_ place: JSONDocument.Place, of source: DecodingSource, except: [[UInt8]]) -> JSONTree {
        let document = source.document
        switch (self, document.kind(of: place)) {
        case (.object(var members), .object):
            let asked = source.asked?[place] ?? []
            for child in document.children(of: place) {
                guard let key = document.key(of: child), !except.contains(key) else { continue }
                if let index = members.firstIndex(where: { $0.key == key }) {
                    members[index].value = members[index].value.keeping(child, of: source, except: [])
                } else if !asked.contains(key) {
                    members.append(Member(key: key, value: .text(Array(document.text(of: child)))))
                }
            }
            return .object(members)
        case (.array(let elements), .array):
            let children = Array(document.children(of: place))
            guard children.count == elements.count else { return self }
            return .array(zip(elements, children).map { $0.keeping($1, of: source, except: []) })
        case (.object, _), (.array, _), (.text, _): return self
        }
    }
}

extension CodingUserInfoKey {
    /// The number of the format that is being read.
    public static let documentFormat = CodingUserInfoKey("net.syncd.document-format")

    init(_ name: StaticString) {
        // Any text is one, by the standard library's own words.
        guard let key = CodingUserInfoKey(rawValue: "\(name)") else { preconditionFailure("\(name) is a key") }
        self = key
    }
}

extension Decoder {
    /// The number of the format that is being read; nil if no `JSONFile` is.
    public var documentFormat: UInt32? { userInfo[.documentFormat] as? UInt32 }
}

extension DecodingError {
    /// The way to the value, and what was wrong with it.
    var details: (path: [String], text: String) {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            return (context.codingPath.map(\.stringValue), context.debugDescription)
        case .keyNotFound(let key, let context):
            return (context.codingPath.map(\.stringValue), "there is no member \(key.stringValue)")
        @unknown default: return ([], "\(self)")
        }
    }
}
