/// Files in, files out: what a save means, and what a view writes.
import RecordMerge
import SyncModel
import Testing

/// Two people with a folder each, who save files; the files of both follow the view when the link is there.
struct Office {
    let model: Model
    private(set) var pair: Pair
    private(set) var folders: [[Path: [UInt8]]] = [[:], [:]]
    private var contents: [ContentID: [UInt8]] = [:]
    /// How often a look at a save told that it is what the view says, could not tell it, or was right not to.
    private(set) var looks: [Look: Int] = [:]

    enum Look { case same, unknown, other }

    init(_ model: Model) {
        self.model = model
        pair = Pair(model)
    }

    /// Nil deletes.
    mutating func save(_ party: Party, _ files: [String: String?]) throws {
        var saves: [Differ.Save] = []
        var saved: [ChangeSet.SavedFile] = []
        for (name, text) in files.sorted(by: { $0.key < $1.key }) {
            let path = try #require(Path(name))
            let after = text.map { Array($0.utf8) }
            let before = try folders[party.number][path].map { try RecordDocument(parsing: $0, at: path, model: model) }
            saves.append(
                Differ.Save(
                    before: before, after: try after.map { try RecordDocument(parsing: $0, at: path, model: model) }))
            folders[party.number][path] = after
            guard let after else { continue }
            let content = ContentID(SHA256.digest(of: after))
            contents[content] = after
            saved.append(.init(path: path, content: content, bytes: after, mode: 0o644, modified: .zero))
        }
        pair.act(party, Differ(model: model, view: pair.view(of: party)).operations(for: saves), files: saved)
        try materialise(party)
    }

    mutating func heal() throws {
        pair.heal()
        try materialise(.first)
        try materialise(.second)
    }

    private mutating func materialise(_ party: Party) throws {
        let view = pair.view(of: party)
        let renderer = RecordRenderer(model: model, view: view)
        var folder: [Path: [UInt8]] = [:]
        for path in renderer.paths {
            let base = try #require(renderer.base(of: path).flatMap { contents[$0] })
            folder[path] = renderer.rendered(path, base: try RecordDocument(parsing: base, at: path, model: model))
            try note(path, base, folder[path], renderer)
        }
        folders[party.number] = folder
    }

    /// What is told by looking is what is written.
    private mutating func note(_ path: Path, _ base: [UInt8], _ rendered: [UInt8]?, _ renderer: RecordRenderer) throws {
        let isWritten = renderer.isWritten(path, in: try JSONDocument(parsing: base))
        if isWritten { #expect(rendered == base, "\(path)") }
        looks[base != rendered ? .other : isWritten ? .same : .unknown, default: 0] += 1
    }

    func text(_ party: Party, _ name: String) -> String? {
        Path(name).flatMap { folders[party.number][$0] }.map { String(decoding: $0, as: UTF8.self) }
    }
}

@Suite("saves become operations, views become files")
struct DocumentTests {
    private func office() throws -> Office {
        Office(try Model(parsing: Array(ModelTests.schedules.utf8), file: "schedules.json"))
    }

    private let note = #"{ "title": "Tea", "x": 1.0, "schedule": "S1" }"# + "\n"

    /// A note with a schedule, on both.
    private func begin() throws -> Office {
        var office = try office()
        try office.save(
            .first, ["schedules/notes/N1.json": note, "schedules/schedules/S1.json": #"{"note":"N1","at":"9"}"#])
        try office.heal()
        return office
    }

    @Test("a file that needs no merge is the same, byte for byte, on both") func untouched() throws {
        let office = try begin()
        for party in [Party.first, .second] {
            #expect(office.text(party, "schedules/notes/N1.json") == note)
            #expect(office.text(party, "schedules/schedules/S1.json") == #"{"note":"N1","at":"9"}"#)
        }
    }

    @Test("two members edited at once: both edits, and every other byte of the later save") func merged() throws {
        var office = try begin()
        try office.save(.first, ["schedules/notes/N1.json": #"{ "title": "Tee", "x": 1.0, "schedule": "S1" }"#])
        try office.save(
            .second, ["schedules/notes/N1.json": #"{"x" : 1.000, "new":[1, 2], "title":"Tea","schedule":"S1"}"#])
        try office.heal()
        for party in [Party.first, .second] {
            #expect(
                office.text(party, "schedules/notes/N1.json")
                    == #"{"x" : 1.000, "new":[1, 2], "title":"Tee","schedule":"S1"}"#)
        }
    }

    @Test("AB-1 in files: both folders end alike and valid, the loser is out of them") func ab1() throws {
        var office = try begin()
        for (party, id) in [(Party.first, "S2"), (.second, "S3")] {
            try office.save(
                party,
                [
                    "schedules/notes/N1.json": note.replacing("S1", with: id), "schedules/schedules/S1.json": nil,
                    "schedules/schedules/\(id).json": #"{"note":"N1"}"#,
                ])
        }
        try office.heal()
        #expect(office.folders[0] == office.folders[1])
        #expect(office.text(.first, "schedules/notes/N1.json") == note.replacing("S1", with: "S3"))
        #expect(office.text(.first, "schedules/schedules/S2.json") == nil)
        #expect(office.pair.view.quarantine.map(\.key) == [.named("ChildSchedule/S2")])
    }

    @Test("either side may be edited: the other follows") func inverse() throws {
        var office = try begin()
        try office.save(
            .second,
            ["schedules/schedules/S1.json": nil, "schedules/schedules/S9.json": #"{"note": "N1"}"#])
        try office.heal()
        #expect(office.text(.first, "schedules/notes/N1.json") == note.replacing("S1", with: "S9"))
        #expect(office.pair.view.quarantine.isEmpty)
    }

    @Test("many records of one document are merged one by one, the rest of it member by member") func shared() throws {
        var office = try office()
        let before = """
            {
              "version": 2,
              "friends": [
                {"id": "a", "name": "Ann"},
                {"id": "b", "name": "Bob"}
              ],
              "end": true
            }
            """
        try office.save(.first, ["schedules/x.friends.json": before])
        try office.heal()
        try office.save(
            .first, ["schedules/x.friends.json": before.replacing("Ann", with: "Anna").replacing("true", with: "0")])
        try office.save(
            .second,
            [
                "schedules/x.friends.json": before.replacing(
                    #"{"id": "b", "name": "Bob"}"#, with: #"{"id": "c", "name": "Cy"}"#)
            ])
        try office.heal()
        #expect(office.folders[0] == office.folders[1])
        #expect(
            office.text(.second, "schedules/x.friends.json")
                == before.replacing("Ann", with: "Anna").replacing("true", with: "0")
                .replacing(#"{"id": "b", "name": "Bob"}"#, with: #"{"id": "c", "name": "Cy"}"#))
    }

    @Test("the order of an ordered side is kept, and one that is put in moves no other") func ordered() throws {
        let model = try Model.sketch(
            "F; notes many N ordered inverse=f",
            "N; f one F inverse=notes")
        var office = Office(model)
        try office.save(.first, ["f/1": #"{"notes": ["c", "a", "b"]}"#, "n/a": "{}", "n/b": "{}", "n/c": "{}"])
        try office.heal()
        try office.save(.first, ["f/1": #"{"notes": ["c", "x", "a", "b"]}"#, "n/x": "{}"])
        try office.save(.second, ["f/1": #"{"notes": ["c", "a", "y", "b"]}"#, "n/y": "{}"])
        #expect(office.pair.made[1][0].operations.count == 2)
        try office.heal()
        #expect(office.text(.second, "f/1") == #"{"notes": ["c", "x", "a", "y", "b"]}"#)
        #expect(office.text(.first, "n/y") == #"{"f": "1"}"#)
        try office.save(.second, ["f/1": #"{"notes": ["b", "c", "x", "a", "y"]}"#])
        try office.heal()
        #expect(office.text(.first, "f/1") == #"{"notes": ["b", "c", "x", "a", "y"]}"#)
    }

    /// What both had | what one saved | what the other saved | what both have then.
    @Test(
        "who moves one in an ordered side writes to no other, and so what the other node does with those counts",
        arguments: [
            "a b c d e|e a b c d|b c d e|e b c d", "a b c d e|b c d e a|a c d e|c d e a",
            "a b c d e|e a b c d|a c d b e|e a c d b", "a b c|c a b|a b|c a b", "a b c d|d a b x c|a c d|d a x c",
        ])
    func movedInOrder(row: String) throws {
        let rows = row.split(separator: "|").map { $0.split(separator: " ").map { "\"\($0)\"" } }
        let texts = rows.map { #"{"notes": [\#($0.joined(separator: ", "))]}"# }
        var office = Office(try Model.sketch("F; notes many N ordered", "N"))
        let notes = ["n/a", "n/b", "n/c", "n/d", "n/e", "n/x"].map { ($0, "{}") }
        try office.save(.first, Dictionary([("f/1", texts[0])] + notes) { $1 })
        try office.heal()
        try office.save(.first, ["f/1": texts[1]])
        try office.save(.second, ["f/1": texts[2]])
        try office.heal()
        for party in [Party.first, .second] { #expect(office.text(party, "f/1") == texts[3]) }
    }

    @Test("the place in an ordered side is kept where the other side is written down too, in one save and in two")
    func orderedByBoth() throws {
        let model = try Model.sketch(
            "F; notes many N ordered inverse=f",
            "N; f one F inverse=notes")
        let folder = #"{"notes": ["c", "a", "b"]}"#
        let notes = ["n/a", "n/b", "n/c"].map { ($0, #"{"f": "1"}"#) }
        var together = Office(model)
        try together.save(.first, Dictionary([("f/1", folder)] + notes) { $1 })
        #expect(together.text(.first, "f/1") == folder)
        var apart = Office(model)
        try apart.save(.first, ["f/1": folder])
        try apart.heal()
        for (name, text) in notes {
            try apart.save(.second, [name: text])
            try apart.heal()
            #expect(apart.text(.first, "f/1") == folder && apart.text(.second, name) == text)
        }
        #expect(apart.pair.view.unknown.isEmpty)
    }

    @Test("I25: a reference to what is not there yet stays as it was written, on both, and is linked when that comes")
    func pending() throws {
        let model = try Model.sketch(
            "Folder; notes many Note ordered inverse=folder",
            "Note; folder one Folder inverse=notes; tags many Tag",
            "Tag")
        var office = Office(model)
        let note = #"{ "tags" : ["t2","t9","t1"], "folder" : "X9" }"#
        let folder = #"{"notes":["N9", "N1"] , "x":1.0}"#
        try office.save(.first, ["note/N1": note, "tag/t1": "{}", "tag/t2": "{}"])
        try office.save(.first, ["folder/X8": #"{"notes": [ "N7" ]}"#])
        #expect(office.text(.first, "note/N1") == note)
        try office.heal()
        for party in [Party.first, .second] {
            #expect(office.text(party, "note/N1") == note)
            #expect(office.text(party, "folder/X8") == #"{"notes": [ "N7" ]}"#)
        }
        try office.save(.second, ["folder/X9": folder])
        try office.heal()
        for party in [Party.first, .second] {
            #expect(office.text(party, "note/N1") == note)
            #expect(office.text(party, "folder/X9") == folder)
        }
        let live = office.pair.view.live
        #expect(live[.named("Note/N1")]?.links[PropertyName("folder")] == [.named("Folder/X9")])
        #expect(live[.named("Folder/X9")]?.pending[PropertyName("notes")] == [.named("Note/N9")])
        // Another edit of the file leaves it in its place, and so does who is named when he comes, and says nothing of it.
        try office.save(.first, ["folder/X9": #"{"notes":["N9", "N1"] , "x":2.0}"#])
        try office.save(.second, ["note/N7": "{}", "note/N9": "{}"])
        try office.heal()
        for party in [Party.first, .second] {
            #expect(office.text(party, "folder/X9") == #"{"notes":["N9", "N1"] , "x":2.0}"#)
            #expect(office.text(party, "note/N9") == #"{"folder": "X9"}"#)
            #expect(office.text(party, "folder/X8") == #"{"notes": [ "N7" ]}"#)
        }
        #expect(office.pair.view.unknown == [.named("Tag/t9")])
        try office.save(.first, ["note/N1": #"{"tags":["t2","t1"],"folder":null}"#])
        try office.heal()
        #expect(office.text(.second, "note/N1") == #"{"tags":["t2","t1"],"folder":null}"#)
        #expect(office.text(.first, "folder/X9") == #"{"notes":["N9"] , "x":2.0}"#)
        #expect(office.pair.view.unknown.isEmpty)
    }

    @Test("who takes away one of two names of a thing and saves the other has the other") func otherName() throws {
        for (gone, kept) in [("a/1", "a/2"), ("a/2", "a/1")] {
            var office = Office(try Model.sketch("A singleton; x string"))
            try office.save(.first, ["a/1": #"{"x": "one"}"#])
            try office.save(.second, ["a/2": #"{"x": "two"}"#])
            try office.heal()
            try office.save(.first, [gone: nil, kept: #"{"x": "both"}"#])
            try office.heal()
            for party in [Party.first, .second] {
                #expect(office.text(party, kept) == #"{"x": "both"}"#, "without \(gone)")
                #expect(office.text(party, gone) == nil)
            }
        }
    }

    /// Each node has made Ann, and the file of the first shows what both say.
    private func twice() throws -> Office {
        var office = Office(try Model.sketch("F identity=n; n string; t string; x string; h one H", "H"))
        try office.save(.first, ["h/1": "{}"])
        try office.heal()
        try office.save(.first, ["f/1": #"{"n":"ann","t":"one","h":null}"#])
        try office.save(.second, ["f/2": #"{"n":"ann","t":"two","h":"1","x":"alone"}"#])
        try office.heal()
        return office
    }

    @Test("who gives a thing another key gives it to all its names, and its file stays as he saved it")
    func otherKey() throws {
        var office = try twice()
        let saved = try #require(office.text(.first, "f/1")).replacing("ann", with: "bob")
        try office.save(.first, ["f/1": saved])
        try office.heal()
        for party in [Party.first, .second] {
            #expect(office.text(party, "f/1") == saved && office.text(party, "f/2") == nil)
        }
        // (Nobody has chosen yet.)
        #expect(office.pair.view.rivals.map(\.key) == [.named("F/2")])
    }

    @Test("who makes a file of a second name anew takes nothing from the first; nor does who takes the key away")
    func parted() throws {
        var office = try twice()
        let shown = try #require(office.text(.first, "f/1"))
        try office.save(.first, ["f/2": #"{"n":"cleo"}"#])
        try office.heal()
        for party in [Party.first, .second] {
            #expect(office.text(party, "f/1") == shown && office.text(party, "f/2") == #"{"n":"cleo"}"#)
        }
        office = try twice()
        try office.save(.second, ["f/2": #"{"n":"ann","t":"three"}"#])
        try office.heal()
        let merged = shown.replacing(#""t":"two""#, with: #""t":"three""#)
        #expect(office.text(.first, "f/1") == merged && office.text(.second, "f/1") == merged)
        #expect(office.text(.first, "f/2") == nil && office.text(.second, "f/2") == nil)
        office = try twice()
        let keyless = shown.replacing(#""n":"ann""#, with: #""n":null"#)
        try office.save(.second, ["f/1": keyless])
        try office.heal()
        #expect(office.text(.first, "f/1") == keyless && office.text(.second, "f/1") == keyless)
    }

    @Test("a delete takes along what cascades, and every second name") func deletes() throws {
        let model = try Model.sketch(
            "A singleton; b one B onDelete=cascade",
            "B")
        var office = Office(model)
        try office.save(.first, ["a/1": #"{"b": "x"}"#, "b/x": "{}"])
        try office.save(.second, ["a/2": "{}"])
        try office.heal()
        #expect(office.folders[0].keys.sorted().map(\.description) == ["a/1", "b/x"])
        try office.save(.second, ["a/1": nil])
        try office.heal()
        #expect(office.folders[0].isEmpty && office.pair.view.dead.count == 3)
    }

    @Test("who writes long after a delete to what does not stand by all that he knew makes it anew")
    func lateEdit() throws {
        let model = try Model.sketch("N; t string; u string")
        let note = RecordID("N", "1")
        var pair = DocumentTests.deleted(note, in: model)
        let past = pair.view(of: .first)
        pair.act(.second, .set(note, "t", "two"))
        pair.heal()
        let save = Differ.Save(
            before: try DocumentTests.note(#"{"t": "two", "u": "kept"}"#, model),
            after: try DocumentTests.note(#"{"t": "three", "u": "kept"}"#, model))
        func operations(knowing past: RecordView) -> [RecordMerge.Operation] {
            let time = pair.made[1].last?.time.wallMilliseconds ?? 0
            return Differ(
                model: model, view: pair.view, past: { past },
                at: HybridTime(wallMilliseconds: Int64(time) + 31 * 86_400_000)
            )
            .operations(for: [save])
        }
        #expect(operations(knowing: pair.view) == [.set(note, "t", "three")])
        #expect(
            operations(knowing: past) == [.insert(note), .set(note, "t", "three"), .set(note, "u", "kept")])
    }

    @Test("who saves what is out, and outlived a delete before, keeps it from a discard that did not know of that")
    func savedWhileOut() throws {
        let model = try Model.sketch("N; t string; u string required")
        let note = RecordID("N", "1")
        var pair = DocumentTests.deleted(note, in: model)
        pair.act(.second, .set(note, "t", "two"), Operation(note, .set(PropertyName("u"), nil)))
        pair.heal()
        #expect(pair.view.quarantine[note]?.reason == .invalidValue(PropertyName("u")))
        let save = Differ.Save(
            before: try DocumentTests.note(#"{"t": "two"}"#, model),
            after: try DocumentTests.note(#"{"t": "three"}"#, model))
        let operations = Differ(model: model, view: pair.view).operations(for: [save])
        #expect(operations == [.restore(note), .set(note, "t", "three")])
        // (Nobody knows that he had what the other has saved.)
        pair.act(.first, seeing: 0, operations)
        pair.act(.second, .delete(note))
        pair.heal()
        #expect(pair.view.quarantine[note]?.record.values[PropertyName("t")] == .string("three"))
    }

    /// Both have a note with two values, and the first has deleted it since.
    private static func deleted(_ note: RecordID, in model: Model) -> Pair {
        var pair = Pair(model)
        pair.act(.first, .insert(note), .set(note, "t", "one"), .set(note, "u", "kept"))
        pair.heal()
        pair.act(.first, .delete(note))
        return pair
    }

    private static func note(_ text: String, _ model: Model) throws -> RecordDocument {
        try RecordDocument(parsing: Array(text.utf8), at: try #require(Path("n/1")), model: model)
    }

    @Test(
        "a file that is not what its model says is told with its place",
        arguments: [
            ("schedules/notes/N.json", "[]", "", "an object is expected"),
            ("schedules/notes/N.json", "{", "", "line 1, column 2"),
            ("schedules/notes/N.json", #"{"schedule": 1}"#, "/schedule", "an id or null is expected"),
            ("schedules/x.friends.json", #"{"friends": {}}"#, "/friends", "a list of records is expected"),
            ("schedules/x.friends.json", #"{"friends": [1]}"#, "/friends/0", "a record is expected"),
            ("schedules/x.friends.json", #"{"friends": [{}]}"#, "/friends/0", "this Friend has no id"),
            (
                "schedules/x.friends.json", #"{"friends": [{"id":"a"},{"id":"a"}]}"#, "/friends/1",
                "this id stands here twice"
            ),
        ]) func faults(name: String, text: String, pointer: String, reason: String) throws
    {
        let model = try Model(parsing: Array(ModelTests.schedules.utf8), file: "schedules.json")
        let path = try #require(Path(name))
        let fault = #expect(throws: DocumentFault.self) {
            try RecordDocument(parsing: Array(text.utf8), at: path, model: model)
        }
        #expect(
            fault?.pointer.description == pointer && fault?.reason.hasPrefix(reason) == true,
            "\(String(describing: fault))")
    }
}

extension String {
    fileprivate func replacing(_ part: String, with other: String) -> String {
        split(separator: part, omittingEmptySubsequences: false).joined(separator: other)
    }
}
