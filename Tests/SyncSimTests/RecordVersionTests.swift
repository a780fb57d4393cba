import Foundation
import SyncModel
import Testing

@testable import SyncSim

/// Programs and models of three versions on two nodes, saving the same documents of records blindly over each other, with cuts, kills and
/// upgrades in between.
@Suite("Documents of records in several versions")
struct RecordVersionTests {
    @Test(
        "INV-22: no document goes back to an earlier version, both nodes end alike, and what had to make room lies beside"
    )
    func noDowngrade() {
        let factor = ProcessInfo.processInfo.environment["SYNCD_EFFORT"].flatMap { UInt64($0) } ?? 1
        let first = ProcessInfo.processInfo.environment["SYNCD_FIRST_SEED"].flatMap { UInt64($0) } ?? 1
        for seed in first..<(first + 12 * factor) {
            var course = Course(seed: seed)
            let faults = course.play()
            #expect(faults == [], "seed \(seed):\n\(course.told.joined(separator: "\n"))")
        }
    }

    private struct Course {
        private var random: SeededRandom
        private let runner: ScenarioRunner
        private(set) var told: [String] = []
        private var faults: [String] = []
        private var isApart = false
        private var saves = 0
        private var models = [1, 1]
        /// The highest version that each machine has shown at a path when it was calm.
        private var shown: [[String: Int]] = [[:], [:]]
        /// What had to make room.
        private var displaced: [String] = []

        private static let machines = ["alpha", "beta"]

        init(seed: UInt64) {
            random = SeededRandom(seed: seed)
            runner = ScenarioRunner(seed: seed)
        }

        mutating func play() -> [String] {
            for machine in 0..<2 { install(version: 1 + below(2), on: machine) }
            save(0, "1", version: 1)
            tell("start")
            tell("run 10s")
            for _ in 0..<(6 + below(8)) { step() }
            end()
            return faults
        }

        private mutating func step() {
            let machine = below(2)
            switch below(13) {
            case 0..<6: overwrite(machine)
            case 6:
                isApart.toggle()
                tell(isApart ? "part" : "heal")
            case 7:
                tell("\(Self.machines[machine]) kill")
                tell("\(Self.machines[machine]) start")
            case 8:
                // What was never synced may be lost.
                calm(90)
                tell("\(Self.machines[machine]) power-cut")
                tell("\(Self.machines[machine]) start")
            case 9:
                install(version: models[machine] + below(4 - models[machine]), on: machine)
                tell("\(Self.machines[machine]) kill")
                tell("\(Self.machines[machine]) start")
            case 10: delete(machine)
            default: calm(1 + below(9))
            }
        }

        /// By a program that does not look what is there. Sometimes another does the same at once on the other machine.
        private mutating func overwrite(_ machine: Int) {
            calm(6)
            let path = String(1 + below(2))
            let before = shown[machine][path]
            let version = 1 + below(3)
            let text = save(machine, path, version: version)
            let isAlone = below(3) > 0
            if !isAlone { save(1 - machine, path, version: 1 + below(3)) }
            if below(4) == 0 {
                tell("\(Self.machines[machine]) kill")
                tell("\(Self.machines[machine]) start")
            }
            calm(8)
            if let before, version < before, isAlone, !isWaiting { displaced.append(text) }
        }

        /// Who has seen a document may delete it, and put anything in its place.
        private mutating func delete(_ machine: Int) {
            calm(6)
            let path = String(1 + below(2))
            guard shown[machine][path] != nil else { return }
            tell("\(Self.machines[machine]) rm d/n/\(path)")
            shown[0][path] = nil
            shown[1][path] = nil
            tell("run 5s")
        }

        @discardableResult
        private mutating func save(_ machine: Int, _ path: String, version: Int) -> String {
            saves += 1
            let text = "s\(saves)"
            let more = version > 1 ? #",\"x\#(version)\":\"\#(text)\""# : ""
            tell(#"\#(Self.machines[machine]) write d/n/\#(path) "{\"v\":\#(version),\"t\":\"\#(text)\"\#(more)}""#)
            return text
        }

        private mutating func calm(_ seconds: Int) {
            tell("run \(seconds)s")
            if seconds >= 6 { look() }
        }

        /// Where a node has a later model than the other, what it saves is not shown there, and what is to make room for that waits with it. Who has told
        /// of nothing yet does not before the other is there.
        private var isWaiting: Bool { isApart || runner.perform("alerts").contains { $0.contains("schema.newer") } }

        /// Nobody has touched anything for a while: no document may be in an earlier version than it was.
        private mutating func look() {
            if isWaiting { return }
            let sketches = runner.perform("show")
            for machine in 0..<2 {
                for path in ["1", "2"] {
                    guard let version = version(of: path, in: sketches[machine]) else { continue }
                    let before = shown[machine][path] ?? 0
                    if version < before {
                        faults.append(
                            "\(Self.machines[machine]) d/n/\(path) went from \(before) to \(version): \(sketches)")
                    }
                    shown[machine][path] = max(version, before)
                }
            }
        }

        private func version(of path: String, in sketch: String) -> Int? {
            guard let place = sketch.range(of: #"d/n/\#(path)={"v":"#) else { return nil }
            return Int(String(sketch[place.upperBound...].prefix(1)))
        }

        private mutating func end() {
            if isApart { tell("heal") }
            for machine in 0..<2 {
                install(version: 3, on: machine)
                tell("\(Self.machines[machine]) kill")
                tell("\(Self.machines[machine]) start")
            }
            tell("settle")
            look()
            let sketches = runner.perform("show").map { String($0.dropFirst(7)) }
            if sketches[0] != sketches[1] { faults.append("the nodes differ: \(sketches)") }
            for path in ["1", "2"] {
                let highest = max(shown[0][path] ?? 0, shown[1][path] ?? 0)
                let version = version(of: path, in: sketches[0]) ?? 0
                if version < highest { faults.append("d/n/\(path) ends in version \(version) of \(highest)") }
            }
            for text in displaced where !sketches[0].contains("\"\(text)\"") { faults.append("\(text) is nowhere") }
            for alert in runner.perform("alerts") where alert.contains("newer") { faults.append("left: \(alert)") }
        }

        private mutating func install(version: Int, on machine: Int) {
            models[machine] = version
            let reads = (1...version).map(String.init).joined(separator: ",")
            let more = (1...version).filter { $0 > 1 }.map { #",\"x\#($0)\":{\"type\":\"string\"}"# }.joined()
            tell(
                #"\#(Self.machines[machine]) model "{\"model\":\"m\",\"version\":\#(version),\"reads\":[\#(reads)],\"root\":\"d\",\"versionAt\":\"/v\",\"entities\":{\"N\":{\"files\":\"n/*\",\"id\":\"stem\",\"fields\":{\"t\":{\"type\":\"string\"}\#(more)}}}}""#
            )
        }

        private mutating func tell(_ line: String) {
            told.append(line)
            let said = runner.perform(line)
            faults += said.map { "\(line): \($0)" }
        }

        private mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    }
}
