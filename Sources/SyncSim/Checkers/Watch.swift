import SyncCore
package import SyncModel

/// Every invariant that fits a plan.
package enum Checkers {
    package static func all(for plan: SeedPlan) -> [any Checker] { [Watch(plan)] }

    /// In the order of their ids. Those that compare whole runs (INV-12, INV-19) are asked by `Exhaustive`.
    package static func invariants(for plan: SeedPlan) -> [any Invariant] {
        let always: [any Invariant] = [
            OneEntryPerPosition(), Bounds(), ClockAboveAll(), NothingOutside(), OneAlert(),
            PromisedHistory(settings: plan.settings),
        ]
        // With an enemy there is no second folder to compare with, and what he makes nobody vouches for.
        if plan.isOn(.evilPeer) { return always }
        return [
            NoLostUpdate(), UntouchedWork(), OnlyWhatPeopleMade(), DocumentedOutcome(), SiblingsGoOn(), Convergence(),
            Quiet(), StaysDeleted(), OldOrNew(), BaseIsTrue(), NothingMissed(), PlansWork(), NoFalseConflict(),
            LeastIntervention(), TreeShape(), EqualReplicas(), OnePlace(), EqualBytes(),
            MassLossGuard(settings: plan.settings[0]), PositiveEvidence(), AcknowledgedIsDurable(), DenseLog(),
            ImportedIsPrefix(), ReimportChangesNothing(), EveryLoserKept(), DeletesHaveCauses(), IntentFirst(),
            EqualAlerts(),
        ] + always
    }
}

/// Shows a world to the invariants: turns what happens into the plain values they judge, and keeps the ledger of what the
/// daemons do with people's files.
package final class Watch: Checker {
    package let rareStates = [
        "ledger: a daemon's directory move took an unseen file along",
        "ledger: a conflict copy was made",
        "ledger: a value was excused after a power cut",
        Simulation.countedAsDamage,
        "ledger: a version was put back by a person",
        "ledger: a file was set aside by a person",
    ]

    private let plan: SeedPlan
    private let invariants: [any Invariant]
    private let diskInvariants: [any DiskInvariant]
    private let storeInvariants: [any StoreInvariant]
    private let stepInvariants: [any StepInvariant]
    private var court = Court()
    /// Where the places of the operation in hand stood before it.
    private var before: [(place: Place, value: Value, identity: FileIdentity?)] = []
    /// When the daemon of each machine last put something at a path, or found somebody's there.
    private var made: [SortedMap<Path, Int64>] = [[:], [:]]
    /// What was below a directory that is about to be moved.
    private var belowSource: SortedMap<Path, Value> = [:]
    /// The folder, and everything on the machine, before a disaster.
    private var beforeDisaster: Disaster?
    /// Versions that somebody asked to be put back, and files to be set aside, by machine.
    private var grants: [[Grant]] = [[], []]
    /// What the process of each machine has been told of the other's paths.
    private var heard: [SortedMap<Path, Revision>] = [[:], [:]]
    private var forgottenCopies = ForgottenCopies()
    private var looks = 0
    /// What people did up to the last look: looks are numbered from the last of it.
    private var doingsAtLook = -1
    private var contents: [Fingerprint: ContentID] = [:]  // lookup only

    /// No job takes longer, from the looks that it was made of to its last operation.
    private static let jobMilliseconds: Int64 = 2_000

    private struct Grant {
        let command: CommandID
        let path: Path
        let value: Value
        /// The path that it is a version of; nil if the file is to be set aside.
        let source: Path?
        /// Which process was asked.
        let process: Int
        /// It stands there by now, but the node has not answered yet.
        var isInPlace = false
    }

    private struct Disaster {
        let tree: SortedMap<Path, Value>
        /// With what is in directories that are out of their place.
        let whole: SortedMap<Path, Value>
        let safe: SortedMap<Path, Value>
        let all: [Value]
        /// What had just been taken out of its place, and lay in the stage, or aside and not on record as that: its sync comes after.
        let onItsWay: [(path: Path, value: Value)]
        /// What lay in the stage on its way to the name of a conflict copy.
        let copiesOnTheirWay: [(path: Path, value: Value)]
        /// What stood at the paths that the base knew, as the base would name it.
        let contents: SortedMap<Path, Content>
        /// Where kept versions lie that have not reached the disk: their sync failed, or a late writer did not sync.
        let unsyncedVersions: [Path]
        /// What lies there of which the daemon knows nothing any more: nobody syncs it.
        let forgottenVersions: [Value]
        /// What had lost a conflict and was to be copied.
        let owed: [Path]
    }

    /// `except` names invariants that are not asked: to see what lies behind a known violation.
    package init(_ plan: SeedPlan, except: [String] = []) {
        self.plan = plan
        invariants = Checkers.invariants(for: plan).filter { !except.contains(type(of: $0).id) }
        diskInvariants = invariants.compactMap { $0 as? any DiskInvariant }
        storeInvariants = invariants.compactMap { $0 as? any StoreInvariant }
        stepInvariants = invariants.compactMap { $0 as? any StepInvariant }
    }

    package func begin(_ world: World) {
        for machine in world.machines.indices { turn(machine, isRunning: false, world) }
    }

    // MARK: Disk

    package func willPerform(_ operation: DiskOperation, on machine: Int, in world: World) {
        guard operation.changesNames else { return }
        let disk = world.machines[machine].disk
        before = operation.places.map { ($0, disk.value(at: $0), disk.peekStat(VirtualDisk.path(of: $0))?.identity) }
        belowSource = [:]
        if case .move(.tree(let source), to: .tree) = operation {
            belowSource = disk.values(below: source)
            let value = disk.value(at: source)
            if isRaced(value, at: source, machine, world) { belowSource[source] = value }
        }
        if case .move(let staged, to: .tree(let target)) = operation, let home = home(of: staged, machine, world),
            home != target
        {
            belowSource = disk.directoryValues(at: staged, as: home)
        }
    }

    /// The path that an exchange has brought something out of.
    private func home(of staged: Place, _ machine: Int, _ world: World) -> Path? {
        guard case .stage(let name) = staged else { return nil }
        return world.machines[machine].store.intents[name]?.path
    }

    package func didPerform(_ operation: DiskOperation, error: DiskError?, on machine: Int, in world: World) {
        if case .inspect(.tree(let path)) = operation, error == nil { noteCarriedAway(to: path, machine, world) }
        if error == nil, !operation.changesNames { return report(act(operation, nil, [], machine, world), world) }
        let disk = world.machines[machine].disk
        var touched: [DiskAct.Touched] = []
        if operation.changesNames {
            touched = before.map {
                DiskAct.Touched(
                    place: $0.place, before: $0.value, after: disk.value(at: $0.place), identity: $0.identity)
            }
            before = []
        }
        if error == nil {
            if case .move(.tree(let source), to: .tree(let target)) = operation {
                carry(source, target, machine, world)
                noteTakenOut(of: source, backAt: target, machine, world)
            }
            // A directory whose name a person has taken in the moment in which it was out of its place goes on under another
            // name, with all that is in it: two directories cannot be one, and a person's file does not make room for it.
            if case .move(let staged, to: .tree(let target)) = operation, !belowSource.isEmpty,
                let home = home(of: staged, machine, world)
            {
                for (path, _) in belowSource { world.ledger.carriedAway(from: path) }
                carry(home, target, machine, world)
            }
            let isPuttingBack = operation.places.contains(where: Watch.isKept)
            for touch in touched { noteChange(touch, isPuttingBack: isPuttingBack, machine, world) }
        } else if error == .mismatch, case .expectAbsent(.tree(let path)) = operation {
            // Somebody made it first, and no row tells of that.
            made[machine][path] = world.now
            let isUnsynced = world.machines[machine].store.rows[path]?.disk == nil
            if isUnsynced, disk.value(at: path) == .directory { world.ledger.stoodInTheWay(path) }
            noteStranded(from: path, machine, world)
        }
        report(act(operation, error, touched, machine, world), world)
    }

    /// A directory that was moved for the other node, and was to go back because no row says so, cannot: a person has taken its old name. For
    /// all that can be seen what is in it is where a person has put it.
    private func noteStranded(from path: Path, _ machine: Int, _ world: World) {
        let disk = world.machines[machine].disk
        for intent in world.machines[machine].store.intents.values {
            guard case .rename(let from) = intent.action, from == path, intent.path != path,
                disk.value(at: intent.path) == .directory
            else { continue }
            for (below, value) in disk.values(below: intent.path) {
                world.ledger.mayStand(value, at: below, toldBy: machine)
            }
            carryAway(path, machine, world)
        }
    }

    /// A directory that was moved for the other node has gone back, because no row says that it was moved. Who has taken something
    /// out of it meanwhile did it by the new name, and as of the old one it is told.
    private func noteTakenOut(of source: Path, backAt target: Path, _ machine: Int, _ world: World) {
        let isBack = world.machines[machine].store.intents.values.contains { intent in
            guard case .rename(let from) = intent.action else { return false }
            return from == target && intent.path == source
        }
        guard isBack else { return }
        for (path, _) in rows(below: target, machine, world) {
            guard let taken = path.rebased(from: target, to: source) else { continue }
            world.ledger.cameRemoved(to: path, from: taken, on: machine)
        }
    }

    /// A process begins, or looks at what it, or the last one, has moved for the other node without having got to say so. Who has moved or removed
    /// that since, or something of it where another stands in its place, did it by the new name, and as of the old one it is told (also where another
    /// directory has come to that).
    private func noteCarriedAway(to place: Path? = nil, _ machine: Int, _ world: World) {
        let disk = world.machines[machine].disk
        for intent in world.machines[machine].store.intents.values {
            guard case .rename(let from) = intent.action, from != intent.path, place == nil || place == intent.path,
                ![from, intent.path].contains(where: { disk.peekStat($0)?.identity == intent.expected?.identity })
            else { continue }
            carryAway(from, machine, world)
        }
    }

    /// With all that was known to be in it.
    private func carryAway(_ directory: Path, _ machine: Int, _ world: World) {
        world.ledger.carriedAway(from: directory)
        for (path, _) in rows(below: directory, machine, world) { world.ledger.carriedAway(from: path) }
    }

    private func act(
        _ operation: DiskOperation, _ error: DiskError?, _ touched: [DiskAct.Touched], _ machine: Int, _ world: World
    ) -> DiskAct {
        DiskAct(
            machine: machine, operation: operation, error: error, touched: touched,
            store: world.machines[machine].store,
            mayFail: error != nil && world.mayDiskFail(machine),
            isDisturbed: error != nil && isDisturbed(operation, machine, world),
            holds: { value, path in world.machines[machine].disk.holds(value, near: path) },
            places: { value in world.machines[machine].disk.treeValues.filter { $0.value == value }.map(\.key) },
            otherHolds: { value, path in world.machines[1 - machine].disk.atHome.holds(value, near: path) },
            other: { path in world.machines[1 - machine].disk.atHome.value(at: path) },
            isKept: { path in self.isKept(path, world) })
    }

    /// On one machine it is a directory with something in it that the rules leave out.
    private func isKept(_ path: Path, _ world: World) -> Bool {
        world.machines.contains { machine in
            machine.disk.value(at: .tree(path)) == .directory
                && look(at: machine).unsynced.contains { $0.key.isBelow(path) }
        }
    }

    private func report(_ act: DiskAct, _ world: World) {
        judge(world) { court in for invariant in diskInvariants { invariant.see(act, &court) } }
    }

    /// A person wrote to a file that the daemon was about to rename, or had just given another name and now takes back.
    private func isRaced(_ value: Value, at path: Path, _ machine: Int, _ world: World) -> Bool {
        world.ledger.pages[path]?.acts.last { $0.machine == machine && $0.after == value }?.isRacing == true
    }

    /// A rename takes along what nobody knew of a moment before.
    private func carry(_ source: Path, _ target: Path, _ machine: Int, _ world: World) {
        for (path, value) in belowSource {
            guard let moved = path.rebased(from: source, to: target) else { continue }
            world.ledger.carriedBack(value, from: path, to: moved, on: machine)
            if isLeftUnseen(path, movedTo: moved, machine, world) { world.ledger.sharesMetadata(moved) }
            noteSharedNames(of: moved, machine, world)
            // (What stood there once and was taken away did not come back by itself.)
            let isUnseen = world.machines[machine].store.rows[path]?.disk == nil
            let isBack = isUnseen && world.ledger.isRemoved(moved)
            let isTakenAgain = world.ledger.wasCarriedBack(value, from: moved, to: path, on: machine)
            if world.ledger.everStood(value, at: moved), !isBack, !isTakenAgain { continue }
            world.rare.hit("ledger: a daemon's directory move took an unseen file along")
            world.ledger.carried(value, from: path, to: moved, on: machine, at: world.now)
        }
        // What somebody had taken out of it, and the base does not know yet, is missing under the new name as well.
        for (path, row) in rows(below: source, machine, world) where row.disk != nil && belowSource[path] == nil {
            guard let moved = path.rebased(from: source, to: target) else { continue }
            world.ledger.carriedAbsence(from: path, to: moved, on: machine, at: world.now)
        }
        belowSource = [:]
    }

    private func rows(below directory: Path, _ machine: Int, _ world: World) -> [(key: Path, value: Row)] {
        world.machines[machine].store.rows.range(from: directory)
            .prefix { $0.key == directory || $0.key.isBelow(directory) }.filter { $0.key != directory }
    }

    /// A person gave it another mode or time under the old name, and the base does not know yet.
    private func isLeftUnseen(_ path: Path, movedTo moved: Path, _ machine: Int, _ world: World) -> Bool {
        guard let known = world.machines[machine].store.rows[path]?.disk?.stat,
            let found = world.machines[machine].disk.peekStat(VirtualDisk.path(of: .tree(moved)))
        else { return false }
        return found.mode != known.mode || found.modified != known.modified
    }

    private func noteChange(_ touch: DiskAct.Touched, isPuttingBack: Bool, _ machine: Int, _ world: World) {
        guard case .tree(let path) = touch.place else { return }
        guard touch.before != touch.after else { return notePutBack(touch.after, at: path, machine, world) }
        if touch.before.isContent, let file = touch.identity { world.ledger.displacements[machine][file] = world.now }
        if touch.after != .absent { made[machine][path] = world.now }
        // What keeps the directory may be gone by the end, when the rules have let go of it.
        if touch.before.isContent, touch.after == .directory, isKept(path, world) { world.ledger.stoodInTheWay(path) }
        noteSharedNames(of: path, machine, world)
        if ConflictFamily.base(of: path) != nil, touch.after.isContent {
            world.rare.hit("ledger: a conflict copy was made")
        }
        use(grantFor: path, touch, isPuttingBack: isPuttingBack, machine, world)
    }

    private func noteSharedNames(of path: Path, _ machine: Int, _ world: World) {
        let names = world.machines[machine].disk.names(ofFileAt: path).filter { !$0.isReserved }
        if names.count > 1 { for name in names { world.ledger.sharesMetadata(name) } }
    }

    private static func isKept(_ place: Place) -> Bool {
        switch place {
        case .version, .quarantine: true
        case .tree, .stage: false
        }
    }

    /// What the daemon does because somebody asked for it is that person's doing. (A version comes from where it is kept: what comes out of the
    /// stage with the same bytes is the other node's, or was to make room for that and could not.)
    private func use(
        grantFor path: Path, _ touch: DiskAct.Touched, isPuttingBack: Bool, _ machine: Int, _ world: World
    ) {
        let granted = grants[machine].firstIndex {
            if $0.source != nil, !isPuttingBack { return false }
            let (old, new) = $0.source == nil ? ($0.value, Value.absent) : (touch.before, $0.value)
            return $0.path == path && touch.before == old && touch.after == new && !$0.isInPlace
        }
        guard let index = granted else { return useParent(grantBelow: path, touch, machine, world) }
        grants[machine][index].isInPlace = true
        if let source = grants[machine][index].source {
            world.rare.hit("ledger: a version was put back by a person")
            world.ledger.putBack(touch.after, of: source, to: path)
        } else {
            world.rare.hit("ledger: a file was set aside by a person")
        }
        world.ledger.changed(path, on: machine, from: touch.before, to: touch.after, at: world.now, isRacing: true)
    }

    /// So are the directories that are made for a version.
    private func useParent(grantBelow path: Path, _ touch: DiskAct.Touched, _ machine: Int, _ world: World) {
        let isWanted = grants[machine].contains { $0.source != nil && !$0.isInPlace && $0.path.isBelow(path) }
        guard isWanted, touch.before == .absent, touch.after == .directory else { return }
        world.rare.hit("ledger: a directory was made for a version")
        world.ledger.changed(path, on: machine, from: .absent, to: .directory, at: world.now, isRacing: true)
    }

    /// A version with the same bytes has its own mode and time: whoever asked for it left the path so.
    private func notePutBack(_ value: Value, at path: Path, _ machine: Int, _ world: World) {
        guard grants[machine].contains(where: { $0.path == path && $0.value == value && !$0.isInPlace }),
            let stat = world.machines[machine].disk.peekStat(VirtualDisk.path(of: .tree(path)))
        else { return }
        world.ledger.left(path, on: machine, mode: stat.mode, modified: stat.modified, changed: stat.changed)
    }

    /// The base and the disk disagree about one of the places or a directory above it: the failure has a cause outside.
    private func isDisturbed(_ operation: DiskOperation, _ machine: Int, _ world: World) -> Bool {
        if world.machines[machine].disk.rootState() != .healthy { return true }
        return operation.places.contains { place in
            switch place {
            case .tree(let path): isDisturbed(path, machine, world)
            case .stage(let name): isForeign(name, machine, world) || isLeftOver(name, machine, world)
            case .version, .quarantine: false
            }
        }
    }

    /// The folder was away when the daemon started, or another was in its place, and nothing but its state, which was wiped, told of this.
    private func isLeftOver(_ name: StageName, _ machine: Int, _ world: World) -> Bool {
        guard plan.isOn(.rootLosses), world.ledger.hasForgotten, world.machines[machine].store.intents[name] == nil
        else { return false }
        return world.machines[machine].disk.peekStat(VirtualDisk.path(of: .stage(name))) != nil
    }

    /// Brought out of the tree by an exchange and not what the base says was there.
    private func isForeign(_ name: StageName, _ index: Int, _ world: World) -> Bool {
        let machine = world.machines[index]
        guard let intent = machine.store.intents[name], case .place(let staged, _) = intent.action,
            let found = machine.disk.peekStat(VirtualDisk.path(of: .stage(name)))
        else { return false }
        let known = machine.store.rows[intent.path]?.disk?.stat
        return found.identity != staged && (found.identity != known?.identity || found.kind != known?.kind)
    }

    private func isDisturbed(_ path: Path, _ index: Int, _ world: World) -> Bool {
        let machine = world.machines[index]
        var next: Path? = path
        while let place = next, !place.isRoot {
            let known = machine.store.rows[place]?.disk?.stat
            let found = machine.disk.peekStat(place)
            if known?.identity != found?.identity || known?.kind != found?.kind { return true }
            // Made or met by the very job that runs, so that no row tells of it, and taken away by a person since.
            if known == nil, let time = made[index][place], let acts = world.ledger.pages[place]?.acts,
                acts.contains(where: { $0.machine == index && $0.time >= time })
            {
                return true
            }
            // The directory that a job was about has gone with all that is in it, and the rows may say so by now.
            let since = world.now - Watch.jobMilliseconds
            if found?.kind != .directory, world.ledger.lostDirectory(place, on: index, since: since) { return true }
            if place == path, let known, let found, known.kind != .directory, !found.isUntouched(since: known) {
                return true
            }
            next = place.parent
        }
        // What lies below and is in no row is somebody's.
        return machine.disk.values(below: path).contains { machine.store.rows[$0.key]?.disk == nil }
    }

    // MARK: Store, steps, processes

    package func willStore(_ batch: StoreBatch, on machine: Int, in world: World) {
        let act = StoreAct(
            machine: machine, batch: batch, store: world.machines[machine].store,
            peerStore: world.machines[1 - machine].store, settings: plan.settings[machine],
            wallMilliseconds: world.wall(of: machine),
            look: { world.machines[machine].disk.peekStat($0) },
            read: { self.seen($0, world.machines[machine].disk) },
            value: { world.machines[machine].disk.value(at: $0) },
            mayBeLost: { world.machines[machine].disk.mayBeLost($0) })
        judge(world) { court in for invariant in storeInvariants { invariant.see(act, &court) } }
        noteSeen(in: batch, machine, world)
        for operation in batch.operations {
            if case .putVersion(let kept) = operation { noteDamage(kept, machine, world) }
            guard case .relocate(let move) = operation else { continue }
            if move.origin.author == .own { carry(move, machine, world) }
            carryRemovals(move, machine, world)
        }
    }

    private func noteDamage(_ kept: KeptVersion, _ machine: Int, _ world: World) {
        guard kept.isQuarantined, kept.reason == .itemQuarantined, world.ledger.strikes[machine] > 0 else { return }
        let value = world.machines[machine].disk.value(at: kept.place)
        if world.ledger.tookForDamage(value, at: kept.path, on: machine) {
            world.rare.hit(Simulation.countedAsDamage)
        }
    }

    /// Of a directory that a person has moved it is told that it did, with all that was known to be in it: who had written to a file
    /// in it before that has written to it afterwards, for all that can be seen. (The directory above it may be moved again before that shows.)
    private func carry(_ move: Relocation, _ machine: Int, _ world: World) {
        for (path, row) in rows(below: move.from, machine, world)
        where row.disk?.entry.content.isDirectory == false {
            guard let moved = path.rebased(from: move.from, to: move.to), let page = world.ledger.pages[path],
                let value = (page.told(by: machine) + page.acts.map(\.after)).last(where: {
                    $0.isContent && isKnown($0, at: path, world.machines[machine])
                }), !world.ledger.everStood(value, at: moved)
            else { continue }
            world.ledger.mayStand(value, at: moved, carriedFrom: path, toldBy: machine)
        }
    }

    /// And with what was known to be in it and did not come along, on whichever machine the directory was moved.
    private func carryRemovals(_ move: Relocation, _ machine: Int, _ world: World) {
        for (path, row) in rows(below: move.from, machine, world) {
            guard let moved = path.rebased(from: move.from, to: move.to), let disk = row.disk else { continue }
            let found = world.machines[machine].disk.value(at: .tree(moved))
            let isThere = disk.entry.content.isDirectory ? found == .directory : found.isContent
            if !isThere { world.ledger.cameRemoved(to: moved, from: path, on: machine) }
        }
    }

    package func afterStep(_ step: StepRecord, in world: World) {
        for tell in step.tells {
            if case .command(let id, let command) = tell.event { obey(command, id, tell.machine, world) }
            if case .received(_, let frame) = tell.event { hear(frame, tell.machine, world) }
            for effect in tell.effects {
                if case .answer(let id, let answer) = effect { settle(id, answer, tell.machine, world) }
                if case .hash(_, let paths) = effect { learn(paths, world.machines[tell.machine].disk) }
                // (It may hear of the setback before this is stored.)
                if case .store(_, let batch) = effect { noteSeen(in: batch, tell.machine, world) }
            }
            let act = StepAct(
                machine: tell.machine, event: tell.event, effects: tell.effects, limits: plan.limits[tell.machine],
                footprint: world.machines[tell.machine].footprint)
            judge(world) { court in for invariant in stepInvariants { invariant.see(act, &court) } }
        }
    }

    /// It will do what it is told, whatever becomes of the machine that has told it.
    private func hear(_ frame: [UInt8], _ machine: Int, _ world: World) {
        let decoded = FrameCodec.decode(frame)
        if case .log(let entries)? = decoded {
            let author = world.machines[1 - machine].id
            for entry in entries {
                guard case .record(let record) = LogCodec.decode(entry, after: .none, node: author),
                    case .put(let path, let revision) = record.change
                else { continue }
                heard[machine][path] = revision
            }
        } else if case .rows(let states)? = decoded {
            for state in states { heard[machine][state.path] = state.revision }
        } else if case .hello? = decoded {
            forgottenCopies.heardOfSetback(machine)
        }
    }

    /// It tells of what has won, and that the loser has been seen.
    private func noteSeen(in batch: StoreBatch, _ machine: Int, _ world: World) {
        for copy in forgottenCopies.told(in: batch, by: machine) {
            world.ledger.forgotCopy(of: copy.value, at: copy.path)
        }
    }

    /// The other node has on record that nothing is there for this one any more, or is about to write that down.
    private func isToldGone(_ path: Path, by machine: Int, _ world: World) -> Bool {
        world.machines[1 - machine].store.rows[path]?.head(by: .peer)?.entry.isAbsent == true
            || unwritten(path, by: machine, world)?.entry.isAbsent == true
    }

    /// It knows of the path what this one has told after this position, or is about to write it down.
    private func isTold(_ path: Path, after end: LogPosition, by machine: Int, _ world: World) -> Bool {
        world.machines[1 - machine].store.rows[path].map { $0.version.peer > end } == true
            || unwritten(path, by: machine, world).map { $0.origin.position > end } == true
    }

    /// What the other node has been told of the path, and has not come to write down.
    private func unwritten(_ path: Path, by machine: Int, _ world: World) -> Revision? {
        let written = world.machines[1 - machine].store.node.importedHead.position
        return heard[1 - machine][path].flatMap { $0.origin.position > written ? $0 : nil }
    }

    /// What a person asks of a node is a cause of what the node does then.
    private func obey(_ command: Command, _ id: CommandID, _ machine: Int, _ world: World) {
        let process = world.machines[machine].process
        switch command {
        case .approve: announce(.approvedDeletes, machine, world)
        case .reject:
            let held = world.machines[machine].store.rows.filter { $0.value.condition == .missing }
            world.ledger.rejectedDeletions(of: held.map(\.key), on: machine, at: world.now)
            announce(.rejectedDeletes, machine, world)
        case .restore(let version, let target):
            guard let version = world.machines[machine].store.versions[version] else { return }
            // A symlink is made of what is known of it, whether or not a power cut has left the version.
            var value = world.machines[machine].disk.value(at: version.place)
            if case .symlink(let target) = version.entry.content { value = .symlink(to: target) }
            let path = target ?? version.path
            grants[machine].append(
                Grant(command: id, path: path, value: value, source: version.path, process: process))
        case .setAside(let path):
            let value = world.machines[machine].disk.value(at: .tree(path))
            guard value.isContent else { return }
            grants[machine].append(Grant(command: id, path: path, value: value, source: nil, process: process))
        case .status, .pause, .resume, .rescan, .history, .doubt, .contests, .discardedContests, .deadRecords,
            .settleContest,
            .explainRecord, .scanRecords, .claim, .endClaims, .listClaims, .present, .withdrawPresenter,
            .answerQuestion,
            .configure:
            break
        }
    }

    /// Somebody has asked for one, and has no answer yet.
    func isPuttingBack(versionOf path: Path, _ machine: Int, _ world: World) -> Bool {
        grants[machine].contains { $0.source == path && $0.process == world.machines[machine].process }
    }

    /// Whoever asked for a version and is refused has not changed the path: if it stood there already, it was taken back.
    private func settle(_ id: CommandID, _ answer: Answer, _ machine: Int, _ world: World) {
        guard let index = grants[machine].firstIndex(where: { $0.command == id }) else { return }
        let grant = grants[machine].remove(at: index)
        guard case .refused = answer, grant.isInPlace, grant.source != nil,
            world.machines[machine].disk.atHome.value(at: grant.path) != grant.value
        else { return }
        world.ledger.tookBack(grant.value, at: grant.path, on: machine)
    }

    package func willHappen(_ occurrence: Occurrence, to machine: Int, in world: World) {
        let disk = world.machines[machine].disk.atHome
        let store = world.machines[machine].store
        let known = store.rows.keys
        let unsynced = disk.allContents().filter { $0.area == .versions && !disk.isSettled($0.path) }
        let recorded = store.versions.map(\.value) + store.intents.compactMap(\.value.version)
        let places = SortedMap(recorded.map { (VirtualDisk.path(of: $0.place), true) })
        beforeDisaster = Disaster(
            tree: disk.treeValues, whole: withTakenOut(disk.treeValues, machine, world), safe: disk.safeValues,
            all: disk.allValues,
            onItsWay: store.intents.flatMap { name, intent in
                let places = [.stage(name)] + Watch.placesAside(of: intent, besides: store)
                return places.map { (intent.path, disk.value(at: $0)) }
            },
            copiesOnTheirWay: store.intents.compactMap { name, intent in
                guard case .conflictCopy? = intent.displaced else { return nil }
                return (intent.path, disk.value(at: .stage(name)))
            },
            contents: SortedMap(known.map { ($0, self.seen($0, disk)?.entry.content ?? .absent) }),
            unsyncedVersions: unsynced.map(\.path),
            forgottenVersions: unsynced.filter { !places.contains(key: $0.path) }.map { Value($0.entry) },
            owed: owed(by: machine, world)
        )
    }

    /// What had lost a conflict and was to be copied.
    func owed(by machine: Int, _ world: World) -> [Path] {
        world.machines[machine].store.rows.filter { $0.value.owesCopy }.map(\.key)
    }

    /// Where history or quarantine is to have what makes room, and has not on record yet. (The place of a conflict copy is in the tree.)
    private static func placesAside(of intent: Intent, besides store: VirtualStore) -> [Place] {
        guard let version = intent.version, !store.versions.contains(key: version.id) else { return [] }
        return [version.place]
    }

    /// What is in a directory that an exchange has just brought out of its place is still where people left it.
    private func withTakenOut(
        _ tree: SortedMap<Path, Value>, _ machine: Int, _ world: World
    ) -> SortedMap<Path, Value> {
        let disk = world.machines[machine].disk.atHome
        var whole = tree
        for (name, intent) in world.machines[machine].store.intents {
            for (path, value) in disk.directoryValues(at: .stage(name), as: intent.path)
            where path != intent.path && tree[path] == nil {
                whole[path] = value
            }
        }
        return whole
    }

    package func didHappen(_ occurrence: Occurrence, to machine: Int, in world: World) {
        switch occurrence {
        case .started:
            turn(machine, isRunning: true, world)
            lookAtRemains(machine, world)
            noteCarriedAway(machine, world)
        case .finished, .killed: turn(machine, isRunning: false, world)
        case .powerCut: struckByPower(machine, world)
        case .imageRestored: struckByImage(machine, world)
        case .stateWiped:
            forget(machine, world)
            announce(.wipedState, machine, world)
        case .powerOn, .imageSaved: break
        }
    }

    private func turn(_ machine: Int, isRunning: Bool, _ world: World) {
        heard[machine] = [:]
        let turn = ProcessTurn(machine: machine, isRunning: isRunning, store: world.machines[machine].store)
        judge(world) { court in for invariant in invariants { invariant.see(turn, &court) } }
    }

    /// As the daemon sees them when it starts after a power cut.
    private func lookAtRemains(_ machine: Int, _ world: World) {
        guard world.isUnsettled(machine) else { return }
        let moment = world.machines[machine].clock.moment(at: world.now)
        let boot = moment.wallMilliseconds - Int64(clamping: moment.monotonicMilliseconds)
        let disk = world.machines[machine].disk.atHome
        world.ledger.broughtUnseen(on: machine) { path in
            guard let stat = disk.peekStat(path), stat.changed.milliseconds < boot else { return false }
            let rows = world.machines[machine].store.rows
            return rows[path]?.disk.map { $0.stat.identity != stat.identity } == true
                && (path.parents.allSatisfy {
                    $0.isRoot || rows[$0]?.disk?.stat.identity == disk.peekStat($0)?.identity
                } || !rows.contains { $0.value.disk?.stat.identity == stat.identity })
        }
        world.ledger.remainsLookWritten(on: machine) { path, found in
            guard let changed = disk.peekStat(path)?.changed, disk.value(at: path) == found else { return false }
            // A coarse stamp stands for all of its step.
            let step: Int64 = changed.nanoseconds == 0 ? 999 : changed.nanoseconds % 10_000_000 == 0 ? 9 : 0
            return changed.milliseconds + step >= boot && changed.milliseconds <= moment.wallMilliseconds
        }
        // Changed at a time to come: only the time of the writing says which is older.
        world.ledger.foundOlder(on: machine) { path in
            guard let known = world.machines[machine].store.rows[path]?.disk, known.origins.time.author == .own,
                let found = disk.peekStat(path), found.identity == known.stat.identity,
                found.modified < known.stat.modified, found.changed.milliseconds > moment.wallMilliseconds
            else { return nil }
            return disk.value(at: path)
        }
        // Nothing at all, which no daemon has read, gives way to what the other node has, and what somebody has moved over another since, but
        // nobody written, to what that was.
        world.ledger.foundOlder(on: machine) { path in
            guard let found = disk.peekStat(path), found.kind == .file, found.size == 0 else { return nil }
            let known = world.machines[machine].store.rows[path]?.disk?.stat
            if let known, known.isSameFile(as: found) || known.size == 0 { return nil }
            let times = known == nil ? [found.changed] : [found.modified, found.identity.birth]
            let isSince = times.contains { (boot...max(boot, moment.wallMilliseconds)).contains($0.milliseconds) }
            return isSince ? nil : disk.value(at: path)
        }
    }

    /// For the operator: what he did by hand.
    package func announce(_ kind: OperatorAct.Kind, _ machine: Int, _ world: World) {
        let act = OperatorAct(machine: machine, kind: kind, store: world.machines[machine].store)
        judge(world) { court in for invariant in invariants { invariant.see(act, &court) } }
    }

    // MARK: Disasters

    /// The state of a daemon was wiped or put back.
    func forget(_ machine: Int, _ world: World) {
        let disk = world.machines[machine].disk.atHome
        let tree = disk.treeValues
        let staged = disk.allContents().filter { $0.area == .stage }.map { Value($0.entry) }
        let others = world.machines[1 - machine].disk.atHome.treeValues
        world.ledger.forgot(
            machine, isInTree: { value in tree.contains { $0.value == value } }, other: Ledger.Holdings(tree: others),
            isOnItsWay: { value, path in
                value.isContent && staged.contains(value)
                    && ![tree, others].contains { Ledger.Holdings(tree: $0).holds(value, near: path) }
            })
        let other = world.machines[1 - machine].disk.atHome
        let told = world.machines[1 - machine].store.rows
        world.ledger.forgotMetadata(of: machine) { path in
            let awaited = told[path]?.head(by: .peer)?.entry
            return other.peekStat(path).map { ($0.mode, $0.modified) } ?? awaited.map { ($0.mode, $0.modified) }
        }
        world.ledger.metadataIsOld(on: 1 - machine, byItsClock: world.wall(of: 1 - machine)) { disk.peekStat($0) }
    }

    /// Only the state was put back, as it was at `time`.
    func forgetRemovals(_ machine: Int, since time: Int64, _ world: World) {
        world.ledger.forgotRemovals(
            on: machine, since: time, isKnown: { self.isKnown($1, at: $0, world.machines[machine]) },
            isToldGone: { path in
                // (Or it has taken it away there, and not brought yet what was told anew: it says that nothing is there.)
                self.isToldGone(path, by: machine, world)
                    || world.machines[1 - machine].store.rows[path].map { $0.disk == nil } == true
            })
        let disk = world.machines[machine].disk.atHome
        let missing = world.machines[machine].store.rows.filter { path, row in
            row.disk != nil && disk.value(at: path) == .absent
        }
        world.ledger.forgotDepartures(of: missing.map(\.key), on: machine)
    }

    /// Only the state was put back, as it was at `time`. What has come back since where it had been replaced is what had stood there for its
    /// daemon. (Where the other node has been told of it, that tells it anew.)
    func forgetReturns(_ machine: Int, since time: Int64, _ world: World) {
        let disk = world.machines[machine].disk.atHome
        world.ledger.forgotReturns(on: machine, since: time) { path in
            let value = disk.value(at: path)
            guard value.isContent, self.isKnown(value, at: path, world.machines[machine]) else { return nil }
            let written = world.machines[1 - machine].store.rows[path]?.heads ?? []
            let told = written + [self.unwritten(path, by: machine, world)].compactMap(\.self)
            let isToldOfAnother = !told.isEmpty && !told.contains { self.isKnown(value, as: $0.entry.content) }
            return isToldOfAnother ? value : nil
        }
    }

    /// The daemon was to copy what stands there, and goes on from what it knew before. (What it did not know then, it
    /// tells anew.)
    func forgetCopies(_ owed: [Path], _ machine: Int, _ world: World) {
        let disk = world.machines[machine].disk.atHome
        for path in owed {
            let value = disk.value(at: path)
            guard value.isContent, isKnown(value, at: path, world.machines[machine]),
                let row = world.machines[machine].store.rows[path],
                let other = world.machines[1 - machine].store.rows[path],
                forgottenCopies.forget(value, row, other: other, toldBy: 1 - machine)
            else { continue }
            world.ledger.forgotCopy(of: value, at: path)
        }
    }

    private func struckByPower(_ machine: Int, _ world: World) {
        turn(machine, isRunning: false, world)
        guard let before = beforeDisaster else { return }
        beforeDisaster = nil
        let disk = world.machines[machine].disk.atHome
        let now = disk.treeValues
        let files = SortedMap(now.keys.compactMap { path in disk.peekStat(path).map { (path, $0.identity) } })
        let cut = PowerCut(machine: machine, was: before.tree, now: now, safe: before.safe, files: files)
        judge(world) { court in for invariant in invariants { invariant.see(cut, &court) } }
        noteSharedNames(of: files, world)
        noteFormerNames(of: files, machine, before, world)
        let duties = world.ledger.duties
        settleLedger(machine, before, now, world) { path, value in before.safe[path] == value }
        excuseUnsynced(of: duties, on: machine, before, world)
        excuseUnread(on: machine, before, world)
        excuseUntold(of: duties, on: machine, before, now, world)
        strandLateWrites(machine, before, now, world)
        world.ledger.remainsOfDisplaced += before.unsyncedVersions.map { disk.value(at: $0) }
        world.ledger.remainsOfDisplaced += displacedInStage(machine, world).map(\.value)
        doubtAbsent(machine, now, world)
    }

    /// What has made room and is on its way to where it is to be kept, also where the cut has taken it back from there. (It is the very file that
    /// was to make room: what a daemon has staged is another.)
    private func displacedInStage(_ machine: Int, _ world: World) -> [(intent: Intent, value: Value)] {
        let disk = world.machines[machine].disk.atHome
        return world.machines[machine].store.intents.compactMap { name, intent in
            guard intent.displaced != nil, let displaced = intent.expected?.identity,
                disk.peekStat(VirtualDisk.path(of: .stage(name)))?.identity == displaced
            else { return nil }
            return (intent, disk.value(at: .stage(name)))
        }
    }

    /// The losers of conflicts among that.
    private func losersInStage(_ machine: Int, _ world: World) -> [(intent: Intent, value: Value)] {
        displacedInStage(machine, world).filter { if case .conflictCopy? = $0.intent.displaced { true } else { false } }
    }

    /// The daemon that starts now does not wait for late writers of before.
    private func strandLateWrites(
        _ machine: Int, _ before: Disaster, _ now: SortedMap<Path, Value>, _ world: World
    ) {
        let left = world.machines[machine].disk.atHome.allValues
        world.ledger.strandLateWrites(
            on: machine, isInTree: { value in now.contains { $0.value == value } },
            isGone: { before.all.contains($0) && !left.contains($0) })
    }

    /// A rename of which the cut has left both names: they share mode and time from here on.
    private func noteSharedNames(of files: SortedMap<Path, FileIdentity>, _ world: World) {
        var names: SortedMap<FileIdentity, [Path]> = [:]
        for (path, identity) in files { names[identity, default: []].append(path) }
        for (_, paths) in names where paths.count > 1 { for path in paths { world.ledger.sharesMetadata(path) } }
    }

    /// A rename that the cut has taken back, or left both names of: where it has emptied the file, what that was known to hold by the other name
    /// may come back by this one. (The base may know that name below one that a person has moved since: then the file was elsewhere before the cut.)
    private func noteFormerNames(
        of files: SortedMap<Path, FileIdentity>, _ machine: Int, _ before: Disaster, _ world: World
    ) {
        var known: SortedMap<FileIdentity, [(path: Path, value: Value)]> = [:]
        for (path, row) in world.machines[machine].store.rows {
            guard let disk = row.disk else { continue }
            let moved = before.tree[path] == nil ? before.tree.first { isKnown($0.value, as: disk.entry.content) } : nil
            guard let value = before.tree[path] ?? moved?.value, value.isContent else { continue }
            known[disk.stat.identity, default: []].append((path, value))
        }
        for (path, identity) in files {
            for other in known[identity] ?? [] where other.path != path {
                world.ledger.mayStand(other.value, at: path, toldBy: machine)
            }
        }
    }

    private func struckByImage(_ machine: Int, _ world: World) {
        turn(machine, isRunning: false, world)
        guard let before = beforeDisaster else { return }
        beforeDisaster = nil
        let now = world.machines[machine].disk.atHome.treeValues
        settleLedger(machine, before, now, world) { _, _ in false }
        strandLateWrites(machine, before, now, world)
        let known = { (path: Path) -> Row? in world.machines[1 - machine].store.rows[path] }
        let end = world.machines[machine].store.node.ownHead.position
        let (was, left) = (Ledger.Holdings(tree: before.tree), Ledger.Holdings(tree: now))
        let other = Ledger.Holdings(tree: world.machines[1 - machine].disk.atHome.treeValues)
        world.ledger.setBack(
            machine, to: world.machines[machine].image?.time ?? world.now, was: was, is: left, other: other,
            isToldGone: { self.isToldGone($0, by: machine, world) },
            isTold: { self.isTold($0, after: end, by: machine, world) },
            isUnrecorded: { world.machines[machine].store.rows[$0]?.disk == nil })
        world.ledger.lostLastCopies(was: was, is: left, other: other) { copy, value in
            (known(copy) == nil || self.isOnlyTold(value, at: copy, world.machines[1 - machine]))
                && self.unwritten(copy, by: machine, world) == nil
        }
        forgetCopies(before.owed.filter { before.tree[$0] == now[$0] }, machine, world)
        doubtAbsent(machine, now, world)
        excuseLost(before.all, world)
        announce(.restoredImage, machine, world)
    }

    /// What is not there after a boot, and what the daemon has not been told is gone, it takes for lost in the cut.
    private func doubtAbsent(_ machine: Int, _ now: SortedMap<Path, Value>, _ world: World) {
        let rows = world.machines[machine].store.rows
        world.ledger.doubted(world.ledger.pages.keys.filter { now[$0] == nil && rows[$0]?.disk != nil })
    }

    private func settleLedger(
        _ machine: Int, _ before: Disaster, _ now: SortedMap<Path, Value>, _ world: World,
        isSafe: (Path, Value) -> Bool
    ) {
        world.ledger.strikes[machine] = world.now
        let duties = world.ledger.duties
        world.ledger.struck(
            machine, was: Ledger.Holdings(tree: before.whole),
            is: Ledger.Holdings(tree: withTakenOut(now, machine, world)),
            other: holdings(of: world.machines[1 - machine]), isSafe: isSafe,
            isRecorded: { self.isRecorded($0, before, world.machines[machine]) },
            isBehind: { self.isBehind($0, world.machines[machine]) },
            isBackdated: { self.isBackdated($0, world.machines[machine]) },
            isDeleted: { self.isDeleted($0, machine, world) },
            isUnknown: { self.isUnknown($0, world.machines[machine]) },
            isKnown: { self.isKnown($1, at: $0, world.machines[machine]) },
            looksReplaced: { self.looksReplaced($1, at: $0, world.machines[machine]) },
            isOldDirectory: { self.isOldDirectory($0, world.machines[machine]) },
            isOnItsWay: { self.isStaged($1, for: $0, world.machines[1 - machine]) },
            lostOnItsWay: before.copiesOnTheirWay.filter { _, value in
                !world.machines[machine].disk.allContents().contains { Value($0.entry) == value }
            })
        let disk = world.machines[machine].disk.atHome
        world.ledger.forgotMetadata(of: machine) { disk.peekStat($0).map { ($0.mode, $0.modified) } }
        world.ledger.forgotLeaving(on: machine) { disk.peekStat($0)?.changed }
        excuseGone(besides: duties, machine, world)
        if world.ledger.duties.count < duties.count { world.rare.hit("ledger: a value was excused after a power cut") }
    }

    /// What nobody was owed before is owed again where a disaster took back its removal. But a person who wrote over it in
    /// place has left nothing of it, and the disaster brings that no more back than any daemon. (Owed then to who wrote the same once
    /// more is not owed to who wrote it first.) Where the removal had been carried out on the other machine and the value is left in its
    /// versions only, it may stay there. An empty file that was written to is not back where the cut has emptied that, as the loser of a conflict
    /// on its way to the name of its copy: the daemon knows that there was something in it, and of nothing it makes no copy.
    /// What waits in the stage of the other machine, and is told of as written over, does not come to its place any more.
    private func excuseGone(besides duties: [Ledger.Duty], _ struck: Int, _ world: World) {
        var owed: SortedMap<Path, [Ledger.Duty]> = [:]
        for duty in duties { owed[duty.path, default: []].append(duty) }
        // In a folder, or on its way there. (What is on its way to another path need not come there: its author may have taken it away.)
        var left: SortedMap<Value, Bool> = [:]
        // All of it has come, and nothing is done with it yet.
        var waiting: SortedMap<Value, Bool> = [:]
        var onItsWay: SortedMap<Value, [Path]> = [:]
        let goals = SortedMap(
            world.machines[1 - struck].store.intents.map { (VirtualDisk.path(of: .stage($0.key)), $0.value.path) })
        for content in world.machines[1 - struck].disk.allContents() {
            let value = Value(content.entry)
            if let goal = goals[content.path] {
                onItsWay[value, default: []].append(goal)
            } else if content.area == .stage {
                waiting[value] = true
            } else {
                left[value] = left[value] == true || content.area == .tree
            }
        }
        // (What is back in the stage, and no intent tells of, is thrown away by the next start.)
        let intents = world.machines[struck].store.intents
        let claimed = SortedMap(intents.map { (VirtualDisk.path(of: .stage($0.key)), true) })
        for content in world.machines[struck].disk.allContents() {
            if content.area != .stage || claimed.contains(key: content.path) { left[Value(content.entry)] = true }
        }
        let emptied = losersInStage(struck, world)
            .filter { $0.value.isEmpty && $0.intent.expected?.size != 0 }.map(\.intent.path)
        for duty in world.ledger.duties {
            let before = owed[duty.path]?.filter { $0.value == duty.value } ?? []
            if before.contains(where: { $0.machine == duty.machine }) { continue }
            let isComing = onItsWay[duty.value]?.contains(duty.path) == true
            let isWaiting = waiting[duty.value] == true && !isToldOver(duty, struck, world)
            if duty.value.isEmpty, duty.machine == struck, emptied.contains(duty.path), before.isEmpty, !isComing,
                !world.isHeld(duty.value, of: duty.path)
            {
                world.ledger.excuse(duty.value, at: duty.path)
            } else if left[duty.value] != true, !isComing, !isWaiting {
                world.ledger.excuse(duty.value, at: duty.path, isKept: left[duty.value] != nil)
            } else if let places = placesOfLast(duty.value, struck, world), !places.contains(duty.path) {
                world.ledger.stoodOn(duty.value, of: duty.path, at: places)
            }
        }
    }

    /// A person on the machine that was struck wrote over what he had put there, and his daemon has on record what
    /// came of that: it tells of it, though the cut may have taken it.
    private func isToldOver(_ duty: Ledger.Duty, _ struck: Int, _ world: World) -> Bool {
        guard duty.machine == struck, let acts = world.ledger.pages[duty.path]?.acts.filter({ $0.machine == struck })
        else { return false }
        return acts.contains { over in
            over.after != duty.value && isKnown(over.after, at: duty.path, world.machines[struck])
                && acts.contains { $0.after == duty.value && over.seen.contains($0.number) }
        }
    }

    /// Where it stands in the folder of the machine that was struck, if it is nowhere else.
    private func placesOfLast(_ value: Value, _ struck: Int, _ world: World) -> [Path]? {
        let holds = { (content: StoredContent) in Value(content.entry) == value }
        if world.machines[1 - struck].disk.allContents().contains(where: holds) { return nil }
        let left = world.machines[struck].disk.allContents().filter(holds)
        return left.allSatisfy { $0.area == .tree } ? left.map(\.path) : nil
    }

    /// On the other machine a person had written over it without looking, or it had come to another path with its directory, or somebody
    /// had written the same bytes anew here, or the daemon here had just begun to put it in its place, or to take it from there, or another cut had taken from there
    /// what was written here; and here, where it was still in the folder, nobody had synced it. (What a daemon has on record as placed or set aside it
    /// has to have synced. What it had just set aside when its state was lost is on no record.)
    private func excuseUnsynced(of duties: [Ledger.Duty], on machine: Int, _ before: Disaster, _ world: World) {
        let left = world.ledger.duties.filter { $0.machine == machine }
        for duty in duties {
            // (Each of two has written the same: the one's went in a cut before.)
            let isOfBoth =
                duty.machine != machine && world.ledger.strikes[duty.machine] > 0
                && duties.contains { $0.isSame(as: duty, by: machine) }
                && !left.contains { $0.isSame(as: duty, by: machine) }
            let isOverwritten = duty.demand == .kept && world.ledger.wasOverwrittenBlindly(duty.value, at: duty.path)
            let isRewritten = world.ledger.pages[duty.path].map { $0.rewritten[machine] != .min } ?? false
            let isTakenThere = world.ledger.isTaken(duty, from: 1 - machine)
            let places = before.whole.filter { $0.value == duty.value }.map(\.key)
            let isOnRecord = places.contains { isKnown(duty.value, at: $0, world.machines[machine]) }
            let forgotten = before.forgottenVersions.count { $0 == duty.value }
            let onItsWay = before.onItsWay.count { $0.path == duty.path && $0.value == duty.value } + forgotten
            guard
                isOverwritten || isRewritten || isTakenThere || isOfBoth || !isOnRecord || duty.demand == .inTree
                    || onItsWay > 0
            else { continue }
            let isSetAside = before.all.count { $0 == duty.value } > places.count + onItsWay
            guard !places.isEmpty || onItsWay > 0, !isSetAside,
                !places.contains(where: { before.safe[$0] == duty.value }),
                !isHeld(duty.value, isSwept: forgotten > 0 ? machine : nil, world)
            else { continue }
            world.ledger.excuse(duty.value, at: duty.path)
        }
    }

    /// Some node has it. (Not in the stage of one that has forgotten what it was doing: it sweeps that.)
    private func isHeld(_ value: Value, isSwept machine: Int?, _ world: World) -> Bool {
        world.machines.indices.contains { index in
            world.machines[index].disk.atHome.allContents().contains { content in
                Value(content.entry) == value && !(index == machine && content.area == .stage)
            }
        }
    }

    /// The cut took the last that stood by this name, and no daemon had ever read it there: what holds the same elsewhere is another's, and may be
    /// written over.
    private func excuseUnread(on machine: Int, _ before: Disaster, _ world: World) {
        let lost = world.ledger.duties.filter { before.tree[$0.path] == $0.value && $0.value.isContent }
        if lost.isEmpty { return }
        let folders = world.machines.map { Ledger.Holdings(tree: $0.disk.atHome.treeValues) }
        let kept = world.machines.flatMap { $0.disk.atHome.allContents() }.filter { $0.area != .tree }
        for duty in lost where !folders.contains(where: { $0.holds(duty.value, near: duty.path) }) {
            let isRead = world.machines.contains { machine in
                guard let row = machine.store.rows[duty.path] else { return false }
                let known = row.heads.map(\.entry.content) + (row.disk.map { [$0.entry.content] } ?? [])
                return known.contains { isKnown(duty.value, as: $0) }
            }
            if !isRead, !kept.contains(where: { Value($0.entry) == duty.value }) {
                world.ledger.excuse(duty.value, at: duty.path)
            }
        }
    }

    /// Somebody had removed it, as the other node has been told, and then put the same there once more, which only the cut has seen: what the other
    /// still has is what was removed.
    private func excuseUntold(
        of duties: [Ledger.Duty], on machine: Int, _ before: Disaster, _ now: SortedMap<Path, Value>, _ world: World
    ) {
        let told = world.machines[1 - machine].store.rows
        for duty in duties where duty.machine == machine && before.tree[duty.path] == duty.value {
            guard now[duty.path] != duty.value, before.safe[duty.path] != duty.value,
                told[duty.path]?.head(by: .peer)?.entry.isAbsent == true
            else { continue }
            world.ledger.excuse(duty.value, at: duty.path)
        }
    }

    /// The base says what stood there before the disaster: the daemon has told of it, and goes on telling.
    private func isRecorded(_ path: Path, _ before: Disaster, _ machine: Machine) -> Bool {
        guard let row = machine.store.rows[path], let content = before.contents[path] else { return false }
        return (row.disk?.entry.content ?? .absent) == content
    }

    /// The base says that nothing is there any more, or the other node has been told so before an image took that back.
    private func isDeleted(_ path: Path, _ machine: Int, _ world: World) -> Bool {
        let own = world.machines[machine].store.rows[path]
        return own.map { $0.disk == nil } ?? false || isToldGone(path, by: machine, world)
    }

    /// The daemon has never been there, nor is it about to put anything there.
    private func isUnknown(_ path: Path, _ machine: Machine) -> Bool {
        machine.store.rows[path] == nil && !machine.store.intents.contains { $0.value.path == path }
    }

    /// The base says that this stands there.
    private func isKnown(_ value: Value, at path: Path, _ machine: Machine) -> Bool {
        machine.store.rows[path]?.disk.map { isKnown(value, as: $0.entry.content) } ?? false
    }

    /// The peer has told of it, and all of it has come, be it that it is still to be written into the stage.
    private func isStaged(_ value: Value, for path: Path, _ machine: Machine) -> Bool {
        guard let told = machine.store.rows[path]?.head(by: .peer), isKnown(value, as: told.entry.content) else {
            return false
        }
        return machine.disk.atHome.allContents().contains { $0.area == .stage && Value($0.entry) == value }
            || machine.work.diskJobs.contains { $0.value.programs.contains { Self.writes(value, $0) } }
    }

    /// The peer has told of it, and that is all: nothing of it has come, and no file or version that the daemon knows of has
    /// the same bytes.
    private func isOnlyTold(_ value: Value, at path: Path, _ machine: Machine) -> Bool {
        let store = machine.store
        guard let row = store.rows[path], row.disk == nil, row.head(by: .own) == nil,
            let told = row.head(by: .peer)?.entry.content, isKnown(value, as: told),
            !isStaged(value, for: path, machine)
        else { return false }
        let recorded = store.versions.map(\.value) + store.intents.compactMap(\.value.version)
        return !recorded.contains { $0.entry.content == told }
            && !store.rows.contains { $0.value.disk?.entry.content == told }
    }

    /// Whole, from its beginning to its end.
    private static func writes(_ value: Value, _ program: DiskProgram) -> Bool {
        guard case .file(let print) = value, !value.isEmpty else { return false }
        var bytes: [UInt8] = []
        for case .write(.stage, let offset, let part) in program.operations where offset == bytes.count {
            bytes += part
        }
        return Fingerprint(of: bytes) == print
    }

    private func isKnown(_ value: Value, as content: Content) -> Bool {
        switch value {
        case .file(let print): if case .file(let id, _) = content { contents[print] == id } else { false }
        case .symlink(let print):
            if case .symlink(let target) = content { Fingerprint(of: target) == print } else { false }
        case .directory: content.isDirectory
        case .absent, .special: false
        }
    }

    /// The base says that this stood there, and what stands there now was changed later: another file, or an earlier state from
    /// before the clock was set back, or one whose time somebody has set, which has reached the disk without what was written before.
    private func looksReplaced(_ value: Value, at path: Path, _ machine: Machine) -> Bool {
        guard let known = machine.store.rows[path]?.disk?.stat, let found = machine.disk.atHome.peekStat(path) else {
            return false
        }
        let isWritten = found.identity != known.identity || found.modified != known.modified
        return isWritten && isKnown(value, at: path, machine) && !isBackdated(path, machine)
    }

    /// The base says that a file stood there, and a directory does that was made before that had come.
    private func isOldDirectory(_ path: Path, _ machine: Machine) -> Bool {
        guard let known = machine.store.rows[path]?.disk?.stat, let found = machine.disk.atHome.peekStat(path) else {
            return false
        }
        return found.kind == .directory && known.kind != .directory && found.identity.birth < known.changed
    }

    /// What a directory has made room for is not there yet: the directory lies in the stage, and if it turns out to hold something
    /// it goes back to its place.
    private func holdings(of machine: Machine) -> Ledger.Holdings {
        let disk = machine.disk.atHome
        var tree = disk.treeValues
        for (name, intent) in machine.store.intents
        where disk.peekStat(VirtualDisk.path(of: .stage(name)))?.kind == .directory { tree[intent.path] = .directory }
        return Ledger.Holdings(tree: tree)
    }

    /// The base says that another content stood there.
    private func isBehind(_ path: Path, _ machine: Machine) -> Bool {
        guard let known = machine.store.rows[path]?.disk else {
            return isBackEmpty(path, machine) || isEmptiedAsPlaced(path, machine)
        }
        return known.entry.content != seen(path, machine.disk.atHome)?.entry.content
    }

    /// The file was written after its clock had been put back, and does not show that. Or it was emptied, and nobody had read it by then: just this is
    /// what a power cut leaves. Or it is another, older one that is known nowhere else: it may have been there before.
    /// (Not a file that was made since.)
    private func isBackdated(_ path: Path, _ machine: Machine) -> Bool {
        guard let known = machine.store.rows[path]?.disk, let found = machine.disk.atHome.peekStat(path) else {
            return isBackEmpty(path, machine) || isEmptiedAsPlaced(path, machine)
        }
        let isEmptied = found.kind == .file && found.size == 0 && known.entry.content.size > 0
        let isOlder =
            found.identity != known.stat.identity && found.modified < known.stat.modified
            && !(found.kind == .file && found.identity.birth > known.stat.changed)
            && !machine.store.rows.contains { $0.key != path && $0.value.disk?.stat.identity == found.identity }
        // As of a time before it was made: somebody wrote that after the clock had been put back.
        let (birth, times) = (found.identity.birth, (known: known.stat.changed, found: found.changed))
        let isPutBack =
            found.identity.isUnique && times.found < birth && times.known >= birth
            && found.modified != known.stat.modified
        return times.found <= times.known && !isPutBack || isEmptied || isOlder
    }

    /// What is on record an earlier power cut had taken, and what stands there now is empty: that may be what it had left.
    private func isBackEmpty(_ path: Path, _ machine: Machine) -> Bool {
        guard let row = machine.store.rows[path], row.condition == .damaged, row.disk == nil,
            let found = machine.disk.atHome.peekStat(path)
        else { return false }
        return found.kind == .file && found.size == 0
    }

    /// The daemon had just put a file there, which only its intent says as yet, and it is empty now: a person's emptying it a moment before the
    /// cut looks like what the cut does.
    private func isEmptiedAsPlaced(_ path: Path, _ machine: Machine) -> Bool {
        guard let found = machine.disk.atHome.peekStat(path), found.kind == .file, found.size == 0 else { return false }
        return machine.store.intents.contains { _, intent in
            guard intent.path == path, case .place(let identity, let entry) = intent.action else { return false }
            return identity == found.identity && entry.content.size > 0
        }
    }

    /// Values that were on the machine and are nowhere now.
    func excuseLost(_ before: [Value], _ world: World) {
        var present: SortedMap<Value, Bool> = [:]
        for machine in world.machines { for value in machine.disk.allValues { present[value] = true } }
        var lost: SortedMap<Value, Bool> = [:]
        for value in before where value.isContent && !present.contains(key: value) { lost[value] = true }
        world.ledger.lost(lost)
    }

    // MARK: Rest

    package func atPause(_ world: World) {
        if plan.isOn(.evilPeer) { judgeBesideEnemy(world) }
    }

    package func atQuiescence(_ world: World) {
        looks = world.ledger.doings == doingsAtLook ? looks + 1 : 1
        doingsAtLook = world.ledger.doings
        let sight = Sight(machines: world.machines.map { look(at: $0) }, look: looks)
        judge(world) { court in for invariant in invariants { invariant.see(sight, &court) } }
    }

    package func look(at machine: Machine) -> MachineSight {
        var rules = IgnoreRules()
        var tree: SortedMap<Path, Seen> = [:]
        var unsynced: SortedMap<Path, Value> = [:]
        var untold: SortedMap<Path, Value> = [:]
        let disk = machine.disk
        let all = disk.treeValues
        for path in all.keys where path.name?.bytes == IgnoreRules.fileName && !Watch.isIgnored(path, all, rules) {
            rules.setFile(directory: path.parent?.bytes ?? [], contents: disk.peekBytes(path) ?? [])
        }
        for (path, value) in all {
            if value == .special || Watch.isIgnored(path, all, rules) {
                unsynced[path] = value
                if Watch.keepsToItself(path, rules), !isOnRecord(path, machine) { untold[path] = value }
            } else if let found = seen(path, disk) {
                tree[path] = found
            }
        }
        let aside = disk.allContents().filter { $0.area == .versions || $0.area == .quarantine }.map { Value($0.entry) }
        var histories: SortedMap<Path, [Value]> = [:]
        for version in machine.store.versions.values {
            histories[version.path, default: []].append(disk.value(at: version.place))
        }
        return MachineSight(
            tree: tree, store: machine.store, unsynced: unsynced, aside: aside, histories: histories,
            asideNext: Watch.onTheirWay(machine),
            alerts: machine.alerts, status: machine.status, counters: machine.counters,
            ignores: { [rules] in
                rules.isIgnored($0.bytes, isDirectory: false) || rules.isIgnored($0.bytes, isDirectory: true)
            },
            keepsToItself: { [rules] in Watch.keepsToItself($0, rules) }, untold: untold)
    }

    /// What has come out of its place and could not be put among the versions, because the disk failed twice: the next start does that,
    /// whatever a late writer has made of it meanwhile.
    private static func onTheirWay(_ machine: Machine) -> [Value] {
        machine.store.intents.compactMap { name, intent in
            let place = Place.stage(name)
            switch intent.displaced {
            case .version?, .quarantine?: break
            case .conflictCopy?, nil: return nil
            }
            let found = machine.disk.peekStat(VirtualDisk.path(of: place))
            guard let expected = intent.expected, found?.isSameFile(as: expected) == true else { return nil }
            return machine.disk.value(at: place)
        }
    }

    private static func isIgnored(_ path: Path, _ all: SortedMap<Path, Value>, _ rules: IgnoreRules) -> Bool {
        rules.isIgnored(path.bytes, isDirectory: all[path] == .directory)
    }

    private static func keepsToItself(_ path: Path, _ rules: IgnoreRules) -> Bool {
        [false, true].contains { isDirectory in
            guard let reason = rules.reason(toIgnore: path.bytes, isDirectory: isDirectory) else { return false }
            return rules.isIgnored(reason.file, isDirectory: false)
        }
    }

    /// With these very bytes: they were told of, and are owed to the other node also when rules leave them out.
    private func isOnRecord(_ path: Path, _ machine: Machine) -> Bool {
        guard let known = machine.store.rows[path]?.disk else { return false }
        return known.entry.content == seen(path, machine.disk)?.entry.content
    }

    private func seen(_ path: Path, _ disk: VirtualDisk) -> Seen? {
        guard let (value, stat) = disk.peek(path) else { return nil }
        let content: Content
        switch value {
        case .absent, .special: return nil
        case .directory: content = .directory
        case .symlink: content = .symlink(disk.peekTarget(path) ?? [])
        case .file(let print): content = .file(contentID(print, path, disk), size: stat.size)
        }
        return Seen(
            value: value, entry: Entry(content: content, mode: stat.mode, modified: stat.modified),
            identity: stat.identity)
    }

    /// What the daemon is about to read it will name so, and what it has on record goes by that name when the value is gone.
    private func learn(_ paths: [Path], _ disk: VirtualDisk) {
        for path in paths { _ = seen(path, disk) }
    }

    private func contentID(_ print: Fingerprint, _ path: Path, _ disk: VirtualDisk) -> ContentID {
        if let known = contents[print] { return known }
        let id = ContentID(
            ContentHasher.chunks(of: disk.peekBytes(path) ?? [], plan.limits[0].chunking).contentID)
        contents[print] = id
        return id
    }

    /// An enemy may spoil what is shared, but what the people at this machine wrote is kept somewhere on it.
    private func judgeBesideEnemy(_ world: World) {
        var present: SortedMap<Value, Bool> = [:]
        for value in world.machines[0].disk.allValues { present[value] = true }
        var lent: SortedMap<Value, Bool> = [:]
        for value in world.machines[1].disk.allValues { lent[value] = true }
        for duty in world.ledger.duties where duty.machine == 0 && !present.contains(key: duty.value) {
            // A power cut has taken what nobody had synced. It is owed because the other has it, which is the enemy now.
            if world.ledger.pages[duty.path]?.isReverted == true, lent.contains(key: duty.value) { continue }
            // A person wrote over it without having looked. It is owed because the other had it by then, which is the enemy.
            if world.ledger.wasOverwrittenBlindly(duty.value, at: duty.path) { continue }
            // What the enemy had put aside was written over by a person, through another name of the file.
            if world.ledger.pages[duty.path]?.isEntangled == true { continue }
            world.violate(NoLostUpdate.id, "\(duty.value) written at \(duty.path) is gone from alpha, beside an enemy")
            return
        }
    }

    // MARK: Verdicts

    private func judge(_ world: World, _ hear: (inout Court) -> Void) {
        court.now = world.now
        swap(&court.ledger, &world.ledger)
        hear(&court)
        swap(&court.ledger, &world.ledger)
        guard !court.findings.isEmpty else { return }
        for finding in court.takeFindings() {
            let who = finding.machine.map { "\(Machine.names[$0]): " } ?? ""
            world.violate(finding.id, who + finding.text)
        }
    }
}

extension World {
    /// True while a fault of this machine's disk is on, or its space is limited.
    func mayDiskFail(_ machine: Int) -> Bool {
        let faults = machines[machine].disk.faults
        return faults.capacityBytes != nil || faults.isReadOnly || faults.readErrors != FaultChance()
            || faults.writeErrors != FaultChance() || faults.failedSyncs != FaultChance() || !faults.busy.isEmpty
            || !faults.permissionDenied.isEmpty || !faults.covered.isEmpty
    }

    /// The watch of this world, if it has one.
    package var watch: Watch? {
        for checker in checkers { if let watch = checker as? Watch { return watch } }
        return nil
    }
}

extension VirtualDisk {
    /// At the path or at a conflict copy of it.
    func holds(_ value: Value, near path: Path) -> Bool {
        Ledger.Holdings(tree: treeValues).holds(value, near: path)
    }
}

extension FaultChance: Equatable {
    package static func == (left: FaultChance, right: FaultChance) -> Bool {
        left.next == right.next && left.perMille == right.perMille && left.paths == right.paths
    }
}
