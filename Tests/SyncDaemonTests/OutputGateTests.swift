import SyncCore
import SyncModel
import Testing

@testable import SyncDaemon

/// What happens to a gate, and what must come of it, said as plainly as it can be: by going through all that ever happened.
private struct Course {
    enum Action: CaseIterable {
        case commit, syncAll, syncAllButOne, word, change, look, inside
    }

    private typealias Kind = OutputGate<Int>.Kind
    private struct Output {
        let kind: Kind
        /// Commits that the core knew of when it gave it.
        let known: UInt64
        /// Its place among all that left; nil while it waits.
        var left: Int?
    }

    private var gate = OutputGate<Int>()
    private var commits: UInt64 = 0
    private var durable: UInt64 = 0
    private var outputs: [Output] = []
    private var leavings = 0
    private(set) var faults: [String] = []

    mutating func take(_ action: Action) {
        switch action {
        case .commit:
            commits += 1
            gate.tell(of: commits)
        case .syncAll: sync(commits)
        case .syncAllButOne: if commits > 0 { sync(commits - 1) }
        case .word: give(.word)
        case .change: give(.change)
        case .look: give(.look)
        case .inside: give(.inside)
        }
    }

    private mutating func give(_ kind: Kind) {
        outputs.append(Output(kind: kind, known: commits))
        let number = outputs.count - 1
        let waiting = outputs.dropLast().filter { $0.left == nil }
        let hasToWait =
            switch kind {
            case .inside: false
            case .look: waiting.contains { $0.kind == .change }
            case .change, .word, .end: commits > durable || !waiting.isEmpty
            }
        let passes = gate.letsPass(number, kind)
        if passes == hasToWait { faults.append("\(kind) \(passes ? "does not wait" : "waits")") }
        if passes { leave(number) }
    }

    private mutating func sync(_ commit: UInt64) {
        durable = max(durable, commit)
        gate.note(durable: commit)
        while let number = gate.next() { leave(number) }
        let waiting = outputs.filter { $0.left == nil }
        if let first = waiting.first, first.known <= durable { faults.append("\(first.kind) waits for nothing") }
        if gate.isEmpty != waiting.isEmpty { faults.append("it is not empty when it says so") }
    }

    private mutating func leave(_ number: Int) {
        let output = outputs[number]
        if output.left != nil { faults.append("\(output.kind) leaves twice") }
        let isHeard = output.kind == .word || output.kind == .change
        if isHeard, output.known > durable { faults.append("\(output.kind) leaves before its commit is durable") }
        for earlier in outputs[..<number] where earlier.left == nil {
            if isHeard || earlier.kind == .change, output.kind != .inside {
                faults.append("\(output.kind) overtakes \(earlier.kind)")
            }
        }
        leavings += 1
        outputs[number].left = leavings
    }
}

@Suite("the gate in front of what leaves the node") struct OutputGateTests {
    @Test("nothing leaves before what it is made of is durable, nor out of its order, nor waits for anything else")
    func rule() {
        var courses = 0
        func goOn(_ course: Course, _ path: [Course.Action]) {
            for action in Course.Action.allCases {
                var next = course
                next.take(action)
                courses += 1
                guard next.faults.isEmpty else {
                    Issue.record("\(path + [action]): \(next.faults)")
                    return
                }
                if path.count < 6 { goOn(next, path + [action]) }
            }
        }
        goOn(Course(), [])
        #expect(courses == (1...7).reduce(0) { sum, length in sum + (0..<length).reduce(1) { power, _ in power * 7 } })
    }

    @Test("of a node that has finished nothing leaves that waited") func finished() {
        var gate = OutputGate<Int>()
        func passes(_ output: Int, _ kind: OutputGate<Int>.Kind) -> Bool { gate.letsPass(output, kind) }
        func next() -> Int? { gate.next() }
        gate.tell(of: 1)
        #expect(!passes(1, .change) && !passes(2, .end))
        gate.clear()
        gate.note(durable: 1)
        #expect(next() == nil && gate.isEmpty)
        #expect(passes(3, .word) && passes(4, .look))
    }

    @Test("behind what is lost nothing leaves but the end") func lost() {
        var gate = OutputGate<Int>()
        func passes(_ output: Int, _ kind: OutputGate<Int>.Kind) -> Bool { gate.letsPass(output, kind) }
        func next() -> Int? { gate.next() }
        gate.tell(of: 1)
        #expect(!passes(1, .word) && !passes(2, .change) && !passes(3, .look))
        gate.shut()
        #expect(!passes(4, .word) && !passes(5, .change))
        gate.note(durable: 9)
        #expect(next() == nil && !passes(6, .word))
        #expect(passes(7, .end))
    }

    @Test("a new file in the stage waits for nothing; what is done about one that an intent may name waits")
    func stage() {
        var gate = OutputGate<Effect>()
        gate.tell(of: 1)
        let (stage, other) = (Place.stage(StageName(raw: 1)), Place.stage(StageName(raw: 2)))
        let begun: [DiskOperation] = [.createFile(stage), .write(stage, offset: 0, bytes: [1]), .syncFile(stage)]
        func passes(_ programs: [DiskOperation]...) -> Bool {
            gate.letsPass(.disk(JobID(raw: 1), programs.map { DiskProgram($0) }))
        }
        #expect(passes(begun) && passes(begun, begun + [.setMode(stage, 0o644), .inspect(stage)]))
        for more: DiskOperation in [
            .discard(stage), .move(stage, to: other), .exchange(stage, other), .write(other, offset: 0, bytes: [1]),
            .syncParent(stage), .createFile(other),
        ] {
            #expect(!passes(begun + [more]), "\(more)")
            gate.clear()
        }
        #expect(!passes(begun, [.setModified(stage, Timestamp(seconds: 1, nanoseconds: 0))]))
        #expect(!passes(begun), "it overtakes a change")
        gate.clear()
        func passes(_ effect: Effect) -> Bool { gate.letsPass(effect) }
        #expect(passes(.load(JobID(raw: 1), [])) && passes(.inspect(JobID(raw: 2), [])))
        #expect(!passes(.send(LinkID(raw: 1), [])) && !passes(.finish(.stopped)))
    }
}
