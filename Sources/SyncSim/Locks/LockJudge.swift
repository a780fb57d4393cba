import Coordination
import SyncCore
package import SyncModel

/// The promises of docs/locks.md for whole worlds: what is held excludes what it should, on both nodes while they are together and for as
/// long as a lease after; nothing is put where a program holds it; and everybody gets his turn in the end.
package final class LockJudge: Checker {
    package let rareStates = [
        "locks: both nodes held the same, and said so", "locks: a lock was taken away",
        "locks: who would have closed a circle was refused",
    ]

    private let life: LockLife

    init(_ life: LockLife) {
        self.life = life
    }

    package func begin(_ world: World) {}
    package func willStore(_ batch: StoreBatch, on machine: Int, in world: World) {}
    package func atPause(_ world: World) {}
    package func willHappen(_ occurrence: Occurrence, to machine: Int, in world: World) {}
    package func didPerform(_ operation: DiskOperation, error: DiskError?, on machine: Int, in world: World) {}

    package func didHappen(_ occurrence: Occurrence, to machine: Int, in world: World) {
        switch occurrence {
        case .started, .finished, .killed, .powerCut: life.forget(machine, at: world.now)
        case .powerOn, .imageSaved, .imageRestored, .stateWiped: break
        }
    }

    /// A rescued late write comes under a new name, where nobody can have held anything.
    package func willPerform(_ operation: DiskOperation, on machine: Int, in world: World) {
        guard operation.changesNames else { return }
        let disk = world.machines[machine].disk
        for case .tree(let path) in operation.places where !ConflictName.isConflictCopy(path) {
            // With a directory that is removed goes nothing: it must be empty.
            let isDirectory =
                if case .removeDirectory = operation { false } else { disk.peekStat(path)?.kind == .directory }
            if let claim = life.history.disturbed(by: path, isDirectory: isDirectory, on: machine) {
                world.violate("LOCK", "\(operation.summary) on \(Machine.names[machine]), held by claim \(claim)")
            }
        }
    }

    package func afterStep(_ step: StepRecord, in world: World) {
        for tell in step.tells {
            hear(tell.event, tell.machine, world)
            for effect in tell.effects { see(effect, tell.machine, world) }
        }
        if let split = life.history.silentSplit(at: world.now) { world.violate("LOCK", split) }
    }

    private func hear(_ event: Event, _ machine: Int, _ world: World) {
        switch event {
        case .connected: life.history.connected(machine, at: world.now)
        case .disconnected: life.history.disconnected(machine, at: world.now)
        case .command(_, .endClaims(let ids, _)): for id in ids { end(id, machine) }
        case .started, .stopRequested, .noticed, .overflowed, .scanned, .inspected, .hashed, .readFinished, .parsed,
            .diskFinished,
            .stageListed, .loaded, .stored, .storeFailed, .received, .sent, .deadline, .command:
            break
        }
    }

    private func see(_ effect: Effect, _ machine: Int, _ world: World) {
        switch effect {
        case .answer(let command, .claims(let claims)):
            for claim in claims where life.wishes[machine][claim.id]?.command == command {
                life.wishes[machine][claim.id]?.isHeld = true
                let fault = life.history.granted(
                    claim.id, claim.accesses, for: claim.purpose, claim.mode, fence: claim.fence, on: machine,
                    at: world.now)
                if let fault { world.violate("LOCK", "\(fault) (\(Machine.names[machine]))") }
            }
        case .answer(let command, .claimRefused(let refusal)):
            if case .wouldDeadlock = refusal { world.rare.hit("locks: who would have closed a circle was refused") }
            refused(command, machine)
        case .answer(let command, .refused): refused(command, machine)
        case .program(.ask(let question)): life.questions[machine].append(question)
        case .program(.revoked(let claim, _)):
            world.rare.hit("locks: a lock was taken away")
            end(claim, machine)
        case .report(.note(let note)) where note.code == .lockSplitHold:
            world.rare.hit("locks: both nodes held the same, and said so")
            life.history.told(ofSplitOn: machine, at: world.now)
        case .close: life.history.disconnected(machine, at: world.now)
        case .answer, .program, .report, .load, .store, .scan, .inspect, .hash, .read, .parse, .disk, .listStage, .send,
            .wake,
            .finish:
            break
        }
    }

    private func refused(_ command: CommandID, _ machine: Int) {
        guard let wish = life.wishes[machine].first(where: { $0.value.command == command }) else { return }
        life.wishes[machine][wish.key] = nil
    }

    private func end(_ claim: Claim.ID, _ machine: Int) {
        life.wishes[machine][claim] = nil
        life.history.ended(claim, on: machine)
    }

    /// Nobody waits for ever.
    package func atQuiescence(_ world: World) {
        for machine in world.machines.indices {
            guard let command = world.command(machine, .listClaims),
                case .claims(let claims)? = world.takeAnswer(machine, command)
            else { continue }
            if let claim = claims.first(where: { !$0.isHeld }) {
                return world.violate(
                    "LOCK", "claim \(claim.id) of \(claim.node) waits for ever on \(Machine.names[machine])")
            }
        }
    }
}
