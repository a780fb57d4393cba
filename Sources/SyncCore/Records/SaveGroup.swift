/// Files of one model that were saved together, on their way to become one change set.
import RecordMerge
import SyncModel

struct SaveGroup {
    private let book: RecordBook
    private let awaitsFirstImport: Bool
    /// Files that were to come whole, of late, and when (monotonic milliseconds).
    private let come: SortedMap<Path, UInt64>
    /// That of all its files, if the model does not read it: what they say is for somebody whose model does.
    private let unreadVersion: Int?
    private var overwritten = SortedMap<Path, Overwritten>()
    /// Saves over a state that the model does not read: `saves` has them over what the view knows instead.
    private var overUnread = SortedMap<Path, Differ.Save>()
    private(set) var findings: [(path: Path, finding: RecordState.Finding)] = []
    private var saves = SortedMap<Path, Differ.Save>()

    init(
        _ book: RecordBook, awaitsFirstImport: Bool, come: SortedMap<Path, UInt64>, unreadVersion: Int? = nil
    ) {
        self.book = book
        self.awaitsFirstImport = awaitsFirstImport
        self.come = come
        self.unreadVersion = unreadVersion
    }

    /// What a reader of its set must have.
    var needs: Needs {
        guard let unreadVersion else { return book.needs }
        return Needs(model: book.model.name, modelVersion: unreadVersion, features: [Needs.unreadSaves])
    }

    var isEmpty: Bool { findings.isEmpty }

    func has(_ path: Path) -> Bool { saves.contains(key: path) }

    struct Refusal {
        let code: MessageCode
        let facts: AlertFacts
        let format: FormatFinding?

        init(_ code: MessageCode, _ facts: AlertFacts = AlertFacts(), _ format: FormatFinding? = nil) {
            self.code = code
            self.facts = facts
            self.format = format
        }
    }

    enum Judgement {
        case taken
        /// The file cannot be taken for what its model says.
        case refused(Refusal)
        /// It is in this version, which the model does not read.
        case newer(Int)
        /// What it took the place of is in a later version.
        case downgrade
    }

    /// `shown` is what the folder showed before the save; what was there before anybody told of it counts as new. Of what no model here
    /// reads (`isUnread`) the view knows nothing. The folder may long not have come to show what has been told since (`isUnshown`). Whoever
    /// insists puts an earlier version in the place of a later one on purpose.
    mutating func add(
        _ path: Path, _ finding: RecordState.Finding, over shown: [UInt8]?, isUnread: Bool, isUnshown: Bool,
        insisting: Bool
    ) -> Judgement {
        let before = shown.flatMap { book.document($0, at: path) }
        var after: RecordDocument?
        if let saved = finding.saved {
            if saved.bytes.isEmpty { return .refused(Refusal(.formatZeroLength)) }
            let document: RecordDocument
            do throws(DocumentFault) {
                document = try saved.document.get()
            } catch {
                return .refused(Refusal(.formatCorrupt, AlertFacts(detail: error.sentence, offset: error.offset)))
            }
            if awaitsFirstImport, document.ids.contains(where: book.model.isSingleton) {
                return .refused(Refusal(.waitingFirstImport))
            }
            switch document.version(at: book.model.versionAt) {
            case .unknown(let text):
                var facts = AlertFacts(insteadOfVersion: text)
                facts.writer = .own
                return .refused(Refusal(.formatUnknown, facts, book.formatRule.finding(nil)))
            case .absent, .number:
                let version = book.model.version(of: document)
                if !insisting, let before, version < book.model.version(of: before) { return .downgrade }
                if version > Int(book.formatRule.supports.upperBound), version != unreadVersion {
                    return .newer(version)
                }
            }
            after = document
        }
        findings.append((path, finding))
        saves[path] = Differ.Save(
            before: before, after: after, savedAt: finding.stat?.changed, mayShowDead: isUnshown)
        if isUnread, unreadVersion == nil {
            overUnread[path] = saves[path]
            let known = book.files[path].flatMap { book.document($0.bytes, at: path) }
            saves[path] = Differ.Save(
                before: known, after: after, savedAt: finding.stat?.changed, mayShowDead: isUnshown)
        }
        if unreadVersion != nil { overwritten[path] = Overwritten(bytes: before == nil ? nil : shown) }
        return .taken
    }

    /// Of somebody who had seen the sets of `peer` up to there, but for what his folder did not show.
    func operations(of peer: Party, seenThrough seen: LogPosition, at time: HybridTime) -> [Operation] {
        let unshown = findings.map(\.finding.unshown)
        let told = findings.map(\.finding.told).min() ?? .none
        let risen = risen(by: peer)
        // (Made of all sets: only where it matters, and once.)
        lazy var past = book.view(of: peer, through: seen)
        let lastShowing = { book.view(lastShowing: $0, of: peer, after: seen) }
        let isUnseen = { (record: RecordID) -> Bool in
            if book.view.aliases.contains(key: record) {
                guard let path = book.space.path(ofSecondName: record) else { return false }
                // It is still to leave its own file, or has just left it, or was told of only since; but what he has there himself his save says.
                let isApart =
                    book.isWritten(record, by: peer.other, after: told)
                    || unshown.contains { unshown in unshown[path].map { $0.mayHave(record) } ?? false }
                    || wasGoneBefore(record, toldBy: peer.other)
                return isApart && (!has(path) || book.isWritten(record, by: peer, after: seen))
            }
            if risen.contains(key: record) || book.isWritten(record, by: peer, after: seen) { return true }
            guard let path = book.path(of: record) else { return false }
            return unshown.contains { unshown in
                unshown[path].map { book.isWritten(record, by: peer, after: $0.after) } ?? false
            }
        }
        let differ = Differ(
            model: book.model, view: book.view, past: { past }, lastShowing: lastShowing, at: time, unseen: isUnseen,
            deleted: { deleted(by: peer.other) }, lastDiscards: { book.space.lastDiscards(of: $0, by: peer.other) })
        return differ.operations(for: Array(saves.values), over: Array(overUnread.values))
    }

    /// The file of the thing has gone, nobody knows when, and shows nothing of what this node told of the second name: a process that has ended since
    /// may have found it missing before it told of that.
    private func wasGoneBefore(_ name: RecordID, toldBy author: Party) -> Bool {
        guard let path = book.view.aliases[name].flatMap(book.path(of:)) else { return false }
        return gone.contains { save in
            save.path == path && save.finding.unshown[path].map { $0.names == nil } ?? false
        } && book.isWritten(name, by: author, after: .none)
    }

    private func deleted(by author: Party) -> SortedMap<RecordID, Bool> {
        var deleted = SortedMap<RecordID, Bool>()
        for set in book.space.history where set.author == author {
            for operation in set.operations where operation.action == .delete { deleted[operation.record] = true }
        }
        return deleted
    }

    /// What would go with what its author has deleted, and is live only by what has been written since his folder showed that place, be that
    /// by the peer or by himself: it had been in quarantine, whoever wrote it. (When a file went that rules left out, nobody can tell, nor what was
    /// there by then.)
    private func risen(by peer: Party) -> SortedMap<RecordID, Bool> {
        var risen = SortedMap<RecordID, Bool>()
        var pasts = SortedMap<LogPosition, RecordView>()
        for save in gone where save.finding.wasLeftOut || !save.finding.unshown.isEmpty || !come.isEmpty {
            for id in book.going(with: saves[save.path]?.before?.ids ?? []) {
                guard let path = book.path(of: id), !has(path) else { continue }
                let shown = save.finding.unshown[path]
                let isLater = come[path].map { $0 >= save.finding.touchedAt } ?? false
                if save.finding.wasLeftOut || isLater || shown?.isWhole == true {
                    risen[id] = true
                    continue
                }
                guard let shown else { continue }
                let past = pasts[shown.after] ?? book.view(of: peer, through: shown.after)
                pasts[shown.after] = past
                if !past.live.contains(key: id) { risen[id] = true }
            }
        }
        return risen
    }

    private var gone: [(path: Path, finding: RecordState.Finding)] { findings.filter(\.finding.entry.isAbsent) }

    /// Up to where its author has seen the sets of the peer, by what would go with what he has deleted and was not in his folder.
    var unseenGoing: [LogPosition] {
        let gone = gone
        guard gone.contains(where: { !$0.finding.unshown.isEmpty }) else { return [] }
        let ids = gone.flatMap { saves[$0.path]?.before?.ids ?? [] }
        let going = book.going(with: ids).compactMap(book.path(of:)).filter { !has($0) }
        return gone.flatMap { save in going.compactMap { save.finding.unshown[$0]?.after } }
    }

    func files(under lock: (Path, Stat?) -> SaveLock?) -> [ChangeSet.SavedFile] {
        findings.map { path, finding in
            let file = file(at: path, finding).saved(under: lock(path, finding.stat))
            return overwritten[path].map(file.unread) ?? file
        }
    }

    private func file(at path: Path, _ finding: RecordState.Finding) -> ChangeSet.SavedFile {
        guard case .file(let content, _) = finding.entry.content, let bytes = finding.saved?.bytes else {
            return ChangeSet.SavedFile(deleted: path, mode: finding.entry.mode, modified: finding.entry.modified)
        }
        return ChangeSet.SavedFile(
            path: path, content: content, bytes: bytes, mode: finding.entry.mode, modified: finding.entry.modified)
    }

    /// What the set would break that was whole before. What the peer has written meanwhile is for the merge, so it must be broken
    /// both with it and without. What was in the folder before anybody watched is taken as it is.
    func faults(of set: ChangeSet, seeingAllOf peer: LogPosition) -> [SaveFault] {
        if findings.allSatisfy(\.finding.isOld) { return [] }
        let all = SaveCheck(set, in: book.space).faults
        if all.isEmpty { return [] }
        // (Nor can its author mend what has come back since his folder was as he saved it, though it may be there by now.)
        let risen = risen(by: set.author.other)
        let faults = all.filter { !risen.contains(key: $0.record) }
        if faults.isEmpty || set.seen[set.author.other] >= peer { return faults }
        let known = RecordSpace(of: book.space.history.filter(set.hasSeen), model: book.model)
        let alone = SaveCheck(set, in: known).faults
        return faults.filter { fault in
            // What it takes back and is not there stood before its author all the same, and with whom, nobody can tell.
            let isTakenBack = set.operations.contains(Operation(fault.record, .restore))
            if isTakenBack, known.view.live[fault.record] == nil { return false }
            return alone.contains { $0.record == fault.record }
        }
    }

    /// What the set would break if its author had seen all of the peer's, and does not because the peer has written
    /// meanwhile to whom it deletes: they are back once it is told, and stand against the rest of the save.
    func faultsHidden(in set: ChangeSet, byAllOf peer: LogPosition) -> [SaveFault] {
        let seen = set.seen[set.author.other]
        let isCountered = set.operations.contains { operation in
            operation.action == .delete && book.isWritten(operation.record, by: set.author.other, after: seen)
        }
        return isCountered ? SaveCheck(set.seeing(peer), in: book.space).faults : []
    }

    /// The set with what keeps standing whatever it would fell without its author's knowledge (`Upkeep`). If that does not mend all its
    /// faults, it is left as it is, and so are they.
    func upheld(_ set: ChangeSet, faults judge: (ChangeSet) -> [SaveFault]) -> (set: ChangeSet, faults: [SaveFault]) {
        let faults = judge(set)
        var fallen = faults
        // Who is kept may have taken the place of the next.
        while !fallen.isEmpty {
            let upkeep = Upkeep(for: fallen, of: set.operations, model: book.model, view: book.view)
            if upkeep.operations.isEmpty { break }
            let next = set.adding(upkeep.operations, upkeep.made.compactMap(file))
            let new = judge(next)
            if new.isEmpty { return (next, []) }
            if new.allSatisfy(fallen.contains) { break }
            fallen += new.filter { !fallen.contains($0) }
        }
        return (set, faults)
    }

    /// Of a record that the save does not touch, as the folder shows it.
    private func file(of id: RecordID) -> ChangeSet.SavedFile? {
        guard let path = book.path(of: id), let file = book.files[path], !has(path) else { return nil }
        return ChangeSet.SavedFile(
            path: path, content: file.content, bytes: file.bytes, mode: file.entry.mode, modified: file.entry.modified)
    }

    /// The files in which those stand that the faults are about, and what hangs together with these in the save.
    func paths(of faults: [SaveFault]) -> [Path] {
        var paths = paths(holding: faults.map(\.record))
        if paths.isEmpty { paths = deletes(felling: faults) }
        if paths.isEmpty { paths = self.paths(holding: faults.compactMap(\.taker)) }
        // (Who had found room elsewhere has lost that.)
        if paths.isEmpty { paths = self.paths(holding: faults.flatMap { partners(of: $0.record) }) }
        return paths.isEmpty ? findings.map(\.path) : Array(paths.keys)
    }

    private func partners(of record: RecordID) -> [RecordID] {
        book.view.live[record].map { $0.links.flatMap(\.value) } ?? []
    }

    private func paths(holding records: [RecordID]) -> SortedMap<Path, Bool> {
        var ids = SortedMap(records.map { ($0, true) })
        var paths = SortedMap<Path, Bool>()
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for (path, save) in saves where !paths.contains(key: path) {
                let here = [save.before, save.after].compactMap(\.self)
                let isHeld = here.contains { document in
                    document.ids.contains { ids.contains(key: $0) }
                        || links(of: document).contains { ids.contains(key: $0) }
                }
                guard isHeld else { continue }
                isGrowing = true
                paths[path] = true
                for id in here.flatMap(\.ids) { ids[id] = true }
            }
        }
        return paths
    }

    /// Who falls need not stand in the save: then it waits with the deletes that take him along, or whom he needs.
    private func deletes(felling faults: [SaveFault]) -> SortedMap<Path, Bool> {
        let fallen = SortedMap(faults.flatMap { [$0.record] + $0.needed }.map { ($0, true) })
        let felling = saves.filter { save in
            let left = SortedMap((save.value.after?.ids ?? []).map { ($0, true) })
            let gone = (save.value.before?.ids ?? []).filter { !left.contains(key: $0) }
            return !gone.isEmpty && book.going(with: gone).contains { fallen.contains(key: $0) }
        }
        return SortedMap(felling.map { ($0.key, true) })
    }

    /// What is wrong with the file, if it waits for one of the faults.
    func facts(at path: Path, among faults: [SaveFault], by set: LogPosition) -> AlertFacts {
        let own = faults.first { fault in
            guard let save = saves[path] else { return false }
            return [save.before, save.after].compactMap(\.self).contains { $0.ids.contains(fault.record) }
        }
        guard let fault = own ?? faults.first else { return AlertFacts() }
        let violation = Violation(
            record: fault.record, property: book.model.property(of: fault), author: .own, set: set)
        return AlertFacts(violation: violation, detail: Path.escape(Array("\(fault).".utf8)))
    }

    private func links(of document: RecordDocument) -> [RecordID] {
        document.ids.flatMap { id in
            document.links(of: id).flatMap { name, keys in
                let target = book.model.entity(id.entity)?.side(name)?.to
                return target.map { target in keys.map { RecordID(target, $0) } } ?? []
            }
        }
    }
}

extension ChangeSet {
    fileprivate func seeing(_ peer: LogPosition) -> ChangeSet {
        var all = seen
        all[author.other] = peer
        return ChangeSet(
            author: author, position: position, time: time, seen: all, operations: operations, files: files,
            needs: needs)
    }

    fileprivate func adding(_ more: [Operation], _ saved: [SavedFile]) -> ChangeSet {
        ChangeSet(
            author: author, position: position, time: time, seen: seen, operations: operations + more,
            files: files + saved, needs: needs)
    }
}

extension SaveFault {
    /// Whom the record needs, and who would be gone.
    fileprivate var needed: [RecordID] {
        switch reason {
        case .leaves(.gone(_, let needed)): [needed]
        case .leaves, .denied, .taken: []
        }
    }

    /// Who has the place, or the key, of a record that falls: that need not stand in the save itself.
    fileprivate var taker: RecordID? {
        switch reason {
        case .leaves(.lostSlot(_, _, let winner)): winner
        case .taken(let other): other
        case .leaves, .denied: nil
        }
    }
}

extension Model {
    fileprivate func isSingleton(_ id: RecordID) -> Bool { entity(id.entity)?.isSingleton == true }
}

extension FormatRule {
    /// A document is in a version that its model does not read, or in none that makes sense.
    func finding(_ version: Int?) -> FormatFinding {
        FormatFinding(found: version.map { UInt32(clamping: $0) }, reads: supports, node: .own)
    }
}

extension DocumentFault {
    fileprivate var sentence: String { offset.map { "At byte \($0): \(self)." } ?? "\(self)." }
}
