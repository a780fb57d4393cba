// Trials of the invariants about the base: what the rows say, and whether it is so.
import SyncModel

@testable import SyncSim

extension CheckerTests {
    static let baseTrials: [Trial] = [
        baseIsTrue, nothingMissed, treeShape, equalReplicas, onePlace, equalBytes, reimportChangesNothing,
    ].flatMap(\.self)

    private static let baseIsTrue: [Trial] = [
        Trial(BaseIsTrue.self, "a row claims a revision that it does not show", says: "says it reflects") {
            isBad, court in
            var row = Row.file("1", at: "a")
            row.heads = [Revision(Seen.file("2", at: "a").entry, by: .peer, seq: 2, seen: row.version)]
            if isBad { row.reflected = row.version }
            BaseIsTrue().see(storing(row), &court)
        },
        Trial(BaseIsTrue.self, "the file has other bytes than its row", says: "on the disk is") { isBad, court in
            let row = Row.file("1", at: "a")
            BaseIsTrue().see(storing(row, over: .file(isBad ? "2" : "1", at: "a")), &court)
        },
        Trial(BaseIsTrue.self, "nobody touched the file since", says: "on the disk is") { isBad, court in
            let row = Row.file("1", at: "a")
            BaseIsTrue().see(
                storing(row, over: .file("2", at: "a", seconds: isBad ? 7 : 8)), &court)
        },
        Trial(BaseIsTrue.self, "the row does not say that it has to be read again", says: "on the disk is") {
            isBad, court in
            var row = Row.file("1", at: "a")
            row.disk?.isRacy = !isBad
            BaseIsTrue().see(storing(row, over: .file("2", at: "a")), &court)
        },
        Trial(BaseIsTrue.self, "a row of a file that is gone", says: "stands, but nothing does") { isBad, court in
            var sight = Sight(both: "a=1 b=1")
            if isBad { sight.machines[1].tree[at("b")] = nil }
            BaseIsTrue().see(sight, &court)
        },
        Trial(BaseIsTrue.self, "a row of the file that was there before", says: "another file at a") { isBad, court in
            var sight = Sight(both: "a=1")
            var row = Row.file("1", at: "a", by: .peer)
            if isBad { row.disk?.stat.identity = .of("b") }
            sight.machines[1].store.put(row)
            BaseIsTrue().see(sight, &court)
        },
    ]

    private static let nothingMissed: [Trial] = [
        Trial(NothingMissed.self, "a file has no row", says: "was never noticed") { isBad, court in
            var sight = Sight(both: "a=1")
            if isBad { sight.machines[1].store.perform(StoreBatch([.dropRow(at("a"))])) }
            NothingMissed().see(sight, &court)
        },
        Trial(NothingMissed.self, "a directory without a row holds nothing ignored", says: "was never noticed") {
            isBad, court in
            var sight = Sight(both: "d/")
            sight.machines[1].store.perform(StoreBatch([.dropRow(at("d"))]))
            sight.machines[1].unsynced[at(isBad ? "e/x" : "d/x")] = .text("1")
            NothingMissed().see(sight, &court)
        },
        Trial(NothingMissed.self, "a new time was overlooked", says: "the base still says") { isBad, court in
            var sight = Sight(both: "a=1")
            sight.machines[0].tree[at("a")] = .file("1", at: "a", seconds: isBad ? 8 : 7)
            NothingMissed().see(sight, &court)
        },
    ]

    private static let treeShape: [Trial] = [
        Trial(TreeShape.self, "an orphan", says: "d/x has no directory above it") { isBad, court in
            var sight = Sight(both: "d/x=1")
            if isBad { sight.machines[0].store.perform(StoreBatch([.dropRow(at("d"))])) }
            TreeShape().see(sight, &court)
        },
        Trial(TreeShape.self, "a child of a file", says: "which is no directory") { isBad, court in
            var sight = Sight(both: "d/x=1")
            if isBad { sight.machines[0].store.put(.file("1", at: "d")) }
            TreeShape().see(sight, &court)
        },
        Trial(TreeShape.self, "one directory at two places", says: "one directory is at d and at e") { isBad, court in
            var sight = Sight(both: "d/ e/")
            sight.machines[1].store.put(Row(of: .directory(at: isBad ? "d" : "e"), at: "e"))
            TreeShape().see(sight, &court)
        },
    ]

    private static let equalReplicas: [Trial] = [
        Trial(EqualReplicas.self, "the second node knows nothing of a path", says: "only one node knows a") {
            isBad, court in
            EqualReplicas().see(Sight("a=1", isBad ? "" : "a=1"), &court)
        },
        Trial(EqualReplicas.self, "the first node knows nothing of a path", says: "only one node knows a") {
            isBad, court in
            EqualReplicas().see(Sight(isBad ? "" : "a=1", "a=1"), &court)
        },
        Trial(EqualReplicas.self, "both claim to have written it", says: "the revisions of a differ") { isBad, court in
            var sight = Sight(both: "a=1")
            let row = Row.file("1", at: "a", by: isBad ? .own : .peer)
            sight.machines[1].store.put(row)
            EqualReplicas().see(sight, &court)
        },
        Trial(EqualReplicas.self, "one of two heads is known to one node", says: "the revisions of a differ") {
            isBad, court in
            var sight = Sight(both: "a=1")
            let entry = Seen.file("2", at: "a").entry
            for machine in 0..<(isBad ? 1 : 2) {
                guard var row = sight.machines[machine].store.rows[at("a")] else { continue }
                row.join(Revision(entry, by: machine == 0 ? .peer : .own, seq: 1))
                sight.machines[machine].store.put(row)
            }
            EqualReplicas().see(sight, &court)
        },
        Trial(EqualReplicas.self, "the rules of neither node ignore it", says: "the revisions of a differ") {
            isBad, court in
            var sight = Sight(both: "a=1")
            var row = Row.file("1", at: "a", by: .own)
            if !isBad { row.condition = .ignored }
            sight.machines[1].store.put(row)
            EqualReplicas().see(sight, &court)
        },
        Trial(EqualReplicas.self, "one node has forgotten what the author had seen", says: "the revisions of a differ")
        {
            isBad, court in
            var sight = Sight(both: "a=1")
            if isBad, var row = sight.machines[0].store.rows[at("a")] {
                row.heads[0].seen[.peer] = row.heads[0].origin.position
                sight.machines[0].store.put(row)
            }
            EqualReplicas().see(sight, &court)
        },
        Trial(
            EqualReplicas.self, "who moved it had seen more of what was written there",
            says: "the revisions of a differ"
        ) { isBad, court in
            var sight = Sight(both: "a=1")
            var log = SmallLog(1)
            log.put("2", at: isBad ? "a" : "b")
            sight.machines[1].store.perform(StoreBatch(log.records.map { .appendLog($0) }))
            for machine in 0..<2 {
                guard var row = sight.machines[machine].store.rows[at("a")] else { continue }
                row.heads[0].movedFrom = at("c")
                if machine == 0 { row.heads[0].seen.peer = log.head.position }
                sight.machines[machine].store.put(row)
            }
            EqualReplicas().see(sight, &court)
        },
        Trial(EqualReplicas.self, "one node has the mode from elsewhere", says: "the revisions of a differ") {
            isBad, court in
            var sight = Sight(both: "a=1")
            if isBad, var row = sight.machines[0].store.rows[at("a")] {
                row.heads[0].origins.mode = row.heads[0].origin.flipped
                sight.machines[0].store.put(row)
            }
            EqualReplicas().see(sight, &court)
        },
    ]

    private static let onePlace: [Trial] = [
        Trial(OnePlace.self, "a directory arrived and did not leave", says: "a directory was moved from d to e") {
            isBad, court in
            let act = DiskAct(
                machine: 0, operation: .move(.tree(at("d")), to: .tree(at("e"))),
                touched: [
                    DiskAct.Touched(
                        place: .tree(at("d")), before: .directory, after: isBad ? .directory : .absent),
                    DiskAct.Touched(place: .tree(at("e")), before: .absent, after: .directory),
                ],
                store: .fresh(0))
            OnePlace().see(act, &court)
        },
        Trial(OnePlace.self, "a child whose new path is too long stays behind", says: "but d/x still stands") {
            isBad, court in
            var store = VirtualStore.fresh(0)
            store.put(.directory(at: "d"))
            store.put(.file("1", at: "d/x"))
            let name = String(repeating: "n", count: Limits.nameBytesMax)
            let far = Array(repeating: name, count: Limits.pathBytesMax / (Limits.nameBytesMax + 1))
                .joined(separator: "/")
            let move = StoreBatch([.relocate(Relocation("d", to: isBad ? far : "e"))])
            OnePlace().see(StoreAct(machine: 0, batch: move, store: store, peerStore: .fresh(1)), &court)
        },
    ]

    private static let equalBytes: [Trial] = [
        Trial(EqualBytes.self, "the base calls the bytes by another name", says: "the base calls them") {
            isBad, court in
            var sight = Sight(both: "a=1")
            if isBad { sight.machines[1].store.put(.file("2", at: "a", by: .peer)) }
            EqualBytes().see(sight, &court)
        },
        Trial(EqualBytes.self, "a chunk list of other bytes", says: "the chunk list kept for a") { isBad, court in
            var sight = Sight(both: "a=1")
            let list = ContentHasher.chunks(of: utf8(isBad ? "2" : "1"))
            guard case .file(let id, _)? = sight.machines[0].tree[at("a")]?.entry.content else { return }
            sight.machines[0].store.perform(StoreBatch([.putChunks(id, list)]))
            EqualBytes().see(sight, &court)
        },
        Trial(EqualBytes.self, "the same bytes have two names", says: "two content ids") { isBad, court in
            var sight = Sight(both: "a=1")
            let other = Seen.file(isBad ? "2" : "1", at: "a")
            let seen = Seen(value: .text("1"), entry: other.entry, identity: other.identity)
            sight.machines[1].tree[at("a")] = seen
            sight.machines[1].store.put(Row(of: seen, at: "a", by: .peer))
            EqualBytes().see(sight, &court)
        },
    ]

    private static let reimportChangesNothing: [Trial] = [
        Trial(ReimportChangesNothing.self, "connecting anew changed a row", says: "changed the row of a") {
            isBad, court in
            var sight = Sight(both: "a=1")
            let checker = ReimportChangesNothing()
            checker.see(sight, &court)
            sight.look = 2
            if isBad { sight.machines[1].store.put(.file("1", at: "a", by: .own)) }
            checker.see(sight, &court)
        },
        Trial(ReimportChangesNothing.self, "connecting anew wrote into a log", says: "made the log entry") {
            isBad, court in
            var sight = Sight(both: "a=1")
            let checker = ReimportChangesNothing()
            var log = SmallLog(0)
            let entry = StoreBatch([.appendLog(log.put("1", at: "a"))])
            if !isBad { sight.machines[0].store.perform(entry) }
            checker.see(sight, &court)
            sight.look = 2
            sight.machines[0].store.perform(entry)
            checker.see(sight, &court)
        },
        Trial(ReimportChangesNothing.self, "the same process changed its row", says: "changed the row of a") {
            isBad, court in
            var sight = Sight(both: "a=1")
            let checker = ReimportChangesNothing()
            checker.see(sight, &court)
            sight.look = 2
            sight.machines[1].store.put(.file("1", at: "a", by: .own))
            if !isBad {
                checker.see(ProcessTurn(machine: 1, isRunning: true, store: sight.machines[1].store), &court)
            }
            checker.see(sight, &court)
        },
    ]
}

/// A batch with one row, and what stands at its path meanwhile.
private func storing(_ row: Row, over seen: Seen? = nil) -> StoreAct {
    StoreAct(
        machine: 0, batch: StoreBatch([.putRow(row)]), store: .fresh(0), peerStore: .fresh(1),
        look: { _ in seen?.stat }, read: { _ in seen })
}
