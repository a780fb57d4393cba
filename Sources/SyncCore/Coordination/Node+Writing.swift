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
        let request = claims.request(toWrite: accesses(of: task), claims.newNumber())
        guard claims.machine.concerns(request) else { return true }
        guard claims.writings.count < ClaimDesk.writingsMax else {
            forget(task)
            rest(task.path)
            return false
        }
        claims.writings[task.path] = ClaimDesk.Writing(number: request.id, isGranted: false)
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

    mutating func takeWriting(_ number: UInt64) {
        guard let path = claims.writings.first(where: { $0.value.number == number })?.key else { return }
        claims.writings[path]?.isGranted = true
        plan.tasks.update(path) { if $0.state == .claiming { $0.state = .ready } }
    }

    /// Somebody who shows it could not save it, or it would have closed a circle: it is tried again later.
    mutating func refuseWriting(_ number: UInt64) -> Bool {
        guard let path = claims.writings.first(where: { $0.value.number == number })?.key else { return false }
        claims.writings[path] = nil
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
            let request = claims.request(toWrite: [mine], claims.newNumber())
            claims.writings[path] = ClaimDesk.Writing(number: request.id, isGranted: true)
            instruct(.occupy(request), into: &effects)
        }
    }

    // MARK: After

    /// Of what is written, given up or cannot go on, nothing is held any longer.
    mutating func endWritings(into effects: inout Effects) {
        for (path, writing) in claims.writings where !apply.touches(path) {
            switch plan.tasks[path]?.state {
            case .running: continue
            case .claiming, .ready:
                if isWorking, !record.isPaused { continue }
                cancel(path)
            case .locating, .fetching, .examined, nil: break
            }
            claims.writings[path] = nil
            instruct(.end(claim: writing.number, []), into: &effects)
        }
    }

    mutating func noteSight(of row: Row, before: Row?) {
        guard claims.machine.hasPresenters, row.disk?.entry.content != before?.disk?.entry.content else { return }
        claims.sights.append(
            Sight(path: row.path, before: before?.disk?.stat.identity, after: row.disk?.stat.identity))
    }

    mutating func noteSight(of code: MessageCode, _ subject: [UInt8], isOpen: Bool, into effects: inout Effects) {
        guard claims.machine.hasPresenters, let about = Path(subject) else { return }
        let path = code == .conflictFile ? ConflictName.parts(of: about)?.original ?? about : about
        instruct(.warned(Warning(path: path, about: about, code: code, isOpen: isOpen)), into: &effects)
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
