// Trials of the invariants about the two logs: what is written, promised and taken over.
import SyncCore
import SyncModel

@testable import SyncSim

extension CheckerTests {
    static let logTrials: [Trial] = [
        acknowledgedIsDurable, denseLog, importedIsPrefix, oneEntryPerPosition, deletesHaveCauses, clockAboveAll,
    ].flatMap(\.self)

    private static let acknowledgedIsDurable: [Trial] = [
        Trial(AcknowledgedIsDurable.self, "a node promises what it has not stored", says: "sends an acknowledgement") {
            isBad, court in
            let checker = AcknowledgedIsDurable()
            let head = LogHead(position: .number(2), chain: .zero)
            checker.see(storing(0, [.putNode(importing(.number(isBad ? 1 : 2)))]), &court)
            let promise = FrameCodec.encode(.acknowledge(Acknowledgement(head: head, isSettled: false)))
            checker.see(
                StepAct(machine: 0, event: .deadline, effects: [.send(LinkID(raw: 1), promise)]), &court)
        },
        Trial(AcknowledgedIsDurable.self, "a restarted node promises what it had", says: "sends an acknowledgement") {
            isBad, court in
            let checker = AcknowledgedIsDurable()
            var store = VirtualStore.fresh(0)
            store.perform(StoreBatch([.putNode(importing(.number(isBad ? 1 : 2)))]))
            checker.see(ProcessTurn(machine: 0, isRunning: true, store: store), &court)
            let head = LogHead(position: .number(2), chain: .zero)
            let promise = FrameCodec.encode(.acknowledge(Acknowledgement(head: head, isSettled: true)))
            checker.see(
                StepAct(machine: 0, event: .deadline, effects: [.send(LinkID(raw: 1), promise)]), &court)
        },
        Trial(AcknowledgedIsDurable.self, "a node believes more than the peer has", says: "its store ends at") {
            isBad, court in
            AcknowledgedIsDurable().see(believing(.number(2), peerHas: .number(isBad ? 1 : 2)), &court)
        },
        Trial(AcknowledgedIsDurable.self, "the peer was never set back", says: "its store ends at") { isBad, court in
            let checker = AcknowledgedIsDurable()
            if !isBad { checker.see(OperatorAct(machine: 1, kind: .restoredImage, store: .fresh(1)), &court) }
            checker.see(believing(.number(2), peerHas: .number(1)), &court)
        },
    ]

    private static let denseLog: [Trial] = [
        Trial(DenseLog.self, "an entry is left out", says: "does not follow") { isBad, court in
            var log = SmallLog(0)
            log.put("1", at: "a", skipping: isBad ? 1 : 0)
            DenseLog().see(storing(0, appending(log)), &court)
        },
        Trial(DenseLog.self, "the chain does not verify", says: "the hash chain breaks") { isBad, court in
            var log = SmallLog(isBad ? 1 : 0)
            log.put("1", at: "a")
            DenseLog().see(storing(0, appending(log)), &court)
        },
        Trial(DenseLog.self, "the node does not know its last entry", says: "the node says") { isBad, court in
            var log = SmallLog(0)
            log.put("1", at: "a")
            DenseLog().see(storing(0, appending(log, head: isBad ? .none : log.head)), &court)
        },
        Trial(DenseLog.self, "a stored log has a hole", says: "does not follow") { isBad, court in
            var log = SmallLog(0)
            for text in ["1", "2", "3"] { log.put(text, at: "a") }
            var sight = Sight(both: "")
            var kept = log.records
            if isBad { kept.remove(at: 1) }
            sight.machines[0].store.perform(
                StoreBatch(
                    kept.map { .appendLog($0) } + [.putNode(VirtualStore.fresh(0).node { $0.ownHead = log.head })]))
            DenseLog().see(sight, &court)
        },
        Trial(DenseLog.self, "more was forgotten than may be", says: "the log ends at") { isBad, court in
            var log = SmallLog(0)
            log.put("1", at: "a")
            var sight = Sight(both: "")
            let record = VirtualStore.fresh(0).node {
                $0.ownHead = log.head
                if !isBad { $0.prunedThrough = log.head }
            }
            sight.machines[0].store.perform(StoreBatch([.putNode(record)]))
            DenseLog().see(sight, &court)
        },
    ]

    private static let importedIsPrefix: [Trial] = [
        Trial(ImportedIsPrefix.self, "imported what the peer never stored", says: "which the peer never stored") {
            isBad, court in
            let checker = ImportedIsPrefix()
            var log = SmallLog(1)
            log.put("1", at: "a")
            if !isBad { checker.see(storing(1, appending(log)), &court) }
            checker.see(storing(0, [.putNode(importing(log.head))]), &court)
        },
        Trial(ImportedIsPrefix.self, "the beginning of an epoch that the peer never began", says: "never stored") {
            isBad, court in
            let checker = ImportedIsPrefix()
            let head = LogHead(position: LogPosition(epoch: Epoch(number: 2, nonce: 1), seq: 0), chain: .zero)
            let began = VirtualStore.fresh(1).node { $0.ownHead = head }
            if !isBad { checker.see(storing(1, [.putNode(began)]), &court) }
            checker.see(storing(0, [.putNode(importing(head))]), &court)
        },
        Trial(ImportedIsPrefix.self, "imported another entry than the peer's", says: "imported another entry") {
            isBad, court in
            let checker = ImportedIsPrefix()
            var (log, other) = (SmallLog(1), SmallLog(1))
            log.put("1", at: "a")
            other.put(isBad ? "2" : "1", at: "a")
            checker.see(storing(1, appending(log)), &court)
            checker.see(storing(0, [.putNode(importing(other.head))]), &court)
        },
    ]

    private static let oneEntryPerPosition: [Trial] = [
        Trial(OneEntryPerPosition.self, "a number is used twice", says: "a second, different entry") { isBad, court in
            let checker = OneEntryPerPosition()
            var (log, other) = (SmallLog(0), SmallLog(0))
            log.put("1", at: "a")
            other.put(isBad ? "2" : "1", at: "a")
            checker.see(storing(0, appending(log)), &court)
            checker.see(OperatorAct(machine: 0, kind: .restoredImage, store: .fresh(0)), &court)
            checker.see(storing(0, appending(other)), &court)
        },
        Trial(OneEntryPerPosition.self, "both are of one node", says: "a second, different entry") { isBad, court in
            let checker = OneEntryPerPosition()
            var (log, other) = (SmallLog(0), SmallLog(0))
            log.put("1", at: "a")
            other.put("2", at: "a")
            checker.see(storing(0, appending(log)), &court)
            checker.see(storing(isBad ? 0 : 1, appending(other)), &court)
        },
    ]

    private static let deletesHaveCauses: [Trial] = [
        Trial(DeletesHaveCauses.self, "the log deletes a file that nobody removed", says: "that a was deleted") {
            isBad, court in
            var log = SmallLog(0)
            log.put(nil, at: "a")
            court.ledger.wrote("1", at: "a", on: 0)
            if !isBad { court.ledger.removed("1", at: "a", on: 0) }
            DeletesHaveCauses().see(storing(0, appending(log)), &court)
        },
        Trial(DeletesHaveCauses.self, "a file was removed on the other machine only", says: "that a was deleted") {
            isBad, court in
            var log = SmallLog(0)
            log.put(nil, at: "a")
            court.ledger.wrote("1", at: "a", on: 1)
            court.ledger.removed("1", at: "a", on: isBad ? 1 : 0)
            DeletesHaveCauses().see(storing(0, appending(log)), &court)
        },
        Trial(DeletesHaveCauses.self, "its own state was not put back since", says: "that a was deleted") {
            isBad, court in
            var log = SmallLog(0)
            log.put(nil, at: "a")
            court.ledger.wrote("1", at: "a", on: 1)
            court.ledger.removed("1", at: "a", on: 1)
            if !isBad { court.ledger.forgotDepartures(of: [at("a")], on: 0) }
            DeletesHaveCauses().see(storing(0, appending(log)), &court)
        },
        Trial(DeletesHaveCauses.self, "the log moves a directory that nobody moved", says: "that d was deleted") {
            isBad, court in
            var log = SmallLog(0)
            log.move("d", to: "e")
            court.ledger.madeDirectory("d", on: 0)
            if !isBad { court.ledger.removedDirectory("d", on: 0) }
            DeletesHaveCauses().see(storing(0, appending(log)), &court)
        },
        Trial(DeletesHaveCauses.self, "no power cut took the file", says: "that a was deleted") { isBad, court in
            var log = SmallLog(0)
            log.put(nil, at: "a")
            court.ledger.wrote("1", at: "a", on: 0)
            let (full, empty) = (Ledger.Holdings(tree: [at("a"): .text("1")]), Ledger.Holdings(tree: [:]))
            if !isBad { court.ledger.struck(0, was: full, is: empty, other: empty, isSafe: { _, _ in false }) }
            DeletesHaveCauses().see(storing(0, appending(log)), &court)
        },
    ]

    private static let clockAboveAll: [Trial] = [
        Trial(ClockAboveAll.self, "an entry is older than what it was made on", says: "is stamped") { isBad, court in
            ClockAboveAll().see(writing("2", over: "1", seconds: isBad ? 4 : 6), &court)
        },
        Trial(ClockAboveAll.self, "something new has the stamp of the old", says: "is stamped") { isBad, court in
            ClockAboveAll().see(writing(isBad ? "2" : "1", over: "1", seconds: 5), &court)
        },
        Trial(ClockAboveAll.self, "what it was made on was known", says: "is stamped") { isBad, court in
            ClockAboveAll().see(writing("2", over: "1", seconds: 4, hasSeenIt: isBad), &court)
        },
        Trial(ClockAboveAll.self, "the stored clock is behind an entry", says: "the stored clock stands at") {
            isBad, court in
            var log = SmallLog(0)
            log.put("1", at: "a")
            let record = VirtualStore.fresh(0).node { $0.clock = .seconds(isBad ? 0 : 1) }
            ClockAboveAll().see(storing(0, [.putNode(record)] + appending(log).dropLast()), &court)
        },
        Trial(ClockAboveAll.self, "the stored clock is behind a row", says: "the stored clock stands at") {
            isBad, court in
            let row = Row.file("1", at: "a", by: .peer, seq: 9)
            let record = VirtualStore.fresh(0).node { $0.clock = .seconds(isBad ? 8 : 9) }
            ClockAboveAll().see(storing(0, [.putRow(row), .putNode(record)]), &court)
        },
        Trial(ClockAboveAll.self, "a row is stored, and not that the clock has gone on", says: "the stored clock") {
            isBad, court in
            let row = Row.file("1", at: "a", by: .peer, seq: 9)
            var store = VirtualStore.fresh(0)
            store.perform(StoreBatch([.putNode(store.node { $0.clock = .seconds(isBad ? 8 : 9) })]))
            ClockAboveAll().see(storing(0, [.putRow(row)], over: store), &court)
        },
        Trial(ClockAboveAll.self, "a restarted node's clock is behind its store", says: "the stored clock stands at") {
            isBad, court in
            let checker = ClockAboveAll()
            var store = VirtualStore.fresh(0)
            store.put(.file("1", at: "a", by: .peer, seq: 9))
            checker.see(ProcessTurn(machine: 0, isRunning: true, store: store), &court)
            let record = store.node { $0.clock = .seconds(isBad ? 8 : 9) }
            checker.see(storing(0, [.putNode(record)]), &court)
        },
    ]
}

// MARK: What the trials show

private func storing(_ machine: Int, _ operations: [StoreOperation], over store: VirtualStore? = nil) -> StoreAct {
    StoreAct(
        machine: machine, batch: StoreBatch(operations), store: store ?? .fresh(machine), peerStore: .fresh(1 - machine)
    )
}

/// A whole log in one batch, with the node's record that belongs to it.
private func appending(_ log: SmallLog, head: LogHead? = nil) -> [StoreOperation] {
    let record = VirtualStore.fresh(0).node { $0.ownHead = head ?? log.head }
    return log.records.map { .appendLog($0) } + [.putNode(record)]
}

private func importing(_ position: LogPosition) -> NodeRecord {
    importing(LogHead(position: position, chain: .zero))
}

private func importing(_ head: LogHead) -> NodeRecord { VirtualStore.fresh(0).node { $0.importedHead = head } }

/// The first node notes an acknowledgement of the second.
private func believing(_ promised: LogPosition, peerHas: LogPosition) -> StoreAct {
    var peer = VirtualStore.fresh(1)
    peer.perform(StoreBatch([.putNode(importing(peerHas))]))
    let record = VirtualStore.fresh(0).node { $0.acknowledged = LogHead(position: promised, chain: .zero) }
    return StoreAct(machine: 0, batch: StoreBatch([.putNode(record)]), store: .fresh(0), peerStore: peer)
}

/// An entry of the first node at a path whose row shows what the peer wrote in second 5.
private func writing(_ text: String, over old: String, seconds: UInt64, hasSeenIt: Bool = true) -> StoreAct {
    var store = VirtualStore.fresh(0)
    let row = Row.file(old, at: "a", by: .peer, seq: 5)
    store.put(row)
    store.perform(StoreBatch([.putNode(store.node { $0.clock = .seconds(9) })]))
    let revision = Revision(
        Seen.file(text, at: "a").entry, seq: 1, seen: hasSeenIt ? row.version : .none, seconds: seconds)
    let record = LogRecord(
        head: LogHead(position: .number(1), chain: .zero), time: .seconds(seconds), change: .put(at("a"), revision))
    return StoreAct(machine: 0, batch: StoreBatch([.appendLog(record)]), store: store, peerStore: .fresh(1))
}
