/// Model files: what they may say, and how a mistake in one is told.
import RecordMerge
import SyncModel
import Testing

@Suite("model files")
struct ModelTests {
    /// The example of the design, letter by letter.
    static let schedules = """
        { "model": "org.example.schedules", "version": 2, "reads": [1, 2],
          "root": "schedules",
          "versionAt": "/version",
          "entities": {
            "Note":          { "files": "notes/*.json", "id": "stem",
                               "fields": { "title": {"type": "string", "required": true}, "body": {"type": "string"} },
                               "relations": { "schedule": {"to": "ChildSchedule", "kind": "one", "required": true,
                                                            "inverse": "note", "onContest": "quarantine"} } },
            "ChildSchedule": { "files": "schedules/*.json", "id": "stem",
                               "relations": { "note": {"to": "Note", "kind": "one", "required": true, "inverse": "schedule"} } },
            "Settings":      { "files": "settings.json", "id": "singleton", "singleton": true },
            "Friend":        { "files": "*.friends.json", "at": "/friends", "id": "/id", "identity": ["name"] } } }
        """

    @Test("the example of the design is taken, with everything that is not said at its default") func example() throws {
        let model = try Model(parsing: Array(Self.schedules.utf8), file: "schedules.json")
        #expect(model.entities.map(\.name.description) == ["ChildSchedule", "Friend", "Note", "Settings"])
        #expect(model.reads == [1, 2])
        let note = try #require(model.entity(EntityName("Note")))
        #expect(note.fields.map(\.isRequired) == [false, true])
        #expect(note.onInvalid == .quarantine && note.onConcurrentDelete == .revive && note.fields[0].merge == .last)
        #expect(model.entity(EntityName("Settings"))?.isSingleton == true)
        let friend = try #require(model.entity(EntityName("Friend")))
        #expect(friend.identity == [PropertyName("name")] && friend.fields.isEmpty)
        #expect(friend.id == .pointer(JSONPointer(tokens: [Array("id".utf8)])) && friend.at?.description == "/friends")
    }

    /// Every word of the design that a relation, a field or an entity may say, and what is meant where it is not said.
    @Test("what the design lists is understood, word by word") func words() throws {
        for word in ["last", "lines"] {
            #expect(throws: Never.self) { try parsed(Self.field(#"{"type": "string", "merge": "\#(word)"}"#)) }
        }
        for (member, words) in [
            ("onDelete", ["cascade", "nullify", "deny"]), ("onContest", ["quarantine", "delete", "fork"]),
        ] {
            for word in words {
                #expect(throws: Never.self) {
                    try parsed(
                        Self.relation(
                            #"{"to": "B", "kind": "many", "max": 3, "ordered": true, "\#(member)": "\#(word)"}"#))
                }
            }
        }
        for (member, word) in [
            ("onInvalid", "quarantine"), ("onInvalid", "delete"), ("onConcurrentDelete", "revive"),
            ("onConcurrentDelete", "quarantine"),
        ] {
            #expect(throws: Never.self) {
                try parsed(#"{"A": {"files": "a/*", "id": "stem", "singleton": true, "\#(member)": "\#(word)"}}"#)
            }
        }
        let plain = try parsed(Self.relation(#"{"to": "B", "kind": "one"}"#))
        #expect(plain.versionAt.description == "/version" && plain.root == .root && plain.reads == [1])
        let side = try #require(plain.entity(EntityName("A"))?.sides.first)
        #expect(!side.isRequired && side.inverse == nil && side.onDelete == .nullify && side.onContest == .quarantine)
        let field = try #require(try parsed(Self.field("{}")).entity(EntityName("A"))?.fields.first)
        #expect(field.type == .any && !field.isRequired && field.merge == .last)
    }

    @Test("a relation is kept once, at the smaller name, or at the many of one") func owners() throws {
        let model = try Model(parsing: Array(Self.schedules.utf8), file: "schedules.json")
        #expect(model.relations.map(\.description) == ["ChildSchedule.note"])
        #expect(model.relations[0].target.onContest == .quarantine && model.relations[0].isRegister)
        let folders = try Model.sketch(
            "A; z many Z inverse=a max=3", "Z; a one A inverse=z; friends many Z inverse=friends; first one A")
        #expect(folders.relations.map(\.description) == ["Z.a", "Z.first", "Z.friends"])
        #expect(folders.relations.map(\.target.countMax) == [3, nil, nil])
        #expect(folders.relations.map(\.isRegister) == [true, true, false])
    }

    @Test("files are claimed by entity, below the root only") func claims() throws {
        let model = try Model(parsing: Array(Self.schedules.utf8), file: "schedules.json")
        let claimed = ["schedules/notes/a.json", "schedules/x.friends.json", "schedules/settings.json"]
        #expect(claimed.map { model.claims($0) } == [["Note"], ["Friend"], ["Settings"]])
        for path in ["notes/a.json", "schedules/notes/.json", "schedules/notes/x/a.json", "schedules/notes/a.jso"] {
            #expect(model.claims(path) == [])
        }
        let files = try #require(model.entity(EntityName("Note"))?.files)
        #expect(files.stem(of: try #require(Path("notes/a.b.json"))) == Array("a.b".utf8))
        #expect(files.path(forStem: Array("a.b".utf8)) == Path("notes/a.b.json"))
        for stem in ["", "a/b", "..\0"] { #expect(files.path(forStem: Array(stem.utf8)) == nil) }
    }

    /// what stands in place of the entities | the fault
    static let faults: [(String, String)] = [
        ("{}", "/entities: there are none"), ("[]", "/entities: an object is expected"),
        (#"{"A": 1}"#, "/entities/A: an object is expected"),
        (#"{"A.b": {"files": "a/*", "id": "stem"}}"#, "/entities/A.b: a name has 1 to 255 bytes"),
        (#"{"A": {"id": "stem"}}"#, "/entities/A: files is missing"),
        (#"{"A": {"files": "a/*"}}"#, "/entities/A: id is missing"),
        (
            #"{"A": {"files": "a/*", "id": "stem", "singelton": true}}"#,
            "/entities/A/singelton: there is no such member"
        ),
        (#"{"A": {"files": "*/a", "id": "stem"}}"#, "/entities/A/files: a path is expected"),
        (#"{"A": {"files": "a/**", "id": "stem"}}"#, "/entities/A/files: a path is expected"),
        (#"{"A": {"files": "/a", "id": "stem"}}"#, "/entities/A/files: a path is expected"),
        (#"{"A": {"files": ".syncd/*", "id": "stem"}}"#, "/entities/A/files: a path is expected"),
        (#"{"A": {"files": "a.json", "id": "stem"}}"#, "/entities/A/id: a stem needs a star"),
        (#"{"A": {"files": "a/*", "id": "stem", "at": "/x"}}"#, "/entities/A/id: many records of one file"),
        (#"{"A": {"files": "a/*", "id": "key"}}"#, "/entities/A/id: a key needs at"),
        (#"{"A": {"files": "a", "id": "/id"}}"#, "/entities/A/files: one file without at holds one record"),
        (#"{"A": {"files": "a/*", "id": "singleton"}}"#, "/entities/A/files: a singleton has one file"),
        (#"{"A": {"files": "a/*", "id": "name"}}"#, "/entities/A/id: stem, key, singleton or a JSON pointer"),
        (
            #"{"A": {"files": "a/*", "id": "stem", "onInvalid": "drop"}}"#,
            "/entities/A/onInvalid: one of quarantine, delete"
        ),
        (
            #"{"A": {"files": "a/*", "id": "stem", "identity": ["version"]}}"#,
            "/entities/A/identity: version is no field: the version of the format is there"
        ),
        (
            #"{"A": {"files": "a/*", "id": "/id", "identity": ["id"]}}"#,
            "/entities/A/identity: id is no field: the id is there"
        ),
        (
            #"{"A": {"files": "a/*", "id": "stem", "relations": {"r": {"to": "A", "kind": "one"}}, "identity": ["r"]}}"#,
            "/entities/A/identity: r is a relation, and no field"
        ),
        (#"{"A": {"files": "a/*", "id": "stem", "identity": []}}"#, "/entities/A/identity: a list with something"),
        (field(#"{"type": "text"}"#), "/entities/A/fields/f/type: one of string, integer"),
        (field(#"{"merge": "lines"}"#), "/entities/A/fields/f/merge: only strings"),
        (field(#"{"type": "integer", "merge": "lines"}"#), "/entities/A/fields/f/merge: only strings"),
        (field(#"{"type": "string", "required": 1}"#), "/entities/A/fields/f/required: true or false"),
        (field(#"{"type": "string"}"#, "version"), "/entities/A/fields/version: the version of the format is there"),
        (relation(#"{"to": "C", "kind": "one"}"#), "/entities/A/relations/r/to: there is no entity C"),
        (relation(#"{"to": "B", "kind": "two"}"#), "/entities/A/relations/r/kind: one of one, many"),
        (relation(#"{"to": "B", "kind": "one", "max": 2}"#), "/entities/A/relations/r/max: only a relation to many"),
        (relation(#"{"to": "B", "kind": "many", "max": 0}"#), "/entities/A/relations/r/max: a whole number above 0"),
        (relation(#"{"to": "B", "kind": "one", "ordered": true}"#), "/entities/A/relations/r/ordered: only a relation"),
        (relation(#"{"to": "B", "kind": "one", "inverse": "x"}"#), "/entities/A/relations/r/inverse: B.x must be a"),
        (relation(#"{"to": "B", "kind": "one", "inverse": "s"}"#), "/entities/A/relations/r/inverse: B.s must be a"),
        (
            relation(#"{"to": "B", "kind": "one", "onContest": "rehome(x)"}"#),
            "/entities/A/relations/r/onContest: rehome needs an inverse that has kind one"
        ),
        (
            relation(#"{"to": "B", "kind": "one", "onContest": "rehome()"}"#),
            "/entities/A/relations/r/onContest: one of"
        ),
        (
            relation(#"{"to": "B", "kind": "one", "onDelete": "no"}"#),
            "/entities/A/relations/r/onDelete: one of cascade"
        ),
        (
            #"{"A": {"files": "*.json", "id": "stem"}, "B": {"files": "b.json", "id": "singleton"}}"#,
            "/entities/B/files: A claims some of these files too"
        ),
        (
            #"{"A": {"files": "x", "at": "/a", "id": "key"}, "B": {"files": "x", "at": "/a/b", "id": "key"}}"#,
            "/entities/B/files: A claims some of these files too"
        ),
    ]

    @Test("a mistake is told with file, pointer and reason", arguments: faults)
    func mistakes(entities: String, expected: String) {
        let refusal = #expect(throws: ModelRefusal.self) { try parsed(entities) }
        #expect(refusal?.faults.count == 1, "\(refusal?.faults ?? [])")
        #expect(refusal?.faults.first?.description.hasPrefix("m.json, \(expected)") == true, "\(refusal?.faults ?? [])")
    }

    @Test("parts of one document may hold different records") func shared() throws {
        let model = try parsed(
            #"{"A": {"files": "x", "at": "/a", "id": "key"}, "B": {"files": "x", "at": "/b", "id": "/id"}}"#)
        #expect(model.claims("x") == ["A", "B"])
    }

    @Test("what stands around the entities is checked too, and all faults are told at once") func outside() {
        let text = #"{"version": 0, "reads": [], "root": "/x", "versionAt": "v", "entites": {}}"#
        let refusal = #expect(throws: ModelRefusal.self) { try Model(parsing: Array(text.utf8), file: "m.json") }
        #expect(
            Set(refusal?.faults.map { $0.pointer.description } ?? [])
                == ["", "/version", "/reads", "/root", "/versionAt", "/entites"])
        let broken = #expect(throws: ModelRefusal.self) { try Model(parsing: Array("{\n".utf8), file: "m.json") }
        #expect(
            broken?.faults.map(\.description) == [
                "m.json: line 2, column 1 (byte 2): a key in double quotes is expected"
            ])
    }

    static func field(_ text: String, _ name: String = "f") -> String {
        #"{"A": {"files": "a/*", "id": "stem", "fields": {"\#(name)": \#(text)}}}"#
    }

    static func relation(_ text: String) -> String {
        #"{"A": {"files": "a/*", "id": "stem", "relations": {"r": \#(text)}}, "#
            + #""B": {"files": "b/*", "id": "stem", "relations": {"s": {"to": "A", "kind": "one"}}}}"#
    }

    private func parsed(_ entities: String) throws -> Model {
        let text = #"{"model": "m", "version": 1, "entities": \#(entities)}"#
        return try Model(parsing: Array(text.utf8), file: "m.json")
    }
}

extension Model {
    fileprivate func claims(_ path: String) -> [String] {
        Path(path).map { entities(claiming: $0).map(\.name.description) } ?? []
    }
}
