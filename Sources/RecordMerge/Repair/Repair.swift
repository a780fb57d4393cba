/// Match, shrink and grow: from what everybody wants to what can be. Each connected component is repaired by itself, so
/// that a change costs no more than the component it falls into. See `Matching`, `Shrinking` and `Growing`.
///
/// Reads heads, inserts and deletes only, never what was overwritten, so that dropping the latter changes nothing.
import SyncModel

struct Repair {
    let graph: Graph
    /// By record; `.absent` for all that is dead, unknown or a second name.
    var places: [Place]
    /// By edge: both its ends hold a place for it.
    var isAccepted: [Bool]
    /// By record: how many edges hold each of its slots.
    var held: [[Int]]
    enum Place: Equatable {
        case absent
        case live
        case out(Reason)
        /// A clone that nobody needs.
        case spare
    }

    /// Why a record cannot be in the live graph.
    enum Reason: Equatable {
        case invalidValue(PropertyName)
        case deletedWhileEdited
        /// Nobody wants it where it needs somebody.
        case missing(relation: Int, isOwner: Bool)
        /// Whoever it needs is not there.
        case gone(relation: Int, isOwner: Bool, partner: Int)
        /// The place it wants at the holder has been taken by the winner.
        case lostSlot(relation: Int, isOwner: Bool, holder: Int, winner: Int)
    }

    init(_ graph: Graph) {
        self.graph = graph
        places = graph.fold.records.indices.map { graph.firstPlace(of: $0) }
        isAccepted = Array(repeating: false, count: graph.edges.count)
        held = graph.fold.records.indices.map { Array(repeating: 0, count: graph.slots(of: $0).count) }
        for component in graph.components() { repair(component) }
    }

    private mutating func repair(_ component: Component) {
        repeat { match(component) } while shrink(component)
        grow(component)
    }

    func isLive(_ record: Int) -> Bool { places[record] == .live }
}

/// Records that hang together by edges, and those edges in descending K.
struct Component {
    var records: [Int] = []
    var edges: [Int] = []
}

extension Graph {
    /// Before anything is matched: what is there, and may be by itself.
    func firstPlace(of record: Int) -> Repair.Place {
        if clones.contains(key: record) { return .spare }
        switch lives[record] {
        case .unknown, .dead: return .absent
        case .contested: return .out(.deletedWhileEdited)
        case .alive:
            if names[record] != record { return .absent }
            return invalidField(of: record).map { .out(.invalidValue($0)) } ?? .live
        }
    }

    func invalidField(of record: Int) -> PropertyName? {
        entity(of: record)?.fields.first { field in
            guard let value = value(field.name, of: record), value.kind != .null else { return field.isRequired }
            return !field.type.allows(value)
        }?.name
    }

    /// In the order of their first record. Edges to what is dead or unknown join nothing, but belong to the living end.
    func components() -> [Component] {
        var sets = DisjointSets(count: fold.records.count)
        for edge in edges {
            guard let target = edge.target, isPresent(edge.owner), isPresent(target) else { continue }
            sets.unite(edge.owner, target)
        }
        var components: [Component] = []
        var numbers: [Int?] = Array(repeating: nil, count: fold.records.count)
        for record in fold.records.indices where isPresent(record) {
            let root = sets.root(of: record)
            let number = numbers[root] ?? components.count
            if number == components.count { components.append(Component()) }
            numbers[root] = number
            components[number].records.append(record)
        }
        for (number, edge) in edges.enumerated() {
            let end = isPresent(edge.owner) ? edge.owner : edge.target
            guard let end, isPresent(end), let component = numbers[sets.root(of: end)] else { continue }
            components[component].edges.append(number)
        }
        return components
    }

    func isPresent(_ record: Int) -> Bool {
        (lives[record] == .alive || lives[record] == .contested || clones.contains(key: record))
            && names[record] == record
    }
}

extension Field.Kind {
    /// `null` is asked of nobody: it counts as nothing.
    func allows(_ value: JSONText) -> Bool {
        switch self {
        case .string: value.kind == .string
        case .integer: value.kind == .number && !value.bytes.contains { ".eE".utf8.contains($0) }
        case .number: value.kind == .number
        case .bool: value.kind == .bool
        case .array: value.kind == .array
        case .object: value.kind == .object
        case .any: true
        }
    }
}

/// Which of many things hang together.
struct DisjointSets {
    private var parents: [Int]

    init(count: Int) {
        parents = Array(0..<count)
    }

    mutating func root(of element: Int) -> Int {
        var element = element
        while parents[element] != element {
            parents[element] = parents[parents[element]]
            element = parents[element]
        }
        return element
    }

    /// The smaller root stays.
    mutating func unite(_ one: Int, _ other: Int) {
        let (left, right) = (root(of: one), root(of: other))
        parents[max(left, right)] = min(left, right)
    }
}
