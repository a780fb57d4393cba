import SyncModel

/// Why a record is where it is, for `syncctl explain Entity/ID`: what became of it, by which rule, and every operation
/// that has to do with it. Made anew from the operations each time, by the code that decides; nothing is kept for it.
public struct Explanation: Hashable, Sendable {
    public let record: RecordID
    /// One sentence: what became of it.
    public let outcome: String
    /// One sentence: the rule that decided it.
    public let rule: String
    /// In the order K. Those of its second names too, and links of others to it.
    public let steps: [Step]

    public struct Step: Hashable, Sendable {
        public let stamp: Stamp
        public let operation: Operation
        public let fate: Fate
    }

    public enum Fate: String, Hashable, Sendable {
        case shown = "shown"
        case concurrent = "kept beside a later one that did not know of it"
        case overtaken = "overtaken by a write that knew of it"
        case version = "the version of that save; the file is in that of the save which it is written into"
        case gone = "went with the record"
        case held = "holds its place"
        case notHeld = "has no place"
        case pending = "waits for the record that it names"
        case born = "makes the record"
        case deletes = "deletes the record"
        case gaveWay = "gave way to a write that it did not know of"
        case takenBack = "taken back by a write that knew of it"
        case without = "has no effect"
    }

    /// Nil for a record that no operation ever mentioned.
    public init?(of record: RecordID, in changes: some Sequence<ChangeSet>, model: Model) {
        let graph = Graph(Fold(History(changes), model: ModelIndex(model)))
        guard let number = graph.fold.number(of: record) else { return nil }
        let explainer = Explainer(Repair(graph), number)
        self.record = record
        (outcome, rule) = explainer.verdict()
        steps = explainer.steps()
    }
}

extension Explanation: CustomStringConvertible {
    /// Lines for people.
    public var description: String {
        "\(record) \(outcome)\n  because \(rule)\n" + steps.map { "  \($0)\n" }.joined()
    }
}

extension Explanation.Step: CustomStringConvertible {
    public var description: String {
        "\(stamp.author) \(stamp.position.seq).\(stamp.index): \(operation): \(fate.rawValue)"
    }
}
