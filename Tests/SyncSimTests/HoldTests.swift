import SyncCore
import SyncModel
import Testing

@testable import SyncSim

/// Change sets that one node cannot read yet: stored, counted, and in nobody's way.
@Suite("V14: held change sets")
struct HoldTests {
    /// One note is a record; a person of the first machine has a version of the model that the other may not have.
    private static func model(_ version: Int, fields: String) -> String {
        #"{"model": "m", "version": \#(version), "reads": [\#((1...version).map(String.init).joined(separator: ", "))], "#
            + #""root": "d", "entities": {"N": {"files": "n/*.json", "id": "stem", "fields": {\#(fields)}}}}"#
    }

    private static let old = model(1, fields: #""t": {"type": "string"}"#)
    private static let new = model(2, fields: #""t": {"type": "string"}, "u": {"type": "string"}"#)

    private let world = World(plan: SeedPlan(calm: 1))

    // MARK: What happens

    private func begin() {
        world.install(HoldTests.old)
        world.begin()
    }

    private func restart(_ machine: Int, with model: String) {
        world.holdDown(machine)
        world.requestStop(machine)
        world.run(milliseconds: 2_000)
        world.models = []
        world.install(model)
        world.release(machine)
        world.run(milliseconds: 3_000)
    }

    private func save(_ name: String, _ text: String?, on machine: Int) throws {
        try world.save("d/n/\(name).json", text, on: machine)
        world.notice()
        world.run(milliseconds: 5_000)
    }

    private func text(_ name: String, on machine: Int) throws -> String? {
        let path = try #require(Path("d/n/\(name).json"))
        return world.machines[machine].disk.readFile(path).map { String(decoding: $0, as: UTF8.self) }
    }

    private func held(on machine: Int) throws -> Int {
        let id = try #require(world.command(machine, .status))
        for _ in 0..<10_000 {
            if case .status(let status)? = world.takeAnswer(machine, id) { return status.heldSets }
            world.advance()
        }
        return -1
    }

    /// What one node says of everything that was written to a record.
    private func explanation(_ name: String, on machine: Int) throws -> String {
        let id = try #require(world.command(machine, .explainRecord(RecordFolder.Name(entity: "N", key: name).id)))
        for _ in 0..<10_000 {
            if case .explanation(let explanation, _)? = world.takeAnswer(machine, id) { return "\(explanation)" }
            world.advance()
        }
        return ""
    }

    // MARK: What is promised

    @Test("after both have a later version of the model, which reads the older, nothing is held and all is as it was")
    func upgrade() throws {
        begin()
        try save("kept", #"{"t": "1"}"#, on: 0)
        try save("gone", #"{"t": "2"}"#, on: 0)
        try save("gone", nil, on: 1)
        world.settle()
        for machine in 0...1 { restart(machine, with: HoldTests.new) }
        world.settle()
        #expect(try held(on: 0) == 0 && held(on: 1) == 0)
        for machine in 0...1 {
            #expect(try text("kept", on: machine) == #"{"t": "1"}"#)
            #expect(try text("gone", on: machine) == nil)
            #expect(world.machines[machine].alerts.isEmpty)
        }
        // What was known before is known still: an edit of it is one, and no second beginning.
        try save("kept", #"{"t": "1", "u": "3"}"#, on: 1)
        world.settle()
        #expect(try text("kept", on: 0) == #"{"t": "1", "u": "3"}"#)
        #expect(world.isClean, "\(world.violations)")
    }

    @Test("a hold delays nothing that the holder sends, and nothing about other records")
    func nothingWaits() throws {
        begin()
        try save("a", #"{"t": "1"}"#, on: 0)
        try save("b", #"{"t": "1"}"#, on: 0)
        world.settle()
        restart(0, with: HoldTests.new)
        try save("a", #"{"t": "1", "u": "2"}"#, on: 0)
        #expect(try held(on: 1) == 1)
        #expect(try text("a", on: 1) == #"{"t": "1"}"#)

        try save("b", #"{"t": "3"}"#, on: 1)
        #expect(try text("b", on: 0) == #"{"t": "3"}"#)
        try save("c", #"{"t": "4"}"#, on: 1)
        #expect(try text("c", on: 0) == #"{"t": "4"}"#)

        restart(1, with: HoldTests.new)
        world.settle()
        #expect(try held(on: 1) == 0)
        #expect(try text("a", on: 1) == #"{"t": "1", "u": "2"}"#)
        #expect(try text("b", on: 1) == #"{"t": "3"}"#)
        #expect(world.isClean, "\(world.violations)")
    }

    @Test("who writes to what a held set has written has not seen that: neither write overtakes the other")
    func notSeen() throws {
        begin()
        try save("a", #"{"t": "first"}"#, on: 0)
        world.settle()
        restart(0, with: HoldTests.new)
        try save("a", #"{"t": "by alpha", "u": "2"}"#, on: 0)
        #expect(try held(on: 1) == 1)
        try save("a", #"{"t": "by beta"}"#, on: 1)
        let told = try explanation("a", on: 0)
        #expect(told.contains("by alpha") && told.contains("by beta") && told.contains("kept beside"), "\(told)")
        restart(1, with: HoldTests.new)
        world.settle()
        #expect(try held(on: 1) == 0)
        for machine in 0...1 {
            #expect(try text("a", on: machine) == #"{"t": "by beta", "u": "2"}"#)
            let told = try explanation("a", on: machine)
            #expect(told.contains("by alpha") && told.contains("kept beside"), "\(told)")
        }
        #expect(world.isClean, "\(world.violations)")
    }

    @Test("what no model here reads is held as long as an alert tells of it: not once it is deleted or overtaken")
    func unread() throws {
        begin()
        try save("a", #"{"t": "1"}"#, on: 0)
        world.settle()
        try save("a", #"{"version": 2, "t": "2"}"#, on: 0)
        try save("b", #"{"version": 2, "t": "3", "u": "only later"}"#, on: 0)
        world.settle()
        for machine in 0...1 {
            #expect(try held(on: machine) == 2)
            #expect(world.machines[machine].alerts.count == 2)
        }
        try save("b", nil, on: 1)
        world.settle()
        // (Who starts anew counts anew.)
        restart(1, with: HoldTests.old)
        world.settle()
        for machine in 0...1 {
            #expect(try held(on: machine) == 1)
            #expect(world.machines[machine].alerts.keys.map(\.subject) == [Array("d/n/a.json".utf8)])
        }
        try save("b", #"{"t": "5"}"#, on: 0)
        try save("a", nil, on: 0)
        world.settle()
        for machine in 0...1 {
            #expect(try held(on: machine) == 0)
            #expect(world.machines[machine].alerts.isEmpty)
        }
        // They are kept, and read by whoever can.
        for machine in 0...1 { restart(machine, with: HoldTests.new) }
        world.settle()
        for machine in 0...1 {
            #expect(try text("a", on: machine) == nil)
            #expect(try text("b", on: machine) == #"{"t": "5"}"#)
            let told = try explanation("b", on: machine)
            #expect(told.contains("only later"), "\(told)")
            #expect(try held(on: machine) == 0)
            #expect(world.machines[machine].alerts.isEmpty)
        }
        #expect(world.isClean, "\(world.violations)")
    }

    @Test("what was made on a held set and is about the same records is held with it, and drains with it")
    func dependents() throws {
        begin()
        try save("a", #"{"t": "1"}"#, on: 0)
        try save("b", #"{"t": "1"}"#, on: 0)
        world.settle()
        restart(0, with: HoldTests.new)
        try save("a", #"{"t": "2", "u": "2"}"#, on: 0)
        try save("new", #"{"t": "2", "u": "2"}"#, on: 0)
        // Back to the older program, which goes on with all of them.
        restart(0, with: HoldTests.old)
        for name in ["a", "new"] { #expect(try text(name, on: 0) == #"{"t": "2", "u": "2"}"#) }
        try save("a", #"{"t": "3", "u": "2"}"#, on: 0)
        try save("new", #"{"t": "3", "u": "2"}"#, on: 0)
        try save("b", #"{"t": "3"}"#, on: 0)
        #expect(try held(on: 1) == 4)
        #expect(try text("a", on: 1) == #"{"t": "1"}"#)
        #expect(try text("new", on: 1) == nil)
        #expect(try text("b", on: 1) == #"{"t": "3"}"#)

        for machine in 0...1 { restart(machine, with: HoldTests.new) }
        world.settle()
        #expect(try held(on: 0) == 0 && held(on: 1) == 0)
        for machine in 0...1 {
            #expect(try text("a", on: machine) == #"{"t": "3", "u": "2"}"#)
            #expect(try text("new", on: machine) == #"{"t": "3", "u": "2"}"#)
            #expect(try text("b", on: machine) == #"{"t": "3"}"#)
        }
        #expect(world.isClean, "\(world.violations)")
    }
}
