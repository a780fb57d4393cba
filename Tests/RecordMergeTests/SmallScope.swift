/// Every history of two nodes up to a length: who acts when, what of the other's each has received by then, and which
/// of the templates each act follows. Two A and three B; A1 and B1 are there from the beginning.
import RecordMerge
import SyncModel

struct SmallScope {
    let shape: Shape
    let templates: [Template]
    /// How many change sets each node makes at most.
    let actsMax: Int
    private(set) var histories = 0

    init(_ shape: Shape, templates: [Template] = Template.allCases, actsMax: Int) {
        self.shape = shape
        self.templates = templates
        self.actsMax = actsMax
    }

    /// Calls `judge` for every history, the short ones too.
    mutating func run(_ judge: (Pair) -> Void) {
        var pair = Pair(shape.model)
        let (a, b) = (shape.a(1), shape.b(1))
        pair.act(.first, [.insert(a), .insert(b), .set(b, "title", "old"), shape.link(a, b)])
        pair.heal()
        extend(pair, judge)
    }

    private mutating func extend(_ pair: Pair, _ judge: (Pair) -> Void) {
        histories += 1
        judge(pair)
        for party in [Party.first, .second] where acts(of: party, in: pair) < actsMax {
            for count in pair.received[party.number]...pair.made[party.other.number].count {
                var informed = pair
                informed.receive(party, count)
                let view = informed.view(of: party)
                for template in templates {
                    guard let operations = template.operations(in: view, shape) else { continue }
                    var next = informed
                    next.act(party, operations)
                    extend(next, judge)
                }
            }
        }
    }

    /// The beginning does not count.
    private func acts(of party: Party, in pair: Pair) -> Int {
        pair.made[party.number].count - (party == .first ? 1 : 0)
    }
}

/// How A and B hang together, and which of both keeps the register.
struct Shape {
    let model: Model
    let isOwnedByA: Bool

    /// `inA` and `inB` are added to the two sides, `entity` to both entities.
    init(isOwnedByA: Bool, _ inA: String, _ inB: String, entity: String = "") throws {
        let (entityA, entityB) = isOwnedByA ? ("A", "B") : ("Z", "B")
        model = try Model(
            entities: #"{"\#(entityA)": {"files": "a/*", "id": "stem"\#(entity), "#
                + #""relations": {"b": {"to": "\#(entityB)", "kind": "one", "inverse": "a"\#(inA)}}}, "#
                + #""\#(entityB)": {"files": "b/*", "id": "stem"\#(entity), "#
                + #""relations": {"a": {"to": "\#(entityA)", "kind": "one", "inverse": "b"\#(inB)}}}}"#)
        self.isOwnedByA = isOwnedByA
    }

    func a(_ number: Int) -> RecordID { RecordID(isOwnedByA ? "A" : "Z", "A\(number)") }
    func b(_ number: Int) -> RecordID { RecordID("B", "B\(number)") }

    static func key(_ id: RecordID) -> String { String(decoding: id.key, as: UTF8.self) }

    func link(_ a: RecordID, _ b: RecordID) -> Operation {
        isOwnedByA ? .link(a, "b", Shape.key(b)) : .link(b, "a", Shape.key(a))
    }

    /// The B of an A goes on without it.
    func letGo(_ b: RecordID) -> [Operation] { isOwnedByA ? [] : [.link(b, "a", nil)] }

    func b(of a: RecordID, in view: RecordView) -> RecordID? {
        view.live[a]?.links[PropertyName("b")]?.first
    }
}

/// What people do to records, as a save of theirs would be written.
enum Template: CaseIterable {
    case replaceByB2, replaceByB3, editA, editB, deleteA, makeSecondPair, swap, takeOver, take, discard, makeAnew,
        restoreB
    case editLoser, restoreA, keepCopy, dropCopy

    /// Nil if the view gives no occasion for it.
    func operations(in view: RecordView, _ shape: Shape) -> [Operation]? {
        let a = shape.a(1)
        switch self {
        case .restoreA: return Template.restored(a, in: view, shape)
        case .keepCopy: return Template.kept(in: view, shape)
        case .dropCopy: return view.clones.first.map { [.delete($0.key)] }
        case .makeSecondPair: return Template.secondPair(in: view, shape)
        case .discard: return view.quarantine.first.map { [.delete($0.key)] }
        case .editLoser: return view.quarantine.first.map { [.set($0.key, "title", "lost \(view.concurrent.count)")] }
        case .replaceByB2, .replaceByB3, .editA, .editB, .deleteA, .swap, .takeOver, .take, .makeAnew, .restoreB:
            return shape.b(of: a, in: view).flatMap { operations(on: a, $0, in: view, shape) }
        }
    }

    private func operations(on a: RecordID, _ b: RecordID, in view: RecordView, _ shape: Shape) -> [Operation]? {
        switch self {
        case .replaceByB2: return Template.replaced(a, b, by: shape.b(2), in: view, shape)
        case .replaceByB3: return Template.replaced(a, b, by: shape.b(3), in: view, shape)
        case .editA: return [.set(a, "title", "edit of \(Shape.key(b))")]
        case .editB: return [.set(b, "title", "edit")]
        case .deleteA: return [.delete(a), .delete(b)]
        case .swap: return Template.swapped(a, b, in: view, shape)
        case .takeOver: return Template.takenOver(a, b, in: view, shape)
        case .take:
            guard let lost = view.quarantine.first(where: { $0.key.entity == b.entity })?.key else { return nil }
            return shape.letGo(b) + [shape.link(a, lost)]
        case .makeAnew: return [.delete(b), .insert(b), .set(b, "title", "anew"), shape.link(a, b)]
        case .restoreB:
            guard let dead = view.dead.first(where: { $0.entity == b.entity }) else { return nil }
            return [.delete(b), .restore(dead), shape.link(a, dead)]
        case .restoreA, .makeSecondPair, .discard, .editLoser, .keepCopy, .dropCopy: return nil
        }
    }

    /// The side of an A is in its own file only where it owns the relation.
    private static func kept(in view: RecordView, _ shape: Shape) -> [Operation]? {
        guard let copy = view.clones.first?.key, let b = shape.b(of: copy, in: view) else { return nil }
        return [.insert(copy), .set(copy, "title", "kept")] + (shape.isOwnedByA ? [shape.link(copy, b)] : [])
    }

    private static func isFree(_ id: RecordID, in view: RecordView) -> Bool {
        view.live[id] == nil && view.quarantine[id] == nil
    }

    private static func replaced(
        _ a: RecordID, _ old: RecordID, by new: RecordID, in view: RecordView, _ shape: Shape
    ) -> [Operation]? {
        guard isFree(new, in: view) else { return nil }
        return [.delete(old), .insert(new), .set(new, "title", "instead of \(Shape.key(old))"), shape.link(a, new)]
    }

    private static func secondPair(in view: RecordView, _ shape: Shape) -> [Operation]? {
        let (a, b) = (shape.a(2), shape.b(3))
        guard isFree(a, in: view), isFree(b, in: view) else { return nil }
        return [.insert(a), .insert(b), shape.link(a, b)]
    }

    private static func swapped(
        _ a: RecordID, _ b: RecordID, in view: RecordView, _ shape: Shape
    ) -> [Operation]? {
        shape.b(of: shape.a(2), in: view).map { [shape.link(a, $0), shape.link(shape.a(2), b)] }
    }

    private static func takenOver(
        _ a: RecordID, _ b: RecordID, in view: RecordView, _ shape: Shape
    ) -> [Operation]? {
        shape.b(of: shape.a(2), in: view).map { [.delete(b), .delete(shape.a(2)), shape.link(a, $0)] }
    }

    private static func restored(_ a: RecordID, in view: RecordView, _ shape: Shape) -> [Operation]? {
        guard view.dead.contains(a), let b = view.dead.first(where: { $0.entity != a.entity }) else { return nil }
        return [.restore(a), .restore(b), shape.link(a, b)]
    }
}
