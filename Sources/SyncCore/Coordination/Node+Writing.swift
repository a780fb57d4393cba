import Coordination
import SyncModel

/// What the node itself writes, among programs: it takes its turn like anybody, and who shows a file is asked before and told after.
/// Where nobody claims or shows anything, none of this happens.
extension Node {
    /// What has become of one path, while somebody shows something.
    struct Sight: Sendable {
        let path: Path
        let before: FileIdentity?
        let after: FileIdentity?
    }

    // MARK: Before

    /// True if nobody minds. Otherwise the task waits until it is its turn.
    mutating func mayWrite(_ task: PlanState.Errand, into effects: inout Effects) -> Bool {
        guard !claims.machine.isEmpty else { return true }
        if let writing = claims.writings[task.path] { return writing.isGranted }
        let request = claims.request(toWrite: accesses(of: task), claims.newKey())
        guard claims.machine.concerns(request) else { return true }
        guard claims.writings.count < ClaimDesk.writingsMax else {
            forget(task)
            rest(task.path)
            return false
        }
        claims.writings[task.path] = ClaimDesk.Writing(claim: request.id, isGranted: false)
        plan.tasks.update(task.path) { $0.state = .claiming }
        instruct(.claim(request), into: &effects)
        return claims.writings[task.path]?.isGranted == true
    }

    private func accesses(of task: PlanState.Errand) -> [Access] {
        let writing: Access.Writing =
            switch task.step {
            case .agree, .adjust: .metadata
            case .place, .replace, .makeDirectory: .merging
            case .replaceByDirectory, .replaceDirectory: .replacing
            case .remove, .removeDirectory: .deleting
            }
        let source = task.adoptedFrom.map { [Access($0.path, .write(.moving))] } ?? []
        return [Access(task.path, .write(writing))] + source
    }

    /// Whether what is done only once may be done now.
    enum Turn {
        case come
        /// Programs that show it are asked first; then it is asked for again.
        case later
        /// Somebody has it, or has asked for it before.
        case taken
    }

    /// Like what the plan writes, but nobody waits with it for a program that may hold the file for as long as it likes.
    mutating func turn(
        of order: ClaimDesk.Order, at path: Path, _ accesses: [Access], into effects: inout Effects
    ) -> Turn {
        guard !claims.machine.isEmpty else { return .come }
        guard claims.writings[path] == nil else { return .taken }
        let request = claims.request(toWrite: accesses, claims.newKey())
        guard claims.machine.concerns(request) else { return .come }
        guard !claims.machine.isAwaited(request), claims.writings.count < ClaimDesk.writingsMax else { return .taken }
        claims.writings[path] = ClaimDesk.Writing(claim: request.id, isGranted: false)
        claims.orders[path] = order
        instruct(.claim(request), into: &effects)
        return .later
    }

    /// True if its turn has come. Whatever becomes of it now, the claim ends when nothing of it is left to do.
    mutating func takeOrder(of command: CommandID?, at path: Path) -> Bool {
        guard claims.writings[path]?.isGranted == true, let order = claims.orders[path], order.command == command else {
            return false
        }
        claims.orders[path] = nil
        return true
    }

    private mutating func carryOut(_ order: ClaimDesk.Order, at path: Path) {
        switch order {
        case .restore(let id, let kept): enqueue(.restoreOver(id, kept, path))
        case .setAside(let id): enqueue(.setAside(id, path))
        case .relocate: break  // it is the next to be imported
        }
    }

    private mutating func giveUp(_ order: ClaimDesk.Order, _ reason: ClaimRefusal, into effects: inout Effects) {
        let code: MessageCode = if case .presenterFailed = reason { .lockRefused } else { .lockHeld }
        switch order {
        case .restore(let id, let kept):
            endGivingBack(kept, into: &effects)
            effects.add(.answer(id, .refused(code)))
        case .setAside(let id): effects.add(.answer(id, .refused(code)))
        case .relocate(let position): giveUpRelocation(position)
        }
    }

    mutating func takeWriting(_ key: ClaimID) {
        guard let path = claims.writings.first(where: { $0.value.claim == key })?.key else { return }
        claims.writings[path]?.isGranted = true
        if let order = claims.orders[path] { carryOut(order, at: path) }
        plan.tasks.update(path) { if $0.state == .claiming { $0.state = .ready } }
    }

    /// Somebody who shows it could not save it, or it would have closed a circle: it is tried again later.
    mutating func refuseWriting(_ key: ClaimID, _ reason: ClaimRefusal, into effects: inout Effects) -> Bool {
        guard let path = claims.writings.first(where: { $0.value.claim == key })?.key else { return false }
        claims.writings[path] = nil
        if let order = claims.orders.removeValue(forKey: path) { giveUp(order, reason, into: &effects) }
        if let task = plan.tasks[path], task.state == .claiming {
            forget(task)
            apply.blocked[path] = .lockHeld
            rest(path)
        }
        return true
    }

    /// What was begun while nobody had claimed anything is finished before anybody is granted the same.
    mutating func noteWriting(meeting accesses: [Access], into effects: inout Effects) {
        let files = [apply.writing, apply.adopted, apply.restoring].flatMap { $0.map(\.key) }
        for path in files + apply.moving where claims.writings[path] == nil {
            let isWhole = apply.moving.contains(path)
            let mine = Access(path, .write(.update), coversContents: isWhole)
            guard accesses.contains(where: { $0.meets(path) || mine.meets($0.path) }) else { continue }
            let request = claims.request(toWrite: [mine], claims.newKey())
            claims.writings[path] = ClaimDesk.Writing(claim: request.id, isGranted: true)
            instruct(.occupy(request), into: &effects)
        }
    }

    // MARK: After

    /// Of what is written, given up or cannot go on, nothing is held any longer.
    mutating func endWritings(into effects: inout Effects) {
        for (path, writing) in claims.writings where !apply.touches(path) {
            if let order = claims.orders[path], isWanted(order) { continue }
            claims.orders[path] = nil
            switch plan.tasks[path]?.state {
            case .running: continue
            case .claiming, .ready:
                if isWorking, !record.isPaused { continue }
                cancel(path)
            case .locating, .fetching, .examined, nil: break
            }
            claims.writings[path] = nil
            instruct(.end(claim: writing.claim, []), into: &effects)
        }
    }

    private func isWanted(_ order: ClaimDesk.Order) -> Bool {
        switch order {
        case .restore, .setAside: true
        case .relocate(let position):
            isWorking && !record.isPaused
                && (incoming.isBusy || incoming.queue.first?.head.position == position)
        }
    }

    mutating func noteSight(of row: Row, before: Row?) {
        guard claims.machine.hasPresenters, row.disk?.entry.content != before?.disk?.entry.content else { return }
        claims.sights.append(
            Sight(path: row.path, before: before?.disk?.stat.identity, after: row.disk?.stat.identity))
    }

    mutating func noteSight(of key: AlertKey, isOpen: Bool, into effects: inout Effects) {
        guard claims.machine.hasPresenters, let warning = warning(key, isOpen: isOpen) else { return }
        // What is newer for both nodes is one warning: it begins with the first of the two alerts, and is over with the last.
        func isTheSame(_ other: AlertKey) -> Bool {
            other != key && other.code == key.code && other.subject == key.subject
        }
        if key.format != nil, alarms.raised.contains(where: { isTheSame($0.key) }) { return }
        instruct(.warned(warning), into: &effects)
    }

    /// Who begins to show a file hears what there is to say about it, as if it had come up now.
    mutating func tellWarnings(to presenter: Presenter, into effects: inout Effects) {
        guard claims.machine.place(ofPresenter: presenter.id) != nil else { return }
        var last: Warning?
        for (key, _) in alarms.raised {
            guard let warning = warning(key, isOpen: true), warning != last, presenter.shows(warning.path) else {
                continue
            }
            last = warning
            effects.add(.program(.tell(presenter: presenter.id, .warned(warning))))
        }
    }

    /// Nil if it is about no file: a record, a model, the node itself.
    private func warning(_ key: AlertKey, isOpen: Bool) -> Warning? {
        guard MessageCode.aboutFiles.contains(key.code), let about = Path(key.subject), !about.isRoot else {
            return nil
        }
        // (Of records that contest one place the same is said of the group.)
        if key.code == .validationRequiredMissing, book(of: about) == nil { return nil }
        let path = key.code == .conflictFile ? ConflictName.parts(of: about)?.original ?? about : about
        return Warning(path: path, about: about, code: key.code, isOpen: isOpen)
    }

    /// A file that has gone from one name and has come under another was renamed: by its number, as long as it has not been gone for long.
    mutating func tellSights(into effects: inout Effects) {
        guard !claims.sights.isEmpty else { return }
        let sights = claims.sights
        claims.sights = []
        for sight in sights {
            guard let after = sight.after, after != sight.before else { continue }
            claims.arrivals.removeAll { $0.identity == after }
            claims.arrivals.append(ClaimDesk.Arrival(identity: after, path: sight.path))
        }
        claims.arrivals.removeFirst(max(0, claims.arrivals.count - ClaimDesk.arrivalsMax))
        for sight in sights where sight.after != nil { instruct(.happened(.changed(sight.path)), into: &effects) }
        for sight in sights where sight.after == nil {
            let arrival = claims.arrivals.last { $0.identity == sight.before && $0.path != sight.path }
            let deed = arrival.map { Deed.moved(sight.path, to: $0.path) } ?? .deleted(sight.path)
            instruct(.happened(deed), into: &effects)
        }
    }

    mutating func noteMoved(_ from: Path, to path: Path, into effects: inout Effects) {
        if claims.machine.hasPresenters { instruct(.happened(.moved(from, to: path)), into: &effects) }
    }
}

extension MessageCode {
    /// The subject of such an alert is a path of the folder.
    fileprivate static let aboutFiles: [MessageCode] = [
        .conflictFile, .contentOverdue, .contentStalled, .formatCorrupt, .formatDowngradeHeld, .formatNewer,
        .formatUnknown, .formatZeroLength, .ignoreInvalid, .itemPoisoned, .pathPermission, .pathUnsupported,
        .validationRequiredMissing,
    ]
}
