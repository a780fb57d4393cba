import SyncCore
package import SyncModel

/// Disk work: looks at a random moment, hashes over a span of time, programs one operation per happening.
extension World {
    /// The time that the kernel of a machine stamps a file with now. Never the same twice, unless the file system is coarse.
    package func stamp(_ machine: Int) -> Timestamp {
        machines[machine].stamps += 1
        let wall = Timestamp(milliseconds: wall(of: machine))
        return Timestamp(
            seconds: wall.seconds, nanoseconds: wall.nanoseconds + UInt32(machines[machine].stamps % 1_000_000))
    }

    // MARK: Looks

    /// A worker gets to it after a while.
    func later(_ request: DiskRequest, _ machine: Int) {
        machines[machine].work.outstanding += 1
        machines[machine].counters.looks += 1
        schedule(
            .diskRequest(machine: machine, process: machines[machine].process, request), after: diskDelay(machine))
    }

    func perform(_ request: DiskRequest, _ machine: Int) {
        switch request {
        case .scan(let job, let request, let rules):
            let rows = machines[machine].store.rows
            let chunk = machines[machine].disk.scan(request, rules: rules) { rows.first(after: $0)?.value }
            answer(machine, .scanned(job, chunk))
        case .inspect(let job, let paths):
            answer(machine, .inspected(job, machines[machine].disk.inspect(paths)))
        case .read(let job, let requests):
            answer(machine, .readFinished(job, requests.map { machines[machine].disk.read($0) }))
        case .parse(let job, let request):
            let read = ReadRequest(
                place: request.place, expected: request.expected, offset: 0, length: request.length)
            answer(machine, .parsed(job, request.outcome(of: machines[machine].disk.read(read))))
        case .listStage(let job):
            answer(machine, .stageListed(job, machines[machine].disk.stagedFiles()))
        case .hash(let job, let paths):
            var runs = paths.map { HashRun($0, chunking: plan.limits[machine].chunking) }
            for index in runs.indices { runs[index].start(on: &machines[machine].disk) }
            machines[machine].work.hashJobs[job] = runs
            let span = diskDelay(machine) + machines[machine].disk.faults.hashMilliseconds
            schedule(.hashEnd(machine: machine, process: machines[machine].process, job), after: span)
        }
    }

    func finishHash(_ job: JobID, _ machine: Int) {
        guard var runs = machines[machine].work.hashJobs.removeValue(forKey: job) else { return }
        let outcomes = runs.indices.map { runs[$0].finish(on: &machines[machine].disk) }
        if outcomes.contains(.changing) { rare.hit("disk: a file changed while it was hashed") }
        answer(machine, .hashed(job, outcomes))
    }

    // MARK: Programs

    func begin(_ job: JobID, _ programs: [DiskProgram], _ machine: Int) {
        machines[machine].work.outstanding += 1
        machines[machine].work.diskJobs[job] = Machine.DiskJob(programs)
        schedule(
            .diskOperation(machine: machine, process: machines[machine].process, job), after: diskDelay(machine))
    }

    func performOperation(of job: JobID, _ machine: Int) {
        if isHeld(job, machine) { return hold(job, machine) }
        let now = stamp(machine)
        guard let operation = machines[machine].work.diskJobs.update(job, { $0.upcoming() }) else { return }
        guard let operation else { return finish(job, machine) }
        if case .expectUnheld = operation, !machines[machine].disk.seesWriters {
            return passOver(job, machine)
        }
        let there = machines[machine].disk.enterOpenFolder()
        defer { machines[machine].disk.leaveOpenFolder(to: there) }
        for checker in checkers { checker.willPerform(operation, on: machine, in: self) }
        guard let error = advance(job, machine, now: now) else { return }
        if error == nil, operation.isMutation { machines[machine].counters.mutations += 1 }
        trace.mix(error.map { Int($0.rawValue) } ?? -1)
        trace.tell("\(self.now) \(machines[machine].name) does \(operation.summary)\(error.map { ": \($0)" } ?? "")")
        if let error { noteRare(operation, error) }
        for checker in checkers { checker.didPerform(operation, error: error, on: machine, in: self) }
        // Mostly at once; now and then the disk is busy, and much may happen in between.
        let pause = random.workers[machine].chance(percent: 20) ? diskDelay(machine) : 0
        schedule(.diskOperation(machine: machine, process: machines[machine].process, job), after: pause)
    }

    /// Performs the next operation of a job, in place. Nil if there is no such job any more.
    private func advance(_ job: JobID, _ machine: Int, now: Timestamp) -> DiskError?? {
        machines[machine].work.diskJobs.update(job) { task in
            task.run.advance(on: &machines[machine].disk, now: now)
            return task.run.result.failure?.error
        }
    }

    /// As in the daemon (`RootWatch`, `DiskCrew`): nothing is begun while the folder is away. What has been begun goes on in the
    /// folder that is open, whatever stands at its path meanwhile.
    private func isHeld(_ job: JobID, _ machine: Int) -> Bool {
        let isUntouched = machines[machine].work.diskJobs.update(job) { !$0.isBegun && $0.results.isEmpty } ?? false
        return isUntouched && machines[machine].disk.rootState() != .healthy
    }

    private func hold(_ job: JobID, _ machine: Int) {
        tell(machine, .overflowed)
        schedule(
            .diskOperation(machine: machine, process: machines[machine].process, job),
            after: World.rootWatchMilliseconds)
    }

    static let rootWatchMilliseconds = 1_000

    /// It takes no time and does nothing where the kernel cannot tell.
    private func passOver(_ job: JobID, _ machine: Int) {
        guard advance(job, machine, now: stamp(machine)) != nil else { return }
        performOperation(of: job, machine)
    }

    private func finish(_ job: JobID, _ machine: Int) {
        guard let task = machines[machine].work.diskJobs.removeValue(forKey: job) else { return }
        answer(machine, .diskFinished(job, task.results))
    }

    private func noteRare(_ operation: DiskOperation, _ error: DiskError) {
        switch operation {
        case .expectContent:
            if error == .mismatch { rare.hit("disk: displaced content was not the expected one") }
        case .expect, .expectAbsent, .expectIdentity:
            if error == .mismatch { rare.hit("disk: expected state had changed before the exchange") }
        case .expectUnheld: if error == .busy { rare.hit("disk: somebody was writing to what was to be replaced") }
        case .createFile, .write, .copy: if error == .noSpace { rare.hit("disk: no space for a staged file") }
        case .syncFile: if error == .inputOutput { rare.hit("disk: fsync of a staged file failed") }
        case .exchange: if error == .notFound { rare.hit("disk: a name came or went before the rename") }
        case .move: if error == .exists { rare.hit("disk: a name came or went before the rename") }
        case .truncate, .createDirectory, .createSymlink, .setMode, .setModified, .syncParent, .inspect,
            .removeDirectory,
            .discard:
            break
        }
    }

    // MARK: The kernel

    func writeBack(_ machine: Int) {
        machines[machine].disk.writeBack(olderThan: UInt64(plan.writeBackMilliseconds))
        schedule(.writeBack(machine: machine), after: World.writeBackPauseMilliseconds)
    }

    static let writeBackPauseMilliseconds = 2_500

    /// The faults that the plan and the strains of this moment ask for.
    func setDiskFaults(_ machine: Int) {
        var faults = machines[machine].disk.faults
        let isFull = isStrained(machine, by: .fullDisks)
        faults.capacityBytes = isFull ? machines[machine].disk.usedBytes + random.disks[machine].next() % 2_000 : nil
        faults.failedSyncs.perMille = isStrained(machine, by: .failedSyncs) ? 300 : 0
        let isBroken = isStrained(machine, by: .diskErrors)
        faults.readErrors.perMille = isBroken ? 80 : 0
        faults.writeErrors.perMille = isBroken ? 80 : 0
        faults.noticesMax = isStrained(machine, by: .watchOverflows) ? 2 : World.noticesMax
        machines[machine].disk.faults = faults
    }

    static let noticesMax = 16_384

    /// Space is free, the root is where it belongs, and the disk works.
    func mendDisk(_ machine: Int) {
        setDiskFaults(machine)
        machines[machine].disk.faults.readErrors = FaultChance()
        machines[machine].disk.faults.writeErrors = FaultChance()
        machines[machine].disk.faults.failedSyncs = FaultChance()
        machines[machine].disk.faults.permissionDenied = []
        machines[machine].disk.faults.busy = []
        machines[machine].disk.faults.covered = []
        machines[machine].disk.faults.isReadOnly = false
        machines[machine].disk.mount()
    }

    private func diskDelay(_ machine: Int) -> Int {
        random.workers[machine].range(0...plan.diskDelayMillisecondsMax)
    }

    /// The answer to a disk request, on its way for a while.
    private func answer(_ machine: Int, _ event: Event) {
        answer(machine, event, after: diskDelay(machine))
    }
}

extension Machine.DiskJob {
    init(_ programs: [DiskProgram]) {
        self.programs = programs
        run = ProgramRun(DiskProgram())
        results = []
        isBegun = false
    }

    /// The operation that comes next, of this program or a later one; nil at the end of all.
    mutating func upcoming() -> DiskOperation? {
        while true {
            if isBegun {
                if !run.isFinished { return run.program.operations[run.next] }
                results.append(run.result)
                isBegun = false
            }
            guard results.count < programs.count else { return nil }
            run = ProgramRun(programs[results.count])
            isBegun = true
        }
    }
}
