/// Reads a model file: first what each entity says for itself, then, in `ModelChecks`, what they say about each other.
/// The faults of a stage are told all at once.
import SyncModel

extension Model {
    public init(parsing bytes: [UInt8], file: String) throws(ModelRefusal) {
        var reader = ModelReader(try MemberReader(parsing: bytes, file: file))
        let model = reader.model()
        guard reader.faults.isEmpty else { throw ModelRefusal(faults: reader.faults) }
        self = model
    }
}

struct ModelReader {
    private var members: MemberReader

    init(_ members: MemberReader) {
        self.members = members
    }

    var faults: [ModelFault] { members.faults }

    /// To be used only if there are no faults.
    mutating func model() -> Model {
        let name = members.name("model")
        let version = members.count("version", isRequired: true) ?? 1
        let reads = members.counts("reads")
        if !reads.isEmpty, !reads.contains(version) { members.fault("reads", "the model's own version is missing") }
        let root = root()
        let versionAt = pointer("versionAt", in: &members) ?? JSONPointer(tokens: [Array("version".utf8)])
        let entities = members.objects("entities", isRequired: true).map { entity($0.name, $0.reader) }
            .sorted { $0.name < $1.name }
        members.finish()
        if entities.isEmpty, members.faults.isEmpty { members.fault("entities", "there are none") }
        let relations = relations(of: entities, versionAt)
        return Model(
            name: name, version: version, reads: reads.isEmpty ? [version] : reads, root: root, versionAt: versionAt,
            entities: entities, relations: relations)
    }

    /// What entities say about each other is looked at once each makes sense.
    private mutating func relations(of entities: [Entity], _ versionAt: JSONPointer) -> [Relation] {
        guard members.faults.isEmpty else { return [] }
        var checks = ModelChecks(entities: entities, versionAt: versionAt, file: members.file)
        let relations = checks.relations()
        members.take(checks.findings)
        return relations
    }

    private mutating func root() -> Path {
        guard let text = members.string("root") else { return .root }
        guard let root = Path(text), !root.isReserved else {
            members.fault("root", "a path within the folder is expected, without a slash at either end")
            return .root
        }
        return root
    }

    private func pointer(_ name: String, in members: inout MemberReader) -> JSONPointer? {
        guard let text = members.string(name) else { return nil }
        if let pointer = JSONPointer(text) { return pointer }
        members.fault(name, "a JSON pointer is expected: /member or /member/member")
        return nil
    }

    private mutating func entity(_ name: [UInt8], _ reader: MemberReader) -> Entity {
        var reader = reader
        defer { members.take(reader) }
        if !ModelReader.isName(name) { reader.fault(nil, ModelReader.nameRule) }
        let files = files(in: &reader)
        let at = pointer("at", in: &reader)
        let id = idRule(in: &reader)
        let entity = Entity(
            name: EntityName(name), files: files, id: id, at: at,
            isSingleton: reader.bool("singleton") || id == .singleton,
            identity: reader.strings("identity").map { PropertyName($0) }.sorted(),
            onInvalid: reader.choice("onInvalid", or: .quarantine),
            onConcurrentDelete: reader.choice("onConcurrentDelete", or: .revive),
            fields: fields(of: &reader), sides: sides(of: &reader))
        reader.finish()
        return entity
    }

    private func files(in reader: inout MemberReader) -> FilePattern {
        let text = reader.string("files", isRequired: true)
        if let pattern = text.flatMap(FilePattern.init) { return pattern }
        if text != nil { reader.fault("files", "a path is expected, with one star at most, in its last part") }
        return .nothing
    }

    private func idRule(in reader: inout MemberReader) -> Entity.IDRule {
        guard let text = reader.string("id", isRequired: true) else { return .stem }
        switch String(decoding: text, as: UTF8.self) {
        case "stem": return .stem
        case "key": return .key
        case "singleton": return .singleton
        default:
            if let pointer = JSONPointer(text) { return .pointer(pointer) }
            reader.fault("id", "stem, key, singleton or a JSON pointer is expected")
            return .stem
        }
    }

    private func fields(of reader: inout MemberReader) -> [Field] {
        reader.objects("fields").map { name, inner in
            var inner = inner
            let field = Field(
                name: PropertyName(name), type: inner.choice("type", or: .any),
                isRequired: inner.bool("required"), merge: inner.choice("merge", or: .last))
            if !ModelReader.isName(name) { inner.fault(nil, ModelReader.nameRule) }
            if field.merge == .lines, field.type != .string {
                inner.fault("merge", "only strings can be merged by lines")
            }
            inner.finish()
            reader.take(inner)
            return field
        }.sorted { $0.name < $1.name }
    }

    private func sides(of reader: inout MemberReader) -> [Side] {
        reader.objects("relations").map { name, inner in
            var inner = inner
            let side = side(name, &inner)
            inner.finish()
            reader.take(inner)
            return side
        }.sorted { $0.name < $1.name }
    }

    private func side(_ name: [UInt8], _ reader: inout MemberReader) -> Side {
        if !ModelReader.isName(name) { reader.fault(nil, ModelReader.nameRule) }
        let to = reader.string("to", isRequired: true) ?? []
        let side = Side(
            name: PropertyName(name), to: EntityName(to), kind: reader.choice("kind", or: .one, isRequired: true),
            isRequired: reader.bool("required"), inverse: reader.string("inverse").map { PropertyName($0) },
            max: reader.count("max"), isOrdered: reader.bool("ordered"),
            onDelete: reader.choice("onDelete", or: .nullify), onContest: onContest(in: &reader))
        if side.kind == .one, side.max != nil { reader.fault("max", "only a relation to many can have it") }
        if side.kind == .one, side.isOrdered { reader.fault("ordered", "only a relation to many can be it") }
        return side
    }

    private func onContest(in reader: inout MemberReader) -> OnContest {
        guard let text = reader.string("onContest") else { return .quarantine }
        switch String(decoding: text, as: UTF8.self) {
        case "quarantine": return .quarantine
        case "delete": return .delete
        case "fork": return .fork
        default:
            let opening = Array("rehome(".utf8)
            if text.starts(with: opening), text.last == UInt8(ascii: ")"), text.count > opening.count + 1 {
                return .rehome(Array(text[opening.count..<(text.count - 1)]))
            }
            reader.fault("onContest", "one of quarantine, delete, rehome(id), fork is expected")
            return .quarantine
        }
    }

    /// Names end up in paths of the quarantine and in `Entity.property`.
    private static func isName(_ name: [UInt8]) -> Bool {
        !name.isEmpty && name.count <= Limits.nameBytesMax
            && !name.contains { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ".") }
    }

    private static let nameRule =
        "a name has 1 to \(Limits.nameBytesMax) bytes, and neither a dot, a slash nor a control character"
}
