import SyncModel

/// What people saved at guarded paths, and what they took away: the judge's memory for INV-22. It knows nothing of the daemon's
/// rows, marks or clocks, only which bytes stood where when somebody did something.
package final class FormatLife {
    struct Save {
        let machine: Int
        let value: Value
        let age: FormatAge
        /// What it was saved over.
        let over: Value
        let time: Int64
        var fate = Fate.standing
    }

    enum Fate: Hashable {
        /// Nobody who saw it has put anything as new in its place.
        case standing
        /// By this save, which is no older.
        case replaced(by: Int)
        /// Written over before any daemon had read it.
        case unseen
        /// It is nowhere any more, and nobody but people or a disaster had a hand in that.
        case lost
    }

    private struct Removal {
        let machine: Int
        let value: Value
        let isKnown: Bool
        let time: Int64
    }

    /// Nothing stood there between a removal and the save that came at once after it.
    private struct Gap {
        let removal: Removal
        let end: Int64
    }

    private struct Remains {
        let machine: Int
        let value: Value
        let found: Value
    }

    /// The highest version that the programs of each machine understand.
    var support: [UInt32]
    private(set) var saves: SortedMap<Path, [Save]> = [:]
    /// Values that a person who had seen them gave up, with all that they had been saved over.
    private var givenUp: SortedMap<Path, [Value: Int64]> = [:]  // lookup only
    private var removals: SortedMap<Path, [Removal]> = [:]
    /// One after the other, while no daemon has read what stood there in between.
    private var gaps: SortedMap<Path, [Gap]> = [:]
    /// What a daemon has put aside, and what was as new and had its place then.
    private var outdone: SortedMap<Path, [(loser: Value, winner: Value)]> = [:]
    /// What power cuts have left of something; that they have left nothing, until somebody saves there.
    private var remains: SortedMap<Path, [Remains]> = [:]

    /// Who deletes a file and makes it anew within this time saves it. (The daemon waits a second from when it sees that, and
    /// clocks may be wrong by a little.)
    private static let saveMilliseconds: Int64 = 990
    /// Who has found nothing there looks again by then, also on a slow disk.
    private static let secondLookMilliseconds: Int64 = 1_500

    init(support: [UInt32]) {
        self.support = support
    }

    /// Somebody changed what stands at a path. `isKnown` if a daemon had read what stood there.
    func changed(
        _ path: Path, on machine: Int, from before: Value, to after: Value, age: FormatAge?, isKnown: Bool,
        isMove: Bool = false, at time: Int64
    ) {
        guard before != after else { return }
        if isKnown { gaps[path]?.removeAll { $0.removal.machine == machine } }
        if !after.isContent {
            if isMove { return giveUp(before, on: machine, at: path, time) }
            if before.isContent {
                let removal = Removal(machine: machine, value: before, isKnown: isKnown, time: time)
                removals[path, default: []].append(removal)
            }
            return
        }
        var (over, isKnown, isAnew) = (before, isKnown, false)
        if let index = removals[path]?.lastIndex(where: { $0.machine == machine }), let removal = removals[path]?[index]
        {
            if before == .absent, time < removal.time + FormatLife.saveMilliseconds {
                (over, isKnown) = (removal.value, removal.isKnown)
                isAnew = mayBeOneDeletion(upTo: Gap(removal: removal, end: time), at: path)
            } else {
                giveUp(removal.value, on: machine, at: path, removal.time)
            }
            removals[path]?.remove(at: index)
        }
        guard let age else { return }
        let all = saves[path] ?? []
        let writtenOver = chain(from: over, all, until: time)
        for index in all.indices {
            replace(index, at: path, by: all.count, age, over, isKnown: isKnown)
            // He had it before him, wrote an older state over that, or emptied the file, and now something as new: whatever
            // becomes of this, what was there before is his to replace.
            if all[index].age <= age, all[index].fate == .standing, writtenOver.contains(all[index].value) {
                saves[path]?[index].fate = .replaced(by: all.count)
            }
        }
        // (Where a cut has taken away what stood there, the daemon cannot know that nobody had that before him.)
        let isTaken = { (left: Remains) in left.machine == machine && left.found == .absent }
        if over == .absent, let taken = remains[path]?.last(where: isTaken) { over = taken.value }
        remains[path]?.removeAll(where: isTaken)
        if isAnew { over = .absent }
        saves[path, default: []].append(Save(machine: machine, value: after, age: age, over: over, time: time))
    }

    /// A daemon that found nothing there may have looked again in a later gap, and have heard nothing yet of what stood there
    /// in between. It has seen one deletion then, of what was there first, and this save is of a file that is new.
    private func mayBeOneDeletion(upTo gap: Gap, at path: Path) -> Bool {
        let earlier = (gaps[path] ?? []).filter { first in
            first.removal.machine == gap.removal.machine
                && first.removal.time + FormatLife.saveMilliseconds < gap.end
                && gap.removal.time < first.end + FormatLife.secondLookMilliseconds
        }
        for first in earlier { giveUp(first.removal.value, on: first.removal.machine, at: path, first.removal.time) }
        gaps[path, default: []].append(gap)
        return !earlier.isEmpty
    }

    private func replace(
        _ index: Int, at path: Path, by number: Int, _ age: FormatAge, _ over: Value, isKnown: Bool
    ) {
        guard let save = saves[path]?[index], save.value == over, save.fate == .standing else { return }
        if save.age <= age {
            saves[path]?[index].fate = .replaced(by: number)
        } else if !isKnown {
            saves[path]?[index].fate = .unseen
        }
    }

    /// A person who saw this value removed it for good, or put something else in its place on purpose. Whoever removes what a power cut has left
    /// of a file on his machine removes the file: the daemon may see only that nothing is there, and cannot know that he never saw the file itself.
    func giveUp(_ value: Value, on machine: Int? = nil, at path: Path, _ time: Int64) {
        var (open, known) = ([value], [Value]())
        while let next = open.popLast() {
            // (An empty file may have been given up before, when it had been saved over something else.)
            guard next.isContent, !known.contains(next) else { continue }
            known.append(next)
            givenUp[path, default: [:]][next] = time
            open += (saves[path] ?? []).filter { $0.value == next }.map(\.over)
            open += (remains[path] ?? []).filter { $0.machine == machine && $0.found == next }.map(\.value)
        }
    }

    /// Nobody saves by taking away the directory: what a person has deleted in it a moment before has gone with it for good.
    func tookAway(_ directory: Path, on machine: Int) {
        for (path, all) in removals where path.isBelow(directory) {
            for removal in all where removal.machine == machine {
                giveUp(removal.value, on: machine, at: path, removal.time)
            }
            removals[path] = all.filter { $0.machine != machine }
        }
    }

    private func settleRemovals(at path: Path, _ time: Int64) {
        for removal in removals[path] ?? [] where time >= removal.time + FormatLife.saveMilliseconds {
            giveUp(removal.value, on: removal.machine, at: path, removal.time)
        }
    }

    /// What must stand at the path, unless something as new does.
    func owed(at path: Path, _ time: Int64) -> [Save] {
        settleRemovals(at: path, time)
        let all = saves[path] ?? []
        return all.filter {
            isOwed($0, all) && !hasLost($0, all, givenUp[path] ?? [:]) && !hasLostToLost($0, all, at: path)
        }
    }

    /// A daemon put one state aside for another that is as new.
    func outdid(_ loser: Value, by winner: Value, at path: Path) {
        if outdone[path]?.contains(where: { $0 == (loser, winner) }) == true { return }
        outdone[path, default: []].append((loser, winner))
    }

    /// It lost its place to something as new, which a person has taken away, or of which a program has written over the only copy since:
    /// that is not the daemon's to bring back, and what lost to it lies beside.
    private func hasLostToLost(_ save: Save, _ all: [Save], at path: Path) -> Bool {
        var (open, known) = ([save.value], [Value]())
        while let value = open.popLast() {
            if known.contains(value) { continue }
            known.append(value)
            let winners = (outdone[path] ?? []).filter { $0.loser == value }.map(\.winner)
            let later = all.filter { $0.value == value }.compactMap { save in
                if case .replaced(let number) = save.fate { all[number].value } else { nil }
            }
            let isGone = givenUp[path]?[value] != nil || all.contains { $0.value == value && $0.fate == .lost }
            if value != save.value, isGone { return true }
            open += winners + (value == save.value ? [] : later)
        }
        return false
    }

    /// It was given up itself, or it may have lost to something as new that was given up later: then it is beside the path.
    private func hasLost(_ save: Save, _ all: [Save], _ givenUp: [Value: Int64]) -> Bool {
        all.contains { other in
            guard let time = givenUp[other.value] else { return false }
            if other.value == save.value { return true }
            return other.age >= save.age && (time >= save.time || wasSaved(save, over: other.value, all))
        }
    }

    /// Whoever saved had it before him, and did not know yet that it was given up on the other machine.
    private func wasSaved(_ save: Save, over value: Value, _ all: [Save]) -> Bool {
        value != save.value && chain(from: save.over, all, until: save.time).contains(value)
    }

    /// A state, and what it was saved over, one before the other. (A file may have been empty more than once.)
    private func chain(from value: Value, _ all: [Save], until time: Int64) -> [Value] {
        var (next, known, earlier) = (value, [Value](), all[...])
        while next.isContent {
            known.append(next)
            guard let index = earlier.lastIndex(where: { $0.value == next && $0.time <= time }) else { break }
            next = all[index].over
            earlier = all[..<index]
        }
        return known
    }

    private func isOwed(_ save: Save, _ all: [Save]) -> Bool {
        switch save.fate {
        case .standing: true
        // Who wrote over it was written over before a daemon could read that: it is as if he had not been there.
        case .replaced(let number): all[number].fate == .unseen && isOwed(all[number].standing, all)
        case .unseen, .lost: false
        }
    }

    /// After a power cut, an old image or a lost state only that can still be asked for which a folder shows.
    func disaster(_ world: World) {
        let disks = world.machines.map(\.disk.atHome)
        for path in saves.keys { lose(at: path) { value in disks.contains { $0.value(at: path) == value } } }
    }

    /// A power cut has left this of what stood there.
    func noteRemains(of value: Value, found: Value, at path: Path, on machine: Int) {
        guard found != value else { return }
        remains[path, default: []].append(Remains(machine: machine, value: value, found: found))
    }

    /// The operator has put back an old state of a folder: what is not in that he has taken away, as any person might have.
    func putBack(was: SortedMap<Path, Value>, is now: SortedMap<Path, Value>, at time: Int64) {
        for path in saves.keys where now[path] == nil {
            if let value = was[path] { giveUp(value, at: path, time) }
        }
    }

    /// What is nowhere any more cannot be asked for.
    func lose(at path: Path, unless isThere: (Value) -> Bool) {
        for (index, save) in (saves[path] ?? []).enumerated() where save.fate != .lost && !isThere(save.value) {
            saves[path]?[index].fate = .lost
        }
    }
}

extension FormatLife.Save {
    fileprivate var standing: Self {
        var save = self
        save.fate = .standing
        return save
    }
}
