/// What a save means: the files of one change set before and after it, as operations. Both sides of a relation may have
/// been edited; what comes out is written at its owner.
public import SyncModel

public struct Differ {
    private let model: Model
    private let view: RecordView
    private let past: () -> RecordView
    private let lastShowing: (RecordID) -> RecordView?
    private let toldAt: UInt64
    private let isUnseen: (RecordID) -> Bool
    private let deleted: () -> SortedMap<RecordID, Bool>
    private let lastDiscards: ([RecordID]) -> SortedMap<RecordID, HybridTime>

    /// One file that a save touched; nil where it was not, or is no more.
    public struct Save {
        public let before: RecordDocument?
        public let after: RecordDocument?
        /// By the clock of its node; nil where that is not known, or does not matter.
        let savedAt: Timestamp?
        /// What stands there may have been deleted before, which the file did not show.
        let mayShowDead: Bool

        public init(
            before: RecordDocument?, after: RecordDocument?, savedAt: Timestamp? = nil, mayShowDead: Bool = false
        ) {
            self.before = before
            self.after = after
            self.savedAt = savedAt
            self.mayShowDead = mayShowDead
        }

        fileprivate func isLater(than time: HybridTime) -> Bool {
            savedAt.map { UInt64(clamping: $0.milliseconds) > time.wallMilliseconds } ?? false
        }
    }

    /// `view` is what the author had before the save, but for what was written meanwhile to records that are `unseen`: what
    /// goes along with a delete goes only if its author can have known that. `past` is the view without what was written
    /// meanwhile; it is made only where it matters. `lastShowing` is the last view between the two that has the record: what
    /// was written meanwhile the author may have had all the same. `time` is that of the set that the save becomes. What the author's node has told
    /// that it is `deleted` he counts as having seen; it too is gathered only where it matters. `lastDiscards` is when somebody there has decided that
    /// these records go, of those that nobody there has deleted since: that has no notice which could be late.
    public init(
        model: Model, view: RecordView, past: (() -> RecordView)? = nil,
        lastShowing: @escaping (RecordID) -> RecordView? = { _ in nil }, at time: HybridTime = .zero,
        unseen: @escaping (RecordID) -> Bool = { _ in false },
        deleted: @escaping () -> SortedMap<RecordID, Bool> = { [:] },
        lastDiscards: @escaping ([RecordID]) -> SortedMap<RecordID, HybridTime> = { _ in [:] }
    ) {
        self.model = model
        self.view = view
        self.past = past ?? { view }
        self.lastShowing = lastShowing
        toldAt = time.wallMilliseconds
        isUnseen = unseen
        self.deleted = deleted
        self.lastDiscards = lastDiscards
    }

    /// In an order in which later ones may build on earlier ones: inserts and restores, values, links, deletes.
    public func operations(for saves: [Save]) -> [Operation] {
        var before = standing(Differ.contents(saves.compactMap(\.before)), in: saves)
        var after = Differ.contents(saves.compactMap(\.after))
        let deletes = deletes(of: before.map(\.key).filter { after[$0] == nil }, keeping: after)
        let gone = SortedMap(deletes.map { ($0.record, true) })
        for parting in partings(from: before, to: after) where !gone.contains(key: parting.record) {
            sayShown(parting, over: &before, in: &after)
        }
        let outlived = outlivedDeletes(from: before, to: after, without: gone)
        let restores = outlived.filter { !isTooLate(for: $0.value) }.map { Operation($0.key, .restore) }
        // Whoever is too late would bring back no more than the name: he makes it anew, as he has it.
        for (id, delete) in outlived where isTooLate(for: delete) {
            before[id] = nil
            if after[id] == nil { after[id] = model.entity(id.entity).flatMap { content(of: id, $0) } }
        }
        let inserts = after.filter { before[$0.key] == nil }.map { Operation($0.key, .insert) }
        let values = after.flatMap { changedValues(of: $0.key, from: before[$0.key], to: $0.value) }
        let keys = values.filter { before[$0.record] != nil }.flatMap { keysOfSecondNames(with: $0, keeping: after) }
        let links = after.flatMap { changedLinks(of: $0.key, from: before[$0.key], to: $0.value) }
        let names = names(in: saves)
        return inserts + restores + Differ.inTurn(values, names) + keys
            + Differ.inTurn(Differ.settled(links, without: deletes), names) + deletes
    }

    /// Of saves over states that one reader may know and the other not: what makes of either what was saved, each told once.
    public func operations(for saves: [Save], over others: [Save]) -> [Operation] {
        let first = operations(for: saves)
        let more = operations(for: others).filter { operation in
            !first.contains {
                $0.record == operation.record
                    && ($0.action == operation.action || $0.action.isAboutSame(as: operation.action))
            }
        }
        return first + more
    }

    /// A document can outlive its own members: one node deleted it, the other put a record in. Whoever changes them
    /// then makes them anew. So does whoever changes a clone, or what was one when he did.
    private func standing(
        _ contents: SortedMap<RecordID, RecordDocument.Content>, in saves: [Save]
    ) -> SortedMap<RecordID, RecordDocument.Content> {
        let after = Differ.contents(saves.compactMap(\.after))
        var standing = contents
        for (id, content) in contents where id.isSurroundings && view.deadRecords.contains(key: id) {
            if after[id].map({ $0.values != content.values }) ?? true { standing[id] = nil }
        }
        let died = diedUnshown(in: saves)
        for (id, content) in contents where !view.isMade(id) || died.contains(key: id) {
            guard let after = after[id] else { continue }
            if after.values != content.values || after.links != content.links { standing[id] = nil }
        }
        return standing
    }

    /// Those of what is dead that may have stood in their files all the same: whoever has changed one there did that before the delete was told of,
    /// or saw it standing. (A delete by the other node he has not seen; nor need he have seen that the other made what his own has deleted since.)
    private func diedUnshown(in saves: [Save]) -> SortedMap<RecordID, Bool> {
        let dead = deadShown(by: saves)
        if dead.isEmpty { return [:] }
        let past = past()
        let isUnmade = dead.contains { !past.isMade($0) }
        let deleted = isUnmade ? deleted() : [:]
        let died = dead.filter { past.deadRecords.contains(key: $0) || !past.isMade($0) && deleted.contains(key: $0) }
        return SortedMap(died.map { ($0, true) })
    }

    private func deadShown(by saves: [Save]) -> [RecordID] {
        let shown = saves.map { save in
            (save: save, dead: (save.before?.ids ?? []).filter { view.deadRecords.contains(key: $0) })
        }
        let doubtful = shown.flatMap { $0.save.mayShowDead ? [] : $0.dead }
        let discards = doubtful.isEmpty ? [:] : lastDiscards(doubtful)
        return shown.flatMap { save, dead in
            // Whoever saves it after such a decision saw it standing.
            save.mayShowDead ? dead : dead.filter { discards[$0].map(save.isLater) ?? false }
        }
    }

    /// Somebody who writes to what is there, or has lost its place, although a delete of it stands wants it himself, and so it stays
    /// when those go who need it, or when it is deleted once more by somebody who knew what that delete did not. That it has gone
    /// meanwhile he could not know. Whom it needs, and of whom a delete stands as well, he wants too: what had brought them
    /// back, or would if they were deleted together once more, counts no more. (It stood as he had them, whoever has taken
    /// it back meanwhile.) Of each the time of the first such delete. (What was edited so long ago is left as it is, if
    /// he counts as one who knows of those edits: who makes it anew says all of it, and so takes back what the other node writes there meanwhile.)
    private func outlivedDeletes(
        from before: SortedMap<RecordID, RecordDocument.Content>, to after: SortedMap<RecordID, RecordDocument.Content>,
        without gone: SortedMap<RecordID, Bool>
    ) -> SortedMap<RecordID, UInt64> {
        let written = after.filter { id, new in
            before[id].map { $0.values != new.values || $0.links != new.links } ?? false
        }.map(\.key)
        let known = written.contains { view.deadRecords.contains(key: $0) } ? past() : view
        var outlived: SortedMap<RecordID, UInt64> = [:]
        var last: RecordView?
        // Whom others need is looked for where those were found.
        var waiting: [(record: RecordID, shown: RecordView?)] = written.map { (record: $0, shown: nil) }
        while let (id, shown) = waiting.popLast() {
            let stood = shown ?? asShown(id, known, &last)
            guard !outlived.contains(key: id), !stood.clones.contains(key: id), let delete = stood.outlivedDeletes[id],
                !isTooLate(for: delete) || !livesByEdits(id, in: view) || !livesByEdits(id, in: past())
            else { continue }
            outlived[id] = delete
            for partner in needed(by: id, as: after[id], in: stood) where !gone.contains(key: partner) {
                waiting.append((record: partner, shown: stood))
            }
        }
        return outlived
    }

    /// As he had it who saw it in his folder. (By a clock that was put back he may count as one who had not seen it made.)
    /// Each view that shows one of the dead is made of all sets anew: what went with it is looked for in the `last` of them
    /// first.
    private func asShown(_ id: RecordID, _ known: RecordView, _ last: inout RecordView?) -> RecordView {
        guard view.deadRecords.contains(key: id) else { return view }
        if known.live.contains(key: id) { return known }
        if last?.live.contains(key: id) != true { last = lastShowing(id) }
        return last ?? known
    }

    /// Those it needs of whom a delete stands as well.
    private func needed(by id: RecordID, as saved: RecordDocument.Content?, in stood: RecordView) -> [RecordID] {
        let sides = model.entity(id.entity)?.sides.filter(\.isRequired) ?? []
        let partners = sides.flatMap { side -> [RecordID] in
            if let keys = saved?.links[side.name] { return keys.map { RecordID(side.to, $0) } }
            return stood.live[id]?.links[side.name] ?? []
        }
        return partners.filter { stood.outlivedDeletes.contains(key: $0) }
    }

    /// It is there, or in quarantine, whether anybody needs it or not.
    private func livesByEdits(_ id: RecordID, in view: RecordView) -> Bool {
        view.facts(of: id).record != nil && !view.revivedRecords.contains(key: id)
    }

    private func isTooLate(for delete: UInt64) -> Bool { toldAt >= delete + RecordView.retentionMilliseconds }

    private static func contents(_ documents: [RecordDocument]) -> SortedMap<RecordID, RecordDocument.Content> {
        var contents: SortedMap<RecordID, RecordDocument.Content> = [:]
        for document in documents {
            for (id, content) in document.records { contents[id] = content }
        }
        return contents
    }

    private func changedValues(
        of id: RecordID, from old: RecordDocument.Content?, to new: RecordDocument.Content
    ) -> [Operation] {
        let set = new.values.filter { old?.values[$0.key] != $0.value }.map { Operation(id, .set($0.key, $0.value)) }
        let gone = (old?.values ?? [:]).filter { new.values[$0.key] == nil }.map { Operation(id, .set($0.key, nil)) }
        return set + gone
    }

    // MARK: - Second names

    /// Who gives a thing another natural key gives it to all its names that he has in that record. Else one that keeps
    /// the old key would be a record of its own again, and take along what the file shows by it.
    private func keysOfSecondNames(
        with write: Operation, keeping after: SortedMap<RecordID, RecordDocument.Content>
    ) -> [Operation] {
        guard case .set(let name, let value?) = write.action, value.kind != .null,
            model.entity(write.record.entity)?.identity.contains(name) == true
        else { return [] }
        return view.aliases.filter { $0.value == write.record && after[$0.key] == nil && !isUnseen($0.key) }
            .map { Operation($0.key, write.action) }
    }

    /// A record, and what the save says of it under another name.
    private struct Parting {
        let record: RecordID
        var said = RecordDocument.Content(place: .root)
    }

    /// Records that lose what was told to one of their names: somebody makes a file of that name anew, or takes the key
    /// away by which they are one.
    private func partings(
        from before: SortedMap<RecordID, RecordDocument.Content>, to after: SortedMap<RecordID, RecordDocument.Content>
    ) -> [Parting] {
        view.aliases.compactMap { name, id in
            let isSaved = after[id] == nil ? after[name] != nil : before[id] != nil
            guard isSaved, !isUnseen(name), !isUnseen(id), let entity = model.entity(id.entity),
                let values = after[id]?.values ?? view.live[id]?.values
            else { return nil }
            let key = IdentityKey(entity, value: { values[$0] })
            guard let own = after[name] else { return key == nil ? Parting(record: id) : nil }
            let isSame = key != nil && key == IdentityKey(entity, value: { own.values[$0] })
            if isSame, before[name] != nil { return nil }
            return isSame ? Parting(record: id, said: own) : Parting(record: id)
        }
    }

    /// What it shows by that name it says itself from now on: the author of the save sees it in its file, and has taken
    /// nothing away.
    private func sayShown(
        _ parting: Parting, over before: inout SortedMap<RecordID, RecordDocument.Content>,
        in after: inout SortedMap<RecordID, RecordDocument.Content>
    ) {
        let (id, said) = (parting.record, parting.said)
        guard let entity = model.entity(id.entity), let shown = after[id] ?? content(of: id, entity) else { return }
        var known = before[id] ?? shown
        known.values.removeAll { name, _ in
            let isSaid = name == .location || entity.identity.contains(name) || said.values[name] != nil
            return !isSaid && shown.values[name] != nil
        }
        for (side, keys) in known.links where said.links[side] == nil {
            known.links[side] = keys.filter { shown.links[side]?.contains($0) != true }
        }
        before[id] = known
        after[id] = shown
    }

    private func content(of id: RecordID, _ entity: Entity) -> RecordDocument.Content? {
        view.live[id].map { record in
            var content = RecordDocument.Content(place: .root, values: record.values)
            for side in entity.sides { content.links[side.name] = record.references(side.name).map(\.key) }
            return content
        }
    }

    private struct SavedName {
        let thing: IdentityKey
        let savedAt: Timestamp
    }

    /// The records that may be one thing with others of the same save, and when each was saved.
    private func names(in saves: [Save]) -> SortedMap<RecordID, SavedName> {
        var names: SortedMap<RecordID, SavedName> = [:]
        if saves.count < 2 { return names }
        for save in saves {
            guard let after = save.after, let savedAt = save.savedAt else { continue }
            for (id, content) in after.records {
                guard let entity = model.entity(id.entity),
                    let thing = IdentityKey(entity, value: { content.values[$0] })
                else { continue }
                names[id] = SavedName(thing: thing, savedAt: savedAt)
            }
        }
        return names
    }

    /// Of what one set says of one thing the last counts, under whatever name: that is to be what was saved last.
    private static func inTurn(_ writes: [Operation], _ names: SortedMap<RecordID, SavedName>) -> [Operation] {
        if names.isEmpty { return writes }
        var things: SortedMap<IdentityKey, [(place: Int, savedAt: Timestamp)]> = [:]
        for (place, write) in writes.enumerated() {
            guard let name = names[write.record] else { continue }
            things[name.thing, default: []].append((place, name.savedAt))
        }
        var inTurn = writes
        for (_, places) in things {
            let turns = places.sorted { ($0.savedAt, $0.place) < ($1.savedAt, $1.place) }
            for (turn, next) in zip(places, turns) { inTurn[turn.place] = writes[next.place] }
        }
        return inTurn
    }

    // MARK: - Deletes

    /// With all second names of each, but for those that its author has or keeps as what they are, and with what its model says goes along.
    private func deletes(of gone: [RecordID], keeping after: SortedMap<RecordID, RecordDocument.Content>) -> [Operation]
    {
        var all: SortedMap<RecordID, Bool> = [:]
        var waiting = gone
        while let id = waiting.popLast() {
            if all.updateValue(true, forKey: id) != nil { continue }
            let along = view.aliases.filter { $0.value == id }.map(\.key) + cascade(from: id)
            waiting += along.filter { after[$0] == nil && !isUnseen($0) }
        }
        return all.keys.map { Operation($0, .delete) }
    }

    /// What a delete of these takes along, themselves included.
    public func going(with gone: [RecordID]) -> [RecordID] { deletes(of: gone, keeping: [:]).map(\.record) }

    private func cascade(from id: RecordID) -> [RecordID] {
        let sides = model.entity(id.entity)?.sides.filter { $0.onDelete == .cascade } ?? []
        return sides.flatMap { view.live[id]?.links[$0.name] ?? [] }
    }
}

// MARK: - Links

extension Differ {
    /// A link and how much it counts where both sides were edited: what the owner's file says, then who, then nobody.
    private struct Claim {
        let operation: Operation
        let weight: Int

        /// Where the other side's list has the same link.
        func placed(like other: Claim) -> Claim {
            let action: Operation.Action? =
                switch (operation.action, other.operation.action) {
                case (.link(let name, let one, _), .link(_, let two, let order)) where one == two && !order.isEmpty:
                    .link(name, one, order: order)
                case (.add(let name, let one, _), .add(_, let two, let order)) where one == two && !order.isEmpty:
                    .add(name, one, order: order)
                case (.link, _), (.add, _), (.insert, _), (.delete, _), (.restore, _), (.set, _), (.remove, _): nil
                }
            return action.map { Claim(operation: Operation(operation.record, $0), weight: weight) } ?? self
        }
    }

    /// Of several claims to one register or edge the weightiest; of equals the last. What is deleted needs no link
    /// undone: that would look like an edit to the other node, and bring it back.
    private static func settled(_ claims: [Claim], without deletes: [Operation]) -> [Operation] {
        let isDeleted = SortedMap(deletes.map { ($0.record, true) })
        var best: SortedMap<RecordID, [Claim]> = [:]
        for claim in claims where isDeleted[claim.operation.record] == nil {
            let record = claim.operation.record
            let rival = best[record]?.firstIndex { $0.operation.action.isAboutSame(as: claim.operation.action) }
            guard let rival, let held = best[record]?[rival] else {
                best[record, default: []].append(claim)
                continue
            }
            let (winner, loser) = claim.weight >= held.weight ? (claim, held) : (held, claim)
            best[record, default: []][rival] = winner.placed(like: loser)
        }
        return best.flatMap { $0.value.map(\.operation) }
    }

    /// A side that was written down and is not any more says: nobody.
    private func changedLinks(
        of id: RecordID, from old: RecordDocument.Content?, to new: RecordDocument.Content
    ) -> [Claim] {
        let gone = (old?.links ?? [:]).filter { new.links[$0.key] == nil }
        let emptied = gone.flatMap { changedLinks(of: id, $0.key, from: $0.value, to: []) }
        return emptied
            + new.links.flatMap { changedLinks(of: id, $0.key, from: old?.links[$0.key] ?? [], to: $0.value) }
    }

    private func changedLinks(of id: RecordID, _ name: PropertyName, from old: [[UInt8]], to new: [[UInt8]]) -> [Claim]
    {
        guard old != new, let relation = model.relation(of: id.entity, name) else { return [] }
        let isOwner = relation.name == RelationName(id.entity, name)
        if isOwner, relation.isRegister {
            let order = new.first.flatMap { place(of: id, at: $0, relation) } ?? []
            return [Claim(operation: Operation(id, .link(name, new.first, order: order)), weight: 2)]
        }
        let gone = old.filter { !new.contains($0) }.map { key in
            Claim(operation: unlinked(id, key, relation, isOwner: isOwner), weight: isOwner ? 2 : 0)
        }
        let isOrdered = isOwner ? relation.owner.isOrdered : relation.target.isOrdered
        let orders =
            isOrdered
            ? orders(of: id, name, new, over: old, isOwner ? relation.target : relation.owner)
            : new.map { old.contains($0) ? nil : [] }
        let come = zip(new, orders).compactMap { key, order in
            order.map { linked(id, key, relation, isOwner: isOwner, order: $0) }
        }
        return gone + come.map { Claim(operation: $0, weight: isOwner ? 2 : 1) }
    }

    /// Places for what is new in an ordered list, or stands elsewhere now; nil for what stays. What the view has there, and the
    /// record has not been told by this author, is told in the place it has: of a record that is made anew, or says itself
    /// from now on what it showed, that is the whole list.
    private func orders(
        of id: RecordID, _ name: PropertyName, _ keys: [[UInt8]], over old: [[UInt8]], _ other: Relation.End
    ) -> [[UInt8]?] {
        let orders = view.live[id]?.orders[name] ?? [:]
        let known = keys.map { orders[RecordID(other.entity, $0)] }
        return zip(keys, zip(known, Order.places(known))).map { key, place in
            place.1 ?? (old.contains(key) ? nil : place.0)
        }
    }

    /// Where the list at the other end has it already.
    private func place(of id: RecordID, at target: [UInt8], _ relation: Relation) -> [UInt8]? {
        guard let inverse = relation.target.property else { return nil }
        return view.live[RecordID(relation.target.entity, target)]?.orders[inverse]?[id]
    }

    private func linked(
        _ id: RecordID, _ key: [UInt8], _ relation: Relation, isOwner: Bool, order: [UInt8]
    ) -> Operation {
        let owner = isOwner ? id : RecordID(relation.owner.entity, key)
        let target = isOwner ? key : id.key
        let name = relation.name.property
        return Operation(
            owner, relation.isRegister ? .link(name, target, order: order) : .add(name, target, order: order))
    }

    private func unlinked(_ id: RecordID, _ key: [UInt8], _ relation: Relation, isOwner: Bool) -> Operation {
        let owner = isOwner ? id : RecordID(relation.owner.entity, key)
        let name = relation.name.property
        return Operation(
            owner, relation.isRegister ? .link(name, nil, order: []) : .remove(name, isOwner ? key : id.key))
    }
}

extension Operation.Action {
    /// Writes to the same register or edge.
    fileprivate func isAboutSame(as other: Operation.Action) -> Bool {
        switch (self, other) {
        case (.link(let left, _, _), .link(let right, _, _)): left == right
        case (.add(let left, let one, _), .add(let right, let other, _)): left == right && one == other
        case (.remove(let left, let one), .remove(let right, let other)): left == right && one == other
        case (.insert, _), (.delete, _), (.restore, _), (.set, _), (.link, _), (.add, _), (.remove, _): false
        }
    }
}
