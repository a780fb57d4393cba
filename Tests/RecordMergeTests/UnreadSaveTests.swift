/// Saves of programs that knew a later version than the model of their node: what they mean to somebody whose model reads it.
import SyncModel
import Testing

@testable import RecordMerge

@Suite("saves that their author's model does not read")
struct UnreadSaveTests {
    @Test("what they mean is what it would have been to their author, had he had the model") func meaning() throws {
        let story = try Story()
        let plain = try story.later(["p/b.json": #"{"v": 2, "t": "b", "o": "a", "x": [1, 2]}"#], isRead: true)
        let unread = try story.later(["p/b.json": #"{"v": 2, "t": "b", "o": "a", "x": [1, 2]}"#], isRead: false)
        #expect(unread.isUnread && unread.isReadable(by: story.model))
        let read = unread.reading(by: story.model, after: story.history, forgotten: .none)
        #expect(!read.isUnread && read.operations == plain.operations && !read.operations.isEmpty)
        #expect(read.files == plain.files && read.position == unread.position && read.seen == unread.seen)
        // What the other node has written meanwhile makes no difference.
        let meanwhile = try story.meanwhile(["p/b.json": #"{"t": "other"}"#])
        #expect(unread.reading(by: story.model, after: story.history + [meanwhile], forgotten: .none) == read)
    }

    @Test("a relation that only the later model knows is a link to it") func relations() throws {
        let story = try Story()
        let unread = try story.later(["p/b.json": #"{"v": 2, "t": "b", "o": "a"}"#], isRead: false)
        let read = unread.reading(by: story.model, after: story.history, forgotten: .none)
        #expect(unread.operations.contains(.set(.named("P/b"), "o", "a")))
        #expect(read.operations.contains(.link(.named("P/b"), "o", "a")))
    }

    @Test("what is no document to a model is nothing that it reads") func noDocument() throws {
        let story = try Story()
        let broken = try story.later(["p/b.json": "{"], isRead: false)
        #expect(!broken.isReadable(by: story.model))
    }

    @Test("of two saves that did not know of each other the one in the later version is the base, in any order")
    func bases()
        throws
    {
        let story = try Story()
        let later = try story.later(["p/a.json": #"{"v": 2, "t": "later", "x": 1}"#], isRead: true)
        let earlier = try story.meanwhile(["p/a.json": #"{"v": 1, "t": "earlier"}"#])
        #expect(later.precedes(earlier))
        let path = try #require(Path("p/a.json"))
        for sets in [[later, earlier], [earlier, later]] {
            let space = RecordSpace(of: story.history + sets, model: story.model)
            #expect(space.view.bases[path] == later.files[0].content)
            #expect(space.view == RecordView(of: story.history + sets, model: story.model))
            var forgetful = space
            forgetful.forget(.none)
            #expect(forgetful.view.bases == space.view.bases)
        }
        // It stays in that version, whichever was written last.
        let other = try story.meanwhile(["p/a.json": #"{"v": 1, "t": "a", "y": 2}"#])
        let merged = RecordSpace(of: story.history + [later, other], model: story.model)
        let base = try RecordDocument(parsing: later.files[0].bytes ?? [], at: path, model: story.model)
        let text = merged.renderer.rendered(path, base: base).map { String(decoding: $0, as: UTF8.self) }
        #expect(text == #"{"v": 2, "t": "later", "x": 1, "y": 2}"#)
        // To a model of one version all files are in that: the last counts.
        let space = RecordSpace(of: story.history + [later, earlier], model: story.old)
        #expect(space.view.bases[path] == earlier.files[0].content)
        // Whoever has seen the later version writes over it on purpose.
        let after = try story.meanwhile(["p/a.json": #"{"v": 1, "t": "on purpose"}"#], seeing: later)
        let insisted = RecordSpace(of: story.history + [later, after], model: story.model)
        #expect(insisted.view.bases[path] == after.files[0].content)
    }

    /// Two records that both nodes have, under the model of version 1.
    private struct Story {
        let old: Model
        let model: Model
        let history: [ChangeSet]

        init() throws {
            let fields = #""fields": {"t": {"type": "string"}}"#
            old = try Story.model(
                #"{"model": "m", "version": 1, "versionAt": "/v", "entities": {"P": {"files": "p/*.json", "id": "stem", \#(fields)}}}"#
            )
            let relation =
                #""relations": {"o": {"to": "P", "kind": "one", "inverse": "i"}, "i": {"to": "P", "kind": "many", "inverse": "o"}}"#
            model = try Story.model(
                #"{"model": "m", "version": 2, "reads": [1, 2], "versionAt": "/v", "entities": {"P": {"files": "p/*.json", "id": "stem", \#(fields), \#(relation)}}}"#
            )
            history = [
                try Story.set(
                    .first, 1, 1, [:], ["p/a.json": #"{"v": 1, "t": "a"}"#, "p/b.json": #"{"v": 1, "t": "b"}"#],
                    by: old, over: [:], isRead: true)
            ]
        }

        /// By the first node, in version 2.
        func later(_ files: [String: String], isRead: Bool) throws -> ChangeSet {
            try Story.set(.first, 2, 2, [:], files, by: isRead ? model : old, over: shown, isRead: isRead, history)
        }

        /// By the second node, a moment later, and without knowing of that unless it is said.
        func meanwhile(_ files: [String: String], seeing: ChangeSet? = nil) throws -> ChangeSet {
            let seen = [Party.first: seeing?.position ?? history[0].position]
            return try Story.set(.second, 1, 3, seen, files, by: old, over: shown, isRead: true, history)
        }

        private var shown: [String: String] {
            ["p/a.json": #"{"v": 1, "t": "a"}"#, "p/b.json": #"{"v": 1, "t": "b"}"#]
        }

        private static func model(_ text: String) throws -> Model {
            try Model(parsing: Array(text.utf8), file: "m.json")
        }

        private static func set(
            _ author: Party, _ seq: UInt64, _ time: Int64, _ seen: [Party: LogPosition], _ files: [String: String],
            by model: Model, over shown: [String: String], isRead: Bool, _ history: [ChangeSet] = []
        ) throws -> ChangeSet {
            let epoch = Epoch(number: 1, nonce: author == .first ? 1 : 2)
            var applied = Applied.none
            applied[author] = seq == 1 ? .none : LogPosition(epoch: epoch, seq: seq - 1)
            for (party, position) in seen { applied[party] = position }
            var saves: [Differ.Save] = []
            var saved: [ChangeSet.SavedFile] = []
            for (name, text) in files.sorted(by: { $0.key < $1.key }) {
                let path = try #require(Path(name))
                let bytes = Array(text.utf8)
                let before = shown[name].map { Array($0.utf8) }
                saves.append(
                    Differ.Save(
                        before: before.flatMap { try? RecordDocument(parsing: $0, at: path, model: model) },
                        after: try? RecordDocument(parsing: bytes, at: path, model: model)))
                let file = ChangeSet.SavedFile(
                    path: path, content: ContentID(SHA256.digest(of: bytes)), bytes: bytes, mode: 0o600, modified: .zero
                )
                saved.append(isRead ? file : file.unread(over: Overwritten(bytes: before)))
            }
            let view = RecordView(of: history, model: model)
            return ChangeSet(
                author: author, position: LogPosition(epoch: epoch, seq: seq),
                time: HybridTime(wallMilliseconds: time), seen: applied,
                operations: Differ(model: model, view: view).operations(for: saves), files: saved,
                needs: isRead
                    ? Needs(model: Array("m".utf8), modelVersion: model.version)
                    : Needs(model: Array("m".utf8), modelVersion: 2, features: [Needs.unreadSaves]))
        }
    }
}
