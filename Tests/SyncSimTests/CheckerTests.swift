import SyncCore
import SyncModel
import Testing

@testable import SyncSim

/// Each invariant is shown a small bad world and its nearest good sibling (see `Trial`): one that cannot fail is none. The
/// trials are beside this file by what they look at: `CheckerFolderTests`, `CheckerDiskTests`, `CheckerBaseTests`,
/// `CheckerLogTests`, `CheckerNodeTests`.
@Suite("Every invariant can fail")
struct CheckerTests {
    static let trials: [Trial] = folderTrials + diskTrials + baseTrials + logTrials + nodeTrials

    @Test("What breaks an invariant is reported, what only looks like it is not", arguments: trials)
    func judges(trial: Trial) {
        let findings = trial.findings(isBad: true)
        #expect(findings.contains { $0.text.contains(trial.says) }, "found: \(findings.map(\.text))")
        #expect(findings.allSatisfy { $0.id == trial.id })
        #expect(trial.findings(isBad: false) == [])
    }

    @Test("Every invariant that a world is judged by has a trial") func complete() {
        var evil = SeedPlan(calm: 1)
        evil.turnOn(.evilPeer, pauseMilliseconds: 400)
        let asked = [SeedPlan(calm: 1), evil].map { plan in
            Checkers.invariants(for: plan).map { type(of: $0).id } + [OrderIndependence.id, Symmetry.id]
        }
        let tried = Set(CheckerTests.trials.map(\.id))
        for ids in asked {
            #expect(ids.filter { !tried.contains($0) } == [])
            #expect(Set(ids).count == ids.count)
        }
        #expect(tried.subtracting(asked.joined()) == [])
    }
}
