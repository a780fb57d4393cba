import RecordMerge
import SyncCore
package import SyncModel

/// What must hold of records: V1, V4 and INV-21 all the way, and V5 with them once both nodes are quiet, for whole nodes. It reads
/// files as an application does, and asks the nodes what any person may ask them.
package final class RecordJudge: Checker {
    package let rareStates = [
        "records: a contest", "records: a write kept beside a later one",
        "records: a save that broke the rules was given up", "records: both had the same sets on the way",
        "records: a write of before the model kept in a conflict copy",
    ]
    private let life: RecordLife

    init(_ life: RecordLife) {
        self.life = life
    }

    package func begin(_ world: World) {}
    package func willPerform(_ operation: DiskOperation, on machine: Int, in world: World) {}
    package func didPerform(_ operation: DiskOperation, error: DiskError?, on machine: Int, in world: World) {}
    package func willStore(_ batch: StoreBatch, on machine: Int, in world: World) {}

    /// INV-21, V4 and V13 at any moment, and V1 as soon as both nodes have the same sets: the graph of each node keeps every rule of its
    /// model, whatever has come by then, and is what its sets come to. A copy of the node is asked, so the world goes on as it would.
    package func atPause(_ world: World) {
        let scans = world.machines.indices.map { scan(of: $0, in: world) }
        for (machine, scan) in scans.enumerated() {
            guard let fault = scan?.faults.first else { continue }
            return world.violate("INV-21", "\(world.machines[machine].name), while it goes on: \(fault)")
        }
        guard let one = scans[0]?.pictures, let other = scans[1]?.pictures, !one.isEmpty,
            one.map(\.heads) == other.map(\.heads)
        else { return }
        if one != other {
            return world.violate("INV-17", "both have the same change sets, and make different views of them")
        }
        if one.contains(where: { !$0.heads.isEmpty }) { world.rare.hit("records: both had the same sets on the way") }
    }

    private func scan(of machine: Int, in world: World) -> GraphScan? {
        guard var node = world.machines[machine].node else { return nil }
        var effects = Effects()
        node.step(.command(CommandID(raw: .max), .scanRecords), at: world.moment(of: machine), into: &effects)
        for effect in effects.list {
            if case .answer(_, .scan(let scan)) = effect { return scan }
        }
        return nil
    }

    package func willHappen(_ occurrence: Occurrence, to machine: Int, in world: World) {
        if occurrence == .powerCut {
            life.powerIsCut(on: machine, showing: RecordFolder(world.machines[machine].disk).places)
        }
        switch occurrence {
        case .powerCut, .imageRestored: life.disaster(on: machine)
        case .stateWiped:
            life.disaster(on: machine)
            excuseQuarantine(of: machine, world)
        case .started, .finished, .killed, .powerOn, .imageSaved: break
        }
    }

    /// What was in quarantine on the only node that had change sets: the other, without a model by then, knows of a file that is gone. (Both keep it
    /// among the versions.)
    private func excuseQuarantine(of machine: Int, _ world: World) {
        guard world.plan.lateModels != nil,
            case .changeSets(let sets) = world.machines[1 - machine].store.answer(
                .changeSets(nil, after: .none, limit: 1)), sets.isEmpty
        else { return }
        for record in world.recordsInQuarantine(on: machine) { life.excuse(record) }
    }

    package func didHappen(_ occurrence: Occurrence, to machine: Int, in world: World) {
        if occurrence == .started { life.recovers(machine, at: world.now) }
    }

    package func afterStep(_ step: StepRecord, in world: World) {
        for tell in step.tells {
            if case .received = tell.event { life.heard(tell.machine, at: world.now) }
        }
    }

    package func atQuiescence(_ world: World) {
        let folders = world.machines.map { RecordFolder($0.disk) }
        for path in Set(folders.flatMap(\.files.keys)).sorted() where folders[0].files[path] != folders[1].files[path] {
            let both = folders.map { $0.files[path].map { Path.escape($0) } ?? "(nothing)" }
            return world.violate("INV-20", "\(path) differs: \(both[0]) and \(both[1])")
        }
        if let path = folders[0].unreadable.first { return world.violate("INV-21", "\(path) cannot be read") }
        let fault = life.scene.faults(of: folders[0]).first { record, _ in
            let awaited = life.scene.awaited(by: record, in: folders[0])
            return awaited.isEmpty || !awaited.allSatisfy { isUnknown($0, world) }
        }
        if let fault { return world.violate("INV-21", fault.fault) }
        let contests = world.machines.indices.map { self.contests(on: $0, world) }
        for (one, two) in zip(contests[0], contests[1]) where one.group != two.group || one.reason != two.reason {
            return world.violate("R-15", "contests differ: \(one.group) and \(two.group)")
        }
        if contests[0].count != contests[1].count { return world.violate("R-15", "contests differ in number") }
        if !contests[0].isEmpty { world.rare.hit("records: a contest") }
        account(folders[0], contests[0], world)
    }

    private func contests(on machine: Int, _ world: World) -> [Contest] {
        guard let command = world.command(machine, .contests),
            case .contests(let contests)? = world.takeAnswer(machine, command)
        else { return [] }
        return contests
    }

    /// Nobody's record and nobody's write is gone.
    private func account(_ folder: RecordFolder, _ contests: [Contest], _ world: World) {
        var out: SortedMap<RecordFolder.Name, String> = [:]
        for version in contests.flatMap(\.versions) where !version.isCurrent {
            out[RecordFolder.Name(version.record)] = String(decoding: version.bytes, as: UTF8.self)
        }
        // Before there is a model, files of both are conflicts like any others. (Which of two values counts whose files both stood there
        // before is decided by who tells last, though the other may be newer: docs/open.md says so, and `isKept` asks that the other is
        // known beside it. That a version of the file has it is not enough.)
        let copies = world.plan.lateModels == nil ? [] : folder.conflictCopies
        let aside = savedAside(world)
        let beside = copies + aside
        for record in life.ownedForGood
        where life.standIn(for: record, in: folder) == nil && !out.contains(key: record) {
            if beside.contains(where: { $0.names.contains(record) }) { continue }
            if life.scene == .losers, isKeptWhole(record, world) {
                world.rare.hit("records: a loser that its model lets go")
                continue
            }
            return world.violate(
                "INV-21", "\(record) is neither in the folder nor in quarantine, and nobody deleted it")
        }
        for write in life.owed {
            let shown =
                life.standIn(for: write.record, in: folder).flatMap { folder.records[$0]?[write.field] }
                ?? out[write.record] ?? ""
            if shown.contains(write.token) || out[write.record]?.contains(write.token) ?? false { continue }
            if copies.contains(where: { $0.text.contains(write.token) }) {
                world.rare.hit("records: a write of before the model kept in a conflict copy")
                continue
            }
            if aside.contains(where: { $0.text.contains(write.token) }) { continue }
            guard isKept(write, world) else {
                return world.violate(
                    "INV-21",
                    "\(write.token) of \(write.record).\(write.field) is nowhere to be seen; there is \(shown)")
            }
            world.rare.hit("records: a write kept beside a later one")
        }
    }

    /// On both nodes.
    private func savedAside(_ world: World) -> [(names: [RecordFolder.Name], text: String)] {
        let (one, other) = (world.machines[0].disk, world.machines[1].disk)
        return life.savedAside(one).compactMap { path in
            guard let bytes = one.peekBytes(path), bytes == other.peekBytes(path) else { return nil }
            return (RecordFolder.names(in: bytes, at: path), String(decoding: bytes, as: UTF8.self))
        }
    }

    private func isKept(_ write: RecordLife.Write, _ world: World) -> Bool {
        areAll(world, told: write.record) { explanation in
            explanation.steps.contains { step in
                (step.fate == .concurrent || step.fate == .shown) && step.operation.description.contains(write.token)
            }
        }
    }

    private func isKeptWhole(_ record: RecordFolder.Name, _ world: World) -> Bool {
        areAll(world, told: record) { $0.outcome.contains("kept whole") }
    }

    /// Somebody names it, and no set that has come tells that it was made.
    private func isUnknown(_ record: RecordFolder.Name, _ world: World) -> Bool {
        areAll(world, told: record) { explanation in !explanation.steps.contains { $0.fate == .born } }
    }

    private func areAll(_ world: World, told record: RecordFolder.Name, _ isSo: (Explanation) -> Bool) -> Bool {
        world.machines.indices.allSatisfy { machine in
            guard let command = world.command(machine, .explainRecord(record.id)),
                case .explanation(let explanation, _)? = world.takeAnswer(machine, command)
            else { return false }
            return isSo(explanation)
        }
    }
}
