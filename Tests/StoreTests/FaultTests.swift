/// A disk that is full or broken at any write or sync: what was promised is kept, and what is not done is said.
import Store
import SyncModel
import SyncSim
import Testing

@Suite("A disk that fails")
struct FaultTests {
    /// A store with a few batches behind it, and the batch that will fail.
    private struct Trial {
        let scratch: Scratch
        var before: VirtualStore
        var after: VirtualStore
        let batch: StoreBatch

        init(seed: UInt64) throws {
            FaultyDisk.prepare()
            scratch = try Scratch()
            var draws = Draws(seed: seed, stream: "fault")
            before = VirtualStore(node: draws.node())
            let store = try scratch.open()
            for _ in 0..<5 {
                let batch = StoreBatch([.putNode(before.node)] + draws.batch().operations)
                try store.perform(batch)
                before.perform(batch)
            }
            // What an own move still owes is written with the first question about rows: `OwnMoveTests` has that fail.
            _ = try store.totals()
            store.close()
            batch = StoreBatch((0..<5).flatMap { _ in draws.batch().operations })
            after = before
            after.perform(batch)
        }
    }

    @Test("every write and every sync of a batch, each failing in its turn", arguments: FaultyDisk.Fault.allCases)
    func everyPoint(fault: FaultyDisk.Fault) throws {
        var wasReached = true
        var point = 0
        while wasReached {
            let trial = try Trial(seed: UInt64(point))
            let store = try trial.scratch.open()
            let (error, hasFailed) = FaultyDisk.failing(fault, after: point) {
                fails { try store.perform(trial.batch) }
            }
            wasReached = hasFailed
            point += 1
            guard hasFailed else {
                #expect(error == nil)
                continue
            }
            try check(error, after: fault, trial, store)
        }
        #expect(point > 1, "no write or sync was reached")
    }

    private func check(
        _ error: StoreError?, after fault: FaultyDisk.Fault, _ trial: Trial, _ store: Store
    ) throws {
        switch (fault, error) {
        case (.noSpace, .full):
            // Taken back as a whole; with space again the same batch is a good one.
            #expect(try trial.before.isIn(store))
            try store.perform(trial.batch)
            #expect(try trial.after.isIn(store))
            store.close()
        case (.writeError, .inputOutput), (.syncError, .inputOutput):
            // Reading goes on, writing does not, also when the disk seems well again. What was written and could not be synced is read.
            let isTakenBack = try trial.before.isIn(store)
            let isWritten = try fault == .syncError && trial.after.isIn(store)
            #expect(isTakenBack || isWritten)
            #expect(fails { try store.perform(StoreBatch()) } == error)
            #expect(fails { try store.setValue("a", nil) } == error)
            store.close()
            let next = try trial.scratch.open()
            let (hasBefore, hasAfter) = (try trial.before.isIn(next), try trial.after.isIn(next))
            #expect(hasBefore || hasAfter)
            try next.perform(StoreBatch())
            next.close()
        case (_, let error):
            Issue.record("\(fault) ended in \(error.map { "\($0)" } ?? "nothing")")
        }
    }

    @Test("a journal that cannot be brought into the database at the end stays, and loses nothing", arguments: 0..<8)
    func failingClose(point: Int) throws {
        for fault in FaultyDisk.Fault.allCases {
            let trial = try Trial(seed: 7)
            let store = try trial.scratch.open()
            try store.perform(trial.batch)
            let (_, hasFailed) = FaultyDisk.failing(fault, after: point) { store.close() }
            if hasFailed { #expect(trial.scratch.names.contains("state.db-wal")) }
            let next = try trial.scratch.open()
            #expect(try trial.after.isIn(next))
            next.close()
        }
    }

    @Test(
        "a journal that cannot be brought in meanwhile loses nothing; without room it is brought in later",
        arguments: 0..<8)
    func failingMeanwhile(point: Int) throws {
        for fault in FaultyDisk.Fault.allCases {
            let trial = try Trial(seed: 7)
            let store = try trial.scratch.open()
            try store.perform(trial.batch)
            // (As much as it takes for the journal to be worth it, and nothing of it stays.)
            try store.setValue("much", [UInt8](repeating: 7, count: 4 << 20))
            try store.setValue("much", nil)
            let (error, hasFailed) = FaultyDisk.failing(fault, after: point) { fails { try store.bringInJournal() } }
            #expect(hasFailed || point > 0, "nothing was written")
            switch (fault, hasFailed) {
            case (_, false), (.noSpace, true):
                #expect(error == nil)
                try store.bringInJournal()
                try store.perform(StoreBatch())
            case (.writeError, true), (.syncError, true):
                #expect(error.map { if case .inputOutput = $0 { true } else { false } } == true)
                #expect(fails { try store.perform(StoreBatch()) } == error)
                #expect(fails { try store.bringInJournal() } == error)
            }
            #expect(try trial.after.isIn(store))
            store.close()
            let next = try trial.scratch.open()
            #expect(try trial.after.isIn(next))
            next.close()
        }
    }

    @Test("a new state that cannot be made leaves nothing that looks like one", arguments: 0..<12)
    func failingMake(point: Int) throws {
        for fault in FaultyDisk.Fault.allCases {
            let scratch = try Scratch()
            let (error, hasFailed) = FaultyDisk.failing(fault, after: point) { fails { try scratch.open().close() } }
            #expect(!hasFailed || error != nil || scratch.names.contains("state.db"))
            if error != nil {
                #expect(try !Store.exists(in: scratch.directory) || !scratch.names.contains("state.db.new"))
            }
            let store = try scratch.open()
            #expect(try store.node() == nil)
            store.close()
        }
    }

    private func fails(_ body: () throws -> Void) -> StoreError? {
        do {
            try body()
            return nil
        } catch {
            if let error = error as? StoreError { return error }
            Issue.record("\(error)")
            return nil
        }
    }
}

extension VirtualStore {
    /// True if the store holds what this one does.
    func isIn(_ store: Store) throws -> Bool {
        let rows = Array(rows.values.filter { !$0.path.isRoot })
        return try store.answer(.below(.root, after: nil, limit: .max)) == .rows(rows)
            && store.answer(.rows([.root])) == answer(.rows([.root]))
            && store.answer(.summary(.root)) == answer(.summary(.root))
            && store.answer(.log(after: .none, limit: .max)) == answer(.log(after: .none, limit: .max))
            && store.answer(.intents) == .intents(Array(intents.values))
            && store.answer(.versions(nil, limit: .max)) == .versions(Array(versions.values))
            && store.node() == node
    }
}
