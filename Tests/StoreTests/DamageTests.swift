/// Files that a bad disk or a bad copy has changed: the store works or says what is damaged; it never stops the program
/// and never gives other rows than were stored.
import SyncModel
import SyncSim
import Testing

@testable import Store

@Suite("A damaged state")
struct DamageTests {
    /// A state with something in every table.
    private static func make(in scratch: Scratch, _ seed: UInt64) throws -> VirtualStore {
        var draws = Draws(seed: seed, stream: "damage")
        var virtual = VirtualStore(node: draws.node())
        let store = try scratch.open()
        for _ in 0..<60 {
            let batch = StoreBatch([.putNode(virtual.node)] + draws.batch().operations)
            try store.perform(batch)
            virtual.perform(batch)
        }
        store.close()
        return virtual
    }

    @Test("bytes changed in many places", arguments: 0..<6) func flipped(seed: UInt64) throws {
        let scratch = try Scratch()
        let virtual = try DamageTests.make(in: scratch, seed)
        let whole = try scratch.bytes("state.db")
        var random = SeededRandom(seed: seed, stream: "flips")
        var told = 0
        for _ in 0..<60 {
            var changed = whole
            for _ in 0...random.below(4) {
                // Half of them where a page begins, which is where SQLite keeps what it needs to find its way.
                let page = random.below(whole.count / 4096) * 4096
                let index = random.chance(percent: 50) ? page + random.below(112) : random.below(whole.count)
                changed[min(index, whole.count - 1)] = UInt8(random.below(256))
            }
            if try isTold(changed, in: scratch, virtual, &random) { told += 1 }
        }
        #expect(told > 0)
    }

    @Test("a file that is cut short, anywhere", arguments: 0..<2) func cut(seed: UInt64) throws {
        let scratch = try Scratch()
        let virtual = try DamageTests.make(in: scratch, seed)
        let whole = try scratch.bytes("state.db")
        var random = SeededRandom(seed: seed, stream: "cuts")
        for length in stride(from: 0, to: whole.count, by: 4096 / 2 + 1) {
            let isTold = try isTold(Array(whole[..<length]), in: scratch, virtual, &random)
            // (SQLite takes a page of which only a part is there for whole. The last one may be free, and nothing has gone with it.)
            #expect(try isTold || isSound(Array(whole[..<length]), in: scratch), "\(length) of \(whole.count)")
        }
    }

    /// As SQLite sees it, who looks at all that is in use.
    private func isSound(_ bytes: [UInt8], in scratch: Scratch) throws -> Bool {
        try scratch.write(bytes, to: "state.db")
        var findings: [String] = []
        try scratch.withDatabase { findings = try $0.texts("PRAGMA integrity_check", "test") }
        return findings == ["ok"]
    }

    @Test("a journal that is damaged is used up to the damage, and never beyond") func journal() throws {
        let scratch = try Scratch()
        try DamageTests.leaveJournal(in: scratch)
        let (state, journal) = (try scratch.bytes("state.db"), try scratch.bytes("state.db-wal"))
        try #require(journal.count > 10_000)
        var random = SeededRandom(seed: 1, stream: "journal")
        for _ in 0..<60 {
            var changed = journal
            let index = random.below(journal.count)
            changed[index] ^= UInt8(1 + random.below(255))
            if random.chance(percent: 30) { changed.removeLast(random.below(changed.count)) }
            try scratch.write(state, to: "state.db")
            try scratch.write(changed, to: "state.db-wal")
            let store = try scratch.open()
            // Row after row was put and then counted: what is there is what some number of these steps left.
            let number = try store.value("number").map { Int($0[0]) } ?? 0
            let rows = try (0..<10).map { try store.answer(.rows([try place("row-\($0)")])) != .rows([]) }
            let count = rows.prefix { $0 }.count
            #expect(rows == (0..<10).map { $0 < count } && (count == number || count == number + 1))
            store.close()
        }
    }

    @Test("a row that cannot be read is told of, takes its whole batch back, and leaves the others alone")
    func damagedRow() throws {
        let scratch = try Scratch()
        let (good, bad, new) = (try place("good"), try place("bad"), try place("new"))
        let store = try scratch.open()
        try store.perform(StoreBatch([.putRow(Row(path: good)), .putRow(Row(path: bad))]))
        store.close()
        try scratch.withDatabase { connection in
            // A row in another's place has a sum of its own that is good.
            let taken = "(SELECT row FROM base WHERE path = CAST('good' AS BLOB))"
            try connection.execute("UPDATE base SET row = \(taken) WHERE path = CAST('bad' AS BLOB)", "test")
        }
        let next = try scratch.open()
        let damage = StoreError.damaged(StoreFault("read a row", "its bytes are not what was written"))
        #expect(throws: damage) { try next.answer(.rows([bad])) }
        #expect(throws: damage) {
            try next.perform(StoreBatch([.putRow(Row(path: new)), .dropRow(good), .putRow(Row(path: bad))]))
        }
        #expect(try next.answer(.rows([good, new])) == .rows([Row(path: good)]))
        try next.perform(StoreBatch([.putRow(Row(path: new))]))
        #expect(try next.answer(.rows([good, new])) == .rows([Row(path: good), Row(path: new)]))
    }

    @Test("a row that a damaged page gives for another, or out of order, is told of") func outOfPlace() throws {
        let scratch = try Scratch()
        let paths = try ["a", "b", "c"].map { try place($0) }
        let store = try scratch.open()
        try store.perform(StoreBatch(paths.map { .putRow(Row(path: $0)) }))
        store.close()
        var page = 0
        try scratch.withDatabase { connection in
            page = Int(try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'base'", "test"))
        }
        var bytes = try scratch.bytes("state.db")
        // It says where each row lies, in the order of their keys: the first and the last change places.
        let places = (page - 1) * 4096 + 8
        for index in 0..<2 { bytes.swapAt(places + index, places + 4 + index) }
        try scratch.write(bytes, to: "state.db")
        let next = try scratch.open()
        let displaced = StoreError.damaged(StoreFault("read rows", "a row is not where it belongs"))
        #expect(throws: displaced) { try next.answer(.below(.root, after: nil, limit: .max)) }
        #expect(throws: displaced) { try next.answer(.below(.root, after: paths[0], limit: .max)) }
        let another = StoreError.damaged(StoreFault("read a row", "its bytes are not what was written"))
        #expect(throws: another) { try next.answer(.rows([paths[1]])) }
    }

    /// What a process leaves that was killed after eleven batches.
    private static func leaveJournal(in scratch: Scratch) throws {
        let store = try scratch.open()
        for number in 0..<10 {
            try store.perform(StoreBatch([.putRow(Row(path: try place("row-\(number)")))]))
            try store.setValue("number", [UInt8(number + 1)])
        }
        let journal = try scratch.bytes("state.db-wal")
        let state = try scratch.bytes("state.db")
        store.close()
        try scratch.write(state, to: "state.db")
        try scratch.write(journal, to: "state.db-wal")
    }

    /// True if the damage was told of; otherwise every answer must be what was stored.
    private func isTold(
        _ bytes: [UInt8], in scratch: Scratch, _ virtual: VirtualStore, _ random: inout SeededRandom
    ) throws -> Bool {
        for name in scratch.names where name != "state.db" { try scratch.write([], to: name) }
        try scratch.write(bytes, to: "state.db")
        do throws(StoreError) {
            let store = try Store.open(directory: scratch.directory)
            defer { store.close() }
            var draws = Draws(seed: random.next())
            for query in draws.queries() + [.below(.root, after: nil, limit: .max), .versions(nil, limit: .max)] {
                let answer = try store.answer(query)
                if !answer.isPart(of: virtual.answer(query.whole)) {
                    Issue.record("\(query) is answered with something new")
                }
            }
            try store.perform(draws.batch())
            return false
        } catch {
            switch error {
            // A number or a name in the header may say that it is another's; then nothing is touched either.
            case .damaged, .notOurs, .newer: return true
            case .busy, .full, .inputOutput, .failed:
                Issue.record("\(error)")
                return false
            }
        }
    }
}

extension StoreQuery {
    /// Where some are hidden, those that come after them are among the first so many.
    fileprivate var whole: StoreQuery {
        switch self {
        case .below(let directory, let after, _): .below(directory, after: after, limit: .max)
        case .guarded(let after, _): .guarded(after: after, limit: .max)
        case .conflictCopies: .conflictCopies(limit: .max)
        case .unsettled(let cursor, let ascending, _): .unsettled(cursor: cursor, ascending: ascending, limit: .max)
        case .log(let after, _): .log(after: after, limit: .max)
        case .latestLog: .latestLog(limit: .max)
        case .versions(let path, _): .versions(path, limit: .max)
        case .versionsKept(let since, _): .versionsKept(sinceMilliseconds: since, limit: .max)
        case .prunable: .prunable(limit: .max)
        default: self
        }
    }
}

extension StoreAnswer {
    /// Damage that SQLite cannot see may hide something, until the next check of the whole file; it never shows what
    /// was not stored.
    fileprivate func isPart(of other: StoreAnswer) -> Bool {
        switch (self, other) {
        case (.rows(let rows), .rows(let all)): rows.allSatisfy { all.contains($0) }
        case (.versions(let kept), .versions(let all)): kept.allSatisfy { all.contains($0) }
        case (.prunable(let kept, let bytes), .prunable(let all, let allBytes)):
            kept.allSatisfy { all.contains($0) } && bytes <= allBytes
        case (.intents(let intents), .intents(let all)): intents.allSatisfy { all.contains($0) }
        case (.log(let records), .log(let all)): records.allSatisfy { all.contains($0) }
        default: true
        }
    }
}
