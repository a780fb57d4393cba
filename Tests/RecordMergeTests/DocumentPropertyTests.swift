/// Two folders under random edits: whatever was saved, both end alike, and files say what the view says.
import RecordMerge
import SyncModel
import Testing

@Suite("random saves of random files")
struct DocumentPropertyTests {
    static let entities =
        #"{"F": {"files": "f/*", "id": "stem", "#
        + #""relations": {"notes": {"to": "N", "kind": "many", "ordered": true, "inverse": "f", "max": 3}}}, "#
        + #""N": {"files": "n/*", "id": "stem", "fields": {"t": {"type": "string"}}, "#
        + #""relations": {"f": {"to": "F", "kind": "one", "inverse": "notes"}, "p": {"to": "P", "kind": "one"}}}, "#
        + #""P": {"files": "p-*", "at": "/all/people", "id": "/id", "#
        + #""relations": {"likes": {"to": "P", "kind": "many"}}}}"#

    @Test("V1, V12: both folders are alike, say what the view says, and are at rest") func alike() throws {
        let model = try Model(entities: Self.entities)
        var waiting = 0
        for seed in 0..<UInt64(Effort.times(100)) {
            var random = SeededRandom(seed: seed, stream: "saves")
            var office = Office(model)
            for _ in 0..<random.range(1...10) {
                let party: Party = random.chance(percent: 50) ? .first : .second
                try office.save(party, Self.saves(&random))
                if random.chance(percent: 20) { try office.heal() }
            }
            try office.heal()
            try Self.judge(office, seed)
            waiting += office.pair.view.live.count { !$0.value.pending.isEmpty }
            try Self.complete(&office, &random)
            try Self.judge(office, seed)
            #expect(office.pair.view.live.allSatisfy { $0.value.pending.isEmpty }, "seed \(seed)")
        }
        #expect(waiting > 0)
    }

    @Test("a document of many that says what the view says is told by looking at it") func looked() throws {
        let model = try Model(
            entities: #"{"P": {"files": "p-*", "at": "/all/people", "id": "/id", "#
                + #""relations": {"likes": {"to": "P", "kind": "many"}}}}"#)
        var looks: [Office.Look: Int] = [:]
        for seed in 0..<UInt64(Effort.times(50)) {
            var random = SeededRandom(seed: seed, stream: "people")
            var office = Office(model)
            for _ in 0..<random.range(1...10) {
                let party: Party = random.chance(percent: 50) ? .first : .second
                try office.save(party, ["p-\(random.below(2))": Self.people(&random)])
                if random.chance(percent: 30) { try office.heal() }
            }
            try office.heal()
            looks.merge(office.looks, uniquingKeysWith: +)
        }
        #expect(looks[.unknown, default: 0] == 0)
        #expect(looks[.same, default: 0] > 0 && looks[.other, default: 0] > 0)
    }

    private static func judge(_ office: Office, _ seed: UInt64) throws {
        #expect(office.folders[0] == office.folders[1], "seed \(seed)")
        let complaints = try complaints(office) + Judge.complaints(office.pair)
        #expect(complaints.isEmpty, "seed \(seed): \(complaints) \(office.pair.view.lines)")
    }

    /// I25: whoever is named and not there comes after all, at either node, with or without a word about who names him.
    private static func complete(_ office: inout Office, _ random: inout SeededRandom) throws {
        while let id = office.pair.view.unknown.first {
            let key = String(decoding: id.key, as: UTF8.self)
            let party: Party = random.chance(percent: 50) ? .first : .second
            let isBare = random.chance(percent: 50)
            switch id.entity {
            case EntityName("F"): try office.save(party, ["f/\(key)": isBare ? "{}" : folder(&random) ?? "{}"])
            case EntityName("N"): try office.save(party, ["n/\(key)": isBare ? "{}" : note(&random) ?? "{}"])
            default: try office.save(party, ["p-late\(key)": #"{"all": {"people": [{"id": "\#(key)"}]}}"#])
            }
            if random.chance(percent: 50) { try office.heal() }
        }
        try office.heal()
    }

    /// A file read again is what the view has for it, and saving it as it is would say nothing.
    private static func complaints(_ office: Office) throws -> [String] {
        let view = office.pair.view
        var complaints: [String] = []
        var told = 0
        for (path, bytes) in office.folders[0] {
            let document = try RecordDocument(parsing: bytes, at: path, model: office.model)
            let idle = Differ(model: office.model, view: view).operations(for: [
                .init(before: document, after: document)
            ])
            if !idle.isEmpty { complaints.append("\(path) is not at rest: \(idle)") }
            complaints += missing(in: document, view).map { "\(path) does not name \($0)" }
            for operation in Differ(model: office.model, view: view).operations(for: [
                .init(before: nil, after: document)
            ]) {
                told += 1
                if let complaint = contradiction(operation, view) { complaints.append("\(path): \(complaint)") }
            }
        }
        let needed = view.live.reduce(0) { $0 + 1 + $1.value.values.count }
        if told < needed { complaints.append("\(told) facts in files, \(needed) in the view") }
        return complaints
    }

    private static func contradiction(_ operation: Operation, _ view: RecordView) -> String? {
        guard let record = view.live[operation.record] else {
            let isAround = operation.record.entity.bytes.isEmpty && view.dead.contains(operation.record)
            return isAround || isWaiting(operation, view) ? nil : "\(operation.record) is not live"
        }
        switch operation.action {
        case .insert, .delete, .restore, .remove: return nil
        case .set(let name, let value): return record.values[name] == value ? nil : "\(operation)"
        case .link(let name, let key, _):
            let references = references(record, name)
            return references.first == key ? nil : "\(operation), not \(references)"
        case .add(let name, let key, _): return references(record, name).contains(key) ? nil : "\(operation)"
        }
    }

    /// Who is waited for stands in the file: of the sides that others own, where they are written down.
    private static func missing(in document: RecordDocument, _ view: RecordView) -> [RecordID] {
        document.recordIDs.flatMap { id -> [RecordID] in
            let links = document.links(of: id)
            return (view.live[id]?.pending ?? [:]).flatMap { name, pending -> [RecordID] in
                guard let here = links.first(where: { $0.name == name })?.keys else {
                    return name == PropertyName("notes") ? [] : pending
                }
                return pending.filter { !here.contains($0.key) }
            }
        }
    }

    private static func references(_ record: RecordView.Record, _ name: PropertyName) -> [[UInt8]] {
        ((record.links[name] ?? []) + (record.pending[name] ?? [])).map(\.key)
    }

    /// A folder names a note that nobody made.
    private static func isWaiting(_ operation: Operation, _ view: RecordView) -> Bool {
        guard case .link(PropertyName("f"), let key?, _) = operation.action else { return false }
        let folder = view.live[RecordID(EntityName("F"), key)]
        return folder?.pending[PropertyName("notes")]?.contains(operation.record) == true
    }

    private static func saves(_ random: inout SeededRandom) -> [String: String?] {
        var saves: [String: String?] = [:]
        for _ in 0..<random.range(1...3) {
            switch random.below(4) {
            case 0: saves["f/\(random.below(2))"] = folder(&random)
            case 3: saves["p-\(random.below(2))"] = people(&random)
            default: saves["n/\(random.below(4))"] = note(&random)
            }
        }
        return saves
    }

    private static func folder(_ random: inout SeededRandom) -> String? {
        if random.chance(percent: 15) { return nil }
        var keys = ["0", "1", "2", "3"]
        random.shuffle(&keys)
        let list = keys.prefix(random.below(4)).map { #""\#($0)""# }.joined(separator: ", ")
        return #"{"v": \#(random.below(3)), "notes": [\#(list)]}"#
    }

    private static func note(_ random: inout SeededRandom) -> String? {
        if random.chance(percent: 15) { return nil }
        let links = [
            "", #", "f": "\#(random.below(2))""#, #","f":null"#, #", "p": "\#(random.below(3))""#,
        ]
        return #"{"t":"\#(random.below(3))"\#(random.pick(links) ?? ""), "x" : \#(random.below(3)).50 }"# + "\n"
    }

    private static func people(_ random: inout SeededRandom) -> String? {
        if random.chance(percent: 15) { return nil }
        let people = (0..<3).filter { _ in random.chance(percent: 50) }.map { number in
            #"{"id": "\#(number)", "likes": [\#(random.chance(percent: 50) ? #""0""# : "")], "y": \#(random.below(3))}"#
        }
        let inside =
            people.isEmpty && random.chance(percent: 50)
            ? "" : #", "all": {"people": [\#(people.joined(separator: ","))]}"#
        return #"{"z": \#(random.below(3))\#(inside)}"#
    }
}
