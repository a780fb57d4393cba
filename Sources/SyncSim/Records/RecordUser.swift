import RecordMerge
package import SyncCore
package import SyncModel

/// An application at one machine that keeps records in files: it reads the folder, changes what it read as its model wants it,
/// and saves every file whole, in place or by a rename, all at once or one after the other.
package final class RecordUser: Agent {
    package let name: String
    package var holdsSafetyPhase: Bool { true }
    package var rareStates: [String] { [] }

    let life: RecordLife
    let machine: Int
    /// Who says when he may begin, where the model comes late.
    private let installer: Installer?
    var random: SeededRandom
    /// Numbers of the operations still to do, last first.
    private var numbers: [Int]
    /// The files as they were when the operation at hand was thought out.
    private var read: SortedMap<Path, [UInt8]> = [:]
    /// So often has a save been seen to wait.
    private var looks = 0
    /// What is still to be saved of the operation at hand, last first.
    private var saves: [(path: Path, bytes: [UInt8]?, isAtomic: Bool)] = []

    init(_ plan: SeedPlan, _ life: RecordLife, _ installer: Installer?, machine: Int) {
        self.life = life
        self.installer = installer
        self.machine = machine
        name = "application of \(Machine.names[machine])"
        random = SeededRandom(seed: plan.seed, stream: "records \(machine)")
        let first = machine == 0 ? 0 : plan.userOperations[0]
        numbers = (0..<plan.userOperations[machine]).map { first + $0 }.reversed()
    }

    package func prepare(_ world: World) {
        guard installer?.begins(with: machine) ?? (machine == 0) else { return }
        for _ in 0..<2 {
            begin(world, isFirst: true)
            finish(world)
        }
    }

    package func act(in world: World) -> Int? {
        guard hands(world).hasFolder else { return 200 }
        if !saves.isEmpty {
            save(world)
            return saves.isEmpty ? pause(world) : random.pick([0, 0, 20, 100])
        }
        if let installer, !numbers.isEmpty, !installer.mayBegin(on: machine) { return 200 }
        while let number = numbers.popLast() {
            // Drawn for each operation by itself, so that the others stay as they are when one is left out.
            random = SeededRandom(seed: world.plan.seed, stream: "record-op-\(number)")
            if world.plan.skippedOperations.contains(number) { continue }
            if random.chance(percent: 8) {
                settleContest(world)
            } else {
                begin(world)
                if random.chance(percent: 70) { finish(world) }
            }
            return saves.isEmpty ? pause(world) : 0
        }
        return nil
    }

    package func rest(_ world: World) { finish(world) }

    private func finish(_ world: World) {
        while !saves.isEmpty { save(world) }
    }

    private func pause(_ world: World) -> Int { random.below(2 * world.plan.userPauseMilliseconds + 1) }

    private func hands(_ world: World) -> Hands { Hands(world, machine: machine) }

    private func save(_ world: World) {
        guard let next = saves.popLast() else { return }
        let hands = hands(world)
        let stands = world.machines[machine].disk.peekBytes(next.path)
        if stands != read[next.path] {
            // It writes back what it has made of another state: only a lock could have kept it from that.
            for (record, place) in RecordFolder(world.machines[machine].disk).places where place == next.path {
                life.excuse(record)
            }
        }
        let seen = RecordFolder.names(in: read[next.path] ?? [], at: next.path)
        life.saved(next.path, having: seen, on: machine, at: world.now)
        read[next.path] = next.bytes
        world.trace.tell(
            "\(world.now) \(name): \(next.path) \(next.bytes.map { Path.escape($0) } ?? "goes")")
        guard let bytes = next.bytes else {
            hands.unlink(next.path)
            return
        }
        if let parent = next.path.parent { hands.makeDirectories(parent) }
        guard next.isAtomic, let temporary = Hands.beside(next.path, prefix: ".", suffix: ".tmp") else {
            hands.write(next.path, bytes)
            return
        }
        hands.write(temporary, bytes)
        hands.rename(temporary, to: next.path)
    }

    // MARK: Decisions about contests

    private func settleContest(_ world: World) {
        guard let command = world.command(machine, .contests),
            case .contests(let contests)? = world.takeAnswer(machine, command),
            let contest = random.pick(contests)
        else { return }
        let choice: ContestChoice = random.chance(percent: 70) ? .take : .discard
        world.trace.tell("\(world.now) \(name): \(choice) \(contest.group)")
        if contest.code == .conflictIdentity {
            // Whoever chooses between what two names say overtakes both.
            for version in contest.versions { life.excuse(RecordFolder.Name(version.record)) }
        } else if choice == .discard {
            for version in contest.versions where !version.isCurrent {
                note(removalOf: RecordFolder.Name(version.record), world)
            }
        }
        world.command(machine, .settleContest(choice, contest.group))
    }

    // MARK: Operations

    func put(_ path: Path, _ bytes: [UInt8]?, isAtomic: Bool? = nil) {
        saves.insert((path, bytes, isAtomic ?? random.chance(percent: 50)), at: 0)
    }

    func put(_ record: RecordFolder.Name, _ members: [(String, String)]) {
        put(RecordUser.path(of: record), FlatJSON.text(members))
    }

    func remove(_ record: RecordFolder.Name, _ world: World) {
        note(removalOf: record, world)
        put(RecordUser.path(of: record), nil)
    }

    func note(removalOf record: RecordFolder.Name, _ world: World) {
        life.removed(record, on: machine, at: world.now)
    }

    private static func path(of record: RecordFolder.Name) -> Path {
        record.entity == "S"
            ? Path(root: "d/s.json")
            : Path(root: "d/\(record.entity.lowercased())/\(record.key).json")
    }

    func fresh(_ entity: String, _ world: World) -> (RecordFolder.Name, String) {
        let token = life.token(machine)
        let record = RecordFolder.Name(entity: entity, key: "k\(token)")
        life.wrote(token, "t", of: record, on: machine, at: world.now, isBirth: true)
        return (record, token)
    }

    private func begin(_ world: World, isFirst: Bool = false) {
        let folder = RecordFolder(world.machines[machine].disk)
        read = folder.files
        // (Where a model comes late the folder may be empty.)
        let isFirst = isFirst || installer != nil && folder.records.isEmpty
        switch life.scene {
        case .couples, .owners, .copies, .losers: actOnCouples(folder, world, isFirst)
        case .folders: actOnFolders(folder, world, isFirst)
        case .shelves, .homes: actOnShelves(folder, world, isFirst)
        case .lists: actOnLists(folder, world, isFirst)
        case .keys: actOnKeys(folder, world, isFirst)
        case .notes: actOnNotes(folder, world, isFirst)
        case .friends: actOnFriends(folder, world, isFirst)
        }
    }

    func pick(_ entity: String, _ folder: RecordFolder) -> RecordFolder.Name? {
        random.pick(folder.records.keys.filter { $0.entity == entity })
    }

    /// Everything else stays as it was read.
    func edit(_ record: RecordFolder.Name, _ folder: RecordFolder, _ changes: [String: String], _ world: World) {
        guard var members = folder.records[record] else { return }
        for (key, value) in changes { members[key] = value }
        put(record, members.map { ($0.key, $0.value) })
    }

    func editText(_ record: RecordFolder.Name?, _ folder: RecordFolder, _ world: World) {
        guard let record else { return }
        let token = life.token(machine)
        life.wrote(token, "t", of: record, on: machine, at: world.now)
        edit(record, folder, ["t": token], world)
    }

    // MARK: An A and its B

    private func actOnCouples(_ folder: RecordFolder, _ world: World, _ isFirst: Bool) {
        guard !isFirst, random.chance(percent: 85), let a = pick("A", folder) else { return makeCouple(world) }
        let b = folder.records[a]?["b"].map { RecordFolder.Name(entity: "B", key: $0) }
        switch random.below(10) {
        case 0...3: editText(random.chance(percent: 50) ? a : pick("B", folder), folder, world)
        case 4...6: replacePartner(of: a, b, folder, world)
        case 7: swapPartners(a, b, folder, world)
        default:
            if let b, folder.records[b] != nil { remove(b, world) }
            remove(a, world)
        }
    }

    private func makeCouple(_ world: World) {
        let (a, ta) = fresh("A", world)
        let (b, tb) = fresh("B", world)
        put(a, [("b", b.key), ("t", ta)])
        put(b, [("a", a.key), ("t", tb)])
    }

    private func replacePartner(
        of a: RecordFolder.Name, _ old: RecordFolder.Name?, _ folder: RecordFolder, _ world: World
    ) {
        let (b, token) = fresh("B", world)
        if let old, folder.records[old]?["a"] == a.key { remove(old, world) }
        put(b, [("a", a.key), ("t", token)])
        edit(a, folder, ["b": b.key], world)
    }

    private func swapPartners(
        _ a: RecordFolder.Name, _ b: RecordFolder.Name?, _ folder: RecordFolder, _ world: World
    ) {
        guard let other = pick("A", folder), other != a, let b,
            let theirs = folder.records[other]?["b"].map({ RecordFolder.Name(entity: "B", key: $0) }),
            folder.records[b]?["a"] == a.key, folder.records[theirs]?["a"] == other.key
        else { return }
        edit(a, folder, ["b": theirs.key], world)
        edit(other, folder, ["b": b.key], world)
        edit(b, folder, ["a": other.key], world)
        edit(theirs, folder, ["a": a.key], world)
    }

    // MARK: Notes in folders

    private func actOnFolders(_ folder: RecordFolder, _ world: World, _ isFirst: Bool) {
        guard !isFirst, random.chance(percent: 85), let holder = pick("F", folder) else {
            let (record, token) = fresh("F", world)
            return put(record, [("t", token)])
        }
        switch random.below(10) {
        case 0...2:
            let (note, token) = fresh("N", world)
            put(note, [("f", holder.key), ("t", token)])
        case 3...5: editText(random.chance(percent: 70) ? pick("N", folder) : holder, folder, world)
        case 6, 7: if let note = pick("N", folder) { edit(note, folder, ["f": holder.key], world) }
        case 8: if let note = pick("N", folder) { remove(note, world) }
        default:
            for (note, members) in folder.records where note.entity == "N" && members["f"] == holder.key {
                remove(note, world)
            }
            remove(holder, world)
        }
    }

    // MARK: Notes by themselves

    private func actOnNotes(_ folder: RecordFolder, _ world: World, _ isFirst: Bool) {
        if random.chance(percent: 15) {
            let settings = RecordFolder.Name(entity: "S", key: "singleton:S")
            let token = life.token(machine)
            life.wrote(token, "t", of: settings, on: machine, at: world.now)
            return put(settings, [("t", token)])
        }
        guard !isFirst, random.chance(percent: 85), let note = pick("N", folder) else {
            let (note, token) = fresh("N", world)
            return put(note, [("body", "1\\n2\\n3\\n4\\n5\\n6\\n7\\n"), ("t", token)])
        }
        switch random.below(10) {
        case 0...3: editText(note, folder, world)
        case 4...8: editLine(of: note, folder, world)
        default: remove(note, world)
        }
    }

    private func editLine(of note: RecordFolder.Name, _ folder: RecordFolder, _ world: World) {
        guard let body = folder.records[note]?["body"] else { return }
        var lines = body.split(separator: "\\n", omittingEmptySubsequences: false).map(String.init)
        let token = life.token(machine)
        life.wrote(token, "body", of: note, on: machine, at: world.now)
        lines[random.below(max(1, lines.count - 1))] = token
        edit(note, folder, ["body": lines.joined(separator: "\\n")], world)
    }

    // MARK: Many in one document

    private func actOnFriends(_ folder: RecordFolder, _ world: World, _ isFirst: Bool) {
        let path = Path(root: "d/\(random.chance(percent: 70) ? "x" : "y").list.json")
        var all = folder.records.filter { folder.places[$0.key] == path }.map { ($0.key, $0.value) }
        let number = random.below(max(1, all.count))
        switch random.below(10) {
        case 0...6 where !isFirst && !all.isEmpty:
            let token = life.token(machine)
            life.wrote(token, "t", of: all[number].0, on: machine, at: world.now)
            all[number].1["t"] = token
        case 7 where !isFirst && !all.isEmpty:
            note(removalOf: all[number].0, world)
            all.remove(at: number)
        default:
            let (record, token) = fresh("R", world)
            all.insert((record, ["id": record.key, "t": token]), at: number)
        }
        put(path, FlatJSON.list(all.map { $0.1.map { ($0.key, $0.value) } }))
    }
}

extension RecordUser {
    package func keeps(_ path: Path, on machine: Int) -> Bool {
        machine == self.machine && (path == RecordFolder.root || path.isBelow(RecordFolder.root))
    }

    /// Who reads for a while that a save breaks the rules or cannot be read, because something else came in between, gives it
    /// up, with everything that is not whole without it.
    package func attend(_ status: Status, on machine: Int, in world: World) {
        guard machine == self.machine else { return }
        let reasons: [MessageCode] = [
            .validationRequiredMissing, .formatCorrupt, .formatZeroLength, .waitingChildren,
        ]
        let stuck = status.pending.filter { reasons.contains($0.reason) }
        looks = stuck.isEmpty ? 0 : looks + 1
        guard looks > 30 else { return }
        looks = 0
        let folder = RecordFolder(world.machines[machine].disk)
        read = folder.files
        // (A status names only some of what waits.)
        for path in Set(stuck.map(\.path) + folder.unreadable).sorted() where folder.files.contains(key: path) {
            for (record, place) in folder.places where place == path {
                note(removalOf: record, world)
                // Its notes go with it: the model says so.
                if record.entity == "F" { for held in folder.notes(in: record) { note(removalOf: held, world) } }
            }
            put(path, nil)
        }
        for (record, _) in life.scene.faults(of: folder) {
            remove(record, world)
            if record.entity == "F" { for held in folder.notes(in: record) { note(removalOf: held, world) } }
        }
        world.rare.hit("records: a save that broke the rules was given up")
        finish(world)
    }
}

extension RecordFolder.Name {
    init(_ id: RecordID) {
        self.init(
            entity: String(decoding: id.entity.bytes, as: UTF8.self), key: String(decoding: id.key, as: UTF8.self))
    }

    var id: RecordID { RecordID(entity, key) }
}
