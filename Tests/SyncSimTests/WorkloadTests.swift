import SyncModel
import Testing

@testable import SyncSim

/// Who acts in a world and what decides it. The single recipes are in `RecipeTests`, enemies in `EnemyTests`.
@Suite("The workload: names, scripts, hands, people, the operator")
struct WorkloadTests {
    // MARK: Names

    @Test("Every directory of an alphabet has its parent in it, and the root is one of them") func directories() {
        for count in 0...8 {
            var plan = SeedPlan(calm: 1)
            plan.directoryCount = count
            let known = Alphabet(plan, machine: 0).directories
            #expect(known.count == count + 1 && known.first == .root && Set(known).count == known.count)
            for directory in known.dropFirst() { #expect(directory.parent.map { known.contains($0) } == true) }
        }
    }

    @Test("An alphabet has as many different names as the plan says, odd ones among them if it says so") func names() {
        for isOdd in [false, true] {
            for count in 1...16 {
                let names = Alphabet(plan(files: count, .sharedNames, isOdd ? .oddNames : .sharedNames), machine: 0)
                    .fileNames
                #expect(names.count == count && Set(names).count == count)
                let plain = names.filter { $0.bytes.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2E } }
                #expect((plain.count == count) == (!isOdd || count == 1))
            }
        }
    }

    @Test("The odd names of every eighth world are others, the longest there may be among them") func otherNames() {
        let names = (UInt64(1)...8).map { seed in
            var plan = SeedPlan(calm: seed)
            plan.fileCount = 16
            for trait in [SyncSim.Trait.oddNames, .sharedNames] { plan.turnOn(trait, pauseMilliseconds: 1_000) }
            return Alphabet(plan, machine: 0).fileNames
        }
        #expect(names.enumerated().allSatisfy { ($0.element == names[0]) == ($0.offset != 6) })
        #expect(names[6].contains { $0.bytes.count == Limits.nameBytesMax })
        #expect(Set(names[6]).count == 16)
    }

    @Test("Both machines know the same names where names are shared; else two of them and one of its own") func shared()
    {
        let together = [0, 1].map { Alphabet(plan(files: 9, .sharedNames), machine: $0).fileNames }
        #expect(together[0] == together[1])
        let apart = [0, 1].map { Alphabet(plan(files: 9), machine: $0).fileNames }
        #expect(Set(apart[0]).intersection(apart[1]) == Set(together[0].prefix(2)))
        #expect(apart[0].contains(.known("only-alpha")) && apart[1].contains(.known("only-beta")))
        #expect(Set(apart[0] + apart[1]).count == 9 + 2)
    }

    @Test("Drawn paths are made of the alphabet's names; a drawn directory is never the root") func drawn() {
        let alphabet = Alphabet(plan(files: 4, directories: 3, .sharedNames), machine: 0)
        var random = SeededRandom(seed: 2)
        var (files, directories) = (Set<Path>(), Set<Path>())
        for _ in 0..<1_000 {
            files.insert(alphabet.file(&random))
            directories.insert(alphabet.directory(&random))
        }
        for file in files {
            #expect(file.parent.map { alphabet.directories.contains($0) } == true)
            #expect(file.name.map { alphabet.fileNames.contains($0) } == true)
        }
        #expect(files.count == 16 && !directories.contains(.root))
        #expect(directories.isSuperset(of: alphabet.directories.dropFirst()))
        #expect(directories.count > 3, "new ones, too")
    }

    // MARK: Scripts

    @Test("A pause belongs to the step before it") func pauses() {
        var script = Script()
        script.then { _ in }
        script.then(after: 5) { _ in }
        script.then(after: 7) { _ in }
        #expect(script.steps.map(\.pause) == [5, 7, 0])
    }

    @Test("The same plan and number write the same script, another number another one") func sameScript() {
        func played(_ number: Int, seed: UInt64) -> [String] {
            let person = Person("a=1 b=2 d/ d/a=3", files: 4, directories: 2, habits: habits)
            var plan = SeedPlan(calm: seed)
            for habit in habits { plan.turnOn(habit, pauseMilliseconds: 1_000) }
            var draft = Draft(
                plan: plan, alphabet: Alphabet(plan, machine: 0), number: number, writer: "u00")
            Recipes.write(&draft, person.hands)
            return draft.script.steps.map { step in
                step.act(person.hands)
                return "\(step.pause) \(person.tree.map { "\($0.key)=\($0.value)" })"
            }
        }
        let scripts = (0..<40).map { played($0, seed: 3) }
        #expect(scripts == (0..<40).map { played($0, seed: 3) })
        #expect(Set(scripts).count > 30)
        #expect(scripts != (0..<40).map { played($0, seed: 4) })
    }

    @Test("Contents tell who wrote them, and no two are alike but the common ones") func contents() {
        var draft = Draft(
            plan: plan(files: 1), alphabet: Alphabet(plan(files: 1), machine: 0), number: 7, writer: "u01")
        let drawn = (0..<200).map { _ in draft.content() }
        let common = drawn.filter { String(decoding: $0, as: UTF8.self).hasPrefix("common ") }
        let own = drawn.filter { $0.starts(with: utf8("u01#7.")) }
        #expect(common.count + own.count == 200 && Set(common).count == 3 && Set(own).count == own.count)
    }

    @Test("Without habits there are files and directories only, left as they were made") func noHabits() {
        let person = Person("", files: 4, directories: 3, habits: [])
        for number in 0..<300 { person.does(number) { draft, hands in Recipes.write(&draft, hands) } }
        for (path, value) in person.tree {
            if case .file = value { continue }
            #expect(value == .directory, "\(path) is \(value)")
        }
        #expect(person.world.ledger.bursts.isEmpty && person.tree.count > 3)
    }

    @Test(
        "A habit shows",
        arguments: [
            (SyncSim.Trait.symlinks, "a symlink"), (.specialFiles, "a FIFO"), (.permissionChanges, "a mode"),
            (.timeChanges, "a time"), (.massDeletes, "a burst"), (.ignoreRules, "rules"),
            (.bigFiles, "something in front"),
            (.editorSaves, "a backup"), (.fileMoves, "a moved file"), (.directoryMoves, "a moved directory"),
            (.kindSwaps, "a kind"),
        ]) func habit(_ habit: SyncSim.Trait, sign: String)
    {
        #expect(signs(of: [habit]).contains(sign))
        #expect(!signs(of: habits.filter { $0 != habit && !shows($0, sign) }).contains(sign))
    }

    // MARK: Hands

    @Test("Whatever a recipe does, the ledger knows of it", arguments: 0..<8) func ledgerKnows(seed: Int) throws {
        let person = Person("", files: 5, directories: 4, habits: habits)
        for number in (seed * 100)..<(seed * 100 + 40) {
            person.does(number) { draft, hands in Recipes.write(&draft, hands) }
            let ledger = person.world.ledger
            for (path, value) in person.tree {
                let page = try #require(ledger.pages[path], "\(path) of operation \(number)")
                #expect(page.acts.last?.after == value, "\(path) of operation \(number)")
                // Several names of one file share mode and time.
                guard !page.isSharedMetadata else { continue }
                #expect(page.soleWriter == 0, "\(path) of operation \(number)")
                guard value.isContent, let stat = person.world.machines[0].disk.peekStat(path) else { continue }
                let left = Ledger.Left(
                    machine: 0, mode: stat.mode, modified: stat.modified, changed: stat.changed)
                #expect(page.left == left)
            }
            for (path, page) in ledger.pages where person.tree[path] == nil { #expect(page.isDeleted, "\(path)") }
            for duty in ledger.duties where duty.demand > .kept { #expect(person.tree[duty.path] == duty.value) }
        }
    }

    @Test("Who believes to write over something else is blind") func blind() {
        let person = Person("a=1 b=1")
        // What nobody else holds cannot be owed: the other folder has it.
        Hands(person.world, machine: 1).write(at("a"), utf8("1"))
        person.hands.write(at("a"), utf8("2"), knowing: .text("0"))
        person.hands.write(at("b"), utf8("2"), knowing: .text("1"))
        #expect(person.world.ledger.pages[at("a")]?.acts.last?.isBlind == true)
        #expect(person.world.ledger.pages[at("b")]?.acts.last?.isBlind == false)
    }

    @Test("A change while the daemon is at the path is a race; elsewhere it is none") func racing() {
        let person = Person("a=1 b=1")
        let intent = Intent(stage: .first, path: at("a"), action: .remove, expected: nil, displaced: nil)
        person.world.machines[0].store.perform(StoreBatch([.putIntent(intent)]))
        person.hands.write(at("a"), utf8("2"))
        person.hands.write(at("b"), utf8("2"))
        #expect(person.world.ledger.pages[at("a")]?.acts.last?.isRacing == true)
        #expect(person.world.ledger.pages[at("b")]?.acts.last?.isRacing == false)
    }

    @Test("What is written into a file the daemon moved aside is asked for in the tree, later in history only")
    func movedAside() throws {
        for (milliseconds, demand) in [(0, Ledger.Demand.inTree), (60_000, .kept)] as [(Int64, Ledger.Demand)] {
            let person = Person("a=1")
            let file = try #require(person.hands.open(at("a"), create: false, truncate: false))
            let aside = DiskProgram([.move(.tree(at("a")), to: version1)])
            let identity = try #require(person.world.machines[0].disk.peekStat(at("a"))?.identity)
            #expect(person.world.machines[0].disk.run(aside, now: ms(2)).failure == nil)
            person.world.ledger.displacements[0][identity] = person.world.now
            person.world.now += milliseconds
            person.hands.write(file, at: 1, utf8("+"))
            #expect(person.world.ledger.demand(of: .text("1+"), at: at("a")) == demand)
            #expect(person.world.rare["user: wrote into a file the daemon had moved aside"] == 1)
        }
    }

    @Test("A power cut takes open files with it, and nobody works in a folder that is not there") func lostHandles()
        throws
    {
        let person = Person("a=1")
        let file = try #require(person.hands.open(at("a"), create: false, truncate: false))
        #expect(person.hands.isValid(file) && person.hands.size(of: file) == 1)
        person.world.machines[0].boots += 1
        #expect(!person.hands.isValid(file) && person.hands.write(file, at: 0, [1]) == .notFound)
        let doings = person.world.ledger.doings
        person.world.machines[0].disk.unmount(leaving: .nothing)
        #expect(person.hands.write(at("a"), [1]) == .notFound && person.world.ledger.doings == doings)
    }

    @Test(
        "What a power cut left, by a second name of which the daemon knew something, may be mended there",
        arguments: [true, false])
    func linkedRemains(_ isKnown: Bool) {
        let person = Person.withRemains
        let machine = person.world.machines[0]
        var node = machine.store.node
        node.distrustSince = 0
        machine.store.perform(StoreBatch([.putNode(node)]))
        if isKnown { machine.store.perform(StoreBatch([.putRow(.file("2", at: "b"))])) }
        person.hands.link(at("a"), to: at("b"))
        #expect(person.text("b") == "" && person.names == ["a", "b"])
        #expect(person.world.ledger.everStood(.text("1"), at: at("b")) == isKnown)
    }

    @Test(
        "What a power cut emptied and rules leave out may be mended by a new name, also after the first look",
        arguments: [Row.Condition.ignored, .normal], [true, false])
    func movedOutOfTheRules(_ condition: Row.Condition, _ isSecondName: Bool) throws {
        for isEmptiedByHim in [false, true] {
            let person = Person.withRemains
            let machine = person.world.machines[0]
            var row = Row.file("1", at: "a")
            row.condition = condition
            row.disk?.stat.identity = try #require(machine.disk.peekStat(at("a"))?.identity)
            machine.store.perform(StoreBatch([.putRow(row)]))
            if isEmptiedByHim { person.hands.write(at("a"), []) }
            // (By way of a name of which the daemon has not heard.)
            person.hands.rename(at("a"), to: at("c"))
            if isSecondName {
                person.hands.link(at("c"), to: at("b"))
            } else {
                person.hands.rename(at("c"), to: at("b"))
            }
            #expect(person.text("b") == "" && person.names == (isSecondName ? ["b", "c"] : ["b"]))
            let isMended = condition == .ignored && !isEmptiedByHim
            #expect(person.world.ledger.everStood(.text("1"), at: at("b")) == isMended)
            #expect(person.world.ledger.demand(of: .text(""), at: at("b")) == (isMended ? .kept : .atPath))
        }
    }

    @Test(
        "What waits in the other's stage is owed after a power cut, unless it is on record that it was written over",
        arguments: [true, false])
    func writtenOverBeforeItsTurn(_ isRecorded: Bool) {
        let world = operated(.powerCuts, seed: 1)
        let hands = Hands(world, machine: 0)
        hands.write(at("a"), utf8("old"))
        world.machines[0].disk.syncEverything()
        // It was removed, and an earlier cut has brought it back.
        world.ledger.removed("old", at: "a", on: 0)
        world.ledger.struck(
            0, was: Ledger.Holdings(tree: [:]), is: Ledger.Holdings(tree: [at("a"): .text("old")]),
            other: Ledger.Holdings(tree: [at("a"): .text("other")]), isSafe: { _, _ in false })
        world.machines[1].disk.stage(stage1, "old")
        hands.write(at("a"), utf8("new"))
        world.machines[0].store.perform(StoreBatch([.putRow(.file(isRecorded ? "new" : "old", at: "a"))]))
        world.powerCut(0, .zeroLength)
        #expect(world.machines[0].disk.readFile(at("a")) == [])
        let owed = world.ledger.duties.filter { $0.path == at("a") }.map(\.value)
        #expect(owed == (isRecorded ? [] : [Value.text("old")]))
    }

    // MARK: People

    @Test("Everybody has a name of his own; the enemy comes when the plan says so") func agents() {
        let people = Workload.agents(for: SeedPlan(calm: 1)).map(\.name)
        #expect(people.count == 5 && Set(people).count == 5)
        #expect(Workload.agents(for: plan(files: 1, .evilPeer)).map(\.name) == people + ["enemy"])
    }

    @Test("Four people share the operations of a plan: each is done by one, at the machine it belongs to") func seats()
    {
        var plan = plan(files: 3, .sharedNames)
        plan.userOperations = [7, 5]
        for number in 0..<12 {
            var alone = plan
            for other in 0..<12 where other != number { alone.skippedOperations.insert(other) }
            var doers: [String] = []
            for machine in 0..<2 {
                for seat in 0..<2 {
                    let user = User(alone, machine: machine, seat: seat)
                    #expect(user.holdsSafetyPhase)
                    if user.act(in: World(plan: alone)) != nil { doers.append("\(machine) \(seat)") }
                }
            }
            #expect(doers == [number < 7 ? "0 \(number % 2)" : "1 \((number - 7) % 2)"])
        }
    }

    @Test("An operation that is left out changes nothing of the others") func skipping() {
        var plan = plan(files: 3, .sharedNames)
        plan.userOperations = [6, 0]
        for number in 0..<6 { plan.skippedOperations.insert(number) }
        let idle = World(plan: plan)
        #expect(User(plan, machine: 0, seat: 0).act(in: idle) == nil && idle.ledger.doings == 0)
        plan.skippedOperations.remove(4)
        var alone = plan
        alone.skippedOperations = SkipList()
        for number in [0, 1, 2, 3, 5] { alone.skippedOperations.insert(number) }
        #expect(played(plan) == played(alone) && !played(plan).isEmpty)
    }

    @Test("Who has to rest finishes what he began", arguments: 0..<20 as Range<UInt64>) func resting(seed: UInt64) {
        var plan = SeedPlan(calm: seed)
        for habit in habits { plan.turnOn(habit, pauseMilliseconds: 1_000) }
        plan.userOperations = [1, 0]
        let (whole, hasty) = (World(plan: plan), World(plan: plan))
        let (patient, tired) = (User(plan, machine: 0, seat: 0), User(plan, machine: 0, seat: 0))
        while patient.act(in: whole) != nil {}
        #expect(tired.act(in: hasty) == 0)
        _ = tired.act(in: hasty)
        tired.rest(hasty)
        #expect(hasty.machines[0].disk.sketch == whole.machines[0].disk.sketch)
    }

    @Test("Two folders that have never met are mostly equal, and not wholly") func initialTrees() {
        var (equal, different, lone) = (0, 0, 0)
        for seed in 0..<40 as Range<UInt64> {
            var plan = SeedPlan(calm: seed)
            plan.turnOn(.initialTrees, pauseMilliseconds: 1_000)
            plan.turnOn(.sharedNames, pauseMilliseconds: 1_000)
            let world = World(plan: plan)
            for agent in Workload.agents(for: plan) { agent.prepare(world) }
            let trees = world.machines.map(\.disk.treeValues)
            for (path, value) in trees[0] where value.isContent {
                switch trees[1][path] {
                case nil: lone += 1
                case value?: equal += 1
                default: different += 1
                }
            }
        }
        #expect(equal > different && different > 20 && lone > 20)
    }

    // MARK: The operator

    @Test("An operator without chores does nothing") func idleOperator() {
        #expect(Operator(SeedPlan(calm: 1)).act(in: World(plan: SeedPlan(calm: 1))) == nil)
    }

    @Test("What the operator took away he brings back: the folder is sound again when he rests", arguments: 0..<12)
    func operatorRestores(seed: UInt64) {
        let world = operated(.rootLosses, seed: seed)
        let acts = Operator(world.plan)
        var states = Set<RootState>()
        for _ in 0..<12 {
            world.now += 9_000
            _ = acts.act(in: world)
            for machine in world.machines { states.insert(machine.disk.rootState()) }
        }
        acts.rest(world)
        #expect(states.count > 1, "he did something")
        for machine in world.machines { #expect(machine.disk.rootState() == .healthy) }
    }

    @Test(
        "Whatever image the operator puts back, what stands in the folder is known and what is owed is there",
        arguments: 0..<12)
    func operatorImages(seed: UInt64) {
        let world = operated(.imageRestores, seed: seed)
        let acts = Operator(world.plan)
        for round in 0..<12 {
            for machine in 0..<2 { Hands(world, machine: machine).write(at("a"), utf8("\(machine).\(round)")) }
            world.now += 90_000
            _ = acts.act(in: world)
            for machine in world.machines {
                for (path, value) in machine.disk.treeValues where value.isContent {
                    #expect(world.ledger.everStood(value, at: path))
                }
            }
            let all = world.machines.flatMap(\.disk.allValues)
            for duty in world.ledger.duties { #expect(all.contains(duty.value), "round \(round): \(duty)") }
        }
    }

    // MARK: Plans and signs

    private let habits = SyncSim.Trait.allCases.filter { $0.isHabit && $0 != .oddNames && $0 != .initialTrees }

    private func plan(files: Int, directories: Int = 2, _ traits: SyncSim.Trait...) -> SeedPlan {
        var plan = SeedPlan(calm: 1)
        plan.fileCount = files
        plan.directoryCount = directories
        for trait in traits { plan.turnOn(trait, pauseMilliseconds: 1_000) }
        return plan
    }

    /// What can be seen of people with these habits after 100 operations.
    private func signs(of habits: [SyncSim.Trait]) -> Set<String> {
        let person = Person("", files: 4, directories: 3, habits: habits)
        var signs = Set<String>()
        var homes: [FileIdentity: Path] = [:]
        var kinds: [Path: FileKind] = [:]
        for number in 0..<100 {
            person.does(
                number,
                after: {
                    for path in person.tree.keys {
                        guard let stat = person.world.machines[0].disk.peekStat(path) else { continue }
                        switch stat.kind {
                        case .symlink:
                            if path.name?.bytes.starts(with: utf8(".#")) == false { signs.insert("a symlink") }
                        case .special: signs.insert("a FIFO")
                        case .file, .directory: break
                        }
                        if path.name == Name(".syncignore") { signs.insert("rules") }
                        if path.name?.bytes.last == 0x7E { signs.insert("a backup") }
                        if stat.mode == 0o777, stat.kind == .file { signs.insert("a mode") }
                        if stat.modified.seconds < 1_700_000_000 { signs.insert("a time") }
                        if person.hands.bytes(path).starts(with: utf8("front ")) { signs.insert("something in front") }
                        if stat.kind == .file, isBetweenNames(path) { signs.insert("a moved file") }
                        if stat.kind == .directory, let home = homes.updateValue(path, forKey: stat.identity),
                            home != path
                        {
                            signs.insert("a moved directory")
                        }
                        let before = kinds.updateValue(stat.kind, forKey: path)
                        if before == .directory && stat.kind == .file { signs.insert("a kind") }
                    }
                }
            ) { draft, hands in Recipes.write(&draft, hands) }
        }
        if !person.world.ledger.bursts.isEmpty { signs.insert("a burst") }
        return signs
    }

    /// On the way of a file from one name to another.
    private func isBetweenNames(_ path: Path) -> Bool {
        let name = path.name?.bytes ?? []
        return name.suffix(5) == utf8(".swap")[...] || name.suffix(5) == utf8(".turn")[...]
    }

    /// Another habit that may show the same sign.
    private func shows(_ habit: SyncSim.Trait, _ sign: String) -> Bool {
        switch sign {
        case "a mode": habit == .editorSaves
        case "a burst": habit == .kindSwaps
        case "a symlink": habit == .kindSwaps
        case "a moved directory": habit == .fileMoves
        case "a kind": [.directoryMoves, .fileMoves].contains(habit)
        default: false
        }
    }

    private func played(_ plan: SeedPlan) -> String {
        let world = World(plan: plan)
        let user = User(plan, machine: 0, seat: 0)
        while user.act(in: world) != nil {}
        return world.machines[0].disk.sketch
    }

    private func operated(_ trait: SyncSim.Trait, seed: UInt64) -> World {
        var plan = SeedPlan(calm: seed)
        plan.turnOn(trait, pauseMilliseconds: 1_000)
        let world = World(plan: plan)
        world.add(Watch(plan))
        for machine in 0..<2 {
            Hands(world, machine: machine).write(at("kept"), utf8("kept \(machine)"))
            world.machines[machine].disk.syncEverything()
        }
        return world
    }
}

extension Person {
    /// Whose file a=1 a power cut has emptied.
    fileprivate static var withRemains: Person {
        let person = Person("a=1")
        person.world.machines[0].disk.writeFile(at("a"), [], now: .seconds(1))
        person.world.ledger.struck(
            0, was: Ledger.Holdings(tree: [at("a"): .text("1")]), is: Ledger.Holdings(tree: [at("a"): .text("")]),
            other: Ledger.Holdings(tree: [:]), isSafe: { _, _ in false })
        return person
    }
}
