import SyncModel

/// Every pair of small histories, run and judged: what no chance can miss.
///
/// Scope: histories of at most two operations a side over three names on two levels, kinds file, directory, symlink and
/// absent, from nothing and from a small base. Each pair is run apart and then together, once more with slower disks, stores
/// and links (INV-12) and once in the mirror (INV-19); pairs in which each side does one thing also with the link up. Pairs
/// that are the same but for the names, or but for which machine is which, are run once.
package enum Exhaustive {
    package static func run(part: Int, of count: Int, say: (String) -> Void) -> Bool {
        let cases = SmallCase.all
        var failed = 0
        var passed = 0
        for (number, small) in cases.enumerated() where number % count == part - 1 {
            let findings = small.judge()
            if findings.isEmpty {
                passed += 1
            } else {
                failed += 1
                say("case \(number): \(small)")
                for finding in findings.prefix(5) { say("  \(finding)") }
            }
            if (passed + failed) % 5_000 == 0 {
                say("\(passed + failed) of \((cases.count + count - 1) / count) pairs, \(failed) failed")
            }
        }
        say("\(passed) passed, \(failed) failed, 0 skipped")
        return failed == 0
    }

    /// One of them as it runs, for whoever looks for the cause of a finding: the first way of running it that goes wrong.
    package static func story(ofCase number: Int) -> [String] {
        let cases = SmallCase.all
        guard number < cases.count else { return ["there is no case \(number): there are \(cases.count), from 0"] }
        let small = cases[number]
        let ways: [(isMirrored: Bool, timing: SmallWorld.Timing)] = [(false, .plain), (false, .slow), (true, .plain)]
        var lines: [String] = []
        for (isMirrored, timing) in ways {
            let world = SmallWorld(
                base: small.base, small.histories, isMirrored: isMirrored, timing: timing, keepsTrace: true
            ).world
            let findings = world.violations.map { "\($0.invariant) \($0.detail)" }
            let title = "\(small), \(timing)\(isMirrored ? ", mirrored" : "")"
            if lines.isEmpty || !findings.isEmpty { lines = [title] + world.trace.lines + findings }
            if !findings.isEmpty { break }
        }
        return lines
    }
}

/// A base and what each side does to it.
struct SmallCase: CustomStringConvertible {
    let base: SmallBase
    let histories: [History]

    var description: String { "from \(base.name): \(histories[0]) | \(histories[1])" }

    static let all: [SmallCase] = SmallBase.all.flatMap { base in
        let histories = base.tree.histories(length: 2)
        var cases: [SmallCase] = []
        for (index, first) in histories.enumerated() {
            for second in histories[index...] where isCanonical(first, second, base) {
                cases.append(SmallCase(base: base, histories: [first, second]))
            }
        }
        return cases
    }

    /// Of two pairs that differ only in the names a and b the first is taken. Where the base knows a from b nothing is saved.
    private static func isCanonical(_ first: History, _ second: History, _ base: SmallBase) -> Bool {
        guard base.operations.isEmpty else { return true }
        let (one, two) = (first.renamed, second.renamed)
        let (low, high) = one < two ? (one, two) : (two, one)
        return first < low || (first == low && !(high < second))
    }

    func judge() -> [String] {
        let plain = SmallWorld(base: base, histories, isMirrored: false, timing: .plain)
        var findings = plain.world.violations.map { "\($0.invariant) \($0.detail)" }
        if !findings.isEmpty { return findings }
        let slow = SmallWorld(base: base, histories, isMirrored: false, timing: .slow)
        findings += slow.world.violations.map { "slow: \($0.invariant) \($0.detail)" }
        let mirror = SmallWorld(base: base, histories, isMirrored: true, timing: .plain)
        findings += mirror.world.violations.map { "mirrored: \($0.invariant) \($0.detail)" }
        if histories.allSatisfy({ $0.operations.count == 1 }) {
            let together = SmallWorld(base: base, histories, isMirrored: false, timing: .together)
            findings += together.world.violations.map { "together: \($0.invariant) \($0.detail)" }
        }
        if !findings.isEmpty { return findings }
        var court = Court()
        OrderIndependence().compare(plain.sight, with: slow.sight, &court)
        Symmetry().compare(plain.sight, with: mirror.sight, renaming: SmallCase.mirrored, &court)
        return court.findings.map { "\($0.id) \($0.text)" }
    }

    /// A conflict copy of the mirror world, with the names of the two machines exchanged.
    private static func mirrored(_ path: Path) -> Path {
        guard let parent = path.parent, let name = path.name?.bytes else { return path }
        for (old, new) in [(".conflict-alpha-", ".conflict-beta-"), (".conflict-beta-", ".conflict-alpha-")] {
            guard let start = firstIndex(of: Array(old.utf8), in: name) else { continue }
            let renamed = name[..<start] + Array(new.utf8) + name[(start + old.utf8.count)...]
            return Name(Array(renamed)).map { parent.appending($0) } ?? path
        }
        return path
    }

    private static func firstIndex(of part: [UInt8], in whole: [UInt8]) -> Int? {
        guard whole.count >= part.count else { return nil }
        return (0...(whole.count - part.count)).first { whole[$0...].starts(with: part) }
    }
}
