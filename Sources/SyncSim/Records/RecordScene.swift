import SyncModel

/// What a world with records is about: a model, and what its application does with the files; from the design's templates. Each says
/// in its own words, apart from the production code, when its records are whole. See `RecordScene+Rules` for the later ones.
package enum RecordScene: Int, CaseIterable, Sendable {
    /// An A must have one B and a B one A, and both files say so.
    case couples
    /// A B must have an A; an A may have a B.
    case owners
    /// A note must lie in a folder; whoever deletes a folder deletes its notes.
    case folders
    /// Records without relations: a text that is merged by lines, and settings of which there is one.
    case notes
    /// Many records in one document.
    case friends
    /// Records with a natural key: two with one name are one.
    case keys
    /// Notes in folders that hold two each; who finds no room is in quarantine.
    case shelves
    /// The same, but who finds no room goes to one folder, if there is room.
    case homes
    /// As couples, but who loses a place gets a copy of the one who has it.
    case copies
    /// As couples, but who loses a place goes.
    case losers
    /// A folder names its notes in an order, and each note names its folder.
    case lists

    /// What a world of records may be about. Those above a million are about the later scenes: which of the first five a seed is
    /// about stays what it is. Those whose models come late (`LateModels`) are about any.
    static func choices(for seed: UInt64) -> ArraySlice<RecordScene> {
        LateModels.comesLate(in: seed) ? allCases[...] : seed > 1_000_000 ? allCases[5...] : allCases[..<5]
    }

    var modelText: String {
        switch self {
        case .couples, .owners, .copies, .losers:
            RecordScene.model(
                RecordScene.entity("A", #""b": {"to": "B", "kind": "one", "inverse": "a"\#(isStrict)\#(onContest)}"#),
                RecordScene.entity("B", #""a": {"to": "A", "kind": "one", "inverse": "b", "required": true}"#))
        case .folders, .shelves, .homes:
            RecordScene.model(
                RecordScene.entity(
                    "F",
                    #""notes": {"to": "N", "kind": "many", "inverse": "f", "onDelete": "cascade"\#(room)\#(onContest)}"#
                ),
                RecordScene.entity("N", #""f": {"to": "F", "kind": "one", "inverse": "notes", "required": true}"#))
        case .lists:
            RecordScene.model(
                RecordScene.entity(
                    "F", #""list": {"to": "N", "kind": "many", "inverse": "f", "ordered": true, "onDelete": "cascade"}"#
                ),
                RecordScene.entity("N", #""f": {"to": "F", "kind": "one", "inverse": "list", "required": true}"#))
        case .keys:
            RecordScene.model(
                #""K": {"files": "k/*.json", "id": "stem", "identity": ["n"], "#
                    + #""fields": {"n": {"type": "string", "required": true}, "t": {"type": "string"}}}"#)
        case .notes:
            RecordScene.model(
                #""N": {"files": "n/*.json", "id": "stem", "fields": {"t": {"type": "string"}, "#
                    + #""body": {"type": "string", "merge": "lines"}}}"#,
                #""S": {"files": "s.json", "id": "singleton", "singleton": true, "fields": {"t": {"type": "string"}}}"#)
        case .friends:
            RecordScene.model(
                #""R": {"files": "*.list.json", "at": "/all", "id": "/id", "fields": {"t": {"type": "string"}}}"#)
        }
    }

    private var isStrict: String { self == .owners ? "" : #", "required": true"# }
    private var room: String { roomMax.map { #", "max": \#($0)"# } ?? "" }

    private var onContest: String {
        switch self {
        case .copies: #", "onContest": "fork""#
        case .losers: #", "onContest": "delete""#
        case .homes: #", "onContest": "rehome(\#(RecordScene.home.key))""#
        case .couples, .owners, .folders, .notes, .friends, .keys, .shelves, .lists: ""
        }
    }

    private static func model(_ entities: String...) -> String {
        #"{"model": "scene", "version": 1, "root": "d", "entities": {\#(entities.joined(separator: ", "))}}"#
    }

    private static func entity(_ name: String, _ relation: String) -> String {
        #""\#(name)": {"files": "\#(name.lowercased())/*.json", "id": "stem", "#
            + #""fields": {"t": {"type": "string"}}, "relations": {\#(relation)}}"#
    }

    /// Who breaks the model's rules in a folder, and how.
    func faults(of folder: RecordFolder) -> [(record: RecordFolder.Name, fault: String)] {
        folder.records.compactMap { name, record in
            fault(of: name, record, in: folder).map { (name, "\(name) \($0)") }
        }
    }

    /// Who is named and is not there, by somebody who does not need him: that is no fault while nobody made him. Empty if something
    /// else is wrong as well.
    func awaited(by name: RecordFolder.Name, in folder: RecordFolder) -> [RecordFolder.Name] {
        guard let record = folder.records[name] else { return [] }
        if self == .lists { return awaited(inListOf: name, record, folder) }
        guard self == .owners, name.entity == "A", let key = record["b"] else { return [] }
        let partner = RecordFolder.Name(entity: "B", key: key)
        return folder.records.contains(key: partner) ? [] : [partner]
    }

    private func fault(of name: RecordFolder.Name, _ record: RecordFolder.Members, in folder: RecordFolder) -> String? {
        switch self {
        case .couples, .owners, .copies, .losers:
            let (own, other, its) = name.entity == "A" ? ("b", "B", "a") : ("a", "A", "b")
            guard let key = record[own] else {
                return self != .owners || name.entity == "B" ? "has no \(own)" : nil
            }
            let partner = RecordFolder.Name(entity: other, key: key)
            return folder.records[partner]?[its] == name.key ? nil : "has \(partner), which is not there or has another"
        case .folders, .shelves, .homes:
            guard name.entity == "N" else { return tooMany(in: name, folder) }
            let holder = RecordFolder.Name(entity: "F", key: record["f"] ?? "")
            return folder.records[holder] == nil ? "lies in \(holder), which is not there" : nil
        case .keys: return keyFault(of: name, record, folder)
        case .lists: return listFault(of: name, record, folder)
        case .notes, .friends: return nil
        }
    }
}

/// The record files of one folder as an application reads them: flat members, all of them text.
package struct RecordFolder {
    package struct Name: Hashable, Comparable, Sendable, CustomStringConvertible {
        package let entity: String
        package let key: String

        package static func < (left: Name, right: Name) -> Bool { (left.entity, left.key) < (right.entity, right.key) }
        package var description: String { "\(entity)/\(key)" }
    }

    typealias Members = SortedMap<String, String>

    private(set) var records: SortedMap<Name, Members> = [:]
    private(set) var places: SortedMap<Name, Path> = [:]
    private(set) var files: SortedMap<Path, [UInt8]> = [:]
    private(set) var unreadable: [Path] = []

    static let root = Path(root: "d")

    init(_ disk: VirtualDisk) {
        for (path, _) in disk.values(below: RecordFolder.root) {
            guard let bytes = disk.peekBytes(path), let name = path.name, name.bytes.suffix(5) == Array(".json".utf8)
            else { continue }
            files[path] = bytes
            // (A conflict copy is a file like any other: no model is about it.)
            if !ConflictName.isConflictCopy(path) { read(bytes, at: path) }
        }
    }

    /// Of what both saved before there was a model: files like any other, whose records nobody reads.
    var conflictCopies: [(names: [Name], text: String)] {
        files.filter { ConflictName.isConflictCopy($0.key) }.map { path, bytes in
            (RecordFolder.names(in: bytes, at: path), String(decoding: bytes, as: UTF8.self))
        }
    }

    private mutating func read(_ bytes: [UInt8], at path: Path) {
        guard let found = FlatJSON.objects(in: bytes) else { return unreadable.append(path) }
        for members in found {
            guard let name = RecordFolder.name(of: members, at: path) else { continue }
            records[name] = members
            places[name] = path
        }
    }

    /// None in what cannot be read.
    static func names(in bytes: [UInt8], at path: Path) -> [Name] {
        (FlatJSON.objects(in: bytes) ?? []).compactMap { name(of: $0, at: path) }
    }

    private static func name(of members: Members, at path: Path) -> Name? {
        let words = path.bytes.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
        guard let last = words.last else { return nil }
        let stem = String(last.dropLast(5))
        if words.count == 2 {
            return members["id"].map { Name(entity: "R", key: $0) } ?? Name(entity: "S", key: "singleton:S")
        }
        return Name(entity: words[1].uppercased(), key: stem)
    }
}

/// What the applications of these worlds write: objects of texts, alone or as the list `all`; of texts one may be a list of texts, which
/// is called `list`. Nothing else is understood.
enum FlatJSON {
    static func text(_ members: [(String, String)]) -> [UInt8] { Array(object(members).utf8) }

    static func list(_ all: [[(String, String)]]) -> [UInt8] {
        Array(("{\"all\": [\n  " + all.map(object).joined(separator: ",\n  ") + "\n]}\n").utf8)
    }

    private static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\"\($0.0)\": \(value($0.1, of: $0.0))" }.joined(separator: ", ") + "}"
    }

    /// What is called `list` is one: its texts are told by the spaces between them.
    private static func value(_ text: String, of key: String) -> String {
        guard key == "list" else { return "\"\(text)\"" }
        return "[" + text.split(separator: " ").map { "\"\($0)\"" }.joined(separator: ", ") + "]"
    }

    /// Every innermost object; nil for what is cut off, or is no object at all.
    static func objects(in bytes: [UInt8]) -> [RecordFolder.Members]? {
        var stack: [RecordFolder.Members?] = []
        var found: [RecordFolder.Members] = []
        var texts: [String] = []
        var text: [UInt8]?
        // What has been read of a list of texts.
        var list: [String]?
        for byte in bytes {
            if let open = text {
                if byte == UInt8(ascii: "\"") {
                    texts.append(String(decoding: open, as: UTF8.self))
                    text = nil
                    if list != nil {
                        list?.append(texts.removeLast())
                    } else if texts.count == 2, let members = stack.last {
                        stack[stack.count - 1] = (members ?? [:]).merging(texts[0], texts[1])
                        texts = []
                    }
                } else {
                    text?.append(byte)
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): text = []
            case UInt8(ascii: "["):
                if texts == ["list"] { list = [] }
            case UInt8(ascii: "]"):
                guard let items = list, let members = stack.last else { continue }
                stack[stack.count - 1] = (members ?? [:]).merging("list", items.joined(separator: " "))
                list = nil
                texts = []
            case UInt8(ascii: "{"):
                stack.append(nil)
                texts = []
            case UInt8(ascii: "}"):
                guard let last = stack.popLast() else { return nil }
                if let members = last { found.append(members) }
                texts = []
            case UInt8(ascii: ","):
                // What is no text, `null`, is as good as not there.
                if list == nil { texts = [] }
            default: continue
            }
        }
        let isWhole = text == nil && stack.isEmpty && bytes.first == UInt8(ascii: "{")
        return isWhole ? found : nil
    }
}

extension SortedMap where Key == String, Value == String {
    fileprivate func merging(_ key: String, _ value: String) -> Self {
        var copy = self
        copy[key] = value
        return copy
    }
}

extension Path {
    /// A path that is written down in the program.
    init(root text: String) {
        self = Path(text) ?? .root
    }
}
