import Coordination
import RecordMerge
import SyncCore
import SyncModel

/// Performs the commands of a transcript in a calm world, one after the other.
///
/// Of the world: `model "…"` (the text of a model file, for both machines), `start`, `settle`, `run 5s`, `step 20`, `cut`, `part`, `one-way alpha`, `heal`, `show`, `alerts`,
/// `notes` (what the nodes have told people since the last `notes`), `expect alpha "a/  b=2"`, and `trace`, every event and effect since the last `trace`, for whoever looks for a cause.
/// Of a machine, after its name. Its applications, from its next start on: `model "…"` (and no other) `formats "…" faulty-model "…"`. People: `write mkdir rm rmdir mv chmod symlink fifo touch open append close read`.
/// The node: `status history restore discard approve reject pause resume rescan`; programs: `lock unlock locks present withdraw answer told`.
/// The process: `start stop kill power-cut [model] crash-at N`. The operator: `image save|restore`, `wipe-state`,
/// `unmount mount replace-root empty-root clock +3600s coarse-stamps reuse-numbers disk-full disk-free fail-sync N fail-writes N fail-reads N unreadable|readable
/// cover|uncover slow-reads 3s overflow`.
package final class ScenarioRunner {
    private let world: World
    private let stories: CrashCounter
    /// Files that somebody keeps open, by the path they were opened at.
    private var handles: SortedMap<Path, (machine: Int, handle: VirtualDisk.Handle, offset: UInt64)> = [:]
    private var linesTraced = 0
    private var linesNoted = 0

    package init(seed: UInt64) {
        world = World(plan: SeedPlan(calm: seed), keepsTrace: true)
        world.features = [Hello.heldDeletes, Hello.claimPurposes, Hello.claimWaits]
        stories = CrashCounter()
        world.add(stories)
    }

    /// What the command says, line by line; nothing when all went as asked.
    package func perform(_ line: String) -> [String] {
        if line.isEmpty || line.hasPrefix("#") { return [] }
        guard let line = ScenarioLine(line) else { return ["error: a quote is not closed or an escape is none"] }
        do {
            return try perform(ScenarioWords(line)) + takeViolations()
        } catch {
            return ["error: \(error.text)"]
        }
    }

    private func takeViolations() -> [String] {
        let found = world.violations.map { "\($0.invariant): \($0.detail)" }
        world.forgive()
        return found
    }

    private func model(_ bytes: [UInt8]) throws(ScenarioError) -> InstalledModel {
        do throws(ModelRefusal) {
            return InstalledModel(try Model(parsing: bytes, file: "the model"), digest: SHA256.digest(of: bytes))
        } catch {
            throw ScenarioError(text: error.faults.map(\.description).joined(separator: "; "))
        }
    }

    private func install(_ bytes: [UInt8]) throws(ScenarioError) {
        let installed = try model(bytes)
        world.models.removeAll { $0.model.name == installed.model.name }
        world.models.append(installed)
    }

    /// From its next start on.
    private func installFormats(_ bytes: [UInt8], on machine: Int) throws(ScenarioError) {
        do throws(ModelRefusal) {
            world.formats[machine] = try FormatRules(parsing: bytes, file: "the formats")
        } catch {
            throw ScenarioError(text: error.faults.map(\.description).joined(separator: "; "))
        }
    }

    private func perform(_ words: ScenarioWords) throws(ScenarioError) -> [String] {
        var words = words
        let verb = try words.text("a command")
        if let machine = Machine.names.firstIndex(of: verb) { return try perform(on: machine, &words) }
        switch verb {
        case "model": try install(try words.bytes("the text of a model"))
        case "start":
            try words.end()
            world.begin()
            world.run(milliseconds: 100)
        case "settle":
            try words.end()
            world.settle()
        case "run": world.run(milliseconds: try words.milliseconds("how long"))
        case "step":
            for _ in 0..<(try words.number("how many")) { world.advance() }
        case "cut": world.cutLink()
        case "part": world.partition(true)
        case "one-way":
            let name = try words.text("the machine that is not heard")
            guard let machine = Machine.names.firstIndex(of: name) else {
                throw ScenarioError(text: "\(name) is no machine")
            }
            world.block(from: machine)
        case "heal":
            world.partition(false)
        case "show": return Machine.names.indices.map { "\(padded($0))\(world.sketch($0))" }
        case "trace":
            defer { linesTraced = world.trace.lines.count }
            return Array(world.trace.lines[linesTraced...])
        case "notes":
            defer { linesNoted = world.trace.lines.count }
            return world.trace.lines[linesNoted...].compactMap(told)
        case "alerts": return world.machines.flatMap { alerts(of: $0) }
        case "expect":
            let name = try words.text("a machine")
            guard let machine = Machine.names.firstIndex(of: name) else {
                throw ScenarioError(text: "\(name) is no machine")
            }
            let expected = try words.text("a sketch")
            let found = world.sketch(machine)
            if found != expected { return ["\(padded(machine))\(found)"] }
        default: throw ScenarioError(text: "there is no command \(verb)")
        }
        try words.end()
        return []
    }

    private func padded(_ machine: Int) -> String {
        machine == 0 ? "alpha  " : "beta   "
    }

    /// What a line of the trace tells people, if it is a report.
    private func told(_ line: String) -> String? {
        guard let machine = Machine.names.indices.first(where: { line.contains(" \(Machine.names[$0]) > ") }),
            let report = line.split(separator: " > ", maxSplits: 1).last,
            ["note ", "alert ", "again ", "cleared "].contains(where: { report.hasPrefix($0) })
        else { return nil }
        return padded(machine) + (report.hasSuffix(" ") ? report.dropLast() : report)
    }

    private func alerts(of machine: Machine) -> [String] {
        machine.alerts.map { key, alert in
            let facts = alert.facts
            let format = key.format.map { ", \(text(of: $0, facts))" } ?? ""
            let place = facts.offset.map { ", at \($0)" } ?? ""
            return "\(padded(machine.index))\(key.code)" + (key.subject.isEmpty ? "" : " \(Path.escape(key.subject))")
                + format + place + (facts.size == 1 ? "" : ", \(facts.size) of it")
                + (facts.copy.map { ", last \($0)" } ?? "") + (facts.detail.isEmpty ? "" : ": \(facts.detail)")
        }
    }

    private func text(of format: FormatFinding, _ facts: AlertFacts) -> String {
        let found = "\(format.found.map { String($0) } ?? facts.found ?? "nothing") found"
        return switch format.measure {
        case .supports(let range): "\(found), \(format.node) reads \(range)"
        case .supportsOnBoth(let range): "\(found), both read \(range)"
        case .reads(let range): "\(found), the model of \(format.node) reads \(range)"
        case .keeps(let version): "\(found), by \(format.node), and \(version.map { String($0) } ?? "unknown") kept"
        }
    }
}

// MARK: A machine

extension ScenarioRunner {
    private func perform(on machine: Int, _ words: inout ScenarioWords) throws(ScenarioError) -> [String] {
        let verb = try words.text("a command")
        if let said = try userVerb(verb, machine, &words) { return said }
        if let said = try nodeVerb(verb, machine, &words) { return said }
        if try operatorVerb(verb, machine, &words) { return [] }
        throw ScenarioError(text: "there is no command \(verb) for a machine")
    }

    /// What people's programs do. Nil if it is no such verb.
    private func userVerb(_ verb: String, _ machine: Int, _ words: inout ScenarioWords) throws(ScenarioError)
        -> [String]?
    {
        let now = world.stamp(machine)
        let error: DiskError?
        switch verb {
        case "write":
            let (path, bytes) = (try words.path(), try words.bytes("the content"))
            makeParents(of: path, machine)
            error = world.machines[machine].disk.writeFile(path, bytes, now: now)
        case "mkdir":
            let path = try words.path()
            makeParents(of: path, machine)
            error = world.machines[machine].disk.mkdir(path, now: now)
        case "rm": error = world.machines[machine].disk.removeTree(try words.path(), now: now)
        case "rmdir": error = world.machines[machine].disk.rmdir(try words.path(), now: now)
        case "mv":
            let (from, to) = (try words.path(), try words.path("where to"))
            makeParents(of: to, machine)
            error = world.machines[machine].disk.rename(from, to: to, now: now)
        case "chmod":
            let (mode, path) = (try words.number("a mode", radix: 8), try words.path())
            error = world.machines[machine].disk.chmod(path, UInt16(truncatingIfNeeded: mode), now: now)
        case "symlink":
            let (path, target) = (try words.path(), try words.bytes("a target"))
            makeParents(of: path, machine)
            error = world.machines[machine].disk.symlink(path, target: target, now: now)
        case "link":
            let (path, other) = (try words.path(), try words.path("another name"))
            makeParents(of: other, machine)
            error = world.machines[machine].disk.link(path, other, now: now)
        case "fifo": error = world.machines[machine].disk.mkfifo(try words.path(), now: now)
        case "touch":
            let (path, seconds) = (try words.path(), try words.number("seconds since 1970"))
            let modified = Timestamp(seconds: Int64(seconds), nanoseconds: 0)
            error = world.machines[machine].disk.setTimes(path, modified: modified, now: now)
        case "open":
            let path = try words.path()
            switch world.machines[machine].disk.open(path, create: true, now: now) {
            case .success(let handle):
                handles[path] = (machine, handle, world.machines[machine].disk.stat(path)?.size ?? 0)
                error = nil
            case .failure(let failure): error = failure
            }
        case "append":
            let (path, bytes) = (try words.path(), try words.bytes("the content"))
            guard let open = handles[path] else { throw ScenarioError(text: "\(path) is not open") }
            error = world.machines[machine].disk.write(open.handle, at: open.offset, bytes, now: now)
            handles[path]?.offset += UInt64(bytes.count)
        case "close":
            let path = try words.path()
            guard let open = handles.removeValue(forKey: path) else { throw ScenarioError(text: "\(path) is not open") }
            world.machines[machine].disk.close(open.handle)
            error = nil
        case "read":
            let path = try words.path()
            try words.end()
            guard let bytes = world.machines[machine].disk.readFile(path) else { return ["nothing to read"] }
            return [Path.escape(bytes)]
        default: return nil
        }
        try words.end()
        world.notice()
        return error.map { ["error: \($0)"] } ?? []
    }

    private func makeParents(of path: Path, _ machine: Int) {
        guard let parent = path.parent, !parent.isRoot, !world.machines[machine].disk.exists(parent) else { return }
        makeParents(of: parent, machine)
        world.machines[machine].disk.mkdir(parent, now: world.stamp(machine))
    }

    /// What people ask of the node. Nil if it is no such verb.
    private func nodeVerb(_ verb: String, _ machine: Int, _ words: inout ScenarioWords) throws(ScenarioError)
        -> [String]?
    {
        let command: Command
        switch verb {
        case "status": command = .status
        case "history": command = .history(try words.path())
        case "restore":
            let version = VersionID(raw: UInt64(try words.number("a version")))
            command = .restore(version, to: words.isEmpty ? nil : try words.path())
        case "set-aside": command = .setAside(try words.path())
        case "discard":
            let (entity, id) = (try words.text("an entity"), try words.text("the id of a record"))
            command = .settleContest(.discard, RecordID(entity, id))
        case "approve": command = .approve
        case "reject": command = .reject
        case "pause": command = .pause
        case "resume": command = .resume
        case "rescan": command = .rescan(words.isEmpty ? .root : try words.path())
        case "lock":
            // What becomes of it, `locks` tells: it may wait.
            let claim = try claim(&words)
            try words.end()
            world.command(machine, .claim(claim, timeoutMilliseconds: nil))
            return []
        case "unlock": command = .endClaims([Claim.ID(UInt64(try words.number("the number of a lock")))], [])
        case "locks": command = .listClaims
        case "present":
            let (id, path) = (UInt64(try words.number("a number")), try words.path())
            command = .present(
                Presenter(id: PresenterID(id), client: ClientID(id), path: path, coversContents: !words.isEmpty))
            if !words.isEmpty { _ = try words.text("whole") }
        case "withdraw":
            command = .withdrawPresenter(PresenterID(UInt64(try words.number("the number of a presenter"))))
        case "answer":
            let question = QuestionID(UInt64(try words.number("the number of a question")))
            let presenter = PresenterID(UInt64(try words.number("the number of a presenter")))
            let answer = try presenterAnswer(try words.text("ready, busy or failed"))
            command = .answerQuestion(question, of: presenter, answer)
        case "told":
            try words.end()
            defer { world.machines[machine].words = [] }
            return world.machines[machine].words.map(\.summary)
        default: return nil
        }
        try words.end()
        guard let id = world.command(machine, command) else { return ["not running"] }
        // The answer may need the store.
        for _ in 0..<10_000 {
            if let answer = world.takeAnswer(machine, id) { return describe(answer) }
            world.advance()
        }
        return ["no answer"]
    }

    private func claim(_ words: inout ScenarioWords) throws(ScenarioError) -> Claim {
        let (id, path) = (UInt64(try words.number("a number")), try words.path())
        let (isRead, name) = (try words.text("read or write") == "read", try words.text("a mode"))
        guard let mode = Claim.Mode.allCases.first(where: { "\($0)" == name }) else {
            throw ScenarioError(text: "\(name) is none of local, pair, strict")
        }
        let client = words.isEmpty ? id : UInt64(try words.number("a client"))
        let purpose = words.isEmpty ? nil : try words.text("a purpose")
        return Claim(
            id: Claim.ID(id), client: ClientID(client), accesses: [Access](holding: [path], isRead: isRead),
            purpose: purpose, mode: mode,
            holder: [], process: 1)
    }

    private func presenterAnswer(_ name: String) throws(ScenarioError) -> PresenterAnswer {
        switch name {
        case "ready": .ready
        case "busy": .busy
        case "failed": .failed("as the scenario says")
        default: throw ScenarioError(text: "\(name) is none of ready, busy, failed")
        }
    }

    private func describe(_ answer: Answer) -> [String] {
        switch answer {
        case .done, .contests, .records, .explanation, .scan: []
        case .claims(let claims):
            claims.map { claim in
                "\(claim.isHeld ? "held" : "waits") \(claim.id) by \(claim.node), \(claim.mode), "
                    + "\(claim.isRead ? "reading" : "writing") \(claim.paths.map(\.description).joined(separator: " "))"
            }
        case .refused(let code): ["refused: \(code)"]
        case .claimRefused(let reason): ["refused: \(reason)"]
        case .status(let status): describe(status)
        case .history(let versions):
            versions.map { "\($0.id.raw) \($0.path) \($0.entry.content.size) bytes \($0.reason)" }
        }
    }

    private func describe(_ status: Status) -> [String] {
        let links = status.isConnected ? "connected" : "alone"
        var lines = [
            "\(status.state)\(status.inSync ? "" : ", not in sync"), \(links), \(status.files) files, "
                + "\(status.directories) directories, to send \(status.toSend), to apply \(status.toApply)"
        ]
        lines += status.pending.map { "pending \($0.path): \($0.reason)" }
        lines += status.leftOut.map { "left out \($0)" }
        if let held = status.heldDeletes { lines.append("held: \(held.files) deletes") }
        if status.peerHeldDeletes > 0 { lines.append("held there: \(status.peerHeldDeletes) deletes") }
        if status.peerWaits { lines.append("not through there") }
        return lines
    }

    private func operatorVerb(_ verb: String, _ machine: Int, _ words: inout ScenarioWords) throws(ScenarioError)
        -> Bool
    {
        switch verb {
        case "faulty-model":
            // From its next start on; an empty text is none.
            world.heldFiles[machine] = HeldFiles([ModelScope(reading: try words.bytes("the text of a model"))])
        case "model": world.ownModels[machine] = [try model(try words.bytes("the text of a model"))]
        case "formats": try installFormats(try words.bytes("the text of format rules"), on: machine)
        case "start": world.release(machine)
        case "stop":
            world.holdDown(machine)
            world.requestStop(machine)
            world.run(milliseconds: 200)
        case "kill":
            world.holdDown(machine)
            world.kill(machine)
        case "power-cut":
            let model = try crashModel(&words)
            world.holdDown(machine)
            world.powerCut(machine, model)
        case "crash-at":
            world.holdDown(machine)
            stories.arm(machine, after: try words.number("how many operations"))
        case "image": try image(machine, &words)
        case "wipe-state":
            world.holdDown(machine)
            world.wipeState(machine)
        case "unmount": world.machines[machine].disk.unmount(leaving: .emptyDirectory)
        case "mount": world.machines[machine].disk.mount()
        case "replace-root": world.machines[machine].disk.replaceRoot(marker: nil, now: world.stamp(machine))
        case "empty-root": world.machines[machine].disk.emptyRoot(now: world.stamp(machine))
        case "clock": world.machines[machine].clock.step(by: try words.milliseconds("how far"))
        case "coarse-stamps": world.machines[machine].disk.faults.stampNanoseconds = 10_000_000
        case "reuse-numbers": world.machines[machine].disk.faults.reusesInodes = true
        case "disk-full": world.machines[machine].disk.faults.capacityBytes = world.machines[machine].disk.usedBytes
        case "see-writers": world.machines[machine].disk.seesWriters = true
        case "scan-chunk":
            // From its next start on.
            world.plan.limits[machine].scanChunkMax = try words.number("how many entries")
        case "disk-free": world.machines[machine].disk.faults.capacityBytes = nil
        case "fail-sync": world.machines[machine].disk.faults.failedSyncs.next = try words.number("how many")
        case "fail-writes": world.machines[machine].disk.faults.writeErrors.next = try words.number("how many")
        case "unreadable": world.machines[machine].disk.faults.readErrors.paths.append(try words.path())
        case "readable": world.machines[machine].disk.faults.readErrors.paths = []
        case "cover": world.machines[machine].disk.faults.covered.append(try words.path())
        case "uncover": world.machines[machine].disk.faults.covered = []
        case "fail-reads": world.machines[machine].disk.faults.readErrors.next = try words.number("how many")
        case "slow-reads":
            world.machines[machine].disk.faults.hashMilliseconds = Int(
                try words.milliseconds("how much longer"))
        case "overflow":
            world.overflowWatch(machine)
        default: return false
        }
        try words.end()
        world.notice()
        return true
    }

    private func image(_ machine: Int, _ words: inout ScenarioWords) throws(ScenarioError) {
        let verb = try words.text("save or restore")
        switch verb {
        case "save": world.saveImage(machine)
        case "restore":
            guard world.machines[machine].image != nil else { throw ScenarioError(text: "no image was saved") }
            world.restoreImage(machine)
        default: throw ScenarioError(text: "an image is saved or restored, not \(verb)")
        }
    }

    private func crashModel(_ words: inout ScenarioWords) throws(ScenarioError) -> CrashModel {
        if words.isEmpty { return .strict }
        let name = try words.text("a crash model")
        guard let model = CrashModel.allCases.first(where: { "\($0)" == name }) else {
            throw ScenarioError(
                text: "\(name) is no crash model: \(CrashModel.allCases.map { "\($0)" }.joined(separator: ", "))")
        }
        return model
    }
}

/// Cuts the power after so many operations of a daemon on its disk.
private final class CrashCounter: Checker {
    private var left: [Int?] = [nil, nil]

    func arm(_ machine: Int, after operations: Int) { left[machine] = operations }

    var rareStates: [String] { [] }
    func begin(_ world: World) {}
    func willPerform(_ operation: DiskOperation, on machine: Int, in world: World) {}
    func didPerform(_ operation: DiskOperation, error: DiskError?, on machine: Int, in world: World) {
        if let count = left[machine] { left[machine] = count - 1 }
    }
    func willStore(_ batch: StoreBatch, on machine: Int, in world: World) {}
    func willHappen(_ occurrence: Occurrence, to machine: Int, in world: World) {}
    func didHappen(_ occurrence: Occurrence, to machine: Int, in world: World) {}
    func afterStep(_ step: StepRecord, in world: World) {
        for machine in left.indices where (left[machine] ?? 1) <= 0 {
            left[machine] = nil
            world.powerCut(machine)
        }
    }
    func atPause(_ world: World) {}
    func atQuiescence(_ world: World) {}
}
