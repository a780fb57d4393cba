import RecordMerge
import SyncModel

/// What it costs to merge records, in memory: folding and repairing all there is, contests at once, and one set more.
enum RecordBench {
    /// False if its own model is refused.
    static func run() -> Bool {
        guard let model = try? Model(parsing: Array(text.utf8), file: "the model") else { return false }
        for records in [10_000, 100_000] { fields(of: records, model) }
        for contests in [10_000, 20_000] { contest(contests, model) }
        one(among: 100_000, model)
        return true
    }

    private static let text = #"""
        {"model": "org.example.bench", "version": 1, "root": "d", "entities": {
            "A": {"files": "a/*", "id": "stem", "fields": {"title": {"type": "string"}},
                  "relations": {"b": {"to": "B", "kind": "one", "required": true, "inverse": "a"}}},
            "B": {"files": "b/*", "id": "stem", "fields": {"title": {"type": "string"}},
                  "relations": {"a": {"to": "A", "kind": "one", "required": true, "inverse": "b"}}}}}
        """#

    private static func fields(of records: Int, _ model: Model) {
        var writers = Writers()
        for number in 0..<records { writers.pair(number) }
        writers.meet()
        for number in 0..<records { writers.write(.second, [title(number, "z")]) }
        let sets = writers.sets
        let operations = sets.reduce(0) { $0 + $1.operations.count }
        var live = 0
        let spent = time { live = RecordView(of: sets, model: model).live.count }
        System.say(
            "records: \(operations) operations on \(live) records in \(spent / 1_000_000) ms,"
                + " \(operations * 1_000 / max(1, spent / 1_000_000)) a second (goal 200000)")
    }

    private static func contest(_ count: Int, _ model: Model) {
        var writers = Writers()
        for number in 0..<count { writers.pair(number) }
        writers.meet()
        for party in [Party.first, .second] {
            for number in 0..<count {
                let (a, key) = (RecordID("A", number), Array("\(number) of \(party.rawValue)".utf8))
                let b = RecordID(EntityName("B"), key)
                writers.write(
                    party,
                    [
                        Operation(RecordID("B", number), .delete), Operation(b, .insert),
                        Operation(a, .link(PropertyName("b"), key, order: [])),
                    ])
            }
        }
        let sets = writers.sets
        var losers = 0
        let spent = time { losers = RecordView(of: sets, model: model).quarantine.count }
        System.say(
            "records: \(losers) contests at once in \(spent / 1_000_000) ms"
                + " (goal \(count > 10_000 ? 2_200 : 1_000))")
    }

    private static func one(among records: Int, _ model: Model) {
        var writers = Writers()
        for number in 0..<records / 2 { writers.pair(number) }
        writers.meet()
        var space = RecordSpace(model: model)
        space.add(writers.sets)
        let known = writers.sets.count
        for number in 0..<1_000 { writers.write(.second, [title(number * (records / 2_000), "z")]) }
        var files = 0
        let times = writers.sets[known...].map { set in
            time { files += space.add(CollectionOfOne(set)).files.count }
        }.sorted()
        System.say(
            "records: one field into \(records) records in \(times[500] / 1_000) µs, p99 \(times[990] / 1_000) µs,"
                + " \(files) files to look at for 1000 fields (goal 5000 µs and 1000, writing included)")
    }

    private static func title(_ number: Int, _ text: String) -> Operation {
        Operation(RecordID("A", number), .set(PropertyName("title"), .string(text)))
    }

    private static func time(_ work: () -> Void) -> Int {
        let start = System.workedNanoseconds
        work()
        return Int(System.workedNanoseconds - start)
    }

    /// Two nodes that write, and see each other's sets when they meet.
    private struct Writers {
        private(set) var sets: [ChangeSet] = []
        private var ends = Applied.none
        private var seen = Applied.none

        mutating func meet() { seen = ends }

        mutating func pair(_ number: Int) {
            let (a, b) = (RecordID("A", number), RecordID("B", number))
            write(
                .first,
                [
                    Operation(a, .insert), Operation(b, .insert),
                    Operation(a, .link(PropertyName("b"), b.key, order: [])),
                    RecordBench.title(number, "x"), Operation(b, .set(PropertyName("title"), .string("y"))),
                ])
        }

        mutating func write(_ party: Party, _ operations: [Operation]) {
            let position = LogPosition(epoch: Epoch(number: 1, nonce: 1), seq: ends[party].seq + 1)
            var vector = seen
            vector[party] = ends[party]
            ends[party] = position
            sets.append(
                ChangeSet(
                    author: party, position: position, time: HybridTime(wallMilliseconds: Int64(sets.count)),
                    seen: vector, operations: operations))
        }
    }
}

extension RecordID {
    fileprivate init(_ entity: String, _ number: Int) {
        self.init(EntityName(entity), Array("\(number)".utf8))
    }
}
