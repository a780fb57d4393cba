import SyncCore
import SyncModel
import Testing

@testable import SyncSim

/// Records that lost a contest, as files below `.syncd/quarantine`.
@Suite("Files of records in quarantine")
struct ShelfTests {
    private static let model =
        #"{"model": "m", "version": 1, "root": "d", "entities": {"#
        + #""A": {"files": "a/*.json", "id": "stem", "relations": {"b": {"to": "B", "kind": "one", "required": true, "#
        + #""inverse": "a"}}}, "B": {"files": "b/*.json", "id": "stem", "relations": {"a": {"to": "A", "kind": "one", "#
        + #""required": true, "inverse": "b"}}}}}"#

    /// The same, with all records of an entity in one document.
    private static let documents =
        #"{"model": "m", "version": 1, "root": "d", "entities": {"#
        + #""A": {"files": "a.json", "at": "/all", "id": "/id", "relations": {"b": {"to": "B", "kind": "one", "#
        + #""required": true, "inverse": "a"}}}, "B": {"files": "b.json", "at": "/in/all", "id": "key", "relations": {"#
        + #""a": {"to": "A", "kind": "one", "required": true, "inverse": "b"}}}}}"#

    private let world = World(plan: SeedPlan(calm: 1))

    private func save(_ name: String, _ text: String?, on machine: Int) throws {
        try world.save("d/\(name).json", text, on: machine)
    }

    /// The A/B story up to the moment at which both nodes have met again.
    private func contest() throws {
        world.install(ShelfTests.model)
        world.begin()
        try save("a/A1", #"{"b": "B1"}"#, on: 0)
        try save("b/B1", #"{"a": "A1", "v": 1}"#, on: 0)
        world.notice()
        world.settle()
        world.partition(true)
        world.run(milliseconds: 10_000)
        for (machine, name) in ["B2", "B3"].enumerated() {
            try save("b/B1", nil, on: machine)
            try save("b/\(name)", #"{"a": "A1", "v": "\#(name)"}"#, on: machine)
            try save("a/A1", #"{"b": "\#(name)"}"#, on: machine)
            world.notice()
            world.run(milliseconds: 3_000)
        }
        world.partition(false)
        world.settle()
    }

    private func save(_ name: String, round: Int, on machine: Int) throws {
        try save("a", #"{"all": [{"id": "A1", "b": "\#(name)"}], "round": \#(round)}"#, on: machine)
        try save("b", #"{"in": {"all": {"\#(name)": {"a": "A1", "v": \#(round).50}}}}"#, on: machine)
        world.notice()
    }

    /// The same where every save is one of all records.
    private func contestInDocuments() throws {
        world.install(ShelfTests.documents)
        world.begin()
        try save("B1", round: 1, on: 0)
        world.settle()
        world.partition(true)
        world.run(milliseconds: 10_000)
        for (machine, name) in ["B2", "B3"].enumerated() {
            try save(name, round: 2 + machine, on: machine)
            world.run(milliseconds: 3_000)
        }
        world.partition(false)
        world.settle()
    }

    private func kept(on machine: Int) -> [KeptVersion] {
        world.machines[machine].store.versions.map(\.value).filter { $0.isQuarantined && $0.reason == .conflictSlot }
    }

    /// How often these bytes lie in quarantine.
    private func count(of bytes: [UInt8], on machine: Int) -> Int {
        world.machines[machine].disk.allContents().count { content in
            content.area == .quarantine && Value(content.entry) == .file(Fingerprint(of: bytes))
        }
    }

    private func answer(_ machine: Int, _ command: Command) throws -> Answer {
        let id = try #require(world.command(machine, command))
        for _ in 0..<10_000 {
            if let answer = world.takeAnswer(machine, id) { return answer }
            world.advance()
        }
        return .done
    }

    private func contests(on machine: Int) throws -> [Contest] {
        if case .contests(let contests) = try answer(machine, .contests) { contests } else { [] }
    }

    @Test("the loser lies there as a file on both nodes, with what it says, and its contest names it") func loser()
        throws
    {
        try contest()
        for machine in 0...1 {
            let kept = kept(on: machine)
            #expect(kept.count == 1)
            let version = try #require(kept.first)
            let open = try contests(on: machine)
            let lost = try #require(open.first?.versions.first { !$0.isCurrent })
            #expect(lost.kept == version.id && version.path == lost.path)
            #expect(count(of: lost.bytes, on: machine) == 1)
            #expect(version.entry.content.size == UInt64(lost.bytes.count))
        }
        #expect(kept(on: 0).map(\.entry.content) == kept(on: 1).map(\.entry.content))
        #expect(world.isClean, "\(world.violations)")
    }

    @Test(
        "the loser of a document of many lies there alone, with the same bytes on both, and stays so whoever saves the others"
    )
    func document() throws {
        try contestInDocuments()
        let before = [kept(on: 0), kept(on: 1)]
        for round in 4...7 {
            try save("B3", round: round, on: round % 2)
            world.settle()
        }
        for machine in 0...1 {
            let kept = kept(on: machine)
            #expect(kept.count == 1 && kept == before[machine])
            let version = try #require(kept.first)
            let lost = try #require(try contests(on: machine).first?.versions.first { !$0.isCurrent })
            #expect(String(decoding: lost.bytes, as: UTF8.self) == #"{"in": {"all": {"B2": {"v": 2.50}}}}"#)
            #expect(lost.kept == version.id && version.path == lost.path && lost.path == Path("d/b.json"))
            #expect(count(of: lost.bytes, on: machine) == 1)
        }
        _ = try answer(1, .settleContest(.take, try #require(try contests(on: 1).first).group))
        world.settle()
        for machine in 0...1 {
            let kept = kept(on: machine)
            #expect(kept.count == 1 && kept.first?.entry.content != before[machine].first?.entry.content)
            #expect(world.machines[machine].store.versions.count { $0.value.isQuarantined && $0.value.isPrunable } == 1)
        }
        #expect(world.isClean, "\(world.violations)")
    }

    @Test("after a kill at any moment one file lies there, and no other", arguments: [0, 40, 80, 120, 200, 400, 800])
    func killed(milliseconds: Int64) throws {
        try contest()
        world.machines[1].store.perform(StoreBatch(kept(on: 1).map { .dropVersion($0.id) }))
        world.kill(1)
        world.run(milliseconds: 2_000 + milliseconds)
        world.kill(1)
        world.run(milliseconds: 5_000)
        world.settle()
        #expect(kept(on: 1).count == 1)
        #expect(world.isClean, "\(world.violations)")
    }

    @Test("who takes the loser has the other lie there, and what lay there becomes a version like any other")
    func taken()
        throws
    {
        try contest()
        let before = try #require(kept(on: 0).first)
        let contest = try #require(try contests(on: 0).first)
        _ = try answer(0, .settleContest(.take, contest.group))
        world.settle()
        for machine in 0...1 {
            let kept = kept(on: machine)
            #expect(kept.count == 1 && kept.first?.path != before.path)
            let released = world.machines[machine].store.versions.map(\.value).filter {
                $0.isQuarantined && $0.isPrunable
            }
            #expect(released.map(\.path) == [before.path])
        }
        #expect(world.isClean, "\(world.violations)")
    }

    @Test("a later process finds it as it lies, and writes no other") func restarted() throws {
        try contest()
        let before = kept(on: 0)
        world.kill(0)
        world.run(milliseconds: 5_000)
        world.settle()
        #expect(kept(on: 0) == before)
        #expect(world.isClean, "\(world.violations)")
    }
}
