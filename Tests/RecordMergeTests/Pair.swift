/// Two nodes that edit records and exchange change sets when they are told to: what stories and searches are made of.
import RecordMerge
import SyncModel

struct Pair {
    let model: Model
    private(set) var made: [[ChangeSet]] = [[], []]
    /// How much of the other's log each has applied.
    private(set) var received = [0, 0]
    private var time: UInt64 = 0

    init(_ model: Model) {
        self.model = model
    }

    /// What a node holds.
    func known(to party: Party) -> [ChangeSet] {
        made[party.number] + made[party.other.number].prefix(received[party.number])
    }

    var all: [ChangeSet] { made[0] + made[1] }

    func view(of party: Party) -> RecordView { RecordView(of: known(to: party), model: model) }
    var view: RecordView { RecordView(of: all, model: model) }

    /// Later acts have later times, on whichever node. `count`: so much of what the node has applied of the other's its folder shows.
    mutating func act(
        _ party: Party, seeing count: Int? = nil, _ operations: [Operation], files: [ChangeSet.SavedFile] = []
    ) {
        var seen = seen(by: party)
        if let count { seen[party.other] = Pair.position(count) }
        time += 1
        made[party.number].append(
            ChangeSet(
                author: party, position: Pair.position(made[party.number].count + 1),
                time: HybridTime(wallMilliseconds: Int64(time)), seen: seen, operations: operations, files: files))
    }

    mutating func act(_ party: Party, seeing count: Int? = nil, _ operations: Operation...) {
        act(party, seeing: count, operations)
    }

    mutating func pass(days: UInt64) { time += days * 86_400_000 }

    /// The node applies the first `count` of what the other made; all of it if nothing is said.
    mutating func receive(_ party: Party, _ count: Int? = nil) {
        received[party.number] = max(received[party.number], count ?? made[party.other.number].count)
    }

    mutating func heal() {
        receive(.first)
        receive(.second)
    }

    /// What a node has applied of both.
    func applied(by party: Party) -> Applied { seen(by: party) }

    private func seen(by party: Party) -> Applied {
        var seen = Applied.none
        seen[party] = Pair.position(made[party.number].count)
        seen[party.other] = Pair.position(received[party.number])
        return seen
    }

    private static func position(_ seq: Int) -> LogPosition {
        seq == 0 ? .none : LogPosition(epoch: Epoch(raw: 1), seq: UInt64(seq))
    }
}

extension Party {
    var number: Int { Int(rawValue) }
}

extension Model {
    /// The entities of a model, for tests.
    init(entities: String) throws {
        try self.init(
            parsing: Array(#"{"model": "test", "version": 1, "entities": \#(entities)}"#.utf8), file: "test.json")
    }
}

/// Models in few words, a line for each entity: `Note singleton; title string required; folder one Folder
/// inverse=notes`. Files are called after the entity, in lower case.
extension Model {
    static func sketch(_ lines: String...) throws -> Model {
        try Model(entities: "{\(lines.map(entity).joined(separator: ", "))}")
    }

    private static func entity(_ line: String) -> String {
        let parts = line.split(separator: ";").map { $0.split(separator: " ") }
        let name = parts[0][0]
        let sides = parts.dropFirst().filter { $0[1] == "one" || $0[1] == "many" }.map { words in
            member(words[0], ["kind=\(words[1])", "to=\(words[2])"] + words.dropFirst(3))
        }
        let fields = parts.dropFirst().filter { $0[1] != "one" && $0[1] != "many" }.map { words in
            member(words[0], ["type=\(words[1])"] + words.dropFirst(2))
        }
        let options = ["files=\(name.lowercased())/*", "id=stem"] + parts[0].dropFirst().map(String.init)
        return "\"\(name)\": {\(options.map { option($0[...]) }.joined(separator: ", ")), "
            + "\"relations\": {\(sides.joined(separator: ", "))}, \"fields\": {\(fields.joined(separator: ", "))}}"
    }

    private static func member(_ name: Substring, _ options: [Substring]) -> String {
        "\"\(name)\": {\(options.map(option).joined(separator: ", "))}"
    }

    /// `required` is true, `max=2` a number, `identity=name` a list, everything else a string.
    private static func option(_ word: Substring) -> String {
        let parts = word.split(separator: "=")
        guard parts.count == 2 else { return "\"\(word)\": true" }
        if parts[0] == "identity" { return "\"identity\": [\"\(parts[1])\"]" }
        return Int(parts[1]) == nil ? "\"\(parts[0])\": \"\(parts[1])\"" : "\"\(parts[0])\": \(parts[1])"
    }
}

/// Operations in few words.
extension Operation {
    static func insert(_ record: RecordID) -> Operation { Operation(record, .insert) }
    static func delete(_ record: RecordID) -> Operation { Operation(record, .delete) }
    static func restore(_ record: RecordID) -> Operation { Operation(record, .restore) }

    static func set(_ record: RecordID, _ name: String, _ value: String) -> Operation {
        Operation(record, .set(PropertyName(name), .string(value)))
    }

    static func link(_ record: RecordID, _ name: String, _ target: String?, order: String = "") -> Operation {
        Operation(record, .link(PropertyName(name), target.map { Array($0.utf8) }, order: Array(order.utf8)))
    }

    static func add(_ record: RecordID, _ name: String, _ target: String, order: String = "") -> Operation {
        Operation(record, .add(PropertyName(name), Array(target.utf8), order: Array(order.utf8)))
    }

    static func remove(_ record: RecordID, _ name: String, _ target: String) -> Operation {
        Operation(record, .remove(PropertyName(name), Array(target.utf8)))
    }
}

extension RecordID {
    /// `A/A1`.
    static func named(_ text: String) -> RecordID {
        let parts = text.split(separator: "/", maxSplits: 1)
        return RecordID(String(parts[0]), String(parts[1]))
    }
}

/// A view as lines of text, one for each fact.
extension RecordView {
    var lines: [String] {
        var lines = live.map { "live \($0.key) \($0.value.text)" }
        lines += quarantine.map { "out \($0.key) \($0.value.record.text) \($0.value.reason.text)" }
        lines += dropped.map { "dropped \($0.key) \($0.value.record.text) \($0.value.reason.text)" }
        lines += aliases.map { "alias \($0.key) \($0.value)" }
        lines += dead.map { "dead \($0)" } + unknown.map { "unknown \($0)" }
        return (lines + concurrent.map(\.text)).sorted()
    }
}

extension RecordView.Record {
    var text: String {
        let facts =
            values.map { "\($0.key)=\($0.value)" }
            + links.map { link in
                "\(link.key)=[" + link.value.map(\.description).joined(separator: " ") + "]"
            }
            + pending.map { link in
                "\(link.key)?[" + link.value.map(\.description).joined(separator: " ") + "]"
            }
        return "{" + facts.sorted().joined(separator: " ") + "}"
    }
}

extension RecordView.Reason {
    var text: String {
        switch self {
        case .invalidValue(let name): "invalidValue \(name)"
        case .deletedWhileEdited: "deletedWhileEdited"
        case .missing(let relation): "missing \(relation)"
        case .gone(let relation, let partner): "gone \(relation) \(partner)"
        case .lostSlot(let relation, let holder, let winner): "lostSlot \(relation) \(holder) \(winner)"
        }
    }
}

extension RecordView.ConcurrentWrite {
    var text: String {
        let content =
            switch self.content {
            case .value(let value): value?.description ?? "none"
            case .link(let target): target.map { "-> \($0)" } ?? "-> nothing"
            case .removal(let target): "without \(target)"
            }
        return "concurrent \(record).\(property) \(content) by \(write.author) \(write.position.seq).\(write.index)"
    }
}
