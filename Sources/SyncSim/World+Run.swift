import SyncCore
import SyncModel

/// The phases of a run, and the loop under all of them.
///
/// Safety: users act and faults strike until the users are done. Healing: every fault is mended, and the two nodes must
/// agree within the budget. Quiet: nothing but signs of life may pass between them. Some seeds then lose everything that is
/// not durable and must become quiet once more.
extension World {
    /// The whole story of a seed. Ends early when an invariant is violated.
    package func run() {
        begin()
        runSafety()
        if plan.isOn(.evilPeer) { return endEvilRun() }
        settle()
        reconnect()
        guard plan.endsWithRestart else { return }
        loseEverythingVolatile()
        settle()
    }

    /// Both have everything: a new connection must find nothing to do.
    private func reconnect() {
        guard isClean else { return }
        phase = .healing
        cutLink()
        settle()
    }

    /// Sets the stage: trees, agents, the first starts, the first faults.
    package func begin() {
        for agent in agents { agent.prepare(self) }
        for checker in checkers { checker.begin(self) }
        for machine in machines.indices {
            // What the folders begin with has long reached the disk.
            machines[machine].disk.syncEverything()
            if network.ghost != machine { start(machine, after: random.crash.range(0...50)) }
            schedule(.writeBack(machine: machine), after: World.writeBackPauseMilliseconds)
        }
        for (index, agent) in agents.enumerated() {
            if agent.holdsSafetyPhase { busyAgents += 1 }
            schedule(.agent(index), after: 1)
        }
        for trait in plan.traitsOfNature { scheduleFault(trait) }
    }

    private func runSafety() {
        while isClean, busyAgents > 0, advance() {}
    }

    /// Mends everything and runs until the world is quiet, or violates INV-06.
    package func settle() {
        guard isClean else { return }
        heal()
        while isClean, phase == .healing, advance() {}
        guard isClean else { return }
        quietLooks += 1
        for checker in checkers { checker.atQuiescence(self) }
    }

    /// Takes the next happening. False when there is none, which never lasts: write-back goes on forever.
    @discardableResult
    package func advance() -> Bool {
        guard let (time, happening) = queue.popFirst() else { return false }
        now = max(now, time)
        for machine in machines.indices { machines[machine].disk.uptimeMilliseconds = UInt64(now) }
        guard isCurrent(happening) else { return true }
        steps += 1
        step = StepRecord(happening: happening, tells: [])
        record(happening)
        happen(happening)
        for machine in machines.indices { wakeWatcher(machine) }
        for checker in checkers { checker.afterStep(step, in: self) }
        if steps % World.stepsPerPause == 0 { pause() }
        if steps > budget.steps { violate("INV-06", "the world spins: \(steps) happenings and no end. \(situation)") }
        return true
    }

    /// Runs for so long.
    package func run(milliseconds: Int64) {
        let end = now + milliseconds
        while isClean, let next = queue.nextTime, next <= end { advance() }
        now = max(now, end)
    }

    func pause() {
        for checker in checkers { checker.atPause(self) }
    }

    private func happen(_ happening: Happening) {
        switch happening {
        case .agent(let index): act(index)
        case .tell(let machine, _, let event):
            machines[machine].work.outstanding -= 1
            tell(machine, event)
        case .diskOperation(let machine, _, let job): performOperation(of: job, machine)
        case .diskRequest(let machine, _, let request): perform(request, machine)
        case .hashEnd(let machine, _, let job): finishHash(job, machine)
        case .storeRequest(let machine, _): performStoreRequest(machine)
        case .storeAnswer(let machine, _): giveStoreAnswer(machine)
        case .notices(let machine, _): readNotices(machine)
        case .deadline(let machine, _, let wish): reachDeadline(machine, wish: wish)
        case .link(let link): happen(link)
        case .fault(let trait): strike(trait)
        case .faultEnd(let number): endStrain(number)
        case .start(let machine): startProcess(machine)
        case .powerOn(let machine): powerOn(machine)
        case .writeBack(let machine): writeBack(machine)
        case .inspection: inspect()
        }
    }

    /// False for what was meant for a process that is no more.
    private func isCurrent(_ happening: Happening) -> Bool {
        switch happening {
        case .tell(let machine, let process, _), .diskOperation(let machine, let process, _),
            .diskRequest(let machine, let process, _), .hashEnd(let machine, let process, _),
            .storeRequest(let machine, let process), .storeAnswer(let machine, let process),
            .notices(let machine, let process):
            machines[machine].isRunning && machines[machine].process == process
        case .deadline(let machine, let process, let wish):
            machines[machine].isRunning && machines[machine].process == process
                && machines[machine].work.wish == wish
        case .agent, .link, .fault, .faultEnd, .start, .powerOn, .writeBack, .inspection:
            true
        }
    }

    private func act(_ index: Int) {
        guard phase == .safety else { return }
        if let pause = agents[index].act(in: self) {
            schedule(.agent(index), after: pause)
        } else if agents[index].holdsSafetyPhase {
            busyAgents -= 1
        }
    }

    private static let stepsPerPause = 64
}

// MARK: The watcher

extension World {
    /// The watcher reads the kernel's queue some time after something was put into it.
    private func wakeWatcher(_ machine: Int) {
        guard machines[machine].hasNotices, machines[machine].isRunning,
            !machines[machine].work.areNoticesScheduled
        else { return }
        machines[machine].work.areNoticesScheduled = true
        schedule(
            .notices(machine: machine, process: machines[machine].process),
            after: random.workers[machine].range(0...plan.noticeDelayMillisecondsMax))
    }

    /// After a hand from outside has touched a disk between two happenings.
    func notice() {
        for machine in machines.indices { wakeWatcher(machine) }
    }

    /// The kernel's queue is full: what waits in it is lost.
    func overflowWatch(_ machine: Int) {
        guard machines[machine].isRunning else { return }
        _ = machines[machine].disk.takeNotices()
        tell(machine, .overflowed)
    }

    private func readNotices(_ machine: Int) {
        machines[machine].work.areNoticesScheduled = false
        let (notices, overflowed) = machines[machine].disk.takeNotices()
        if !notices.isEmpty { tell(machine, .noticed(notices)) }
        if overflowed {
            rare.hit("watch: notices lost in an overflow")
            tell(machine, .overflowed)
        }
    }
}

// MARK: Healing

extension World {
    /// What the operator of the healing phase remembers between two looks.
    struct Healing {
        var began: Int64 = 0
        var framesAtBegin = 0
        var calmSince: Int64 = 0
        var framesAtCalm = 0
        var activity: [Int] = []
        /// Mass deletions already decided, so that one that comes back is seen.
        var decisions = 0
        /// By machine: the scan of each hour has come, where one is needed.
        var isScanned = [false, false]
    }

    /// Users stop, faults end, machines and wires are up, clocks are right.
    package func heal() {
        endAllStrains()
        // First of all: what people still have to put right must not fail for want of space.
        for machine in machines.indices where network.ghost != machine { mendDisk(machine) }
        if phase == .safety { restAgents() }
        phase = .healing
        trace.tell("\(now) all is mended")
        for machine in machines.indices where network.ghost != machine {
            machines[machine].clock.correct(at: now)
            noteClock(machine)
            machines[machine].storeFailsAfter = nil
            machines[machine].isHeldDown = false
            if machines[machine].isPowered { start(machine) }
            clearAway(machine)
        }
        network.wantConnection(at: now, &random.network)
        linkChanged()
        healing = Healing(began: now, framesAtBegin: framesSent)
        schedule(.inspection, after: 100)
    }

    /// What agents do last is no happening of the queue, but checkers see what comes of it as they do after one.
    private func restAgents() {
        for (index, agent) in agents.enumerated() {
            step = StepRecord(happening: .agent(index), tells: [])
            agent.rest(self)
            for checker in checkers { checker.afterStep(step, in: self) }
        }
    }

    /// A person who reads that a FIFO stands where a file is to go takes it away.
    private func clearAway(_ machine: Int) {
        let hands = Hands(self, machine: machine)
        for (path, entry) in machines[machine].disk.tree() where entry.content == .special { _ = hands.unlink(path) }
    }

    /// The operator looks at both nodes, decides what waits for a person, and notices when all is quiet.
    func inspect() {
        guard phase == .healing else { return }
        // What was asked at the last look has been answered by now, or the node is not at rest.
        judgeQuiet()
        guard phase == .healing, isClean else { return }
        for machine in machines.indices { attend(machine) }
        if now - healing.began > budget.healingMilliseconds {
            return violate(
                "INV-06", "not quiet \(budget.healingMilliseconds / 60_000) minutes after all was mended. \(situation)")
        }
        let frames = framesSent - healing.framesAtBegin
        if frames > framesAllowed {
            return violate("INV-06", "\(frames) frames since all was mended, \(framesAllowed) allowed. \(situation)")
        }
        schedule(.inspection, after: World.inspectionMilliseconds)
    }

    private func attend(_ machine: Int) {
        guard machines[machine].isRunning else { return start(machine) }
        command(machine, .status)
        guard let status = machines[machine].status else { return }
        if !healing.isScanned[machine], status.state != .scanning {
            // What was written by a name that nobody heeds is found by the scan of each hour, which no world lives to see.
            healing.isScanned[machine] = true
            let rows = machines[machine].store.rows
            let newNames = machines[machine].writtenByNewName
            if machines[machine].disk.hasUnheardWrite(newNames: newNames, known: { rows[$0]?.disk?.stat }) {
                command(machine, .rescan(.root))
            }
        }
        if status.heldDeletes != nil {
            healing.decisions += 1
            rare.hit("operator: mass deletion decided at the end")
            // (Who is asked again and again, because somebody takes away what cannot be read and comes back, gives in.)
            let approves = plan.approvesHeldDeletes || healing.decisions > World.refusalsMax
            command(machine, approves ? .approve : .reject)
        }
        if status.state == .paused { command(machine, .resume) }
        for agent in agents { agent.attend(status, on: machine, in: self) }
        for pending in status.pending where pending.reason == .pathBusy {
            if !agents.contains(where: { $0.keeps(pending.path, on: machine) }) { makeRoom(pending.path, machine) }
        }
        let overdue = status.pending.filter { pending in
            pending.reason == .contentChanging
                && machines[machine].alerts.contains {
                    $0.key.code == .contentOverdue && $0.key.subject == pending.path.bytes
                }
        }
        if !overdue.isEmpty { makeRulesAgree(overdue.map(\.path), on: 1 - machine) }
    }

    private static let refusalsMax = 10

    /// A person who reads that a node has not given files for long, and finds that its rules leave them out, takes the rules away.
    private func makeRulesAgree(_ paths: [Path], on machine: Int) {
        guard machines[machine].isRunning, let ignores = watch?.look(at: machines[machine]).ignores else { return }
        let hands = Hands(self, machine: machine)
        for path in paths where ignores(path) {
            trace.tell("\(now) \(machines[machine].name) user: lets go of the rules for \(path)")
            rare.hit(Simulation.takesRulesAway)
            for (rules, _) in hands.tree where rules.name?.bytes == IgnoreRules.fileName {
                if path.isBelow(rules.parent ?? .root) { hands.unlink(rules) }
            }
        }
    }

    /// A person who reads that a path is taken looks what is there. What the daemon knows nothing of, because the rules leave
    /// it out, he takes away.
    private func makeRoom(_ path: Path, _ machine: Int) {
        let hands = Hands(self, machine: machine)
        guard hands.hasFolder, hands.exists(path), machines[machine].store.rows[path]?.disk == nil else { return }
        trace.tell("\(now) \(machines[machine].name) user: makes room at \(path)")
        rare.hit("operator: what the rules leave out stood in the way")
        for (place, value) in hands.tree where place == path || place.isBelow(path) {
            formatLife?.giveUp(value, at: place, now)
        }
        hands.removeAll([path])
    }

    private func judgeQuiet() {
        let activity = machines.reduce(into: [Int(network.lives)]) { list, machine in
            let counters = machine.counters
            list += [counters.mutations, counters.batches, counters.starts, counters.looks]
        }
        // (What is told of the end of a log leaves no trace on the other side.)
        let isTelling = machines.contains { $0.status.map { $0.toSend > 0 } ?? false }
        guard network.isWhole, activity == healing.activity, !isTelling else {
            healing.activity = activity
            healing.calmSince = now
            healing.framesAtCalm = framesSent
            return
        }
        // A node may say at one look that it is not in sync, because a sign of life is just being stored.
        guard (0..<2).allSatisfy(isAtRest) else { return }
        let calm = now - healing.calmSince
        guard calm >= budget.quietMilliseconds else { return }
        let frames = framesSent - healing.framesAtCalm
        // A link that has just come back is greeted in the first of these moments: of records each says two things more, and locks that are
        // waited for are asked for again, granted and given back.
        let allowed = budget.quietFrames + (plan.scene == nil ? 0 : 4) + (plan.hasLocks ? 4 * LockUser.wishesMax : 0)
        if frames > allowed {
            return violate("INV-07", "\(frames) frames in \(calm) ms of quiet, \(allowed) allowed")
        }
        phase = .quiet
        trace.tell("\(now) quiet")
    }

    private func isAtRest(_ machine: Int) -> Bool {
        guard let status = machines[machine].status else { return false }
        return machines[machine].isRunning && status.inSync && (status.locks == 0 || !plan.hasLocks)
            && !machines[machine].hasNotices
    }

    private var framesSent: Int { machines[0].counters.framesSent + machines[1].counters.framesSent }

    /// So many for each path that either node knows and as many as content needs at the smallest frame.
    private var framesAllowed: Int {
        let paths = machines[0].store.rows.count + machines[1].store.rows.count
        let bytes = machines.reduce(0) { $0 + Int($1.disk.usedBytes) }
        let perFrame = plan.limits.map { min($0.contentFrameBytesMax, $0.chunking.average / 2) }.min() ?? 1
        return budget.healingFrames + budget.healingFramesPerChange * paths + 4 * bytes / max(1, perFrame)
    }

    /// For the report of a world that does not come to rest.
    private var situation: String {
        machines.map { machine in
            guard let status = machine.status, machine.isRunning else { return "\(machine.name): no status" }
            let pending = status.pending.prefix(3).map { "\($0.path) \($0.reason)" }.joined(separator: ", ")
            return "\(machine.name): \(status.state) inSync=\(status.inSync) toSend=\(status.toSend) "
                + "toApply=\(status.toApply) outstanding=\(machine.work.outstanding) pending=[\(pending)] "
                + "alerts=[\(machine.alerts.keys.map { "\($0.code)" }.joined(separator: ", "))]"
        }.joined(separator: "; ")
    }

    /// Everything that was only in memory goes, on both machines, by kill or by power cut.
    private func loseEverythingVolatile() {
        guard isClean else { return }
        phase = .healing
        for machine in machines.indices {
            if random.crash.chance(percent: 50) {
                powerCut(machine)
            } else {
                kill(machine)
            }
        }
        rare.hit("run: all killed after quiet and started again")
    }

    /// With an enemy there is nobody to agree with: the honest node must only be alive and within its bounds.
    private func endEvilRun() {
        guard isClean else { return }
        restAgents()
        phase = .healing
        endAllStrains()
        mendDisk(0)
        closeAsGhost()
        network.ghost = nil
        if machines[0].isPowered { start(0) }
        run(milliseconds: 60_000)
        pause()
    }

    /// Longer than any store takes to answer.
    private static let inspectionMilliseconds = 2_000
}
