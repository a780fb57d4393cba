import RecordMerge
import SyncModel

/// Records that had to leave the folder: one alert for each group of them, the same on both nodes, until a person decides.
extension Node {
    var contests: [Contest] { records.books.flatMap { $0.contests(ownParty, records.shelf) } }

    /// What people discarded and can still take back, as it would be then.
    var discardedContests: [Contest] { records.books.flatMap { $0.discarded(ownParty, at: now.wallMilliseconds) } }

    mutating func watchContests(into effects: inout Effects) {
        if records.held.areNewer { setAlarm(.logNewer, if: true, into: &effects) }
        for model in records.held.models { setAlarm(.schemaNewer, subject: model, if: true, into: &effects) }
        let groups = records.books.flatMap { $0.groups(ownParty) }
        let open = SortedMap(groups.map { ($0.key, true) })
        let over = alarms.raised.map(\.key).filter { records.contested.contains(key: $0) && !open.contains(key: $0) }
        records.contested = open
        for key in over { setAlarm(key.code, subject: key.subject, if: false, into: &effects) }
        // (What it lacks may be on its way.)
        if records.isTakingStock { return }
        for (key, violation) in groups { setAlarm(key, AlertFacts(violation: violation), if: true, into: &effects) }
    }

    /// An operation like any other, by somebody who has seen everything there is.
    mutating func settleContest(
        _ id: CommandID, _ choice: ContestChoice, _ record: RecordID, into effects: inout Effects
    ) {
        let number = records.books.firstIndex { $0.model.entity(record.entity) != nil }
        guard keepsRecords, records.isLoaded, let number else {
            return effects.add(.answer(id, .refused(.requestNotFound)))
        }
        let operations = records.books[number].operations(for: choice, record)
        var ahead = clock
        let time = ahead.tick(wallMilliseconds: now.wallMilliseconds)
        let model = records.books[number].model
        let isUnshown = !records.held.areShown && records.held.concern(operations, model, by: ownParty.other)
        let seen = isUnshown ? records.readable : records.known.peer
        let set = changeSet(
            operations, [], of: number, at: time, seeing: seen, needs: records.books[number].needs)
        guard !operations.isEmpty, let bytes = encoded(set, of: number) else {
            return effects.add(.answer(id, .refused(.requestRefused)))
        }
        clock = ahead
        var batch = Batch()
        logSet(set, bytes, of: number, in: &batch)
        store(&batch, then: .answer(id, .done), into: &effects)
        refreshRecords(showing: records.known.peer, into: &effects)
    }

    func explanation(of record: RecordID) -> Explanation? {
        guard let book = records.books.first(where: { $0.model.entity(record.entity) != nil }) else { return nil }
        return Explanation(of: record, in: book.space.history, model: book.model)
    }
}

extension RecordBook {
    /// What the alerts are about, without what the records say.
    func groups(_ ownParty: Party) -> [(key: AlertKey, violation: Violation?)] {
        groupsInQuarantine(ownParty)
            + view.rivals.map { id, _ in
                (AlertKey(code: .conflictIdentity, subject: Array(id.description.utf8)), nil)
            }
    }

    private func groupsInQuarantine(_ ownParty: Party) -> [(key: AlertKey, violation: Violation?)] {
        SortedMap(view.quarantine.map { ($0.value.group, true) }).keys.compactMap { group in
            code(of: group).map { code in
                let isMissing = code == .validationRequiredMissing
                let violation = isMissing ? self.violation(of: group, ownParty) : nil
                return (AlertKey(code: code, subject: Array(group.description.utf8)), violation)
            }
        }
    }

    private func violation(of id: RecordID, _ ownParty: Party) -> Violation? {
        guard let reason = view.quarantine[id]?.reason, let write = lastWrite(to: id) else { return nil }
        return Violation(
            record: id, property: model.property(of: reason, at: id), author: write.author == ownParty ? .own : .peer,
            set: lastSet(writingTo: id, by: write.author))
    }

    func contests(_ ownParty: Party, _ shelf: RecordShelf) -> [Contest] {
        contestsInQuarantine(ownParty, shelf) + view.rivals.map { contest(of: $0.key, $0.value, ownParty) }
    }

    private func contestsInQuarantine(_ ownParty: Party, _ shelf: RecordShelf) -> [Contest] {
        SortedMap(view.quarantine.map { ($0.value.group, true) }).keys.map { group in
            let left = view.quarantine.filter { $0.value.group == group }.map(\.key)
            return contest(code(of: group), group, left, ownParty, shelf)
        }
    }

    func discarded(_ ownParty: Party, at wallMilliseconds: Int64) -> [Contest] {
        let groups = space.discarded.filter {
            UInt64(max(0, wallMilliseconds)) < $0.wallMilliseconds + RecordView.retentionMilliseconds
        }
        if groups.isEmpty { return [] }
        let book = restoring(groups.flatMap(\.records))
        return groups.map { book.contest(nil, $0.leader, $0.records, ownParty, RecordShelf()) }
    }

    private func contest(
        _ code: MessageCode?, _ group: RecordID, _ left: [RecordID], _ ownParty: Party, _ shelf: RecordShelf
    ) -> Contest {
        let reason = view.quarantine[group]?.reason
        var versions = left.map { version($0, isCurrent: false, ownParty, shelf.files[$0]?.id) }
        if case .lostSlot(_, _, let winner)? = reason {
            versions.insert(version(winner, isCurrent: true, ownParty), at: 0)
        }
        return Contest(code: code, group: group, reason: reason, versions: versions)
    }

    /// What is shown, what the second name says, and what the other says alone if that is something else than what is shown.
    private func contest(of id: RecordID, _ rival: RecordView.Rival, _ ownParty: Party) -> Contest {
        let eldest = view.aliases[id] ?? id
        var versions = [version(eldest, isCurrent: true, ownParty), version(id, isCurrent: false, ownParty)]
        let isShown =
            rival.values.allSatisfy { rival.eldest.values[$0] == rival.shown.values[$0] }
            && rival.links.allSatisfy { rival.eldest.links[$0] == rival.shown.links[$0] }
        if !isShown { versions.append(version(eldest, isCurrent: false, ownParty, saying: rival.eldest)) }
        return Contest(code: .conflictIdentity, group: id, reason: nil, versions: versions)
    }

    private func version(
        _ id: RecordID, isCurrent: Bool, _ ownParty: Party, _ kept: VersionID? = nil,
        saying record: RecordView.Record? = nil
    ) -> Contest.Version {
        let write = lastWrite(to: id)
        let content = record.map { self.content(of: id, saying: $0) } ?? content(of: id)
        return Contest.Version(
            record: id, author: write.map { $0.author == ownParty ? .own : .peer } ?? .own,
            wallMilliseconds: Int64(clamping: write?.time.wallMilliseconds ?? 0), isCurrent: isCurrent,
            path: content?.path, bytes: content?.bytes ?? [], kept: kept)
    }

    /// Of the records in quarantine those about which somebody is to decide.
    var contestedCount: Int { view.quarantine.count { code(of: $0.value.group) != nil } }

    /// Nil where nobody contests anything: somebody has decided against it, or its author has never named anybody.
    private func code(of group: RecordID) -> MessageCode? {
        if view.quarantine[group]?.isDecided == true { return nil }
        return switch view.quarantine[group]?.reason {
        case .missing: nil
        case .lostSlot, .gone, nil: .conflictSlot
        case .deletedWhileEdited: .conflictDeletedWhileEdited
        case .invalidValue: .validationRequiredMissing
        }
    }

    // MARK: Decisions

    /// None if the choice means nothing for the record as it is.
    func operations(for choice: ContestChoice, _ record: RecordID) -> [Operation] {
        switch choice {
        case .take: take(record)
        case .discard: discard(record)
        case .restore: space.deadTogether(with: record).map { Operation($0, .restore) }
        }
    }

    /// With what the model wants gone of the group: it would come back with it.
    private func discard(_ group: RecordID) -> [Operation] {
        if let rival = view.rivals[group] { return choose(rival.shown, rival, of: group) }
        let left = (view.quarantine.map { $0 } + view.dropped.map { $0 }).filter { $0.value.group == group }.map(\.key)
        return left.isEmpty ? [] : RecordSpace.discard(group, with: left.sorted())
    }

    /// Said once more by somebody who has seen both names: from here on nothing stands beside it.
    private func choose(_ record: RecordView.Record, _ rival: RecordView.Rival, of name: RecordID) -> [Operation] {
        let eldest = view.aliases[name] ?? name
        return rival.values.map { Operation(eldest, .set($0, record.values[$0])) }
            + rival.links.map { Operation(eldest, .link($0, record.links[$0]?.first?.key, order: [])) }
    }

    private func take(_ record: RecordID) -> [Operation] {
        if let rival = view.rivals[record] { return choose(rival.own, rival, of: record) }
        let rivals = view.rivals.filter { view.aliases[$0.key] == record }
        if !rivals.isEmpty { return rivals.flatMap { choose($0.value.eldest, $0.value, of: $0.key) } }
        switch view.quarantine[record]?.reason {
        case .lostSlot(let relation, let holder, _)?:
            let isOwner = relation.entity == record.entity && holder.entity != record.entity
            let (owner, target) = isOwner ? (record, holder) : (holder, record)
            guard model.relations.first(where: { $0.name == relation })?.isRegister == true else { return [] }
            return [Operation(owner, .link(relation.property, target.key, order: []))]
        case .deletedWhileEdited?: return [Operation(record, .restore)]
        case .gone(_, let partner)?:
            return view.dead.contains(partner) ? [Operation(partner, .restore)] : []
        case .missing?, .invalidValue?, nil: return []
        }
    }
}
