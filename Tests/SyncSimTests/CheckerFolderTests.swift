// Trials of the invariants that look at both folders at rest: what must be there, where, and as what.
import SyncModel

@testable import SyncSim

private let copy = "a.conflict-beta-20260101-000000-abcdef"
private let otherCopy = "a.conflict-alpha-20260101-000000-012345"

extension CheckerTests {
    static let folderTrials: [Trial] = [
        noLostUpdate, untouchedWork, onlyWhatPeopleMade, documentedOutcome, siblingsGoOn, convergence, staysDeleted,
        leastIntervention, orderIndependence, symmetry, everyLoserKept,
    ].flatMap(\.self)

    private static let noLostUpdate: [Trial] = [
        Trial(NoLostUpdate.self, "a file is on one node only", says: "neither there nor in a conflict copy") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            NoLostUpdate().see(Sight("a=1", isBad ? "" : "a=1"), &court)
        },
        Trial(NoLostUpdate.self, "the loser of a conflict has no copy", says: "neither there nor") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.wrote("2", at: "a", on: 1)
            NoLostUpdate().see(Sight(both: isBad ? "a=2" : "a=2 \(copy)=1"), &court)
        },
        Trial(NoLostUpdate.self, "a delete took what the deleter had not seen", says: "neither there nor") {
            isBad, court in
            court.ledger.wrote("0", at: "a", on: 0)
            court.ledger.wrote("1", over: "0", at: "a", on: 0)
            court.ledger.removed(isBad ? "0" : "1", at: "a", on: 1)
            NoLostUpdate().see(Sight(both: ""), &court)
        },
        Trial(NoLostUpdate.self, "what was written over blindly is not even in history", says: "not even set aside") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.wrote("2", over: "1", at: "a", on: 0, isBlind: true)
            var sight = Sight(both: "a=2")
            if !isBad { sight.machines[1].aside = [.text("1")] }
            NoLostUpdate().see(sight, &court)
        },
        Trial(NoLostUpdate.self, "what a directory move took along is lost on one node", says: "nowhere in the folder")
        {
            isBad, court in
            court.ledger.wrote("1", at: "d/x", on: 0)
            court.ledger.carried(.text("1"), from: at("d/x"), to: at("e/x"), on: 0, at: 0)
            NoLostUpdate().see(Sight("e/x=1", isBad ? "e/" : "e/x=1"), &court)
        },
        Trial(NoLostUpdate.self, "an ignored file is gone from its own node", says: "ignored") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            var sight = Sight(both: "")
            for index in sight.machines.indices { sight.machines[index].ignores = { $0 == at("a") } }
            if !isBad { sight.machines[0].unsynced[at("a")] = .text("1") }
            NoLostUpdate().see(sight, &court)
        },
        Trial(NoLostUpdate.self, "an ignored file is not even under another name", says: "ignored") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            var sight = Sight(both: "")
            for index in sight.machines.indices { sight.machines[index].ignores = { $0 == at("a") } }
            sight.machines[0].unsynced[at("b")] = .text(isBad ? "2" : "1")
            NoLostUpdate().see(sight, &court)
        },
        Trial(NoLostUpdate.self, "what was told before it was left out does not come", says: "neither there nor") {
            isBad, court in
            var sight = untoldEdit(standing: "1", &court)
            if isBad { sight.machines[1].untold = [:] }
            NoLostUpdate().see(sight, &court)
        },
        Trial(NoLostUpdate.self, "what was told to nobody is gone from its own node", says: "ignored") {
            isBad, court in
            let sight = untoldEdit(standing: isBad ? "2" : "1", &court)
            NoLostUpdate().see(sight, &court)
        },
        Trial(NoLostUpdate.self, "another path than the stuck one lost something", says: "neither there nor") {
            isBad, court in
            court.ledger.wrote("1", at: "d/x", on: 0)
            NoLostUpdate().see(Sight("d/x=1", "d/", stuck: [isBad ? "e" : "d"]), &court)
        },
    ]

    private static let untouchedWork: [Trial] = [
        Trial(UntouchedWork.self, "the only writer's file is an older one elsewhere", says: "only machine 0 wrote a") {
            isBad, court in
            court.ledger.wrote("0", at: "a", on: 0)
            court.ledger.wrote("1", over: "0", at: "a", on: 0)
            UntouchedWork().see(Sight("a=1", isBad ? "a=0" : "a=1"), &court)
        },
        Trial(UntouchedWork.self, "it is asked of paths that one side wrote", says: "only machine 0 wrote a") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            if !isBad { court.ledger.wrote("2", at: "a", on: 1) }
            UntouchedWork().see(Sight(both: "a=2 \(copy)=1"), &court)
        },
        Trial(UntouchedWork.self, "the rules that leave it out are known to both nodes", says: "only machine 1 wrote a")
        {
            isBad, court in
            var sight = untoldEdit(standing: "1", &court)
            if isBad { sight.machines[1].keepsToItself = { _ in false } }
            UntouchedWork().see(sight, &court)
        },
        Trial(UntouchedWork.self, "nothing is left out in the directory there", says: "only machine 0 wrote a") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            var sight = Sight(both: "a/ \(copy)=1")
            sight.machines[1].unsynced[at(isBad ? "b/x" : "a/x")] = .text("2")
            UntouchedWork().see(sight, &court)
        },
        Trial(UntouchedWork.self, "the directory that keeps the name cost the file", says: "only machine 0 wrote a") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            var sight = Sight("a/ \(copy)=1", isBad ? "a/" : "a/ \(copy)=1")
            sight.machines[1].unsynced[at("a/x")] = .text("2")
            UntouchedWork().see(sight, &court)
        },
        Trial(UntouchedWork.self, "the permission bits are not as they were left", says: "has 420") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.left(at("a"), on: 0, mode: isBad ? 0o600 : 0o644, modified: .seconds(7))
            UntouchedWork().see(Sight(both: "a=1"), &court)
        },
        Trial(UntouchedWork.self, "the time is not as it was left", says: "was left with time") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.left(at("a"), on: 0, mode: 0o644, modified: .seconds(isBad ? 8 : 7))
            UntouchedWork().see(Sight(both: "a=1"), &court)
        },
    ]

    private static let onlyWhatPeopleMade: [Trial] = [
        Trial(OnlyWhatPeopleMade.self, "the daemon puts torn bytes at a path", says: "was put at a") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            let touched = DiskAct.Touched(place: .tree(at("a")), before: .absent, after: .text(isBad ? "" : "1"))
            let act = DiskAct(
                machine: 1, operation: .move(stage1, to: .tree(at("a"))), touched: [touched], store: .fresh(1)
            )
            OnlyWhatPeopleMade().see(act, &court)
        },
        Trial(OnlyWhatPeopleMade.self, "a file stands at another path", says: "stands at b") { isBad, court in
            court.ledger.wrote("1", at: isBad ? "a" : "b", on: 0)
            OnlyWhatPeopleMade().see(Sight(both: "b=1"), &court)
        },
        Trial(OnlyWhatPeopleMade.self, "a directory that nobody made", says: "a directory stands at d") {
            isBad, court in
            if !isBad { court.ledger.madeDirectory("d", on: 1) }
            OnlyWhatPeopleMade().see(Sight(both: "d/"), &court)
        },
        Trial(OnlyWhatPeopleMade.self, "a conflict copy of what was never at its path", says: "stands at") {
            isBad, court in
            court.ledger.wrote("1", at: isBad ? "b" : "a", on: 0)
            OnlyWhatPeopleMade().see(Sight(both: "\(copy)=1"), &court)
        },
        Trial(OnlyWhatPeopleMade.self, "the kept file of the copy has one name only", says: "stands at") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            if !isBad { court.ledger.pages.update(at("a")) { $0.isEntangled = true } }
            OnlyWhatPeopleMade().see(Sight(both: "a=1 \(copy)=2"), &court)
        },
        Trial(OnlyWhatPeopleMade.self, "a copy whose cut name was another's", says: "stands at") { isBad, court in
            court.ledger.wrote("1", at: long(isBad ? "m" : "l", 250), on: 0)
            OnlyWhatPeopleMade().see(Sight(both: "\(long("l", 218)).conflict-beta-20260101-000000-abcdef=1"), &court)
        },
    ]

    private static let documentedOutcome: [Trial] = [
        Trial(DocumentedOutcome.self, "a file beat a directory", says: "a directory was made") { isBad, court in
            court.ledger.madeDirectory("a", on: 0)
            court.ledger.wrote("1", at: "a", on: 1)
            DocumentedOutcome().see(Sight(both: isBad ? "a=1" : "a/"), &court)
        },
        Trial(DocumentedOutcome.self, "a delete beat an edit", says: "none of what was left") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.removed("1", at: "a", on: 0)
            court.ledger.wrote("2", over: "1", at: "a", on: 1)
            DocumentedOutcome().see(Sight(both: isBad ? "" : "a=2"), &court)
        },
        Trial(DocumentedOutcome.self, "both deleted it and it is there", says: "nobody left") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.removed("1", at: "a", on: 0)
            court.ledger.removed("1", at: "a", on: 1)
            DocumentedOutcome().see(Sight(both: isBad ? "a=1" : ""), &court)
        },
        Trial(DocumentedOutcome.self, "of two edits neither has the name", says: "none of what was left") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.wrote("2", at: "a", on: 1)
            DocumentedOutcome().see(Sight(both: "\(isBad ? "" : "a=2 ")\(copy)=1 \(otherCopy)=2"), &court)
        },
        Trial(DocumentedOutcome.self, "what lost to another file has no copy", says: "none of what was left") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.removed("1", at: "a", on: 0)
            court.ledger.wrote("2", at: "a", on: 1)
            court.ledger.putOver(.text("1"), at: at("a"), on: 0)
            DocumentedOutcome().see(Sight(both: "a=1 \(isBad ? "" : "\(copy)=2")"), &court)
        },
        Trial(DocumentedOutcome.self, "only one had made room for a directory", says: "none of what was left") {
            isBad, court in
            for machine in isBad ? [0] : [0, 1] {
                court.ledger.madeDirectory("a", on: machine)
                court.ledger.removedDirectory("a", on: machine)
            }
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.wrote("2", at: "a", on: 1)
            DocumentedOutcome().see(Sight(both: "a/ \(copy)=1 \(otherCopy)=2"), &court)
        },
        Trial(DocumentedOutcome.self, "what made room for a directory has no copy", says: "none of what was left") {
            isBad, court in
            for machine in [0, 1] {
                court.ledger.madeDirectory("a", on: machine)
                court.ledger.removedDirectory("a", on: machine)
            }
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.wrote("2", at: "a", on: 1)
            DocumentedOutcome().see(Sight(both: "a/ \(copy)=1 \(isBad ? "" : "\(otherCopy)=2")"), &court)
        },
        Trial(DocumentedOutcome.self, "no rules kept an edit to one node", says: "none of what was left") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.removed("1", at: "a", on: 0)
            court.ledger.wrote("2", over: "1", at: "a", on: 1)
            var sight = Sight(both: "")
            sight.machines[1].keepToItself(isBad ? "b" : "a", "2")
            DocumentedOutcome().see(sight, &court)
        },
    ]

    private static let siblingsGoOn: [Trial] = [
        Trial(SiblingsGoOn.self, "a stuck file keeps its sibling back", says: "b differs") { isBad, court in
            SiblingsGoOn().see(Sight("a=1 b=1", isBad ? "a=2 b=2" : "a=2 b=1", stuck: ["a"]), &court)
        },
        Trial(SiblingsGoOn.self, "a sibling has not come at all", says: "b differs (nothing and") { isBad, court in
            SiblingsGoOn().see(Sight(isBad ? "" : "b=1", "a=1 b=1", stuck: ["a"]), &court)
        },
        Trial(SiblingsGoOn.self, "a directory waits that holds nothing stuck", says: "d differs") { isBad, court in
            SiblingsGoOn().see(Sight("d/", "", stuck: [isBad ? "a" : "d/x"]), &court)
        },
    ]

    private static let convergence: [Trial] = [
        Trial(Convergence.self, "a file is missing on the second node", says: "a is missing") { isBad, court in
            Convergence().see(Sight("a=1", isBad ? "" : "a=1"), &court)
        },
        Trial(Convergence.self, "a file is missing on the first node", says: "a is missing") { isBad, court in
            Convergence().see(Sight(isBad ? "" : "a=1", "a=1"), &court)
        },
        Trial(Convergence.self, "a symlink has two targets", says: "on the other") { isBad, court in
            Convergence().see(Sight("l->a", isBad ? "l->b" : "l->a"), &court)
        },
        Trial(Convergence.self, "permission bits differ", says: "has mode") { isBad, court in
            var sight = Sight(both: "a=1")
            sight.machines[1].tree[at("a")] = .file("1", at: "a", mode: isBad ? 0o600 : 0o644)
            Convergence().see(sight, &court)
        },
        Trial(Convergence.self, "times differ", says: "has time") { isBad, court in
            var sight = Sight(both: "a=1")
            sight.machines[1].tree[at("a")] = .file("1", at: "a", seconds: isBad ? 8 : 7)
            Convergence().see(sight, &court)
        },
        Trial(Convergence.self, "a directory is left that holds nothing ignored", says: "d is missing") {
            isBad, court in
            var sight = Sight("d/", "")
            sight.machines[0].unsynced[at(isBad ? "e/x" : "d/x")] = .text("1")
            Convergence().see(sight, &court)
        },
        Trial(Convergence.self, "a file that is no special one stands in the way", says: "a/x is missing") {
            isBad, court in
            var sight = Sight("a/x=1", "")
            sight.machines[1].unsynced[at("a")] = isBad ? .text("2") : .special
            Convergence().see(sight, &court)
        },
        Trial(Convergence.self, "what the rules of one node keep is another path", says: "a is missing") {
            isBad, court in
            var sight = Sight("a=1", "")
            sight.machines[1].keepToItself(isBad ? "b" : "a", "2")
            Convergence().see(sight, &court)
        },
    ]

    private static let staysDeleted: [Trial] = [
        Trial(StaysDeleted.self, "a deleted file is back", says: "was deleted and is back") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.removed("1", at: "a", on: 1)
            StaysDeleted().see(Sight(both: isBad ? "a=1" : ""), &court)
        },
        Trial(StaysDeleted.self, "a deleted directory is back and nothing lives in it", says: "back as a directory") {
            isBad, court in
            court.ledger.madeDirectory("d", on: 0)
            court.ledger.removedDirectory("d", on: 0)
            StaysDeleted().see(Sight(both: isBad ? "d/" : "d/x=1"), &court)
        },
        Trial(StaysDeleted.self, "no special file ever kept the directory", says: "back as a directory") {
            isBad, court in
            court.ledger.madeDirectory("d", on: 0)
            court.ledger.removedDirectory("d", on: 0)
            court.ledger.changed(at(isBad ? "e/p" : "d/p"), on: 1, from: .absent, to: .special, at: 0)
            StaysDeleted().see(Sight(both: "d/"), &court)
        },
        Trial(StaysDeleted.self, "no rules kept its delete to one node", says: "was deleted and is back") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.removed("1", at: "a", on: 1)
            var sight = Sight("a=1", "")
            sight.machines[1].keepToItself(isBad ? "b" : "a")
            StaysDeleted().see(sight, &court)
        },
        Trial(StaysDeleted.self, "nobody wrote it anew", says: "was deleted and is back") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.removed("1", at: "a", on: 0)
            if !isBad { court.ledger.wrote("1", at: "a", on: 1) }
            StaysDeleted().see(Sight(both: "a=1"), &court)
        },
        Trial(StaysDeleted.self, "the image has it on record", says: "was deleted and is back") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            let (full, empty) = (Ledger.Holdings(tree: [at("a"): .text("1")]), Ledger.Holdings(tree: [:]))
            court.ledger.setBack(
                0, to: 0, was: full, is: full, other: empty, isToldGone: { _ in false }, isTold: { _ in true },
                isUnrecorded: { _ in !isBad })
            court.ledger.removed("1", at: "a", on: 1)
            StaysDeleted().see(Sight(both: "a=1"), &court)
        },
    ]

    private static let leastIntervention: [Trial] = [
        Trial(LeastIntervention.self, "a copy of what is at the path", says: "holds the same as a") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            LeastIntervention().see(Sight(both: "a=1 \(copy)=\(isBad ? "1" : "2")"), &court)
        },
        Trial(LeastIntervention.self, "nobody let go of the directory it lost to", says: "holds the same as a") {
            isBad, court in
            court.ledger.madeDirectory("a", on: 0)
            court.ledger.wrote("1", at: "a", on: 1)
            if !isBad { court.ledger.removedDirectory("a", on: 0) }
            LeastIntervention().see(Sight(both: "a=1 \(copy)=1"), &court)
        },
        Trial(LeastIntervention.self, "two copies of one loser", says: "holds the same as a.conflict-alpha") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            LeastIntervention().see(Sight(both: "a=1 \(otherCopy)=2 \(copy)=\(isBad ? "2" : "3")"), &court)
        },
        Trial(LeastIntervention.self, "made once more after an image", says: "holds the same as a.conflict-alpha") {
            isBad, court in
            let checker = LeastIntervention()
            court.ledger.wrote("1", at: "a", on: 0)
            if !isBad { checker.see(OperatorAct(machine: 0, kind: .restoredImage, store: .fresh(0)), &court) }
            checker.see(Sight(both: "a=1 \(otherCopy)=2 \(copy)=2"), &court)
        },
        Trial(LeastIntervention.self, "no person made the copy", says: "holds the same as a") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            if !isBad { court.ledger.wrote("1", at: copy, on: 0) }
            LeastIntervention().see(Sight(both: "a=1 \(copy)=1"), &court)
        },
        Trial(LeastIntervention.self, "the kept file of the copy has one name only", says: "holds the same as a") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            if !isBad { court.ledger.pages.update(at("a")) { $0.isEntangled = true } }
            LeastIntervention().see(Sight(both: "a=1 \(copy)=1"), &court)
        },
    ]

    private static let orderIndependence: [Trial] = [
        Trial(OrderIndependence.self, "slower disks let another writer win", says: "a ends as file") { isBad, court in
            OrderIndependence().compare(Sight(both: "a=1"), with: Sight(both: isBad ? "a=2" : "a=1"), &court)
        },
        Trial(OrderIndependence.self, "slower disks left a file over", says: "b ends as nothing") { isBad, court in
            OrderIndependence().compare(Sight(both: "a=1"), with: Sight("a=1", isBad ? "a=1 b=1" : "a=1"), &court)
        },
        Trial(OrderIndependence.self, "slower disks let another mode win", says: "a ends with mode") { isBad, court in
            OrderIndependence().compare(Sight(both: "a=1"), with: executable(isBad), &court)
        },
    ]

    private static let symmetry: [Trial] = [
        Trial(Symmetry.self, "the machine's number decided who won", says: "in the mirror file") { isBad, court in
            let mirror = Sight(isBad ? "a=2" : "a=1", "a=1")
            Symmetry().compare(Sight(both: "a=1"), with: mirror, renaming: { $0 }, &court)
        },
        Trial(Symmetry.self, "the mirror has one more", says: "b is nothing, in the mirror file") { isBad, court in
            let mirror = Sight(both: isBad ? "a=1 b=1" : "a=1")
            Symmetry().compare(Sight(both: "a=1"), with: mirror, renaming: { $0 }, &court)
        },
        Trial(Symmetry.self, "a copy is named after the wrong machine", says: "in the mirror nothing") { isBad, court in
            let mirrored = "a.conflict-alpha-20260101-000000-abcdef"
            Symmetry().compare(
                Sight(both: "\(copy)=1"), with: Sight(both: "\(mirrored)=1"),
                renaming: { $0 == at(mirrored) && !isBad ? at(copy) : $0 }, &court)
        },
        Trial(Symmetry.self, "the machine's number decided whose mode won", says: "a has mode") { isBad, court in
            Symmetry().compare(Sight(both: "a=1"), with: executable(isBad), renaming: { $0 }, &court)
        },
    ]

    private static let everyLoserKept: [Trial] = [
        Trial(EveryLoserKept.self, "one of three values in conflict is nowhere", says: "1 are lost") { isBad, court in
            court.ledger.wrote("0", at: "a", on: 0)
            court.ledger.wrote("1", over: "0", at: "a", on: 0)
            court.ledger.wrote("2", over: "0", at: "a", on: 1)
            EveryLoserKept().see(Sight("a=2 \(copy)=1", isBad ? "a=2" : "a=2 \(copy)=1"), &court)
        },
        Trial(EveryLoserKept.self, "what one node was to keep to itself is nowhere", says: "1 are lost") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.wrote("2", at: "a", on: 1)
            var sight = Sight("a=1", "")
            sight.machines[1].keepToItself("a", isBad ? nil : "2")
            EveryLoserKept().see(sight, &court)
        },
        Trial(EveryLoserKept.self, "the daemon removes a conflict copy", says: "went away") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.wrote("2", at: "a", on: 1)
            if !isBad { court.ledger.removed("1", at: copy, on: 1) }
            EveryLoserKept().see(removal(of: "1", at: copy), &court)
        },
        Trial(EveryLoserKept.self, "the loser is not under its name either", says: "went away") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.wrote("2", at: "a", on: 1)
            EveryLoserKept().see(removal(of: "1", at: copy, isHeld: !isBad), &court)
        },
        Trial(EveryLoserKept.self, "the daemon puts something else in place of a copy", says: "went away") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.wrote("2", at: "a", on: 1)
            let touched = DiskAct.Touched(
                place: .tree(at(copy)), before: .text("1"), after: .text(isBad ? "2" : "1"))
            let act = DiskAct(
                machine: 0, operation: .exchange(.stage(.first), .tree(at(copy))), touched: [touched], store: .fresh(0))
            EveryLoserKept().see(act, &court)
        },
        Trial(EveryLoserKept.self, "a copy goes elsewhere, and not back", says: "went away") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.wrote("2", at: "a", on: 1)
            var store = VirtualStore.fresh(0)
            let announced = Intent(
                stage: .first, path: at(copy), action: .rename(from: at(isBad ? "c" : "b")), expected: nil,
                displaced: nil)
            store.perform(StoreBatch([.putIntent(announced)]))
            let touched = DiskAct.Touched(place: .tree(at(copy)), before: .text("1"), after: .absent)
            let act = DiskAct(
                machine: 0, operation: .move(.tree(at(copy)), to: .tree(at("b"))), touched: [touched], store: store)
            EveryLoserKept().see(act, &court)
        },
    ]

    /// The daemon puts a file away into history.
    static func removal(
        of text: String, at place: String, isHeld: Bool = false, isElsewhere: Bool = false
    ) -> DiskAct {
        DiskAct(
            machine: 0, operation: .move(.tree(at(place)), to: version1),
            touched: [DiskAct.Touched(place: .tree(at(place)), before: .text(text), after: .absent)],
            store: .fresh(0), holds: { _, near in isHeld && near == ConflictFamily.head(of: at(place)) },
            otherHolds: { _, near in isElsewhere && near == at(place) })
    }

    /// Machine 1 has written over what both had, and keeps to itself what stands there.
    private static func untoldEdit(standing text: String, _ court: inout Court) -> Sight {
        court.ledger.wrote("0", at: "a", on: 1)
        court.ledger.wrote("1", over: "0", at: "a", on: 1)
        var sight = Sight("a=0", "")
        sight.machines[1].keepToItself("a", text)
        return sight
    }

    private static func long(_ letter: String, _ count: Int) -> String { String(repeating: letter, count: count) }
}

/// One file in both folders, which may be executed in the second if `isSo`.
private func executable(_ isSo: Bool) -> Sight {
    var sight = Sight(both: "a=1")
    sight.machines[1].tree[at("a")] = .file("1", at: "a", mode: isSo ? 0o755 : 0o644)
    return sight
}
