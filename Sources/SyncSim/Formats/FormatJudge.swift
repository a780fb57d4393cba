import SyncCore
package import SyncModel

/// INV-22 for whole worlds: the daemon never puts an older or broken state in the place of a newer one, the newest stands at the
/// path in the end, and both nodes warn exactly of what is there. It reads headers itself, and asks the nodes for nothing but
/// their alerts.
package final class FormatJudge: Checker {
    package let rareStates = ["formats: what was newer came back"]

    private let life: FormatLife
    /// What stands at the guarded paths of the operation in hand before it.
    private var before: [(path: Path, value: Value, age: FormatAge, isRead: Bool)] = []
    private var beforeCut: [(path: Path, value: Value)] = []
    /// Versions that somebody asked to be put back, by machine.
    private var wishes: [[(path: Path, value: Value)]] = [[], []]

    init(_ life: FormatLife) {
        self.life = life
    }

    package func begin(_ world: World) {}
    package func willStore(_ batch: StoreBatch, on machine: Int, in world: World) {}
    package func atPause(_ world: World) {}

    package func willHappen(_ occurrence: Occurrence, to machine: Int, in world: World) {
        guard occurrence == .powerCut else { return }
        let disk = world.machines[machine].disk
        beforeCut = life.saves.keys.map { ($0, disk.value(at: $0)) }
    }

    package func willPerform(_ operation: DiskOperation, on machine: Int, in world: World) {
        before = []
        guard operation.changesNames else { return }
        let disk = world.machines[machine].disk
        for case .tree(let path) in operation.places {
            guard let format = GuardedFormat.of(path), let (value, stat) = disk.peek(path),
                let bytes = disk.peekBytes(path)
            else { continue }
            // Of what came in the very moment of an exchange nobody can have known.
            let known = world.machines[machine].store.rows[path]?.disk?.stat
            before.append((path, value, format.age(of: bytes), known.map { stat.isUntouched(since: $0) } ?? false))
        }
    }

    package func didPerform(_ operation: DiskOperation, error: DiskError?, on machine: Int, in world: World) {
        guard error == nil else { return }
        let disk = world.machines[machine].disk
        noteCopies(operation, disk)
        for (path, value, age, isRead) in before {
            let after = disk.value(at: path)
            guard after != value, let format = GuardedFormat.of(path), let bytes = disk.peekBytes(path) else {
                continue
            }
            if wishes[machine].contains(where: { $0.path == path && $0.value == after }) {
                life.giveUp(value, at: path, world.now)
                life.changed(
                    path, on: machine, from: .absent, to: after, age: format.age(of: bytes), isKnown: true,
                    at: world.now)
                continue
            }
            // What counts as damage goes to quarantine, whatever it is. Where the ledger does not ask for it at its path any more, it may
            // be just that: by its times alone nobody can tell it from what the cut has left.
            if isQuarantined(path, world.machines[machine].store), world.ledger.mayBeRemains(value, at: path) {
                life.lose(at: path) { $0 != value }
                continue
            }
            let new = format.age(of: bytes)
            if new >= age { life.outdid(value, by: after, at: path) }
            if new > age { world.rare.hit("formats: what was newer came back") }
            guard isRead, new < age, life.owed(at: path, world.now).contains(where: { $0.value == value }) else {
                continue
            }
            world.violate("INV-22", "\(path) was \(age), and the daemon of \(name(machine)) put \(new) in its place")
        }
    }

    private func isQuarantined(_ path: Path, _ store: VirtualStore) -> Bool {
        store.intents.values.contains { intent in
            if case .quarantine? = intent.displaced { intent.path == path } else { false }
        }
    }

    /// A daemon has put a state beside its path, where something as new stands.
    private func noteCopies(_ operation: DiskOperation, _ disk: VirtualDisk) {
        guard operation.changesNames else { return }
        for case .tree(let copy) in operation.places {
            guard let path = ConflictFamily.base(of: copy), let format = GuardedFormat.of(path),
                let lost = disk.peekBytes(copy), let kept = disk.peekBytes(path),
                format.age(of: kept) >= format.age(of: lost)
            else { continue }
            life.outdid(disk.value(at: copy), by: disk.value(at: path), at: path)
        }
    }

    package func afterStep(_ step: StepRecord, in world: World) {
        for tell in step.tells {
            guard case .command(_, .restore(let id, let target)) = tell.event,
                let version = world.machines[tell.machine].store.versions[id]
            else { continue }
            let value = world.machines[tell.machine].disk.value(at: version.place)
            wishes[tell.machine].append((target ?? version.path, value))
        }
    }

    package func didHappen(_ occurrence: Occurrence, to machine: Int, in world: World) {
        switch occurrence {
        case .powerCut:
            life.disaster(world)
            let disk = world.machines[machine].disk
            for (path, value) in beforeCut {
                life.noteRemains(of: value, found: disk.value(at: path), at: path, on: machine)
            }
        case .imageRestored, .stateWiped: life.disaster(world)
        case .started, .finished, .killed, .powerOn, .imageSaved: break
        }
    }

    private func name(_ machine: Int) -> String { Machine.names[machine] }

    // MARK: Rest

    package func atQuiescence(_ world: World) {
        for (path, _) in life.saves {
            for machine in world.machines { judge(path, machine, world) }
        }
        for machine in world.machines.indices { judgeAlerts(machine, world) }
    }

    private func judge(_ path: Path, _ machine: Machine, _ world: World) {
        guard let format = GuardedFormat.of(path) else { return }
        let shown = machine.disk.peekBytes(path).map { format.age(of: $0) }
        for save in life.owed(at: path, world.now) where shown.map({ $0 < save.age }) ?? true {
            if machine.disk.value(at: path) == .directory { continue }
            world.violate(
                "INV-22",
                "\(path) on \(machine.name): \(name(save.machine)) saved \(save.age) (\(save.value)), nobody who knew it took it "
                    + "away, and there is \(shown.map { "\($0)" } ?? "nothing")")
        }
    }

    private func judgeAlerts(_ machine: Int, _ world: World) {
        // (Several copies may be one cause.)
        let expected = Set(world.machines[machine].disk.treeValues.keys.flatMap { self.causes(at: $0, machine, world) })
        let found = Set(world.machines[machine].alerts.keys.filter { self.isJudged($0) })
        for key in expected.subtracting(found).sorted() {
            world.violate("INV-22", "\(name(machine)) does not warn: \(text(key))")
        }
        for key in found.subtracting(expected).sorted() {
            world.violate("INV-22", "\(name(machine)) warns without cause: \(text(key))")
        }
    }

    /// Not what is beside a file that nobody guards: a program may be killed before it gives its temporary file the name it is for.
    private func isJudged(_ key: AlertKey) -> Bool {
        guard FormatJudge.codes.contains(key.code) else { return false }
        return Path(key.subject).map { GuardedFormat.reading($0) != nil } ?? true
    }

    private static let codes: [MessageCode] = [
        .formatNewer, .formatUnknown, .formatZeroLength, .formatCorrupt, .formatDowngradeHeld, .conflictFile,
    ]

    private func text(_ key: AlertKey) -> String {
        "\(key.code) \(Path.escape(key.subject)) \(key.format.map { "\($0.node) \($0.measure)" } ?? "")"
    }

    private func causes(at path: Path, _ machine: Int, _ world: World) -> [AlertKey] {
        let disk = world.machines[machine].disk
        guard let bytes = disk.peekBytes(path), let format = GuardedFormat.reading(path) else { return [] }
        let age = format.age(of: bytes)
        if let original = ConflictFamily.base(of: path) {
            guard let kept = disk.peekBytes(original).map({ format.age(of: $0) }), age < kept,
                ConflictFamily.head(of: path) == original
            else { return [AlertKey(code: .conflictFile, subject: path.bytes)] }
            let author: Author = ConflictName.parts(of: path)?.node == Array(name(machine).utf8) ? .own : .peer
            let finding = FormatFinding(found: age.number, kept: kept.number, node: author)
            return [AlertKey(code: .formatDowngradeHeld, subject: original.bytes, format: finding)]
        }
        switch age {
        case .broken:
            return [AlertKey(code: bytes.isEmpty ? .formatZeroLength : .formatCorrupt, subject: path.bytes)]
        case .unknown:
            let finding = FormatFinding(found: nil, supported: 1...life.support[machine], node: .own)
            return [AlertKey(code: .formatUnknown, subject: path.bytes, format: finding)]
        case .version(let number):
            let nodes: [(Author, Int)] = [(.own, machine), (.peer, 1 - machine)]
            let findings =
                life.support[0] == life.support[1]
                ? [FormatFinding(found: number, supportedOnBoth: 1...life.support[machine])]
                : nodes.map { FormatFinding(found: number, supported: 1...life.support[$0.1], node: $0.0) }
            return findings.filter { number > $0.supported?.upperBound ?? .max }
                .map { AlertKey(code: .formatNewer, subject: path.bytes, format: $0) }
        }
    }
}

extension FormatAge {
    fileprivate var number: UInt32? { if case .version(let number) = self { number } else { nil } }
}
