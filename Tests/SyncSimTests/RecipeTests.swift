import SyncModel
import Testing

@testable import SyncSim

/// What people and their programs do: every recipe, played to its end by one person alone at a machine, does what its name
/// says. The alphabets are kept so small that the recipes meet the files that are there.
@Suite("Recipes do what their names say")
struct RecipeTests {
    // MARK: Writing

    @Test("Writing, at once or in pieces, leaves the new content under the name and nothing else", arguments: 0..<10)
    func writing(number: Int) {
        let recipes: [(inout Draft) -> Void] = [
            { $0.write() }, { $0.truncateThenWrite() }, { $0.saveAtomically() }, { $0.saveWithVim() },
        ]
        for recipe in recipes {
            let person = Person("a=old")
            person.does(number) { draft, _ in recipe(&draft) }
            #expect(person.names == ["a"] && person.wrote("a", in: number))
        }
    }

    @Test("Removed and written again it is another file, now and then with the same bytes") func again() {
        var isSame = Set<Bool>()
        for number in 0..<20 {
            let person = Person("a=old")
            let before = person.identity("a")
            person.does(number) { draft, _ in draft.removeAndWriteAgain() }
            #expect(person.names == ["a"] && person.identity("a") != before)
            #expect(person.text("a") == "old" || person.wrote("a", in: number))
            isSame.insert(person.text("a") == "old")
        }
        #expect(isSame == [true, false])
    }

    @Test("What is appended comes after what was there", arguments: 0..<10) func appending(number: Int) {
        for recipe in [{ $0.append() }, { $0.appendToBig(Person("").hands) }] as [(inout Draft) -> Void] {
            let person = Person("a=old")
            person.does(number) { draft, _ in recipe(&draft) }
            #expect(person.bytes("a").starts(with: utf8("old")) && person.bytes("a").count > 3)
        }
    }

    @Test("What is inserted in front comes before what was there", arguments: 0..<5) func inserting(number: Int) {
        let person = Person("a=old")
        person.does(number) { draft, hands in draft.insertInFront(hands) }
        #expect(person.text("a") == "front \(number) old")
    }

    @Test("Writing in place changes a few bytes and makes no file") func inPlace() {
        for number in 0..<20 {
            let person = Person("a=0123456789")
            let before = person.identity("a")
            person.does(number) { draft, _ in draft.writeInPlace() }
            #expect(person.identity("a") == before && person.text("a") != "0123456789")
            #expect((10...18).contains(person.bytes("a").count))
            let alone = Person("")
            alone.does(number) { draft, _ in draft.writeInPlace() }
            #expect(alone.sketch == "")
        }
    }

    @Test("Who truncates first leaves a short file for a moment") func truncating() {
        let person = Person("a=old")
        var sizes: [Int] = []
        person.does(3, after: { sizes.append(person.bytes("a").count) }) { draft, _ in draft.truncateThenWrite() }
        #expect(sizes.first == 0)
        #expect(sizes.indices.dropFirst().allSatisfy { sizes[$0] >= sizes[$0 - 1] })
        #expect((sizes.last ?? 0) > 3)
    }

    @Test("A file that is held open is written to again later, at its end and at its beginning") func holding() {
        for number in 0..<10 {
            let person = Person("a=old")
            var seen: [[UInt8]] = []
            person.does(number, after: { seen.append(person.bytes("a")) }) { draft, _ in draft.holdOpen() }
            #expect(seen.count == 3 && seen[0].starts(with: utf8("old")) && seen[1].starts(with: seen[0]))
            #expect(seen[1].count > seen[0].count && seen[2] != seen[1])
            #expect(person.script.steps.dropLast().allSatisfy { $0.pause >= 50 })
        }
    }

    @Test("Who writes back what he read long ago does not know what he writes over") func writingBack() throws {
        let person = Person("a=read")
        // What nobody else holds cannot be owed: the other folder has it.
        Hands(person.world, machine: 1).write(at("a"), utf8("newer"))
        person.does(5, after: { _ = person.hands.write(at("a"), utf8("newer")) }, isOnce: true) { draft, _ in
            draft.writeBackStale()
        }
        #expect(person.bytes("a").starts(with: utf8("read")) && person.bytes("a").count > 4)
        #expect(person.world.ledger.pages[at("a")]?.acts.last?.isBlind == true)
        #expect(person.world.ledger.demand(of: .text("newer"), at: at("a")) == .kept)
        let undisturbed = Person("a=read")
        undisturbed.does(5) { draft, _ in draft.writeBackStale() }
        #expect(undisturbed.world.ledger.pages[at("a")]?.acts.last?.isBlind == false)
    }

    // MARK: Editors

    @Test("Vim and whoever saves atomically put a new file under the name; in between the old one is whole elsewhere")
    func replacing() {
        for number in 0..<10 {
            for recipe in [{ $0.saveWithVim() }, { $0.saveAtomically() }] as [(inout Draft) -> Void] {
                let person = Person("a=old")
                let before = person.identity("a")
                var isOldSafe = true
                person.does(
                    number,
                    after: {
                        let isNew = person.hands.exists(at("a")) && person.identity("a") != before
                        if !isNew { isOldSafe = isOldSafe && (person.text("a") == "old" || person.text("a~") == "old") }
                    }
                ) { draft, _ in recipe(&draft) }
                #expect(isOldSafe && person.identity("a") != before && person.names == ["a"])
            }
        }
    }

    @Test("Emacs and gedit leave the old one beside the new one, and no lock or draft") func backups() {
        for number in 0..<10 {
            for recipe in [{ $0.saveWithEmacs() }, { $0.saveWithGedit() }] as [(inout Draft) -> Void] {
                let person = Person("a=old")
                person.does(number) { draft, _ in recipe(&draft) }
                #expect(person.names == ["a", "a~"] && person.text("a~") == "old" && person.text("a") != "old")
            }
        }
    }

    @Test("sed keeps what was there, sets a mode and does nothing to what is not there") func sed() {
        let person = Person("a=old")
        person.does(7) { draft, _ in draft.editWithSed() }
        #expect(person.bytes("a").starts(with: utf8("old")) && person.bytes("a").count > 3 && person.names == ["a"])
        #expect(person.hands.world.machines[0].disk.peekStat(at("a"))?.mode == 0o640)
        let alone = Person("")
        alone.does(7) { draft, _ in draft.editWithSed() }
        #expect(alone.sketch == "")
    }

    // MARK: Moving files

    @Test("A moved file is the same file under another name") func movingFile() {
        var isMoved = false
        for number in 0..<20 {
            let person = Person("a=1", files: 2)
            let before = person.identity("a")
            person.does(number) { draft, hands in draft.moveFile(hands) }
            #expect(person.names.count == 1 && person.identity(person.names[0]) == before)
            isMoved = isMoved || person.names == ["b"]
        }
        #expect(isMoved)
    }

    @Test("There and back again is as if nothing had been", arguments: 0..<10) func thereAndBack(number: Int) {
        let file = Person("a=1", files: 2)
        file.does(number) { draft, hands in draft.moveAndBack(hands) }
        #expect(file.sketch == "a=1")
        let directory = Person("x/ x/y=1", directories: 1)
        directory.does(number) { draft, hands in draft.moveDirectoryAndBack(hands) }
        #expect(directory.sketch == "x/ x/y=1")
    }

    @Test("Swapping and turning lose nothing, and do swap and turn") func rings() {
        var found: [String: Int] = [:]
        for number in 0..<30 {
            let swap = Person("a=1 b=2", files: 2)
            swap.does(number) { draft, _ in draft.swapFiles() }
            found[swap.sketch, default: 0] += 1
            let ring = Person("a=1 b=2 c.txt=3", files: 3)
            ring.does(number) { draft, _ in draft.rotateFiles() }
            #expect(ring.names == ["a", "b", "c.txt"])
            #expect(Set(ring.names.map { ring.text($0) }) == ["1", "2", "3"])
            found[ring.sketch, default: 0] += 1
        }
        for sketch in ["a=2 b=1", "a=1 b=2", "a=2 b=3 c.txt=1", "a=3 b=1 c.txt=2"] { #expect(found[sketch] != nil) }
        #expect(found.keys.filter { !$0.contains("c.txt") }.count == 2)
    }

    @Test("Log rotation frees the name for a fresh file and shifts the others by one") func shifting() {
        var isShifted = false
        for number in 0..<30 {
            let person = Person("a=1 b=2 c.txt=3", files: 3)
            let before = person.identities
            person.does(number) { draft, _ in draft.shiftFiles() }
            #expect(person.names == ["a", "b", "c.txt"])
            let fresh = person.names.filter { person.wrote($0, in: number) }
            let kept = person.names.filter { name in before.contains { $0.value == person.identity(name) } }
            #expect(fresh.count == 1)
            isShifted = isShifted || (kept.count == 2 && kept.allSatisfy { person.identity($0) != before[$0] })
        }
        #expect(isShifted)
    }

    // MARK: Moving directories

    @Test("A moved directory takes along everything in it") func movingDirectory() {
        var isMoved = false
        for number in 0..<20 {
            let person = Person("x/ x/y=1", directories: 2)
            let before = person.identity("x")
            person.does(number) { draft, hands in draft.moveDirectory(hands) }
            let moved = person.names.first { person.identity($0) == before }
            #expect(moved != nil && person.text("\(moved ?? "")/y") == "1")
            isMoved = isMoved || moved != "x"
        }
        #expect(isMoved)
    }

    @Test("Parent and child change places; two directories swap") func swappingDirectories() {
        var sketches = Set<String>()
        for number in 0..<20 {
            let nested = Person("d/ d/1=in d/e/ d/e/2=in")
            nested.does(number) { draft, hands in draft.swapWithChild(hands) }
            sketches.insert(nested.sketch)
            let pair = Person("d/ d/1=in e/ e/2=in")
            pair.does(number) { draft, hands in draft.swapDirectories(hands) }
            sketches.insert(pair.sketch)
        }
        #expect(sketches.contains("d/ d/2=in d/e/ d/e/1=in"))
        #expect(sketches.contains("d/ d/2=in e/ e/1=in"))
    }

    // MARK: Removing

    @Test("Removing takes away one file, one empty directory, or a directory with all in it") func removing() {
        let file = Person("a=1 b=2", files: 2)
        file.does(0) { draft, hands in draft.removeFile(hands) }
        #expect(["a=1", "b=2"].contains(file.sketch))
        var isRemoved = false
        for number in 0..<20 {
            let empty = Person("d/ e/ e/x=1", directories: 2)
            empty.does(number) { draft, _ in draft.removeEmptyDirectory() }
            #expect(["d/ e/ e/x=1", "e/ e/x=1"].contains(empty.sketch))
            isRemoved = isRemoved || empty.sketch == "e/ e/x=1"
        }
        #expect(isRemoved)
        let tree = Person("d/ d/x=1 d/y=2 z=3")
        tree.does(0) { draft, hands in draft.removeTree(hands) }
        #expect(tree.sketch == "z=3")
        #expect(tree.world.ledger.bursts.last.map { Array($0.paths.keys) } == [at("d/x"), at("d/y")])
        #expect(tree.world.ledger.bursts.last?.filesBefore == 3)
    }

    @Test("What cannot be removed stays, and a file with such a name is not lost") func halfRemoved() {
        let tree = Person("d/ d/w=1 d/y=2 z=3")
        tree.hands.link(at("d/w"), to: at("d/x"))
        tree.world.machines[0].disk.faults.permissionDenied = [at("d/x")]
        tree.hands.removeAll([at("d")])
        #expect(tree.sketch == "d/ d/x=1 z=3")
        #expect(tree.world.ledger.bursts.last.map { Array($0.paths.keys) } == [at("d/y")])
        #expect(tree.world.ledger.bursts.last?.filesBefore == 4)
    }

    @Test("Who thinks better of it puts everything back as it was", arguments: 0..<10) func undoing(number: Int) {
        let sketch = "d/ d/e/ d/l->x d/x=1 z=3"
        let tree = Person(sketch)
        tree.does(number) { draft, hands in draft.removeTreeAndUndo(hands) }
        #expect(tree.sketch == sketch)
        let everything = Person(sketch)
        var isEmptied = false
        everything.does(number, after: { isEmptied = isEmptied || everything.sketch == "" }) { draft, hands in
            draft.removeEverything(hands)
        }
        #expect(isEmptied && ["", sketch].contains(everything.sketch))
    }

    @Test("Copying and removing the source is a move of the content") func copying() {
        var isMoved = false
        for number in 0..<20 {
            let person = Person("a=1", files: 2)
            person.does(number) { draft, _ in draft.copyThenRemove() }
            #expect(["a=1", "b=1"].contains(person.sketch))
            isMoved = isMoved || person.sketch == "b=1"
        }
        #expect(isMoved)
    }

    @Test("Who deals with a conflict copy takes it away, takes its side or works on in it") func tidying() {
        let copy = "a.conflict-beta-20260101-000000-abcdef"
        var seen = Set<String>()
        for number in 0..<40 {
            let person = Person("a=1 \(copy)=2")
            person.does(number) { draft, hands in draft.tidyConflictCopy(hands) }
            seen.insert(person.text(copy) == "" ? person.sketch : "works on in the copy")
            #expect(person.text(copy) != "2")
        }
        #expect(seen == ["a=1", "a=2", "a=1 a.mine=2", "works on in the copy"])
    }

    // MARK: Kinds, modes, times, links, rules

    @Test("Modes and times change and the bytes do not; a directory stays open to its owner") func metadata() {
        var modes = Set<UInt16>()
        var seconds = Set<Int64>()
        for number in 0..<40 {
            let person = Person("d/ d/x=1")
            person.does(number) { draft, hands in draft.changeMode(hands) }
            person.does(number) { draft, hands in draft.touch(hands) }
            #expect(person.sketch == "d/ d/x=1")
            let stats = ["d", "d/x"].compactMap { person.world.machines[0].disk.peekStat(at($0)) }
            #expect(stats[0].mode & 0o700 == 0o700)
            modes.insert(stats[1].mode)
            seconds.insert(stats[1].modified.seconds)
        }
        #expect(
            modes.contains(0o400) && modes.contains(0o777) && seconds.contains(-1) && seconds.contains(4_102_444_800))
    }

    @Test("A path becomes something of another kind, or at least something else", arguments: 0..<20)
    func kinds(number: Int) {
        for sketch in ["a=1 d/ d/x=2", ""] {
            let person = Person(sketch, directories: 1)
            let before = person.tree
            person.does(number) { draft, _ in draft.changeKind() }
            let changed = Set(before.keys).union(person.tree.keys).filter { before[$0] != person.tree[$0] }
            #expect(!changed.isEmpty, "something stands there, or something else than before")
        }
    }

    @Test("Symlinks, FIFOs and hard links are made where nothing or a file was") func links() {
        var targets = Set<[UInt8]>()
        var sketches = Set<String>()
        for number in 0..<40 {
            let symlink = Person("a=1")
            symlink.does(number) { draft, _ in draft.makeSymlink() }
            targets.insert(symlink.world.machines[0].disk.peekTarget(at("a")) ?? [])
            let fifo = Person("")
            fifo.does(number, after: { sketches.insert(fifo.sketch) }) { draft, _ in draft.makeFifo() }
            let occupied = Person("a=1")
            occupied.does(number) { draft, _ in draft.makeFifo() }
            #expect(occupied.sketch == "a=1")
            let hard = Person("a=1", files: 2)
            hard.does(number) { draft, hands in draft.makeHardLink(hands) }
            if hard.names == ["a", "b"] {
                #expect(hard.identity("a") == hard.identity("b") && hard.bytes("a") == hard.bytes("b"))
                sketches.insert(hard.text("a") == "1" ? "linked" : "linked and written")
            }
        }
        #expect(!targets.contains([]) && targets.contains(utf8("/etc/passwd")) && targets.contains(utf8("..")))
        #expect(sketches == ["", "a|", "linked", "linked and written"])
    }

    @Test("Rules are written where rules are read, and ignored files under names the rules know") func rules() {
        for number in 0..<20 {
            let person = Person("", directories: 1)
            person.does(number) { draft, _ in draft.editRules() }
            let files = person.tree.filter { $0.value.isContent }.map(\.key)
            #expect(files.map(\.name) == [Name(".syncignore")])
            let ignored = Person("")
            ignored.does(number) { draft, _ in draft.writeIgnored() }
            #expect(ignored.names == ["a.ign"])
        }
    }
}

/// Somebody alone at a machine whose daemon does not run.
struct Person {
    let world: World
    let hands: Hands
    private let plan: SeedPlan
    private final class Last { var script = Script() }
    private let last = Last()

    /// A folder as sketched, people who use the first so many names of their alphabets.
    init(_ sketch: String, files: Int = 1, directories: Int = 0, habits: [SyncSim.Trait] = [.sharedNames]) {
        var plan = SeedPlan(calm: 11)
        plan.fileCount = files
        plan.directoryCount = directories
        for habit in habits { plan.turnOn(habit, pauseMilliseconds: 1_000) }
        self.plan = plan
        world = World(plan: plan)
        hands = Hands(world, machine: 0)
        for word in sketch.split(separator: " ") { make(word) }
    }

    private func make(_ word: Substring) {
        if let equals = word.firstIndex(of: "=") {
            hands.write(at(String(word[..<equals])), utf8(String(word[word.index(after: equals)...])))
        } else if word.hasSuffix("/") {
            hands.mkdir(at(String(word.dropLast())))
        } else if let head = word.firstIndex(of: ">") {
            hands.symlink(at(String(word[..<head].dropLast())), to: utf8(String(word[word.index(after: head)...])))
        }
    }

    /// Plays a recipe; `after` is called after each of its steps, or after the first only.
    func does(
        _ number: Int, after: () -> Void = {}, isOnce: Bool = false, _ recipe: (inout Draft, Hands) -> Void
    ) {
        let alphabet = Alphabet(plan, machine: 0)
        var draft = Draft(plan: plan, alphabet: alphabet, number: number, writer: "u00")
        recipe(&draft, hands)
        last.script = draft.script
        for (index, step) in draft.script.steps.enumerated() {
            step.act(hands)
            if index == 0 || !isOnce { after() }
        }
    }

    /// Of what was played last.
    var script: Script { last.script }

    var sketch: String { world.machines[0].disk.sketch }
    var tree: SortedMap<Path, Value> { hands.tree }
    var names: [String] { hands.tree.keys.map(\.description) }

    func bytes(_ place: String) -> [UInt8] { hands.bytes(at(place)) }
    func text(_ place: String) -> String { String(decoding: bytes(place), as: UTF8.self) }
    func identity(_ place: String) -> FileIdentity? { world.machines[0].disk.peekStat(at(place))?.identity }

    var identities: [String: FileIdentity] {
        Dictionary(uniqueKeysWithValues: names.compactMap { name in identity(name).map { (name, $0) } })
    }

    /// What the operation writes: its own content, or one of those that more than one person writes.
    func wrote(_ place: String, in number: Int) -> Bool {
        bytes(place).starts(with: utf8("u00#\(number).")) || text(place).hasPrefix("common ")
    }
}
