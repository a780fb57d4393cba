import SyncCore
import SyncModel
import Testing

@testable import SyncSim

/// V3: whenever a process ends while the change sets of both meet, both nodes come to what they would have come to anyway.
@Suite("V3: records and the end of a process")
struct RecordCrashTests {
    private static let model = RecordScene.couples.modelText

    enum End: CaseIterable {
        case killed, lostPower
    }

    /// What both nodes show and say of the records.
    private struct Outcome: Equatable {
        var files: [SortedMap<Path, [UInt8]>] = []
        var contests: [[String]] = []
        var quarantined: [[ContentID]] = []
    }

    /// The A/B story up to the moment at which both nodes are about to meet again.
    private func apart() throws -> World {
        let world = World(plan: SeedPlan(calm: 1))
        world.install(RecordCrashTests.model)
        world.begin()
        try world.save("d/a/a1.json", #"{"b": "b1"}"#, on: 0)
        try world.save("d/b/b1.json", #"{"a": "a1"}"#, on: 0)
        world.notice()
        world.settle()
        world.partition(true)
        world.run(milliseconds: 10_000)
        for (machine, name) in ["b2", "b3"].enumerated() {
            try world.save("d/b/b1.json", nil, on: machine)
            try world.save("d/b/\(name).json", #"{"a": "a1", "t": "\#(name)"}"#, on: machine)
            try world.save("d/a/a1.json", #"{"b": "\#(name)"}"#, on: machine)
            world.notice()
            world.run(milliseconds: 3_000)
        }
        // What people saved before has long reached the disk.
        for machine in 0...1 { world.machines[machine].disk.syncEverything() }
        world.partition(false)
        return world
    }

    private func outcome(of world: World) throws -> Outcome {
        var outcome = Outcome()
        for machine in 0...1 {
            outcome.files.append(RecordFolder(world.machines[machine].disk).files)
            outcome.contests.append(try contests(on: machine, world))
            let kept = world.machines[machine].store.versions.map(\.value).filter {
                $0.isQuarantined && !$0.isPrunable
            }
            outcome.quarantined.append(
                kept.compactMap { version in
                    if case .file(let id, _) = version.entry.content { id } else { nil }
                })
        }
        return outcome
    }

    private func contests(on machine: Int, _ world: World) throws -> [String] {
        let id = try #require(world.command(machine, .contests))
        for _ in 0..<10_000 {
            if case .contests(let contests)? = world.takeAnswer(machine, id) { return contests.map { "\($0.group)" } }
            world.advance()
        }
        return []
    }

    @Test(
        "V3: at any step of an import either node may end, and both are what they would have been",
        arguments: [0, 1], End.allCases)
    func anywhere(machine: Int, end: End) throws {
        let calm = try apart()
        calm.settle()
        let expected = try outcome(of: calm)
        #expect(calm.isClean && expected.contests.map(\.count) == [1, 1])
        #expect(expected.files[0] == expected.files[1] && expected.quarantined.map(\.count) == [1, 1])
        let world = try apart()
        // Until both show it; what comes later is only looking whether all is quiet.
        var steps = 0
        while world.isClean, world.machines.map({ RecordFolder($0.disk).files }) != expected.files {
            world.advance()
            steps += 1
        }
        #expect(steps > 50)
        for moment in stride(from: machine, through: steps + 40, by: 9) {
            let world = try apart()
            for _ in 0..<moment { world.advance() }
            switch end {
            case .killed: world.kill(machine)
            case .lostPower: world.powerCut(machine)
            }
            world.settle()
            #expect(world.isClean, "after \(moment) steps: \(world.violations)")
            #expect(try outcome(of: world) == expected, "after \(moment) steps")
            if !world.isClean { return }
        }
    }
}
