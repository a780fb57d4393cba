/// V15: a record leaves quarantine because somebody wrote to it or to whom it needs, or because a place has become free.
import RecordMerge
import SyncModel
import Testing

@Suite("V15: the ways out of quarantine")
struct QuarantineTests {
    @Test("V15: nobody comes back without an operation or a free place: random histories") func random() throws {
        var returns = 0
        for seed in 0..<Effort.times(400) {
            var chance = HistoryMaker(seed: UInt64(seed))
            let pair = try chance.history(actsMax: 16)
            for party in [Party.first, .second] {
                let complaint = QuarantineTests.complaint(pair, party, &returns)
                #expect(complaint == nil, "seed \(seed)\n\(chance.entities)\n\(pair.all.map(\.sketch))")
                if complaint != nil { return }
            }
        }
        // A law about what never happens says nothing.
        #expect(returns > 50)
    }

    /// One set after the other, as they are written, or all of one node first. Nil if all was well.
    private static func complaint(_ pair: Pair, _ first: Party, _ returns: inout Int) -> String? {
        let sets = pair.made[first.number] + pair.made[first.other.number]
        var before = RecordView(of: [], model: pair.model)
        for count in sets.indices {
            let after = RecordView(of: Array(sets[...count]), model: pair.model)
            for (id, entry) in before.quarantine where after.live[id] != nil {
                returns += 1
                let step = Step(
                    ties: Ties(Array(sets[...count]), [before, after], pair.model), set: sets[count], before: before,
                    after: after, model: pair.model)
                if !step.explains(id, entry.reason) {
                    return "\(id), who was out for \(entry.reason), is back by \(sets[count].sketch)"
                }
            }
            before = after
        }
        return nil
    }

    private struct Step {
        let ties: Ties
        let set: ChangeSet
        let before: RecordView
        let after: RecordView
        let model: Model

        func explains(_ id: RecordID, _ reason: RecordView.Reason) -> Bool {
            let group = group(of: id).union(others(in: reason))
            return group.contains { isWrittenTo($0) || hasFreePlace($0) } && ties.hold(id, set)
        }

        /// The record and whoever came back or stayed with it because one needs the other.
        private func group(of id: RecordID) -> Set<RecordID> {
            var group: Set<RecordID> = []
            var next = [id]
            while let member = next.popLast() {
                guard group.insert(member).inserted, let record = after.live[member] else { continue }
                for side in model.entity(member.entity)?.sides ?? [] where side.isRequired {
                    next += record.links[side.name] ?? []
                }
            }
            return group
        }

        private func others(in reason: RecordView.Reason) -> [RecordID] {
            switch reason {
            case .invalidValue, .deletedWhileEdited, .missing: []
            case .gone(_, let other): [other]
            case .lostSlot(_, let holder, let winner): [holder, winner]
            }
        }

        private func isWrittenTo(_ id: RecordID) -> Bool {
            set.operations.contains { operation in
                if main(operation.record) == id || operation.record == id { return true }
                switch operation.action {
                case .link(_, let key?, _), .add(_, let key, _), .remove(_, let key): return key == id.key
                case .link(_, nil, _), .insert, .delete, .restore, .set: return false
                }
            }
        }

        private func main(_ id: RecordID) -> RecordID { after.aliases[id] ?? before.aliases[id] ?? id }

        /// Somebody who was with it has gone from there.
        private func hasFreePlace(_ id: RecordID) -> Bool {
            guard let was = before.live[id] else { return false }
            return was.links.contains { name, partners in
                let now = after.live[id]?.links[name] ?? []
                return partners.contains { !now.contains($0) }
            }
        }
    }

    /// Which records hang together by anything that anybody ever wrote: nothing else may move a record.
    private struct Ties {
        private var names: [RecordID: RecordID] = [:]

        init(_ sets: [ChangeSet], _ views: [RecordView], _ model: Model) {
            for operation in sets.flatMap(\.operations) {
                for other in Ties.others(in: operation, model) { unite(operation.record, other) }
            }
            for (second, first) in views.flatMap(\.aliases) { unite(second, first) }
        }

        private static func others(in operation: Operation, _ model: Model) -> [RecordID] {
            let (property, key): (PropertyName, [UInt8])
            switch operation.action {
            case .link(let name, let target?, _), .add(let name, let target, _), .remove(let name, let target):
                (property, key) = (name, target)
            case .link(_, nil, _), .insert, .delete, .restore, .set: return []
            }
            guard
                let relation = model.relations.first(where: {
                    $0.name == RelationName(operation.record.entity, property)
                })
            else { return [] }
            let homes = [relation.owner, relation.target].compactMap { end in
                if case .rehome(let home) = end.onContest { RecordID(end.entity, home) } else { nil }
            }
            return [RecordID(relation.target.entity, key)] + homes
        }

        func hold(_ id: RecordID, _ set: ChangeSet) -> Bool {
            set.operations.contains { root(of: $0.record) == root(of: id) }
        }

        private func root(of id: RecordID) -> RecordID {
            var id = id
            while let next = names[id] { id = next }
            return id
        }

        private mutating func unite(_ one: RecordID, _ other: RecordID) {
            let (left, right) = (root(of: one), root(of: other))
            if left != right { names[left] = right }
        }
    }

    @Test("V15: a set that comes twice, and one about others, brings nobody back") func unrelated() throws {
        let model = try Models.ab()
        var pair = Pair(model)
        pair.act(.first, .insert(.named("A/1")), .insert(.named("B/1")), .link(.named("A/1"), "b", "1"))
        pair.heal()
        pair.act(.first, .delete(.named("B/1")), .insert(.named("B/2")), .link(.named("A/1"), "b", "2"))
        pair.act(.second, .delete(.named("B/1")), .insert(.named("B/3")), .link(.named("A/1"), "b", "3"))
        pair.heal()
        let out = RecordID("B", "2")
        #expect(pair.view.quarantine[out] != nil)
        pair.act(.second, .insert(.named("A/9")), .insert(.named("B/9")), .link(.named("A/9"), "b", "9"))
        pair.heal()
        #expect(pair.view.quarantine[out] != nil)
        #expect(RecordView(of: pair.all + pair.all, model: model).quarantine[out] != nil)
        // The place becomes free, and the one who waits for it has it.
        pair.act(.second, .delete(.named("B/3")))
        pair.heal()
        #expect(pair.view.live[out] != nil && pair.view.quarantine.isEmpty)
    }
}
