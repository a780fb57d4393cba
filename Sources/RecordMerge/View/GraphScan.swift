/// A look at the whole graph of a model, by whoever does not take the view's word: it is made anew from the change sets and compared,
/// and every live record is held against every rule of its model. What is out of the graph is named, with its reason.
public import SyncModel

public struct GraphScan: Hashable, Sendable {
    public private(set) var live = 0
    public private(set) var dead = 0
    /// Records that are out of the live graph, or pointed at and never made: a line each, by id.
    public private(set) var strays: [String] = []
    /// What must never be: a line each.
    public private(set) var faults: [String] = []
    /// Of each model: two nodes of which `heads` are the same have the same digest.
    public private(set) var pictures: [Picture] = []

    public struct Picture: Hashable, Sendable {
        /// The last change set of each author and epoch.
        public let heads: [Head]
        public let digest: Digest
    }

    public struct Head: Hashable, Sendable {
        public let author: Party
        public let position: LogPosition
    }

    /// Of several models.
    public init(of spaces: [RecordSpace]) {
        for space in spaces { look(at: space) }
    }

    private mutating func look(at space: RecordSpace) {
        let (view, model) = (space.view, space.model)
        if RecordView(of: space.history, model: model) != view {
            faults.append(
                "what is shown is not what the change sets of \(String(decoding: model.name, as: UTF8.self)) come to")
        }
        pictures.append(Picture(heads: GraphScan.heads(of: space.history), digest: view.digest))
        live += view.live.count
        dead += view.dead.count
        strays += view.quarantine.map { id, entry in "\(SaveFault(record: id, reason: .leaves(entry.reason)))" }
        strays += view.dropped.map { id, entry in "\(SaveFault(record: id, reason: .leaves(entry.reason)))" }
        strays += view.unknown.map { "\($0) is written to or pointed at, and nobody made it" }
        for (id, record) in view.live {
            guard let entity = model.entity(id.entity) else { continue }
            faults += entity.fields.filter { $0.isRequired && record.values[$0.name] == nil }.map {
                "\(id) has no \($0.name)"
            }
            for side in entity.sides { faults += broken(side, of: id, record, in: view) }
        }
        for entity in model.entities
        where entity.isSingleton && view.live.count(where: { $0.key.entity == entity.name }) > 1 {
            faults.append("there is more than one \(entity.name)")
        }
    }

    private static func heads(of history: [ChangeSet]) -> [Head] {
        [Party.first, .second].flatMap { party in
            var last: SortedMap<UInt64, LogPosition> = [:]
            for set in history where set.author == party {
                last[set.position.epoch.raw] = max(last[set.position.epoch.raw] ?? set.position, set.position)
            }
            return last.map { Head(author: party, position: $0.value) }
        }
    }

    private func broken(_ side: Side, of id: RecordID, _ record: RecordView.Record, in view: RecordView) -> [String] {
        let partners = record.links[side.name] ?? []
        var faults: [String] = []
        if side.isRequired, partners.isEmpty { faults.append("\(id) needs somebody by \(side.name)") }
        if partners.count > (side.kind == .one ? 1 : side.max ?? .max) {
            faults.append("\(id) has too many \(side.name)")
        }
        for partner in partners {
            guard let other = view.live[partner] else {
                faults.append("\(id) has \(partner) by \(side.name), which is not there")
                continue
            }
            if let inverse = side.inverse, other.links[inverse]?.contains(id) != true {
                faults.append("\(partner) knows nothing of \(id), which has it by \(side.name)")
            }
        }
        return faults
    }
}
