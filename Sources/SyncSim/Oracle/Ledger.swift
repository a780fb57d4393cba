package import SyncModel

/// What people did to the two folders, and what they could see when they did it. The judge's memory: it knows nothing of
/// logs, vectors or clocks of the daemon, only which value stood at a path on whose disk when somebody replaced it.
///
/// Every change of content or kind at a path is an `Act` on that path's `Page`. An act remembers the acts before it that
/// its folder showed (`seen`); two acts that have not seen each other are concurrent. What must still be findable is
/// computed from that in `Ledger+Duties`; what a power cut or a restored image may take away in `Ledger+Disasters`.
package struct Ledger: Sendable {
    /// One change of what stands at a path.
    package struct Act: Sendable {
        /// The index in its page.
        package let number: Int
        package let machine: Int
        /// What stood there and was seen by whoever acted.
        package let before: Value
        package let after: Value
        package let time: Int64
        package let seen: ActSet
        /// The daemon was in the middle of replacing this path: which of the two came first is anybody's guess.
        package let isRacing: Bool
        /// Written through an open handle into a file that the daemon had already moved aside.
        package let isAside: Bool
        /// Whoever acted had looked at an older state and did not know what he wrote over.
        package let isBlind: Bool
        /// How well the value must be kept.
        package var demand: Demand
        /// A crash or a restored image took it back before anybody else could know.
        package var isUndone = false
        /// It is the very file that had been there, and its daemon had missed that but not told of it.
        package var isBack = false
    }

    /// How much a value that nobody replaced knowingly may be asked for, weakest first.
    package enum Demand: UInt8, Comparable, Sendable {
        /// Gone with the operator's consent.
        case excused
        /// In the tree, in versions or in quarantine of either node.
        case kept
        /// Somewhere in both trees.
        case inTree
        /// At its path or at a conflict copy of it, in both trees.
        case atPath

        package static func < (left: Demand, right: Demand) -> Bool { left.rawValue < right.rawValue }
    }

    /// Everything that happened at one path.
    package struct Page: Sendable {
        package internal(set) var acts: [Act] = []
        /// What each folder is known to show, as acts and as value.
        var shown = [ActSet(), ActSet()]
        var shownValue = [Value.absent, Value.absent]
        /// Values of this path that somebody removed where they stood as conflict copies.
        var discarded: [(value: Value, time: Int64)] = []
        /// Values that may stand here though nobody wrote them here: a daemon's rename took them along.
        package internal(set) var carried: [Value] = []
        /// What a machine tells of as having come here with its directory, though somebody had written over it before: what is put here
        /// on the other, with the same bytes, is that for whoever compares, and goes to history with it.
        var told: [(value: Value, machine: Int)] = []
        /// What stood here goes on under a conflict name, with the directory it was in.
        package internal(set) var isCarriedAway = false
        /// A directory that is not synced, or not all of it, stood here on one machine when something else was to come.
        package internal(set) var wasInTheWay = false
        /// A person removed it and put the same there in one breath: a daemon may have looked between the two.
        package internal(set) var wasAwayForAMoment = false
        /// Values that came so with a rename: another file with the same bytes, which nobody has seen here.
        var backAtOnce: [Value] = []
        /// On which machine a person has put another file with the same bytes over it, which is no act, and what he had seen by then.
        private(set) var putOver: [(machine: Int, seen: ActSet)] = []
        /// A power cut had taken it, and then a person the directory it was in.
        package internal(set) var wentWithDirectory = false
        /// On which machines its daemon has taken it away for the other, and then forgotten that it did.
        var isMissedAnew = [false, false]
        /// Who removed it last had not been shown by his daemon that it was made anew on the other machine with the same bytes.
        package internal(set) var wasRemovedUnaware = false
        /// On which machines it stands there, though the daemon was set back to before it had that on record.
        var isUnrecorded = [false, false]
        /// It had been removed where its directory was before, and that is told of only now that the directory has moved here.
        package internal(set) var cameRemoved = false
        /// Where a daemon's rename, or a version that was put back, brought values of this path from.
        var carriedFrom: [(value: Value, path: Path)] = []
        /// What a crash brought back after it had been deleted here, or with newer times than what it took the place of: nobody can tell that
        /// from a file made anew.
        package internal(set) var revived: [Value] = []
        /// What a power cut put in the place of a value.
        var remains: [Remains] = []
        /// A disaster or a rejected deletion brought back what had been deleted here.
        package internal(set) var isReverted = false
        /// A kept version of this path is the same file as another path's: it changes when that is written in place.
        package var isEntangled = false
        /// Mode and time as the last person to touch the path left them, with who it was.
        package internal(set) var left: Left?
        /// Who was the last to leave them so, also where it is not known any more how that must come out.
        private(set) var lastLeaver: Int?
        /// How many acts there had been by then.
        package internal(set) var actsWhenLeft = 0
        /// When a person at each machine last wrote what stood there already, which is no act.
        package internal(set) var rewritten: [Int64] = [.min, .min]
        /// People on both machines changed mode or time.
        package internal(set) var isSharedMetadata = false
    }

    /// What a power cut left in the place of `value` (or nothing), and how many acts there had been by then.
    struct Remains: Sendable {
        let machine: Int
        let value: Value
        let found: Value
        let acts: Int
    }

    package struct Left: Hashable, Sendable {
        package let machine: Int
        package let mode: UInt16
        package let modified: Timestamp
        /// The change time that this has given the file.
        package let changed: Timestamp
    }

    package internal(set) var pages: SortedMap<Path, Page> = [:]
    /// Mass deletions by people and by the operator, for the fuse.
    package internal(set) var bursts: [Burst] = []
    /// When the daemon of each machine last took a file away from its path: how long a late writer is waited for. By file,
    /// because at one path there may be many, one after the other.
    package var displacements: [SortedMap<FileIdentity, Int64>] = [[:], [:]]
    /// What people did so far, whether or not it changed anything.
    package internal(set) var doings = 0
    /// What power cuts have left of kept versions and of losers of conflicts that had not reached the disk. Nobody can tell that from what a
    /// late writer wrote.
    package var remainsOfDisplaced: [Value] = []
    /// When each machine was last struck by a disaster.
    package var strikes: [Int64] = [0, 0]
    /// When a person at each machine last refused a mass deletion.
    package internal(set) var refusals: [Int64?] = [nil, nil]
    /// The operator did something after which the daemons cannot know what they knew: conflicts may then be more than needed,
    /// and what was deleted may return.
    package internal(set) var hasForgotten = false

    /// Files that went at one moment.
    package struct Burst: Sendable {
        package let machine: Int
        package let time: Int64
        package let paths: SortedMap<Path, Bool>
        /// All files that were in the folder before it.
        package let all: SortedMap<Path, Bool>
        package let filesBefore: Int
        /// By top-level directory.
        package let tops: SortedMap<Path, Top>

        package struct Top: Sendable {
            package var before = 0
            package var deleted = 0
        }
    }

    package init() {}

    /// A person's change of what stands at `path`. Calls with `before == after` are no acts. `isUnaware` if somebody has made the same anew on
    /// the other machine, and this one has not heard of it.
    package mutating func changed(
        _ path: Path, on machine: Int, from before: Value, to after: Value, at time: Int64, isRacing: Bool = false,
        isBlind: Bool = false, isUnaware: Bool = false
    ) {
        guard before != after else { return }
        if before == .absent, takeBackRemoval(of: after, at: path, on: machine, time) { return }
        pages[path, default: Page()].look(at: before, on: machine, isUnaware: isUnaware)
        pages[path, default: Page()].append(
            machine: machine, before: before, after: after, time: time, isRacing: isRacing, isBlind: isBlind)
        if isUnaware, after == .absent { pages.update(path) { $0.wasRemovedUnaware = true } }
        noteDisposal(of: before, at: path, at: time)
        if !isBlind { noteCarriedDisposal(of: before, at: path, at: time) }
    }

    /// Who removes something and puts the same bytes there in one breath has done nothing that anybody could see: they are as new as
    /// they were.
    private mutating func takeBackRemoval(
        of value: Value, at path: Path, on machine: Int, _ time: Int64
    ) -> Bool {
        guard value.isContent, let page = pages[path], page.carriedFrom.isEmpty, ConflictFamily.base(of: path) == nil,
            let removal = page.acts.last, removal.machine == machine, removal.time == time, !removal.isRacing,
            removal.before == value, removal.after == .absent
        else { return false }
        // (What a power cut had left is another file by that, and whoever finds it takes it for his.)
        pages.update(path) { page in
            if page.remains.contains(where: { $0.machine == machine && $0.found == value }) {
                page.revived.append(value)
            }
            page.takeBackLast()
            page.wasAwayForAMoment = true
        }
        rewrote(path, on: machine, at: time)
        return true
    }

    /// A person removed it and has put the same there again before the daemon of his machine has written down that it was gone: the same
    /// bytes that others have seen, and may be history where they have replaced them. So they may where he has written something else
    /// meanwhile, and somebody has disposed of a conflict copy with these bytes.
    package mutating func cameBackUnseen(_ path: Path, on machine: Int) {
        pages.update(path) { page in
            guard let act = page.acts.last, act.machine == machine, act.after.isContent else { return }
            guard page.isPutBack(act) || page.isDisposedOfSinceMade(act.after, besides: act) else { return }
            page.acts[act.number].demand = min(act.demand, .kept)
        }
    }

    /// A person moved it away and has put the very file there again. The daemon of his machine has missed it meanwhile,
    /// and has not told that it was gone: what it finds is what it knew, and no newer.
    package mutating func cameBackMissed(_ path: Path, on machine: Int) {
        pages.update(path) { page in
            guard let act = page.acts.last, act.machine == machine, act.after.isContent, page.isPutBack(act) else {
                return
            }
            page.acts[act.number].isBack = true
        }
    }

    /// A person has moved away what counts as damage, and back before the daemon of his machine has written down that it was gone: it is put
    /// right like any damage, and kept.
    package mutating func putDamageBack(_ path: Path, on machine: Int) {
        pages.update(path) { page in
            guard let act = page.acts.last, act.machine == machine, act.after.isContent else { return }
            page.acts[act.number].demand = min(act.demand, .kept)
        }
    }

    /// Somebody has disposed of a conflict copy of the path with these bytes.
    package func isDisposedOf(_ value: Value, at path: Path) -> Bool {
        pages[path]?.discarded.contains { $0.value == value } ?? false
    }

    /// A rename, or a second name, has brought a file to where one with the same bytes had been taken away in the same breath. `isAnother` if
    /// the daemon knows another file there: over that one it was put, if by way of the directory that it is in.
    package mutating func cameAtOnce(
        _ value: Value, to path: Path, on machine: Int, at time: Int64, isAnother: Bool
    ) {
        guard let page = pages[path], page.wasAwayForAMoment, page.rewritten[machine] == time else { return }
        if isAnother { return putOver(value, at: path, on: machine) }
        pages.update(path) { $0.backAtOnce.append(value) }
    }

    /// A person has given another file with the same bytes this name: for a daemon that knows it by its first name that is his new work.
    package mutating func putOver(_ value: Value, at path: Path, on machine: Int) {
        pages[path, default: Page()].notePutOver(value, on: machine)
    }

    /// A person wrote through a handle into a file that the daemon had moved away from `path`.
    package mutating func changedAside(
        _ path: Path, on machine: Int, from before: Value, to after: Value, at time: Int64, demand: Demand
    ) {
        guard before != after else { return }
        pages[path, default: Page()].appendAside(
            machine: machine, before: before, after: after, time: time, demand: demand)
        // He wrote over it in place: what had been the loser of a conflict is nowhere any more.
        noteDisposal(of: before, at: path, at: time)
    }

    /// What a person asked to be put at the path was there for a moment only; it is again where it was before.
    package mutating func tookBack(_ value: Value, at path: Path, on machine: Int) {
        pages.update(path) { page in
            guard let index = page.acts.lastIndex(where: { $0.machine == machine && $0.after == value }) else { return }
            page.acts[index].isUndone = true
            page.look(at: page.acts[index].before, on: machine)
        }
    }

    /// A person left the path with this mode and time, whatever he did to it.
    package mutating func left(
        _ path: Path, on machine: Int, mode: UInt16, modified: Timestamp, changed: Timestamp = .zero
    ) {
        let left = Left(machine: machine, mode: mode, modified: modified, changed: changed)
        pages[path, default: Page()].leave(left)
        pages.update(path) { $0.actsWhenLeft = $0.acts.count }
    }

    /// A person changed mode or time only, where the daemon had lost what it knew and had not looked since: what it finds is as old
    /// as the file, and of two modes or times nobody can say which came later.
    package mutating func leftUnseen(_ path: Path) {
        pages.update(path) { $0.left = nil }
    }

    /// A person wrote the same bytes again: they are as durable as he has made them. If they are what a power cut had left, he has
    /// written over that, and what it was may be history.
    package mutating func rewrote(_ path: Path, on machine: Int, at time: Int64) {
        pages[path, default: Page()].rewritten[machine] = time
        pages.update(path) { $0.overwriteRemains(on: machine) }
    }

    /// Mode and time are set by other names as well: the path is one of several names of a file, or a daemon's rename of a directory
    /// took along what somebody had given under the old name.
    package mutating func sharesMetadata(_ path: Path) {
        pages[path, default: Page()].isSharedMetadata = true
    }

    /// The only copy of these values was on a machine whose disk the operator put back.
    package mutating func lost(_ values: SortedMap<Value, Bool>) {
        guard !values.isEmpty else { return }
        for path in pages.keys {
            pages.update(path) { page in
                for index in page.acts.indices where values.contains(key: page.acts[index].after) {
                    page.acts[index].demand = .excused
                }
            }
        }
    }

    /// A daemon's rename of a directory took along a value that nobody had moved: a file made there a moment before.
    /// Whoever wrote it let go of what stood there before, wherever that is called now.
    package mutating func carried(_ value: Value, from old: Path, to new: Path, on machine: Int, at time: Int64) {
        guard value != .absent else { return }
        pages[new, default: Page()].carried.append(value)
        pages[new, default: Page()].carriedFrom.append((value, old))
        if let known = replaced(by: value, at: old, on: machine, knownAt: new) {
            changed(new, on: machine, from: known, to: value, at: time, isRacing: true)
        }
        pages.update(old) { page in
            for index in page.acts.indices where page.acts[index].after == value {
                page.acts[index].demand = min(page.acts[index].demand, .inTree)
            }
        }
    }

    /// The rename could not be finished: what it had taken along to `path` is where it was written.
    package mutating func carriedBack(_ value: Value, from path: Path, to home: Path, on machine: Int) {
        guard pages[path]?.carriedFrom.contains(where: { $0.value == value && $0.path == home }) == true else { return }
        pages.update(home) { page in
            for index in page.acts.indices where page.acts[index].after == value && page.acts[index].demand == .inTree {
                page.acts[index].demand = .atPath
            }
        }
        // (Where somebody has seen it under the new name, it is another rename that brings it back.)
        let acts = pages[path]?.acts ?? []
        if let carried = acts.last(where: { $0.after == value && $0.machine == machine }), carried.isRacing,
            !acts.contains(where: { $0.seen.contains(carried.number) })
        {
            tookBack(value, at: path, on: machine)
        }
    }

    /// A rename had taken it along from `old`, and was taken back before anybody had seen it here: one that brings it here again does
    /// what the first did.
    package func wasCarriedBack(_ value: Value, from path: Path, to old: Path, on machine: Int) -> Bool {
        guard let page = pages[path], page.carriedFrom.contains(where: { $0.value == value && $0.path == old }) else {
            return false
        }
        let carried = page.acts.last { $0.after == value && $0.machine == machine }
        return carried.map { $0.isRacing && $0.isUndone } ?? false
    }

    /// What a person wrote over, perhaps in several steps, of what the other node knows under the new name. He may have
    /// removed it and put something else there. Or he wrote over it where its directory was before, and his node tells
    /// of it as of what has come here.
    private func replaced(by value: Value, at old: Path, on machine: Int, knownAt new: Path) -> Value? {
        guard let page = pages[old] else { return nil }
        var acts = page.acts
        var value = value
        while let index = acts.lastIndex(where: { $0.after == value && $0.machine == machine }) {
            value = acts[index].before
            guard value.isContent || value == .absent, !page.wasMadeAnew(since: acts[index]) else { return nil }
            if value.isContent, everStood(value, at: new) { return value }
            acts.removeSubrange(index...)
        }
        return value == .absent ? page.told(by: machine).last { everStood($0, at: new) } : nil
    }

    /// A daemon may put the value here, of which it is told that a directory has taken it along. It did not: it was written over before.
    /// (Where the rules leave it out it may be there and nowhere else.)
    package mutating func mayStand(_ value: Value, at path: Path, carriedFrom old: Path? = nil, toldBy machine: Int) {
        pages[path, default: Page()].carried.append(value)
        if let old { pages[path, default: Page()].carriedFrom.append((value, old)) }
        pages[path, default: Page()].told.append((value, machine))
    }

    /// A directory has moved from one name to the other before its node has told that something in it was removed.
    package mutating func cameRemoved(to new: Path, from old: Path, on machine: Int) {
        guard let page = pages[old],
            page.cameRemoved || page.acts.contains(where: { $0.machine == machine && $0.isRemoval })
        else { return }
        pages[new, default: Page()].cameRemoved = true
    }

    /// A daemon had to give the directory above another name: whoever looks finds nothing here.
    package mutating func carriedAway(from path: Path) {
        pages.update(path) { $0.isCarriedAway = true }
    }

    /// A directory that the rules leave out, or with something in it that they do, keeps its name. Once they let go of it, it is one that
    /// somebody has made there.
    package mutating func stoodInTheWay(_ path: Path) {
        pages.update(path) { $0.wasInTheWay = true }
    }

    /// A daemon's rename of a directory came just after a person had removed something below it: whoever did that let go of
    /// it under the new name, which he could not know. He may have written to it before, and nobody was told of that (as
    /// of nothing that rules leave out): what he wrote over is what the other node knows there.
    package mutating func carriedAbsence(from old: Path, to new: Path, on machine: Int, at time: Int64) {
        guard let removal = pages[old]?.acts.last(where: { $0.machine == machine }), removal.after == .absent,
            removal.before.isContent,
            let known = everStood(removal.before, at: new)
                ? removal.before : replaced(by: removal.before, at: old, on: machine, knownAt: new)
        else { return }
        changed(new, on: machine, from: known, to: .absent, at: time, isRacing: true)
    }

    /// A person had a version of a path put back under another name. What a late writer had put into it is there now, and
    /// nowhere else.
    package mutating func putBack(_ value: Value, of source: Path, to path: Path) {
        guard source != path else { return }
        pages[path, default: Page()].carriedFrom.append((value, source))
    }

    /// It is kept, nobody knows as a version of what, and is the same file as another path's.
    package mutating func entangle(_ value: Value, of machine: Int) {
        for (path, page) in pages where page.acts.contains(where: { $0.machine == machine && $0.after == value }) {
            pages.update(path) { $0.isEntangled = true }
        }
    }

    /// Everything that people ever put at a path, and what a daemon carried there.
    package func everStood(_ value: Value, at path: Path) -> Bool {
        guard let page = pages[path] else { return false }
        return page.acts.contains { $0.after == value } || page.carried.contains(value)
    }

    /// A person on the machine has taken a directory away from there, or put something else in its place.
    package func lostDirectory(_ path: Path, on machine: Int, since time: Int64) -> Bool {
        pages[path]?.acts.contains { $0.machine == machine && $0.before == .directory && $0.time >= time } ?? false
    }

    /// Whoever was here last has taken it away.
    package func isRemoved(_ path: Path) -> Bool { pages[path]?.acts.last?.after == .absent }

    /// What a late writer put into a file that had been displaced goes to the top of the folder if its directory is gone by
    /// then, under the name of a conflict copy: nobody ever put it there. So does what was written by another name of such a file,
    /// if that has gone since, and the loser of a conflict, if a person has taken its directory away or put something else in its place. The
    /// paths it may have come from.
    package func rescued(_ value: Value, to copy: Path) -> [Path] {
        guard copy.depth == 1 else { return [] }
        let names = ConflictFamily.bases(of: copy).map(\.name)
        if names.isEmpty { return [] }
        return pages.compactMap { path, page in
            guard path.depth > 1, names.contains(path.name) else { return nil }
            let isLate = page.isEntangled || page.acts.contains { $0.isAside && $0.after == value }
            return isLate || hasLostDirectory(path) && isContested(value, at: path) ? path : nil
        }
    }

    private func hasLostDirectory(_ path: Path) -> Bool {
        path.parents.contains { pages[$0]?.acts.contains { $0.before == .directory || $0.after.isContent } == true }
    }

    /// Whoever removes or changes a conflict copy has seen the loser and disposes of it.
    private mutating func noteDisposal(of value: Value, at path: Path, at time: Int64) {
        guard value.isContent else { return }
        for source in rescued(value, to: path) {
            pages.update(source) { $0.discarded.append((value, time)) }
            noteDisposalAside(of: value, at: source, time)
        }
        for original in originals(of: path) {
            pages.update(original) { $0.discarded.append((value, time)) }
            noteDisposalAside(of: value, at: original, time)
        }
    }

    /// Of which paths this is a conflict copy: those that its name tells, and where a long name had to be cut to make room for the tag,
    /// also those that begin like it.
    package func originals(of copy: Path) -> [Path] {
        let bases = ConflictFamily.bases(of: copy)
        guard !bases.isEmpty, ConflictFamily.mayBeCut(copy) else { return bases }
        return bases + pages.keys.filter { !bases.contains($0) && ConflictFamily.isCopy(copy, of: $0) }
    }

    /// What was written late into a file that had been taken away from several names comes back by one of them.
    private mutating func noteDisposalAside(of value: Value, at path: Path, _ time: Int64) {
        guard pages[path]?.wroteAside(value) == true else { return }
        for other in pages.keys where other != path && pages[other]?.wroteAside(value) == true {
            pages.update(other) { $0.discarded.append((value, time)) }
        }
    }

    /// Whoever removes or replaces what a daemon's rename brought here has seen it, though it is owed where it was
    /// written, perhaps several such renames ago.
    private mutating func noteCarriedDisposal(of value: Value, at path: Path, at time: Int64) {
        var open = [path]
        var known: SortedMap<Path, Bool> = [path: true]
        while let next = open.popLast() {
            for source in pages[next]?.carriedFrom ?? []
            where source.value == value && !known.contains(key: source.path) {
                pages.update(source.path) { $0.discarded.append((value, time)) }
                known[source.path] = true
                open.append(source.path)
            }
        }
    }

    /// A person or the operator deletes many files at one moment: `paths` of all the files that are there before.
    package mutating func massDeletion(of paths: [Path], among all: [Path], on machine: Int, at time: Int64) {
        var tops: SortedMap<Path, Burst.Top> = [:]
        for path in all { if let top = path.top, top != path { tops[top, default: Burst.Top()].before += 1 } }
        for path in paths { if let top = path.top, top != path { tops[top, default: Burst.Top()].deleted += 1 } }
        bursts.append(
            Burst(
                machine: machine, time: time, paths: SortedMap(paths.map { ($0, true) }),
                all: SortedMap(all.map { ($0, true) }), filesBefore: all.count, tops: tops))
    }
}

extension Ledger.Act {
    /// What stood there is gone, perhaps because it became something else before anybody looked.
    package var isRemoval: Bool { before != .absent && after != before }
}

extension Ledger.Page {
    /// What the machine tells of as having come here with its directory.
    package func told(by machine: Int) -> [Value] { told.filter { $0.machine == machine }.map(\.value) }

    /// A person looks at the path on a machine and sees `value`. If the daemon changed it since, that brought knowledge: not of what is made anew
    /// on the other machine and has not come yet, where it has brought back what it knew, as damage that it found after a power cut.
    mutating func look(at value: Value, on machine: Int, isUnaware: Bool = false) {
        guard shownValue[machine] != value else { return }
        shownValue[machine] = value
        if let act = source(of: value, besides: isUnaware ? ActSet() : shown[machine]) {
            shown[machine].formUnion(act.seen.inserting(act.number))
        }
    }

    /// The act that put a value here. Of several equal ones the oldest: who is taken to have seen less is judged more gently. (A conflict
    /// copy is nobody's act: what stands there may be as a daemon has put it.)
    func source(of value: Value, besides known: ActSet) -> Ledger.Act? {
        if value.isContent, known.isEmpty, acts.first?.before == value { return nil }
        return acts.first { $0.after == value && !known.contains($0.number) } ?? acts.first { $0.after == value }
    }

    mutating func append(
        machine: Int, before: Value, after: Value, time: Int64, isRacing: Bool, isBlind: Bool
    ) {
        let act = Ledger.Act(
            number: acts.count, machine: machine, before: before, after: after, time: time, seen: shown[machine],
            isRacing: isRacing, isAside: false, isBlind: isBlind, demand: .atPath)
        acts.append(act)
        wentWithDirectory = false
        isMissedAnew[machine] = false
        isUnrecorded[machine] = false
        wasRemovedUnaware = false
        shown[machine].insert(act.number)
        shownValue[machine] = after
    }

    /// Whoever acted has put there what he had removed just before.
    fileprivate func isPutBack(_ act: Ledger.Act) -> Bool {
        let removal = acts.last { $0.machine == act.machine && $0.number < act.number }
        return removal?.after == .absent && removal?.before == act.after
    }

    /// Somebody has disposed of a conflict copy with what an earlier act had put here.
    fileprivate func isDisposedOfSinceMade(_ value: Value, besides act: Ledger.Act) -> Bool {
        guard let maker = acts.last(where: { $0.after == value && $0.number != act.number }) else { return false }
        return discarded.contains { $0.value == value && $0.time >= maker.time }
    }

    mutating func takeBackLast() {
        let act = acts.removeLast()
        shown[act.machine] = act.seen
        shownValue[act.machine] = act.before
    }

    mutating func appendAside(machine: Int, before: Value, after: Value, time: Int64, demand: Ledger.Demand) {
        let source = acts.last { $0.after == before }
        acts.append(
            Ledger.Act(
                number: acts.count, machine: machine, before: before, after: after, time: time,
                seen: source.map { $0.seen.inserting($0.number) } ?? ActSet(), isRacing: false, isAside: true,
                isBlind: false, demand: demand))
    }

    mutating func notePutOver(_ value: Value, on machine: Int) {
        // (It is no act: what its person does next is done by what he sees then.)
        var page = self
        page.look(at: value, on: machine)
        putOver.append((machine, page.shown[machine]))
        backAtOnce.append(value)
    }

    /// Whoever acted last on the machine has put there what had stood there before.
    package func wasMadeAnew(as value: Value, on machine: Int) -> Bool {
        guard let last = acts.last(where: { $0.machine == machine }), last.after == value else { return false }
        return acts.contains { $0.after == value && $0.number < last.number }
    }

    /// Somebody who knew that it was gone has put there again what the removal took.
    fileprivate func wasMadeAnew(since removal: Ledger.Act) -> Bool {
        removal.after == .absent && acts.contains { $0.after == removal.before && $0.seen.contains(removal.number) }
    }

    package func wasPutOver(on machine: Int) -> Bool { putOver.contains { $0.machine == machine } }

    func wroteAside(_ value: Value) -> Bool { acts.contains { $0.isAside && $0.after == value } }

    mutating func leave(_ new: Ledger.Left) {
        if let lastLeaver, lastLeaver != new.machine { isSharedMetadata = true }
        lastLeaver = new.machine
        left = new
    }
}
