import RecordMerge
import SyncCore
import SyncModel
import Testing

@testable import SyncSim

/// What the judge of guarded files remembers and asks for: each rule with a small history in which it asks, and one in which not.
@Suite("INV-22: what is owed at a guarded path")
struct FormatLifeTests {
    private let path = Path(root: "d/f.note")
    private let old = Value.text("old")
    private let new = Value.text("new")
    private let newest = Value.text("newest")

    private func owed(_ life: FormatLife) -> [Value] { life.owed(at: path, 100_000).map(\.value) }

    private func saved(
        _ value: Value, _ version: UInt32, over: Value = .absent, on machine: Int = 0, at time: Int64 = 0
    ) -> (FormatLife) -> Void {
        { [path] life in
            life.changed(
                path, on: machine, from: over, to: value, age: version == 0 ? .broken : .version(version),
                isKnown: true, at: time)
        }
    }

    private func life(_ acts: (FormatLife) -> Void...) -> FormatLife {
        let life = FormatLife(support: [1, 1])
        for act in acts { act(life) }
        return life
    }

    @Test("An older save does not let go of the newer one, an equal or newer one does") func older() {
        #expect(owed(life(saved(new, 2), saved(old, 1, over: new))) == [new, old])
        #expect(owed(life(saved(new, 2), saved(newest, 2, over: new))) == [newest])
        #expect(owed(life(saved(new, 2), saved(newest, 3, over: new))) == [newest])
    }

    @Test("Who empties a file and then writes something as new replaces what he emptied, an older state does not")
    func emptied() {
        let empty = Value.text("")
        #expect(owed(life(saved(new, 2), saved(empty, 0, over: new), saved(newest, 2, over: empty))) == [newest])
        #expect(owed(life(saved(new, 2), saved(empty, 0, over: new), saved(old, 1, over: empty))) == [new, old])
    }

    @Test("Who deletes a file gives it up, with what it was saved over; who makes it anew at once saves it")
    func deleted() {
        func gone(_ time: Int64) -> (FormatLife) -> Void {
            { [path, new] in $0.changed(path, on: 0, from: new, to: .absent, age: nil, isKnown: true, at: time) }
        }
        #expect(owed(life(saved(old, 1), saved(new, 2, over: old), gone(1_000))).isEmpty)
        #expect(owed(life(saved(new, 2), gone(1_000), saved(old, 1, at: 5_000))) == [old])
        #expect(owed(life(saved(new, 2), gone(1_000), saved(old, 1, at: 1_300))) == [new, old])
    }

    @Test("Deleted, made anew and deleted again between two looks of a daemon: it may have seen one deletion")
    func deletedTwice() {
        func owed(goneAgain: Int64, isRead: Bool = false, last: Int64) -> [Value] {
            let other = Value.text("other")
            let life = life(saved(new, 2))
            life.changed(path, on: 0, from: new, to: .absent, age: nil, isKnown: true, at: 1_000)
            life.changed(path, on: 0, from: .absent, to: other, age: .version(1), isKnown: false, at: 1_500)
            life.changed(path, on: 0, from: other, to: .absent, age: nil, isKnown: isRead, at: goneAgain)
            life.changed(path, on: 0, from: .absent, to: old, age: .version(1), isKnown: false, at: last)
            return self.owed(life)
        }
        #expect(owed(goneAgain: 2_000, last: 2_300) == [old])
        // It cannot have looked twice, has read what stood there, or would have found it.
        #expect(owed(goneAgain: 1_700, last: 1_900) == [new, old])
        #expect(owed(goneAgain: 2_000, isRead: true, last: 2_300) == [new, old])
        #expect(owed(goneAgain: 3_500, last: 3_800) == [new, old])
    }

    @Test("What nobody had read before it was written over, and what is nowhere any more, is not asked for")
    func unseen() {
        let life = life(saved(newest, 3), saved(new, 2, over: newest))
        life.lose(at: path) { $0 == new }
        #expect(owed(life) == [new])
    }

    @Test("What lost to a newer state need not come back when that is given up") func lost() {
        let life = life(saved(new, 2), saved(old, 1, on: 1))
        #expect(owed(life) == [new, old])
        life.giveUp(new, at: path, 2_000)
        #expect(owed(life).isEmpty)
    }

    @Test("What a daemon put aside for something as new need not come back when a program has written over that")
    func outdone() {
        let life = life(saved(new, 2), saved(newest, 2, on: 1))
        life.outdid(new, by: newest, at: path)
        #expect(owed(life) == [new, newest])
        life.lose(at: path) { $0 == new }
        #expect(owed(life).isEmpty)
    }

    @Test("Its own reading of headers is that of the rules", arguments: GuardedFormat.allCases)
    func readings(format: GuardedFormat) throws {
        let rules = try FormatRules(parsing: utf8(GuardedFormat.rules(upTo: 3)), file: "rules")
        let path = format.path(.root, "f")
        let rule = try #require(rules.rule(for: path))
        #expect(GuardedFormat.of(path) == format)
        for number in 1...5 as ClosedRange<UInt32> {
            let token = String(repeating: "x", count: Int(number))
            #expect(format.age(of: format.bytes(number, token)) == .version(number))
            let whole = [
                format.bytes(number, token), format.unknownBytes(token), format.legacyBytes(token),
                format.brokenBytes(number, token), [],
            ]
            let cut = whole.map { Array($0.dropLast()) } + whole.map { [UInt8](repeating: 0, count: $0.count) }
            for bytes in whole + cut {
                let header = rule.header(
                    of: Array(bytes.prefix(rule.bytesNeeded(of: UInt64(bytes.count)))), size: UInt64(bytes.count))
                #expect(format.age(of: bytes) == FormatAge(header.reading), "\(Path.escape(bytes))")
            }
        }
    }
}

extension FormatAge {
    fileprivate init(_ reading: FormatReading) {
        self =
            switch reading {
            case .zeroLength, .corrupt: .broken
            case .version(let number): .version(number)
            case .unknown: .unknown
            }
    }
}

/// Two folders in which nothing runs, as they would be found in the end: the judge finds what is wrong with them, and nothing else.
@Suite("INV-22: the judge finds planted wrong endings")
struct FormatJudgeTests {
    private let path = GuardedFormat.notes.path(.root, "f")
    private let old = GuardedFormat.notes.bytes(1, "old")
    private let new = GuardedFormat.notes.bytes(2, "new")

    /// Somebody saved version 2, then another program version 1. What stands at the path, what lies beside it, and which alerts
    /// are open in the end is up to the test.
    private func verdict(
        shown: [UInt8]?, support: UInt32 = 2, copy: [UInt8]? = nil, alerts: [AlertKey] = []
    ) -> [String] {
        let world = World(plan: SeedPlan(calm: 1))
        let life = FormatLife(support: [support, support])
        life.changed(path, on: 0, from: .absent, to: .file(new), age: .version(2), isKnown: true, at: 0)
        life.changed(path, on: 0, from: .file(new), to: .file(old), age: .version(1), isKnown: true, at: 0)
        for (machine, alerts) in [alerts, alerts.map(\.fromTheOtherNode)].enumerated() {
            for (path, bytes) in [(path, shown), (copyPath, copy)] {
                let time = Timestamp(milliseconds: 0)
                if let bytes { #expect(world.machines[machine].disk.writeFile(path, bytes, now: time) == nil) }
            }
            for key in alerts { world.machines[machine].alerts[key] = Alert(key: key, sinceMilliseconds: 0) }
        }
        FormatJudge(life).atQuiescence(world)
        return world.violations.map { "\($0.invariant) \($0.detail)" }
    }

    private var copyPath: Path { Path(root: "f.conflict-alpha-20250615-150640-abcdef.note") }
    private var held: AlertKey {
        AlertKey(
            code: .formatDowngradeHeld, subject: path.bytes, format: FormatFinding(found: 1, kept: 2, node: .own))
    }

    @Test("The newer one at its path, the older one beside it, and the alert of that: nothing is wrong") func right() {
        #expect(verdict(shown: new, copy: old, alerts: [held]).isEmpty)
    }

    @Test("An older version at the path") func olderVersion() {
        let found = verdict(shown: old)
        #expect(found.count == 2)
        #expect(found.allSatisfy { $0.hasPrefix("INV-22") && $0.contains("saved version(2)") })
        #expect(found.allSatisfy { $0.contains("there is version(1)") })
    }

    @Test("A broken file at the path") func broken() {
        let zero = AlertKey(code: .formatZeroLength, subject: path.bytes)
        let found = verdict(shown: [], alerts: [zero])
        #expect(found.contains { $0.contains("saved version(2)") && $0.contains("broken") })
    }

    @Test("Nothing at the path: the version is lost") func lost() {
        let found = verdict(shown: nil)
        #expect(found.contains { $0.contains("saved version(2)") && $0.contains("there is nothing") })
    }

    @Test("No alert of the copy that was held back") func noAlertOfCopy() {
        let found = verdict(shown: new, copy: old)
        #expect(found.count == 2)
        #expect(found.allSatisfy { $0.contains("does not warn: format.downgrade-held") })
    }

    @Test("No alert of a version that the programs do not understand") func noAlertOfVersion() {
        #expect(verdict(shown: new, support: 1).contains { $0.contains("does not warn: format.newer") })
    }

    @Test("An alert of what is not there any more") func staleAlert() {
        #expect(verdict(shown: new, alerts: [held]).allSatisfy { $0.contains("warns without cause") })
        #expect(verdict(shown: new, alerts: [held]).count == 2)
    }
}

extension AlertKey {
    /// The same as the other node has it.
    fileprivate var fromTheOtherNode: AlertKey {
        guard let format, case .keeps(let kept) = format.measure else { return self }
        return AlertKey(
            code: code, subject: subject,
            format: FormatFinding(found: format.found, kept: kept, node: format.node.flipped))
    }
}
