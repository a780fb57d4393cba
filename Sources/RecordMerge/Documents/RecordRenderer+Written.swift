/// Whether a file says already what the view says: told by looking, without taking the file apart. Most saves are so, and a document of
/// many records is ten times as long as what was written to it.
public import SyncModel

extension RecordRenderer {
    /// True only if `rendered` would give the very bytes of this document. False where that cannot be told by looking, too: of documents
    /// that are one record, and of those that several entities share.
    public func isWritten(_ path: Path, in json: JSONDocument) -> Bool {
        let entities = model.entities(claiming: path)
        guard entities.count == 1, let entity = entities.first, let at = entity.at, let way = at.tokens.first,
            let here = files[path], json.kind(of: .root) == .object
        else { return false }
        let container = json.place(at: at)
        if let container, json.kind(of: container) != (entity.id == .key ? .object : .array) { return false }
        var met: SortedMap<RecordID, Bool> = [:]
        for place in container.map({ Array(json.children(of: $0)) }) ?? [] {
            guard json.kind(of: place) == .object, let key = json.id(of: place, entity) else { return false }
            let id = RecordID(entity.name, key)
            guard here.contains(key: id), met.updateValue(true, forKey: id) == nil, let record = view.live[id],
                isWritten(record, of: id, entity, at: place, json)
            else { return false }
        }
        let around = RecordID.surroundings(of: path)
        guard here.contains(key: around) else { return here.count == met.count }
        guard here.count == met.count + 1 else { return false }
        return view.live[around].map { areWritten($0.values, at: .root, json) { $0.bytes == way } } ?? true
    }

    private func isWritten(
        _ record: RecordView.Record, of id: RecordID, _ entity: Entity, at place: JSONDocument.Place,
        _ json: JSONDocument
    ) -> Bool {
        let reserved = Layout.reserved(in: entity, model)
        let areValues = areWritten(record.values, at: place, json) {
            reserved.contains($0) || entity.side($0) != nil
        }
        return areValues
            && entity.sides.allSatisfy { side in
                let member = json.member(side.name.bytes, of: place)
                let old = member.flatMap { json.references(at: $0, side) }
                if member != nil, old == nil { return false }
                return text(side, record.references(side.name).map(\.key), over: old, of: id) == nil
            }
    }

    /// All of them are there, as they are, and nothing else but what stands for something else.
    private func areWritten(
        _ values: SortedMap<PropertyName, JSONText>, at place: JSONDocument.Place, _ json: JSONDocument,
        besides isOther: (PropertyName) -> Bool
    ) -> Bool {
        func isPassedOver(_ name: PropertyName) -> Bool { name == .location || isVersion(name, at: place) }
        var left = values.count { !isPassedOver($0.key) }
        for member in json.children(of: place) {
            let name = PropertyName(json.key(of: member) ?? [])
            if isOther(name) || isPassedOver(name) { continue }
            guard let value = values[name], value.bytes.elementsEqual(json.text(of: member)) else { return false }
            left -= 1
        }
        return left == 0
    }
}
