/// Writes records of a view into the bytes of a file. Only what differs is written; a file that says already what the
/// view says comes out byte for byte.
public import SyncModel

public struct RecordRenderer {
    let model: Model
    let view: RecordView
    /// By path: the records that stand there.
    let files: SortedMap<Path, SortedMap<RecordID, Bool>>

    /// Walks all records of the view; `RecordSpace.renderer` has done so already.
    public init(model: Model, view: RecordView) {
        var files: SortedMap<Path, SortedMap<RecordID, Bool>> = [:]
        for (id, record) in view.live {
            if let path = RecordRenderer.path(of: id, record, model) { files[path, default: [:]][id] = true }
        }
        self.init(model: model, view: view, files: files)
    }

    init(model: Model, view: RecordView, files: SortedMap<Path, SortedMap<RecordID, Bool>>) {
        self.model = model
        self.view = view
        self.files = files
    }

    /// Every file that the view has, by its path.
    public var paths: [Path] { Array(files.keys) }

    public func records(at path: Path) -> [RecordID] { Array((files[path] ?? [:]).keys) }

    /// Where a record stands; nil for one that can stand nowhere.
    public static func path(of id: RecordID, _ record: RecordView.Record, _ model: Model) -> Path? {
        if id.isSurroundings { return Path(id.key) }
        guard let entity = model.entity(id.entity) else { return nil }
        if Layout.needsLocation(entity) { return record.values[.location]?.string.flatMap { Path($0) } }
        return entity.files.path(forStem: id.key)?.rebased(from: .root, to: model.root)
    }

    /// What the file is to be written into: its latest save (`BaseSaves`); for a clone that has none that of the original.
    public func base(of path: Path) -> ContentID? {
        if let base = view.bases[path] { return base }
        let original = files[path]?.keys.compactMap { view.clones[$0] }.first
        guard let original, let record = view.live[original] else { return nil }
        return RecordRenderer.path(of: original, record, model).flatMap { view.bases[$0] }
    }

    /// `base` is what `base(of:)` names for the path. Nil if no record stands there.
    public func rendered(_ path: Path, base: RecordDocument) -> [UInt8]? {
        guard let here = files[path] else { return nil }
        var editor = JSONEditor(base.json)
        for (id, content) in base.records {
            guard here[id] == true, let record = view.live[id] else {
                // Members around the records stay as they are while anything stands in the file.
                if content.place != .root { editor.remove(content.place) }
                continue
            }
            write(record, of: id, over: content, base.json, &editor)
        }
        for entity in model.entities {
            let arrivals = here.map(\.key).filter { $0.entity == entity.name && base.records[$0] == nil }
            if !arrivals.isEmpty { arrive(arrivals, entity, base.json, &editor) }
        }
        return editor.finished()
    }

    /// The base with what a record that is not live says. Whom it hangs together with by sides that others own is as it was.
    /// Nil if the base does not have it.
    public func rendered(_ record: RecordView.Record, of id: RecordID, base: RecordDocument) -> [UInt8]? {
        guard let content = base.records[id] else { return nil }
        var editor = JSONEditor(base.json)
        writeValues(record, over: content, base.json, &editor)
        writeLinks(record, of: id, over: content, base.json, &editor) { isOwner(id, $0) }
        return editor.finished()
    }

    /// A document of nothing but a record that is not live, as one that is new to its file is written. Nil for what no entity is about.
    public func alone(_ record: RecordView.Record, of id: RecordID) -> [UInt8]? {
        guard let entity = model.entity(id.entity) else { return nil }
        let whole = whole(record, of: id, entity)
        guard let at = entity.at else { return whole.bytes }
        let records = entity.id == .key ? JSONText.object([(key: id.key, value: whole)]) : .array([whole])
        return at.tokens.reversed().reduce(records) { inner, key in .object([(key: key, value: inner)]) }.bytes
    }

    private func write(
        _ record: RecordView.Record, of id: RecordID, over content: RecordDocument.Content, _ json: JSONDocument,
        _ editor: inout JSONEditor
    ) {
        writeValues(record, over: content, json, &editor)
        writeLinks(record, of: id, over: content, json, &editor) { _ in true }
    }

    private func writeValues(
        _ record: RecordView.Record, over content: RecordDocument.Content, _ json: JSONDocument,
        _ editor: inout JSONEditor
    ) {
        for (name, value) in record.values
        where name != .location && content.values[name] != value && !isVersion(name, at: content.place) {
            put(value, name, at: content.place, json, &editor)
        }
        for (name, _) in content.values
        where name != .location && record.values[name] == nil && !isVersion(name, at: content.place) {
            if let member = json.member(name.bytes, of: content.place) { editor.remove(member) }
        }
    }

    /// A document is in the version of its base, whoever has written which into others.
    func isVersion(_ name: PropertyName, at place: JSONDocument.Place) -> Bool {
        place == .root && model.isVersion(name)
    }

    private func writeLinks(
        _ record: RecordView.Record, of id: RecordID, over content: RecordDocument.Content, _ json: JSONDocument,
        _ editor: inout JSONEditor, where isWanted: (Side) -> Bool
    ) {
        for side in model.entity(id.entity)?.sides ?? [] where isWanted(side) {
            let keys = record.references(side.name).map(\.key)
            if let text = text(side, keys, over: content.links[side.name], of: id) {
                put(text, side.name, at: content.place, json, &editor)
            }
        }
    }

    private func put(
        _ value: JSONText, _ name: PropertyName, at place: JSONDocument.Place, _ json: JSONDocument,
        _ editor: inout JSONEditor
    ) {
        guard let member = json.member(name.bytes, of: place) else {
            return editor.append(value, key: name.bytes, to: place)
        }
        editor.replace(member, with: value)
    }

    /// A side that the file has is kept up; one that it has not is added where it is the owner's. Nil if it may stay.
    func text(_ side: Side, _ keys: [[UInt8]], over old: [[UInt8]]?, of id: RecordID) -> JSONText? {
        guard let old else { return keys.isEmpty || !isOwner(id, side) ? nil : RecordRenderer.text(side, keys) }
        if side.isOrdered || side.kind == .one { return old == keys ? nil : RecordRenderer.text(side, keys) }
        let isWanted = SortedMap(keys.map { (RecordID(side.to, $0), true) })
        let isThere = SortedMap(old.map { (RecordID(side.to, $0), true) })
        let kept = old.filter { isWanted[RecordID(side.to, $0)] == true }
        let new = keys.filter { isThere[RecordID(side.to, $0)] == nil }
        return kept.count == old.count && new.isEmpty ? nil : RecordRenderer.text(side, kept + new)
    }

    private func isOwner(_ id: RecordID, _ side: Side) -> Bool {
        model.relations.contains { $0.name == RelationName(id.entity, side.name) }
    }

    private static func text(_ side: Side, _ keys: [[UInt8]]) -> JSONText {
        let texts = keys.map { JSONText.string($0) ?? .null }
        return side.kind == .many ? .array(texts) : texts.first ?? .null
    }

    /// Records of a document of many that are new to it; what should hold them is made where it is missing.
    private func arrive(_ ids: [RecordID], _ entity: Entity, _ json: JSONDocument, _ editor: inout JSONEditor) {
        guard let at = entity.at else { return }
        let members = ids.compactMap { id in
            view.live[id].map { (key: id.key, value: whole($0, of: id, entity)) }
        }
        if let container = json.place(at: at) {
            for member in members {
                editor.append(member.value, key: entity.id == .key ? member.key : nil, to: container)
            }
            return
        }
        var missing = entity.id == .key ? JSONText.object(members) : .array(members.map(\.value))
        var tokens = at.tokens
        while let key = tokens.popLast() {
            if let container = json.place(at: JSONPointer(tokens: tokens)) {
                return editor.append(missing, key: key, to: container)
            }
            missing = .object([(key, missing)])
        }
    }

    private func whole(_ record: RecordView.Record, of id: RecordID, _ entity: Entity) -> JSONText {
        var members: [(key: [UInt8], value: JSONText)] = []
        if case .pointer(let pointer) = entity.id, let key = pointer.tokens.first, pointer.tokens.count == 1 {
            members.append((key, .string(id.key) ?? .null))
        }
        for (name, value) in record.values where name != .location { members.append((name.bytes, value)) }
        for side in entity.sides where isOwner(id, side) {
            let keys = record.references(side.name).map(\.key)
            if !keys.isEmpty { members.append((side.name.bytes, RecordRenderer.text(side, keys))) }
        }
        return .object(members)
    }
}
