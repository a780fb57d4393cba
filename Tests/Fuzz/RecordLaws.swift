/// What people and programs write into files that are merged record by record, and what the other node made of it: change sets, JSON with
/// every byte kept, models, documents.
import ControlProtocol
import SyncModel

@testable import RecordMerge

extension Law {
    static let recordLaws = [changeSetLaw, jsonLaw, jsonEditLaw, modelLaw, documentLaw]

    /// As it is, and as if every content had the same digest: hardly an input gets past a real one.
    private static let changeSetLaw = Law("changesets") { bytes throws(Broken) in
        let known = Array(#"{"title": "Tea", "x": [1, 2, 3]}"#.utf8)
        let base: ChangeSetCodec.Base = { _ in (ContentID(.zero), known) }
        try check(bytes, base) { SHA256.digest(of: $0) }
        try check(bytes, base) { _ in .zero }
    }

    private static func check(
        _ bytes: [UInt8], _ base: ChangeSetCodec.Base, _ hash: ChangeSetCodec.Hash
    ) throws(Broken) {
        let isBeyond = ChangeSetCodec.isBeyondUs(bytes)
        switch ChangeSetCodec.decode(bytes, base: base, hash: hash) {
        case .broken: return
        case .beyondUs(let prologue), .withoutBase(let prologue, _, _):
            try demand(ChangeSetCodec.prologue(of: bytes) == prologue, "its prologue is told in two ways")
        case .set(let set):
            try demand(!isBeyond, "a set that can be read is beyond us")
            try demand(
                set.files.allSatisfy { ($0.bytes?.count ?? 0) <= Limits.jsonBytesMax }, "a file that is too large")
            guard let written = ChangeSetCodec.encode(set, base: base) else {
                throw Broken("it cannot be written again")
            }
            let again = ChangeSetCodec.decode(written, base: base, hash: hash)
            try demand(again == .set(set), "written and read it is something else: \(again)")
        }
    }

    /// Both parsers of the grammar take the same texts, and what is read is written so that it reads as the same.
    private static let jsonLaw = Law("json") { bytes throws(Broken) in
        var rules = JSONRules()
        rules.depthMax = JSON.depthMax
        let kept = try? JSONDocument(parsing: bytes, rules: rules)
        let plain = try? JSON(parsing: bytes)
        try demand((kept == nil) == (plain == nil), "one parser takes it, the other does not")
        if let plain {
            try demand((try? JSON(parsing: plain.bytes)) == plain, "\(plain) was written as \(plain.bytes.text)")
            let forPeople = Array(plain.prettyText.utf8)
            try demand((try? JSON(parsing: forPeople)) == plain, "\(plain) is told to people as \(forPeople.text)")
        }
        if let kept { try checkPlaces(in: kept) }
    }

    /// Every value is JSON by itself, and is found by its pointer; an editor without an edit changes no byte.
    private static func checkPlaces(in document: JSONDocument) throws(Broken) {
        try demand(JSONEditor(document).finished() == document.bytes, "without an edit other bytes come back")
        for (pointer, place) in pointers(in: document) {
            let text = Array(document.text(of: place))
            let value = try? JSONText(parsing: text)
            try demand(value?.bytes == text, "\(text.text) is no value by itself")
            try demand(value?.kind == document.kind(of: place), "\(text.text) is another kind of value by itself")
            try demand(document.place(at: pointer) == place, "\(pointer) leads elsewhere")
            try demand(JSONPointer(pointer.description) == pointer, "\(pointer) is written as another")
            if let string = document.string(of: place) {
                try demand(
                    JSONText.string(string)?.string == string, "\(text.text) is another string when it is written")
            }
        }
    }

    /// The first few hundred: a text of thousands of values costs the square.
    private static func pointers(in document: JSONDocument) -> [(JSONPointer, JSONDocument.Place)] {
        var found: [(JSONPointer, JSONDocument.Place)] = [(.root, .root)]
        var next = 0
        while next < found.count, found.count < 300 {
            let (pointer, place) = found[next]
            next += 1
            for (number, child) in document.children(of: place).enumerated() {
                found.append(
                    (document.key(of: child).map { pointer.appending($0) } ?? pointer.appending(number), child))
            }
        }
        return found
    }

    /// A few edits, drawn from the bytes: the result is JSON and says what was edited in, and what was not stays byte for byte.
    private static let jsonEditLaw = Law("edits") { bytes throws(Broken) in
        guard let document = try? JSONDocument(parsing: bytes) else { return }
        var random = SeededRandom(seed: UInt64(CRC32.checksum(bytes[...])))
        let places = pointers(in: document)
        let (pointer, place) = places[random.below(places.count)]
        let value = JSONText.string("\u{1}\"\\é\(random.below(10))")
        try check(document, "replace \(pointer)") { (editor) throws(JSONEditRefusal) in
            try editor.replace(pointer, with: value)
        } expecting: { result in
            let there = result.place(at: pointer)
            return there.map { Array(result.text(of: $0)) } == value.bytes
        }
        if !pointer.tokens.isEmpty {
            let parent = pointer.parent.flatMap { document.place(at: $0) } ?? .root
            let count = document.children(of: parent).reduce(0) { count, _ in count + 1 }
            try check(document, "remove \(pointer)") { (editor) throws(JSONEditRefusal) in
                try editor.remove(pointer)
            } expecting: { result in
                let left = pointer.parent.flatMap { result.place(at: $0) }.map { result.children(of: $0) }
                return left?.reduce(0) { count, _ in count + 1 } == count - 1
            }
        }
        guard document.kind(of: place) == .object || document.kind(of: place) == .array else { return }
        let new = pointer.appending(document.kind(of: place) == .object ? "~/new" : "0")
        if document.kind(of: place) == .object, document.place(at: new) != nil { return }
        try check(document, "insert \(new)") { (editor) throws(JSONEditRefusal) in
            try editor.insert(value, at: new)
        } expecting: { result in
            result.place(at: new).map { Array(result.text(of: $0)) } == value.bytes
        }
    }

    private static func check(
        _ document: JSONDocument, _ name: String, _ edit: (inout JSONEditor) throws(JSONEditRefusal) -> Void,
        expecting isSo: (JSONDocument) -> Bool
    ) throws(Broken) {
        var editor = JSONEditor(document)
        do throws(JSONEditRefusal) {
            try edit(&editor)
        } catch {
            throw Broken("\(name): \(error)")
        }
        let written = editor.finished()
        guard let result = try? JSONDocument(parsing: written) else {
            throw Broken("\(name) gives no JSON: \(written.text)")
        }
        try demand(isSo(result), "\(name) gives \(written.text)")
    }

    /// A model and a document, with a zero byte between them.
    private static let modelLaw = Law("models") { bytes throws(Broken) in
        let parts = bytes.parts(2)
        let model: Model
        do throws(ModelRefusal) {
            model = try Model(parsing: parts[0], file: "model.json")
        } catch {
            return try demand(!error.faults.isEmpty, "it was refused for nothing")
        }
        try demand(!model.entities.isEmpty, "a model without an entity")
        let names = model.entities.map(\.name)
        try demand(names == names.sorted() && model.reads.contains(model.version), "a model that is not in order")
        for entity in model.entities {
            let stem = Array("x".utf8)
            guard let place = entity.files.path(forStem: stem)?.rebased(from: .root, to: model.root) else { continue }
            try demand(
                model.entities(claiming: place).contains(entity), "\(place) of \(entity.name) is not claimed by it")
            try checkSave(of: parts[1], at: place, model)
        }
    }

    private static let shop: Model? = try? Model(
        parsing: Array(
            (#"{"model": "org.example.shop", "version": 1, "entities": {"#
                + #""F": {"files": "f/*", "id": "stem", "#
                + #""relations": {"notes": {"to": "N", "kind": "many", "ordered": true, "inverse": "f", "max": 3}}}, "#
                + #""N": {"files": "n/*", "id": "stem", "fields": {"t": {"type": "string", "merge": "lines"}}, "#
                + #""relations": {"f": {"to": "F", "kind": "one", "inverse": "notes"}, "p": {"to": "P", "kind": "one"}}}, "#
                + #""P": {"files": "p-*", "at": "/all/people", "id": "/id", "#
                + #""relations": {"likes": {"to": "P", "kind": "many"}}}, "#
                + #""K": {"files": "k.json", "at": "/keyed", "id": "key"}}}"#).utf8), file: "shop.json")

    /// 1 which file · its bytes. The model is fixed: most inputs are to get past it.
    private static let documentLaw = Law("documents") { bytes throws(Broken) in
        guard let shop else { throw Broken("the model of this law cannot be read") }
        guard let first = bytes.first else { return }
        let paths = ["f/1", "n/1", "p-1", "k.json"].compactMap { Path($0) }
        try checkSave(of: Array(bytes.dropFirst()), at: paths[Int(first) % paths.count], shop)
    }

    /// Saves the file as the first of a folder: the change set goes over the wire unchanged, and what is rendered of the view is at rest.
    private static func checkSave(of bytes: [UInt8], at path: Path, _ model: Model) throws(Broken) {
        guard let document = try? RecordDocument(parsing: bytes, at: path, model: model) else { return }
        let position = LogPosition(epoch: Epoch(raw: 1), seq: 1)
        let content = ContentID(SHA256.digest(of: bytes))
        let set = ChangeSet(
            author: .first, position: position, time: HybridTime(raw: 1), seen: .none,
            operations: Differ(model: model, view: RecordView()).operations(for: [.init(before: nil, after: document)]),
            files: [.init(path: path, content: content, bytes: bytes, mode: 0o644, modified: .zero)])
        guard let written = ChangeSetCodec.encode(set) else { throw Broken("its change set cannot be written") }
        let again = ChangeSetCodec.decode(written)
        try demand(again == .set(set), "its change set is written and read as \(again)")
        let space = RecordSpace(of: [set], model: model)
        guard let rendered = space.renderer.rendered(path, base: document) else { return }
        guard let shown = try? RecordDocument(parsing: rendered, at: path, model: model) else {
            throw Broken("what is shown cannot be read: \(rendered.text)")
        }
        let idle = Differ(model: model, view: space.view).operations(for: [.init(before: shown, after: shown)])
        try demand(idle.isEmpty, "what is shown is not at rest: \(idle)")
        try demand(space.renderer.rendered(path, base: shown) == rendered, "shown twice it is something else")
    }
}
