/// `onContest: fork`: whoever loses a place gets a copy of the record that it wanted the place at. The copy has the
/// values of the original and, where there is room, its links; it is called after both, so both nodes call it alike. It is
/// there as long as it is needed, and becomes a record of its own when somebody writes it (`Differ`).
import SyncModel

extension Graph {
    struct Clone {
        let id: RecordID
        let holder: Int
        let wanter: Int
        /// The edge that did not get its place.
        let edge: Int
        let isHolderOwner: Bool
    }

    /// Each once, in the order of the edges.
    func wantedClones() -> [Clone] {
        guard model.hasForks else { return [] }
        var isWanted: SortedMap<RecordID, Bool> = [:]
        return edges.indices.flatMap { edge in
            [clone(for: edge, atOwner: true), clone(for: edge, atOwner: false)].compactMap(\.self)
        }.filter { isWanted.updateValue(true, forKey: $0.id) == nil }
    }

    /// Only where more want a place than there are, at someone who may have a copy.
    private func clone(for number: Int, atOwner: Bool) -> Clone? {
        let edge = edges[number]
        guard edge.insteadOf == nil, let target = edge.target else { return nil }
        let end = atOwner ? relation(of: edge).owner : relation(of: edge).target
        let (holder, wanter) = atOwner ? (edge.owner, target) : (target, edge.owner)
        guard end.onContest == .fork, let max = end.countMax, isPresent(holder), holder != wanter,
            entity(of: holder)?.mayBeCloned == true, rivals(of: number, at: holder, isOwner: atOwner) >= max
        else { return nil }
        let id = RecordID.clone(of: fold.records[holder], for: fold.records[wanter])
        return Clone(id: id, holder: holder, wanter: wanter, edge: number, isHolderOwner: atOwner)
    }

    private func rivals(of number: Int, at holder: Int, isOwner: Bool) -> Int {
        let relation = edges[number].relation
        return edgesOf[holder].count { other in
            let edge = edges[other]
            return other != number && edge.relation == relation && edge.insteadOf == nil && edge.target != nil
                && (isOwner ? edge.owner : edge.target) == holder
        }
    }

    /// Nobody wrote it, or somebody made it; where somebody deleted it there is no copy.
    func isFree(_ id: RecordID) -> Bool {
        guard let number = fold.number(of: id) else { return true }
        return lives[number] == .alive || lives[number] == .unknown && states[number].deletes.isEmpty
    }

    /// The place at the clone, for whoever lost the one at the holder.
    func edge(of clone: Clone, _ number: Int) -> Edge {
        let edge = edges[clone.edge]
        return Edge(
            relation: edge.relation, owner: clone.isHolderOwner ? number : edge.owner,
            target: clone.isHolderOwner ? edge.target : number, write: edge.write, order: edge.order,
            insteadOf: clone.holder)
    }

    /// What the holder wants by its other relations.
    func edges(like clone: Clone, _ number: Int) -> [Edge] {
        edgesOf[clone.holder].map { edges[$0] }.filter { edge in
            edge.owner == clone.holder && edge.insteadOf == nil && edge.relation != edges[clone.edge].relation
                && edge.target != clone.holder
        }.map { edge in
            Edge(
                relation: edge.relation, owner: number, target: edge.target, write: edge.write, order: edge.order,
                insteadOf: clone.holder)
        }
    }
}

extension Entity {
    /// Two of what there is only one of would be one, and two files of one record need two names.
    fileprivate var mayBeCloned: Bool { !isSingleton && identity.isEmpty && (at != nil || id == .stem) }
}

extension RecordID {
    /// A name that can be the name of a file, too.
    static func clone(of holder: RecordID, for wanter: RecordID) -> RecordID {
        var writer = ByteWriter()
        writer.putRaw(Array("syncd fork 1".utf8))
        for id in [holder, wanter] {
            writer.putCounted(id.entity.bytes)
            writer.putCounted(id.key)
        }
        return RecordID(holder.entity, Array(SHA256.digest(of: writer.bytes).hex(digits: 32).utf8))
    }
}
