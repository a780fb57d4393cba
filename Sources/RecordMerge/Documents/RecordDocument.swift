/// The records of one file: which there are, and what each says, as it is written. Made from the bytes and the model
/// alone.
public import SyncModel

public struct RecordDocument: Sendable {
    let json: JSONDocument
    /// By id. The members of a document around its records are a record of their own, without an entity.
    let records: SortedMap<RecordID, Content>

    /// One record as the file has it.
    struct Content: Hashable, Sendable {
        let place: JSONDocument.Place
        var values: SortedMap<PropertyName, JSONText> = [:]
        /// The sides that are written down, an empty one too.
        var links: SortedMap<PropertyName, [[UInt8]]> = [:]
    }

    public var ids: [RecordID] { Array(records.keys) }

    public init(parsing bytes: [UInt8], at path: Path, model: Model) throws(DocumentFault) {
        let json: JSONDocument
        do {
            json = try JSONDocument(parsing: bytes)
        } catch {
            throw DocumentFault(path: path, pointer: .root, reason: error.description, offset: error.offset)
        }
        try self.init(json, at: path, model: model)
    }

    public init(_ json: JSONDocument, at path: Path, model: Model) throws(DocumentFault) {
        self.json = json
        var reader = DocumentReader(json: json, path: path, model: model)
        records = try reader.read()
    }
}

/// Why a file cannot be taken for what its model says. It stays as it is.
public struct DocumentFault: Error, Hashable, Sendable {
    public let path: Path
    public let pointer: JSONPointer
    public let reason: String
    /// Where it stops being JSON, in bytes; nil if it is JSON.
    public let offset: Int?
}

extension DocumentFault: CustomStringConvertible {
    public var description: String { pointer.tokens.isEmpty ? reason : "\(pointer): \(reason)" }
}

extension PropertyName {
    /// Which file a record stands in, where its id does not say. No JSON key holds this byte.
    public static let location = PropertyName([0xFF])
}

extension RecordID {
    /// What stands in a document around its records.
    public static func surroundings(of path: Path) -> RecordID { RecordID(EntityName([]), path.bytes) }

    var isSurroundings: Bool { entity.bytes.isEmpty }
}

private struct DocumentReader {
    let json: JSONDocument
    let path: Path
    let model: Model
    private var records: SortedMap<RecordID, RecordDocument.Content> = [:]

    init(json: JSONDocument, path: Path, model: Model) {
        self.json = json
        self.path = path
        self.model = model
    }

    mutating func read() throws(DocumentFault) -> SortedMap<RecordID, RecordDocument.Content> {
        guard json.kind(of: .root) == .object else { throw fault(.root, "an object is expected") }
        let entities = model.entities(claiming: path)
        for entity in entities {
            if let at = entity.at { try readMany(entity, at) } else { try readOne(entity) }
        }
        if entities.contains(where: { $0.at != nil }) { readSurroundings(entities) }
        return records
    }

    private mutating func readOne(_ entity: Entity) throws(DocumentFault) {
        let key: [UInt8]?
        switch entity.id {
        case .singleton: key = Array("singleton:".utf8) + entity.name.bytes
        case .pointer(let pointer): key = json.place(at: pointer).flatMap(json.string)
        case .stem, .key: key = path.rebased(from: model.root, to: .root).flatMap(entity.files.stem)
        }
        guard let key else { throw fault(.root, "\(entity.name) has no id here") }
        try read(RecordID(entity.name, key), entity, at: .root, .root)
    }

    /// A document without the place for records has none.
    private mutating func readMany(_ entity: Entity, _ at: JSONPointer) throws(DocumentFault) {
        guard let container = json.place(at: at) else { return }
        guard json.kind(of: container) == (entity.id == .key ? .object : .array) else {
            throw fault(at, entity.id == .key ? "an object of records is expected" : "a list of records is expected")
        }
        for (number, place) in json.children(of: container).enumerated() {
            let pointer = json.key(of: place).map { at.appending($0) } ?? at.appending(number)
            guard json.kind(of: place) == .object else { throw fault(pointer, "a record is expected") }
            guard let key = json.id(of: place, entity) else { throw fault(pointer, "this \(entity.name) has no id") }
            let id = RecordID(entity.name, key)
            guard records[id] == nil else { throw fault(pointer, "this id stands here twice") }
            try read(id, entity, at: place, pointer)
        }
    }

    private mutating func read(
        _ id: RecordID, _ entity: Entity, at place: JSONDocument.Place, _ pointer: JSONPointer
    ) throws(DocumentFault) {
        var content = RecordDocument.Content(place: place)
        let reserved = Layout.reserved(in: entity, model)
        for member in json.children(of: place) {
            let name = PropertyName(json.key(of: member) ?? [])
            if reserved.contains(name) { continue }
            if let side = entity.side(name) {
                guard let keys = json.references(at: member, side) else {
                    let expected = side.kind == .one ? "an id or null" : "a list of ids"
                    throw fault(pointer.appending(name.bytes), "\(expected) is expected")
                }
                content.links[name] = keys
            } else {
                content.values[name] = JSONText(member, of: json)
            }
        }
        if Layout.needsLocation(entity) { content.values[.location] = .string(path.bytes) ?? .null }
        records[id] = content
    }

    /// Members on the way to the records are not told: they hold the records themselves.
    private mutating func readSurroundings(_ entities: [Entity]) {
        var content = RecordDocument.Content(place: .root)
        let onTheWay = entities.compactMap { $0.at?.tokens.first }
        for member in json.children(of: .root) {
            let key = json.key(of: member) ?? []
            if !onTheWay.contains(key) { content.values[PropertyName(key)] = JSONText(member, of: json) }
        }
        records[.surroundings(of: path)] = content
    }

    private func fault(_ pointer: JSONPointer, _ reason: String) -> DocumentFault {
        DocumentFault(path: path, pointer: pointer, reason: reason, offset: nil)
    }
}

extension JSONDocument {
    /// Of a record in a document of many.
    func id(of place: Place, _ entity: Entity) -> [UInt8]? {
        guard case .pointer(let pointer) = entity.id else { return key(of: place) }
        return self.place(at: pointer, from: place).flatMap(string)
    }

    /// Nil for what is no reference.
    func references(at place: Place, _ side: Side) -> [[UInt8]]? {
        switch side.kind {
        case .one: kind(of: place) == .null ? [] : string(of: place).map { [$0] }
        case .many: manyReferences(at: place)
        }
    }

    private func manyReferences(at place: Place) -> [[UInt8]]? {
        guard kind(of: place) == .array else { return nil }
        var keys: [[UInt8]] = []
        for element in children(of: place) {
            guard let key = string(of: element) else { return nil }
            keys.append(key)
        }
        return keys
    }
}

/// Where records stand.
enum Layout {
    /// Members of a record that are neither values nor links: its id, and the version of its document.
    static func reserved(in entity: Entity, _ model: Model) -> [PropertyName] {
        var names: [PropertyName] = []
        if case .pointer(let pointer) = entity.id { names += pointer.tokens.prefix(1).map { PropertyName($0) } }
        return names
    }

    static func needsLocation(_ entity: Entity) -> Bool { entity.files.hasStar && entity.id != .stem }
}
