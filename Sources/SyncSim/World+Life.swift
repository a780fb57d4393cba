import RecordMerge
package import SyncCore
import SyncModel

/// Processes begin and end, machines lose power and come back, people put old images back.
extension World {
    /// The service manager starts the process, after a pause. Harmless when it runs or is already on its way.
    package func start(_ machine: Int, after milliseconds: Int = 0) {
        guard !machines[machine].isRunning, !machines[machine].isStarting else { return }
        machines[machine].isStarting = true
        schedule(.start(machine: machine), after: milliseconds)
    }

    /// Keeps the process from being started until `release`.
    package func holdDown(_ machine: Int) { machines[machine].isHeldDown = true }

    package func release(_ machine: Int) {
        machines[machine].isHeldDown = false
        start(machine)
    }

    /// A stop as by `systemctl stop`; the process ends when the node says so.
    package func requestStop(_ machine: Int) {
        tell(machine, .stopRequested)
    }

    /// SIGKILL: what the process had in memory is gone, what it gave to the kernel is not.
    package func kill(_ machine: Int) {
        guard machines[machine].isRunning else { return }
        trace.mix(0x6b69_6c6c + machine)
        trace.tell("\(now) \(machines[machine].name) killed")
        noteInterrupted(machine, by: "killed")
        endProcess(machine)
        network.processDied(machine, at: now, &random.network)
        linkChanged()
        note(.killed, machine)
        restartSoon(machine)
    }

    /// What was not synced may be lost, as the plan's crash model allows. The machine comes back by itself.
    package func powerCut(_ machine: Int) { powerCut(machine, plan.crashModel) }

    func powerCut(_ machine: Int, _ model: CrashModel) {
        guard machines[machine].isPowered else { return }
        trace.mix(0x706f_7765 + machine)
        trace.tell("\(now) \(machines[machine].name) loses power")
        noteInterrupted(machine, by: "power cut")
        endProcess(machine)
        network.powerWasCut(machine, at: now)
        linkChanged()
        machines[machine].isPowered = false
        announce(.powerCut, machine)
        machines[machine].disk.powerCut(model: model, random: &random.disks[machine])
        note(.powerCut, machine)
        schedule(.powerOn(machine: machine), after: bootPause())
    }

    /// No machine is up again within one step of its stamps.
    private func bootPause() -> Int {
        let step = Int(plan.stampNanoseconds / 1_000_000)
        return max(step, random.crash.range(10...plan.restartDelayMillisecondsMax + 10))
    }

    func powerOn(_ machine: Int) {
        guard !machines[machine].isPowered else { return }
        machines[machine].isPowered = true
        machines[machine].boots += 1
        machines[machine].clock.reboot(at: now)
        note(.powerOn, machine)
        restartSoon(machine)
    }

    /// A copy of disk and state as they are at this moment.
    package func saveImage(_ machine: Int) {
        machines[machine].image = Machine.Image(
            disk: machines[machine].disk, store: machines[machine].store, time: now)
        note(.imageSaved, machine)
    }

    /// The machine goes back to its image and boots from it.
    package func restoreImage(_ machine: Int) {
        guard let image = machines[machine].image else { return }
        trace.mix(0x696d_6167 + machine)
        trace.tell("\(now) \(machines[machine].name) goes back to its image of \(image.time)")
        endProcess(machine)
        network.powerWasCut(machine, at: now)
        linkChanged()
        announce(.imageRestored, machine)
        machines[machine].disk = image.disk
        // The image was taken of an idle machine: booting from it loses nothing but open handles.
        machines[machine].disk.syncEverything()
        machines[machine].disk.powerCut(model: plan.crashModel, random: &random.disks[machine])
        machines[machine].store = image.store
        machines[machine].isPowered = false
        note(.imageRestored, machine)
        schedule(.powerOn(machine: machine), after: bootPause())
    }

    /// The state directory is lost; key, configuration and folder remain. The process must be down.
    package func wipeState(_ machine: Int) {
        if machines[machine].isRunning { kill(machine) }
        trace.mix(0x7769_7065 + machine)
        trace.tell("\(now) \(machines[machine].name) loses its state")
        announce(.stateWiped, machine)
        machines[machine].store = VirtualStore(node: Machine.freshRecord(machine, seed: seed))
        note(.stateWiped, machine)
    }

    /// A person or a program asks something of the node. The answer appears in `Machine.answers`. Nil when nobody listens.
    @discardableResult
    package func command(_ machine: Int, _ command: Command) -> CommandID? {
        guard machines[machine].isRunning else { return nil }
        machines[machine].commands += 1
        let id = CommandID(raw: machines[machine].commands)
        tell(machine, .command(id, command))
        return id
    }

    /// The number of the command that is given next.
    func nextCommand(_ machine: Int) -> CommandID { CommandID(raw: machines[machine].commands + 1) }

    /// Takes the answer to a command, if it has come.
    package func takeAnswer(_ machine: Int, _ command: CommandID) -> Answer? {
        guard let index = machines[machine].answers.firstIndex(where: { $0.command == command }) else { return nil }
        return machines[machine].answers.remove(at: index).answer
    }
}

extension World {
    func startProcess(_ machine: Int) {
        machines[machine].isStarting = false
        guard machines[machine].isPowered, !machines[machine].isRunning, !machines[machine].isHeldDown else { return }
        let moment = machines[machine].clock.moment(at: now)
        let powerWasLost = machines[machine].store.noteBoot(
            machines[machine].boots, plan.limits[machine], at: moment)
        machines[machine].process += 1
        machines[machine].counters.starts += 1
        machines[machine].work = Machine.Work()
        machines[machine].alerts = [:]
        machines[machine].status = nil
        machines[machine].storeFailsAfter = nil
        // Nobody watched until now: what happened meanwhile is for the scan to find.
        machines[machine].disk.startWatching()
        machines[machine].node = Node()
        trace.tell("\(now) \(machines[machine].name) starts process \(machines[machine].process)")
        note(.started, machine)
        tell(
            machine,
            .started(
                Start(
                    node: machines[machine].store.node, settings: plan.settings[machine], limits: plan.limits[machine],
                    program: World.program, nonce: UInt32(truncatingIfNeeded: random.stores[machine].next()),
                    powerWasLost: powerWasLost, models: heldFiles[machine].isEmpty ? ownModels[machine] ?? models : [],
                    heldFiles: heldFiles[machine], formats: formats[machine], features: features)))
        network.wantConnection(at: now, &random.network)
        linkChanged()
    }

    private static let program = Array("simulated 1".utf8)

    /// The node has said that it is done.
    func finish(_ machine: Int, _ reason: FinishReason) {
        trace.tell("\(now) \(machines[machine].name) finishes: \(reason)")
        endProcess(machine)
        network.processDied(machine, at: now, &random.network)
        linkChanged()
        note(.finished(reason), machine)
        restartSoon(machine)
    }

    private func endProcess(_ machine: Int) {
        machines[machine].node = nil
        machines[machine].work = Machine.Work()
        machines[machine].lastAlive = now
        machines[machine].disk.kill()
    }

    private func restartSoon(_ machine: Int) {
        guard machines[machine].isPowered else { return }
        start(machine, after: random.crash.range(0...plan.restartDelayMillisecondsMax))
    }

    /// Counts in what state the process was struck down.
    private func noteInterrupted(_ machine: Int, by what: String) {
        guard let node = machines[machine].node else { return }
        let work = machines[machine].work
        if work.diskJobs.contains(where: { !$0.value.results.isEmpty || $0.value.run.next > 0 }) {
            rare.hit("life: \(what) between two operations of a disk job")
        }
        if node.phase == .recovering { rare.hit("life: \(what) during recovery") }
        let holdsBatch = work.storeQueue.contains {
            if case .store = $0 { return true }
            return false
        }
        if holdsBatch { rare.hit("store: \(what) with batches in the queue") }
        let owesAnswer = work.storeAnswers.contains {
            if case .stored = $0 { return true }
            return false
        }
        if owesAnswer { rare.hit("store: \(what) after a batch was durable and before it was answered") }
    }

    private func announce(_ occurrence: Occurrence, _ machine: Int) {
        for checker in checkers { checker.willHappen(occurrence, to: machine, in: self) }
    }

    func note(_ occurrence: Occurrence, _ machine: Int) {
        for checker in checkers { checker.didHappen(occurrence, to: machine, in: self) }
    }
}
