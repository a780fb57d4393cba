package import SyncCore
package import SyncModel

/// A node is told something, and what it asks for is done.
extension World {
    /// Tells the node of a machine, if it has one, and performs what it asks for.
    package func tell(_ machine: Int, _ event: Event) {
        guard machines[machine].isRunning else { return }
        guard let event = saboteur == nil ? event : saboteur?.told(event, on: machine, in: self) else { return }
        record(event, machine)
        var effects = Effects()
        let moment = moment(of: machine)
        machines[machine].node?.step(event, at: moment, into: &effects)
        let asked = saboteur?.asked(effects.list, by: machine, in: self) ?? effects.list
        if !checkers.isEmpty { step.tells.append(StepRecord.Tell(machine: machine, event: event, effects: asked)) }
        let process = machines[machine].process
        for effect in asked {
            // `finish` is the last thing a process does.
            guard machines[machine].process == process, machines[machine].isRunning else { return }
            record(effect, machine)
            perform(effect, machine)
        }
    }

    /// Tells a node later, if it is still the same process then; the answer to one of its effects.
    func answer(_ machine: Int, _ event: Event, after milliseconds: Int) {
        schedule(.tell(machine: machine, process: machines[machine].process, event), after: milliseconds)
    }

    private func perform(_ effect: Effect, _ machine: Int) {
        switch effect {
        case .load(let job, let queries): enqueue(.load(job, queries), machine)
        case .store(let job, let batch): enqueue(.store(job, batch), machine)
        case .scan(let job, let request, let rules): later(.scan(job, request, rules), machine)
        case .inspect(let job, let paths): later(.inspect(job, paths), machine)
        case .hash(let job, let paths): later(.hash(job, paths), machine)
        case .read(let job, let requests): later(.read(job, requests), machine)
        case .parse(let job, let request): later(.parse(job, request), machine)
        case .listStage(let job): later(.listStage(job), machine)
        case .disk(let job, let programs): begin(job, programs, machine)
        case .send(let link, let frame): send(frame, from: machine, link)
        case .close(let link, _): close(link, by: machine)
        case .wake(let milliseconds): wake(milliseconds, machine)
        case .report(let report): keep(report, machine)
        case .answer(let command, let answer): keep(answer, to: command, machine)
        case .program(let word): machines[machine].words.append(word)
        case .finish(let reason): finish(machine, reason)
        }
    }

    private func wake(_ milliseconds: UInt64, _ machine: Int) {
        guard machines[machine].work.wishTime != milliseconds else { return }
        machines[machine].work.wishTime = milliseconds
        machines[machine].work.wish += 1
        schedule(
            .deadline(
                machine: machine, process: machines[machine].process, wish: machines[machine].work.wish),
            at: machines[machine].clock.moment(whenMonotonicIs: milliseconds, notBefore: now))
    }

    func reachDeadline(_ machine: Int, wish: Int) {
        guard machines[machine].work.wish == wish else { return }
        machines[machine].work.wishTime = nil
        tell(machine, .deadline)
    }

    private func keep(_ report: Report, _ machine: Int) {
        machines[machine].counters.reports += 1
        switch report {
        case .raised(let alert), .raisedAgain(let alert): machines[machine].alerts[alert.key] = alert
        case .cleared(let key): machines[machine].alerts[key] = nil
        case .note(let note):
            machines[machine].notes.append(note)
            if machines[machine].notes.count > Machine.notesMax { _ = machines[machine].notes.popFirst() }
        case .peerIs(let node):
            preconditionFailure("no key is renewed in these worlds, and somebody says he is \(node)")
        }
    }

    private func keep(_ answer: Answer, to command: CommandID, _ machine: Int) {
        if case .status(let status) = answer { machines[machine].status = status }
        machines[machine].answers.append(Machine.CommandAnswer(command: command, answer: answer))
        // Nobody waits for answers that are so many commands old.
        if machines[machine].answers.count > 64 { machines[machine].answers.removeFirst() }
    }
}

// MARK: The store

extension World {
    private func enqueue(_ request: Machine.StoreRequest, _ machine: Int) {
        machines[machine].work.storeQueue.append(request)
        machines[machine].work.outstanding += 1
        let free = max(now, machines[machine].work.storeFree) + Int64(storeDelay(machine))
        machines[machine].work.storeFree = free
        schedule(.storeRequest(machine: machine, process: machines[machine].process), at: free)
    }

    /// Performs the oldest request. What it was asked is durable now; the process may die before it is told so.
    func performStoreRequest(_ machine: Int) {
        guard let request = machines[machine].work.storeQueue.popFirst() else { return }
        switch request {
        case .load(let job, let queries):
            answerFromStore(.loaded(job, machines[machine].answers(to: queries)), machine)
        case .store(let job, let batch):
            if isStoreFailing(machine) {
                rare.hit("store: a batch failed")
                machines[machine].work.hasStoreFailed = true
                return answerFromStore(.storeFailed(job), machine)
            }
            for checker in checkers { checker.willStore(batch, on: machine, in: self) }
            machines[machine].store.perform(batch)
            if batch.holdsMoreThanNode { machines[machine].counters.batches += 1 }
            answerFromStore(.stored(job), machine)
        }
    }

    /// Once it has failed it stays broken until the process is started anew.
    private func isStoreFailing(_ machine: Int) -> Bool {
        if machines[machine].work.hasStoreFailed { return true }
        guard let left = machines[machine].storeFailsAfter else { return false }
        if left > 0 { machines[machine].storeFailsAfter = left - 1 }
        return left == 0
    }

    /// Answers come in the order of the requests.
    private func answerFromStore(_ event: Event, _ machine: Int) {
        machines[machine].work.storeAnswers.append(event)
        let answered = max(now + Int64(storeDelay(machine)), machines[machine].work.storeAnswered)
        machines[machine].work.storeAnswered = answered
        schedule(.storeAnswer(machine: machine, process: machines[machine].process), at: answered)
    }

    func giveStoreAnswer(_ machine: Int) {
        guard let event = machines[machine].work.storeAnswers.popFirst() else { return }
        machines[machine].work.outstanding -= 1
        tell(machine, event)
    }

    private func storeDelay(_ machine: Int) -> Int {
        random.stores[machine].range(0...plan.storeDelayMillisecondsMax)
    }
}

extension StoreBatch {
    /// A sign of life alone is no change.
    package var holdsMoreThanNode: Bool {
        operations.contains {
            if case .putNode = $0 { return false }
            return true
        }
    }
}
