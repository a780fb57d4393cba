package import SyncModel

/// Power cuts and the operator's restored images: what they take back is not a person's act, and what nobody else could
/// know by then is excused. Everything that was on the other machine, or safely on disk, is not.
extension Ledger {
    /// What can be found on a machine.
    package struct Holdings: Sendable {
        package var tree: SortedMap<Path, Value>

        package init(tree: SortedMap<Path, Value>) {
            self.tree = tree
        }

        package func value(at path: Path) -> Value { tree[path] ?? .absent }

        /// At the path or at a conflict copy of it.
        package func holds(_ value: Value, near path: Path) -> Bool {
            if self.value(at: path) == value { return true }
            guard let parent = path.parent else { return false }
            for (other, found) in tree.range(from: parent) {
                if other != parent && !other.isBelow(parent) { return false }
                if found == value && ConflictFamily.isCopy(other, of: path) { return true }
            }
            return false
        }
    }

    /// The folder of `machine` went from one state to another by itself. `isSafe` says what had reached the disk for good
    /// and so had to stay, `isRecorded` where the base still says what stood there before, `isBehind` where the daemon
    /// remembers another state than the folder shows now, `isBackdated` where it would have to take what it finds for older
    /// than that by the times alone, `isDeleted` where it has on record that nothing is there any more, `isUnknown` where it
    /// has nothing on record, `isKnown` which value the base shows, `looksReplaced` where another file, which is newer by its
    /// times, stands in the place of that value, `isOldDirectory` where a directory does that is older than the file that the base
    /// shows, `isOnItsWay` what the daemon of the other machine has ready to put there, and
    /// `lostOnItsWay` what lay in the stage on its way to the name of a conflict copy, and does so no more.
    package mutating func struck(
        _ machine: Int, was: Holdings, is now: Holdings, other: Holdings, isSafe: (Path, Value) -> Bool,
        isRecorded: (Path) -> Bool = { _ in false }, isBehind: (Path) -> Bool = { _ in false },
        isBackdated: (Path) -> Bool = { _ in false }, isDeleted: (Path) -> Bool = { _ in false },
        isUnknown: (Path) -> Bool = { _ in false }, isKnown: (Path, Value) -> Bool = { _, _ in false },
        looksReplaced: (Path, Value) -> Bool = { _, _ in false },
        isOldDirectory: (Path) -> Bool = { _ in false },
        isOnItsWay: (Path, Value) -> Bool = { _, _ in false },
        lostOnItsWay: [(path: Path, value: Value)] = []
    ) {
        // What a taken-back rename has put to its old place again is where it was; nobody can tell that from a rename back.
        var returned: SortedMap<Value, Bool> = [:]
        for (path, value) in now.tree where value.isContent && was.value(at: path) != value {
            returned[value] = true
            // With a directory whose rename was taken back comes what was made in it at its new place.
            if pages[path] == nil { pages[path] = Page() }
        }
        // And with one whose rename stays what was renamed in it at its old place. A directory that stands there now, stands
        // there for whoever looks.
        for (path, value) in now.tree where value == .directory && !everStood(value, at: path) {
            pages[path, default: Page()].carried.append(value)
        }
        // What was renamed and is as it was before it was written over under its old name is only here: who replaces it here has seen it.
        for (path, value) in now.tree
        where value.isContent && !value.isEmpty && was.value(at: path) != value && !everStood(value, at: path) {
            let homes = pages.filter { home, page in
                home != path && now.value(at: home) != value && page.acts.contains { $0.after == value }
            }
            pages[path, default: Page()].carriedFrom += homes.map { (value, $0.key) }
        }
        for (copy, value) in was.tree where value.isContent && now.value(at: copy) != value && !isSafe(copy, value) {
            for original in originals(of: copy) {
                loseCopy(of: value, from: original, on: machine, now: now, other: other)
            }
        }
        for (path, value) in lostOnItsWay { loseCopy(of: value, from: path, on: machine, now: now, other: other) }
        for path in pages.keys {
            let (before, after) = (was.value(at: path), now.value(at: path))
            pages.update(path) { page in
                page.look(at: before, on: machine)
                if isBehind(path), before != after || isBackdated(path), !other.holds(after, near: path) {
                    page.returnOvertaken(after)
                    // (It counts as damage, and that somebody takes damage away says nothing of what is missing.)
                    page.isReverted = true
                }
                // A person has put it there, and no daemon has read that: once no row says any more where it was, the cut may have brought it back.
                if before == after, isOldDirectory(path) {
                    let known = page.acts.last { isKnown(path, $0.after) }
                    if let known { page.noteRemains(of: known.after, found: after, on: machine) }
                }
                guard before != after else { return }
                page.isReverted = true
                for index in page.acts.indices where page.acts[index].after == before && returned.contains(key: before)
                {
                    page.acts[index].demand = min(page.acts[index].demand, .inTree)
                }
                // What a crash left of a file stands there now, whoever reads it.
                if after.isContent, !page.acts.contains(where: { $0.after == after }) { page.carried.append(after) }
                if after.isContent, before == .absent { page.revived.append(after) }
                page.noteRemains(of: before, found: after, on: machine)
                // A name that the cut has given back looks just like one that somebody has given anew.
                if before.isContent, after.isContent, looksReplaced(path, before) { page.returnOvertaken(before) }
                // Newer times than the daemon knows over other bytes are somebody's last write, whole or in part, or so it looks:
                // also where they are the bytes of an earlier one.
                let isWritten = (page.isTorn(after) || after.isContent && isBehind(path)) && !isBackdated(path)
                // So is what is found where nothing was known, also nothing at all.
                if isWritten || after.isContent && isUnknown(path) { page.revived.append(after) }
                // What the other machine holds may be the same bytes from before.
                let acts = page.acts
                let leftThere = page.actsLeft(besides: machine)
                // A person had given it another name, and there it stayed: what he did was to the bytes that stand here now, or were lost.
                let isMovedAway = { (value: Value) in
                    value.isContent && value != after
                        && now.tree.contains { $0.key != path && $0.value == value && was.value(at: $0.key) == value }
                }
                // And there the cut has emptied it: its bytes are on record by the old name only, and history with that once something else has come
                // to stand there.
                for act in acts where act.machine == machine && act.after == .absent && act.before.isContent {
                    let isEmptied = now.tree.contains {
                        $0.key != path && $0.value.isEmpty && was.value(at: $0.key) == act.before
                    }
                    if isEmptied, before.isContent { page.returnOvertaken(act.before) }
                }
                // It will come to stand on the other machine, and what it replaces there is history (which need not be what it was written
                // over: of that the other may never have heard).
                let there = other.value(at: path)
                for act in acts where act.machine == machine && isOnItsWay(path, act.after) {
                    page.returnOvertaken(act.before)
                    if acts.contains(where: { $0.after == there && act.seen.contains($0.number) }) {
                        page.returnOvertaken(there)
                    }
                }
                page.revert(
                    machine, to: after, other: other.value(at: path), isRecorded: isRecorded(path) || isWritten,
                    isDeleted: isDeleted(path), lastKnown: acts.last { isKnown(path, $0.after) }?.number,
                    isKept: { act in
                        if act.after == .absent, isMovedAway(act.before) { return true }
                        let isFirst = !acts.contains {
                            ($0.after == act.after || $0.before == act.after) && $0.number < act.number
                        }
                        return isFirst && !leftThere.contains(act.number) && other.holds(act.after, near: path)
                            || (act.after == before && isSafe(path, act.after))
                    })
            }
        }
    }

    /// What nobody had synced was not safe at its path, and is not under the name of the copy that the daemon had just given it, or was about
    /// to.
    private mutating func loseCopy(
        of value: Value, from path: Path, on machine: Int, now: Holdings, other: Holdings
    ) {
        guard value.isContent, !now.holds(value, near: path), !other.holds(value, near: path) else { return }
        pages.update(path) { $0.loseCopy(of: value, from: machine) }
    }

    /// The folder of `machine` and all that its daemon knew are as they were at `time`. What had been put since where the same had
    /// stood before shows as if it were that: whoever had seen the earlier may have replaced it, and it is history then (what has been
    /// replaced since as well, where the other node has been told that the earlier was removed). What had come
    /// and gone again since is known to the other node as having come, unless that has been told of its going (`isToldGone`). What was put in
    /// the place of something since is known to the other as that, though the same had stood there before, where it has been told (`isTold`);
    /// so it is where somebody there has taken it away since. What stands there and its daemon has not on record (`isUnrecorded`: the rules had left it
    /// out by then) it finds as something new, also where somebody removes it from the other node before that has heard of it.
    package mutating func setBack(
        _ machine: Int, to time: Int64, was: Holdings, is now: Holdings, other: Holdings,
        isToldGone: (Path) -> Bool, isTold: (Path) -> Bool, isUnrecorded: (Path) -> Bool = { _ in false }
    ) {
        for path in pages.keys {
            let value = now.value(at: path)
            if value != .absent, isUnrecorded(path), isTold(path) {
                pages.update(path) { $0.isUnrecorded[machine] = true }
            }
            if value == .absent, was.value(at: path) == .absent, !isToldGone(path) {
                pages.update(path) { page in
                    let isGone = page.acts.contains { $0.machine == machine && $0.after == .absent && $0.time > time }
                    if isGone { page.isReverted = true }
                }
            }
            if hasLostNewName(path, on: machine, since: time, was: was, is: now, other: other) {
                pages.update(path) { $0.isReverted = true }
            }
            // It had lost a conflict by then, which the other node knows, though it may not have the copy yet that is gone with the image.
            if value.isContent, was.value(at: path) != value, was.holds(value, near: path),
                !other.holds(value, near: path)
            {
                pages.update(path) { $0.returnOvertaken(value) }
            }
            // The directory that is back had been taken away, and another made there that the other node has and tells of anew: whoever removes
            // the one has not seen the other.
            if [value, was.value(at: path), other.value(at: path)].allSatisfy({ $0 == .directory }) {
                pages.update(path) { page in
                    let isAnother = page.acts.contains {
                        $0.machine == machine && $0.after == .directory && $0.time > time
                    }
                    if isAnother { page.isReverted = true }
                }
            }
            let told = other.value(at: path)
            if value.isContent, told != .special, told != value, isTold(path) {
                pages.update(path) { page in
                    let put = page.acts.last { $0.machine == machine && $0.after == told && $0.time > time }
                    let isSeen = put.map { put in
                        page.acts.contains { $0.after == value && put.seen.contains($0.number) }
                    }
                    // (Or somebody there put it in the place of that.)
                    let isReplaced = page.acts.contains {
                        $0.machine == machine && $0.before == value && $0.time > time
                    }
                    if isSeen == true || put == nil && isReplaced { page.returnOvertaken(value) }
                }
            }
            // What was put in its place since is on its way there, and may have come by now.
            if value.isContent, was.value(at: path) != value, told == value, isTold(path) {
                pages.update(path) { page in
                    let isReplaced = page.acts.contains { put in
                        put.machine == machine && put.time > time && put.after.isContent && put.after != value
                            && page.acts.contains { $0.after == value && put.seen.contains($0.number) }
                    }
                    if isReplaced { page.returnOvertaken(value) }
                }
            }
            let isPutAgain = was.value(at: path) == value || isToldGone(path)
            guard value.isContent, isPutAgain, !other.holds(value, near: path) else { continue }
            pages.update(path) { page in
                for act in page.acts where act.machine == machine && act.after == value && act.time > time {
                    guard page.acts.contains(where: { $0.after == value && $0.number < act.number }) else { continue }
                    page.acts[act.number].demand = min(act.demand, .kept)
                }
            }
        }
    }

    /// A person has moved it away since, and with the image it is gone from where he had moved it. The other node has
    /// not moved it yet, and has it by its old name: taken away there, it would be in neither folder, though he had
    /// kept it.
    private func hasLostNewName(
        _ path: Path, on machine: Int, since time: Int64, was: Holdings, is now: Holdings, other: Holdings
    ) -> Bool {
        let value = other.value(at: path)
        guard value.isContent, was.value(at: path) == .absent, now.value(at: path) == .absent,
            let removal = pages[path]?.acts.last, removal.machine == machine, removal.time > time,
            removal.before == value, removal.after == .absent
        else { return false }
        return was.tree.contains { new, found in
            guard found == value, now.value(at: new) != value, other.value(at: new) != value else { return false }
            let acts = pages[new]?.acts ?? []
            return acts.contains { $0.machine == machine && $0.after == value && $0.time == removal.time }
        }
    }

    /// Only what the daemon of `machine` knew is as it was at `time`. What somebody there has removed since, and then put there anew with the same
    /// bytes, is what was known before (`isKnown`) for whoever compares, and goes as the other node has been told that it did (`isToldGone`).
    package mutating func forgotRemovals(
        on machine: Int, since time: Int64, isKnown: (Path, Value) -> Bool, isToldGone: (Path) -> Bool
    ) {
        for path in pages.keys where isToldGone(path) {
            pages.update(path) { page in
                for act in page.acts where act.machine == machine && act.after.isContent && isKnown(path, act.after) {
                    let isPutAgain = page.acts.contains {
                        $0.machine == machine && $0.before == act.after && $0.number < act.number && $0.time > time
                    }
                    if isPutAgain { page.acts[act.number].demand = min(act.demand, .kept) }
                }
            }
        }
    }

    /// What stands there now (`stands`) the daemon knows from before, and of the other node it hears of something else only. What somebody there has
    /// put since in the place of what had replaced the same is that for whoever compares: it goes to history as what had replaced it comes.
    package mutating func forgotReturns(on machine: Int, since time: Int64, stands: (Path) -> Value?) {
        for path in pages.keys {
            guard let value = stands(path) else { continue }
            pages.update(path) { page in
                for act in page.acts where act.machine == machine && act.after == value && act.time > time {
                    let isPutAgain = page.acts.contains { $0.before == value && act.seen.contains($0.number) }
                    if isPutAgain { page.acts[act.number].demand = min(act.demand, .kept) }
                }
            }
        }
    }

    /// Only what the daemon of `machine` knew was put back, and these stood there by then: that it has taken them away since, for the other node, it
    /// does not know, and to it they are missing like what a person there has removed.
    package mutating func forgotDepartures(of paths: [Path], on machine: Int) {
        for path in paths { pages.update(path) { $0.isMissedAnew[machine] = true } }
    }

    /// What the daemon of a machine that was set back was still to copy, for it had lost a conflict, and knows no more:
    /// the other node has had its word of that, and tells that it has been seen. It may be history then.
    package mutating func forgotCopy(of value: Value, at path: Path) {
        pages.update(path) { $0.returnOvertaken(value) }
    }

    /// The loser of a conflict stood beside in one folder only, and is gone from there with an image. Its author's node
    /// had let it go to the versions because it stood there, and knows nothing of that copy any more, or no more than that
    /// there is one, and not where it has the same bytes (`isUnknown`): nobody can tell that it is more than history.
    package mutating func lostLastCopies(
        was: Holdings, is now: Holdings, other: Holdings, isUnknown: (Path, Value) -> Bool
    ) {
        for (copy, value) in was.tree where value.isContent && now.value(at: copy) != value && isUnknown(copy, value) {
            for path in originals(of: copy) where !now.holds(value, near: path) && !other.holds(value, near: path) {
                pages.update(path) { $0.returnOvertaken(value) }
            }
        }
    }

    /// A person has moved a directory, or a file over another, or has given one the name of another besides, before its daemon had been through the
    /// folder after a power cut: what the cut has left of a value has gone along, and whoever mends it may do so where it is by then.
    /// (Over the same bytes, which is no act, as well.)
    package mutating func movedRemains(from old: Path, to new: Path, on machine: Int, holding value: Value) {
        let left = (pages[old]?.remains ?? []).filter { $0.machine == machine && $0.found == value }
        guard !left.isEmpty else { return }
        pages.update(new) { page in
            page.carried += left.map(\.value)
            page.remains += left.map { remains in
                Ledger.Remains(machine: machine, value: remains.value, found: remains.found, acts: page.acts.count)
            }
            guard let moved = page.acts.last, moved.machine == machine, moved.after == value else { return }
            page.acts[moved.number].demand = min(moved.demand, .kept)
        }
    }

    /// A person has written to a file and then moved it, before its daemon had been through the folder after a power cut, and by its times it was
    /// not written to since (a clock that was put back): for all that can be seen the cut has left that of what he moved. So it has where the cut
    /// has given the file the name back that it had before `old`, which is where its daemon knows it, and he has moved it from there.
    package mutating func movedOvertaken(from old: Path, to new: Path, on machine: Int) {
        let written = (pages[old]?.acts ?? []).filter { $0.machine == machine && $0.before.isContent }
        let taken = (pages[old]?.remains ?? []).filter { $0.machine == machine }
        pages[new, default: Page()].carried += written.map(\.before) + taken.map(\.value)
    }

    /// A person has moved an empty file over another, before its daemon had been through the folder after a power cut: that nothing was ever in it
    /// nobody can tell from what the cut has left of a file.
    package mutating func movedEmpty(to path: Path, on machine: Int) {
        pages.update(path) { page in
            guard let moved = page.acts.last, moved.machine == machine, moved.after.isEmpty else { return }
            page.acts[moved.number].demand = min(moved.demand, .kept)
        }
    }

    /// A person has removed or moved a directory before its daemon had been through the folder after a power cut: what the cut had taken from it
    /// he cannot have seen there, and for whoever finds the directory gone it went with that.
    package mutating func removedDirectory(_ directory: Path, on machine: Int) {
        for (path, page) in pages.range(from: directory) where path != directory {
            guard path.isBelow(directory) else { return }
            let taken = page.remains.filter { $0.machine == machine && $0.found == .absent }
            let isTakenDirectory =
                page.shownValue[machine] == .absent
                && page.acts.contains { $0.machine == machine && $0.isUndone && $0.after == .directory }
            if taken.isEmpty, !isTakenDirectory { continue }
            pages.update(path) { page in
                for remains in taken { page.returnOvertaken(remains.value) }
                page.wentWithDirectory = true
            }
        }
    }

    /// A person has put something into directories before his daemon had been through the folder after a power cut. Where the cut had given one back in
    /// the place of a file, he uses it as a directory: for whoever finds it, that he has put it there.
    package mutating func madeIn(_ directories: [Path], on machine: Int) {
        for directory in directories {
            pages.update(directory) { page in
                for remains in page.remains where remains.machine == machine && remains.found == .directory {
                    page.returnOvertaken(remains.value)
                }
            }
        }
    }

    /// A person had moved it away from the path before something else came there, and a disaster has taken back only that: what is owed under the old
    /// name again stands where he has moved it, and nowhere else. Who replaces it there has seen it.
    package mutating func stoodOn(_ value: Value, of path: Path, at places: [Path]) {
        for place in places where place != path { pages[place, default: Page()].carriedFrom.append((value, path)) }
    }

    /// Nobody has it any more, and nobody need have; or it may stay aside, where it is (`isKept`).
    package mutating func excuse(_ value: Value, at path: Path, isKept: Bool = false) {
        pages.update(path) { page in
            for index in page.acts.indices where page.acts[index].after == value {
                page.acts[index].demand = min(page.acts[index].demand, isKept ? .kept : .excused)
            }
        }
    }

    /// A person has replaced what his daemon has no record of, though the other node knows it from there: of the two either may lose.
    package mutating func replacedUnrecorded(_ value: Value, at path: Path) {
        pages.update(path) { $0.revived.append(value) }
    }

    /// Somebody removes it while what has just been refused is being marked to come back: all that is missing by then does.
    package mutating func removedAfterRefusal(_ path: Path, on machine: Int, at time: Int64) {
        guard let refusal = refusals[machine], time - refusal <= 2_000 else { return }
        pages.update(path) { $0.isReverted = true }
    }

    /// A crash may have taken back mode and time of what a machine left (`shown`: what it shows now). Or its daemon lost what
    /// it knew (`shown`: what the other shows, or has been told to show): which came later nobody can say. There is no copy of a mode or a
    /// time.
    package mutating func forgotMetadata(
        of machine: Int, shown: (Path) -> (mode: UInt16, modified: Timestamp)?
    ) {
        forgetLeft(by: machine) { path, left in
            shown(path).map { $0.mode != left.mode || $0.modified != left.modified } ?? false
        }
    }

    /// A crash may have taken back that somebody left it so, also where it had been so before: to the daemon, which has brought something else there
    /// since, that is what the cut has taken back, and it sets what it knows once more.
    package mutating func forgotLeaving(on machine: Int, changed: (Path) -> Timestamp?) {
        forgetLeft(by: machine) { path, left in changed(path).map { $0 < left.changed } ?? false }
    }

    /// What a machine left and the other, whose daemon has lost what it knew, does not show yet (`shown`: what that shows). Its first
    /// revision is as old as its file, and where that is younger than anything by the clock of who left it, that clock is behind:
    /// by times, which is all there is, the other was later.
    package mutating func metadataIsOld(on machine: Int, byItsClock wall: Int64, shown: (Path) -> Stat?) {
        forgetLeft(by: machine) { path, left in
            guard let found = shown(path), found.modified.milliseconds > wall else { return false }
            return found.mode != left.mode || found.modified != left.modified
        }
    }

    private mutating func forgetLeft(by machine: Int, where isForgotten: (Path, Left) -> Bool) {
        for path in pages.keys {
            guard let left = pages[path]?.left, left.machine == machine, isForgotten(path, left) else { continue }
            pages.update(path) { $0.left = nil }
        }
    }

    /// The operator put other things into the folder: for the daemon that is what any person might have done. What he laid
    /// over may end in quarantine, because a restored file looks like damage after a crash.
    package mutating func replacedTree(
        _ machine: Int, was: SortedMap<Path, Value>, is now: SortedMap<Path, Value>, at time: Int64
    ) {
        var paths: SortedMap<Path, Bool> = [:]
        for (path, _) in was { paths[path] = true }
        for (path, _) in now { paths[path] = true }
        for path in paths.keys {
            let (before, after) = (was[path] ?? .absent, now[path] ?? .absent)
            guard before != after else { continue }
            changed(path, on: machine, from: before, to: after, at: time, isRacing: true)
            pages.update(path) { page in
                page.isReverted = true
                if let last = page.acts.indices.last { page.acts[last].demand = .kept }
            }
        }
    }

    /// What was deleted here a moment before a power cut may come back: absence after one is no evidence.
    package mutating func doubted(_ paths: [Path]) {
        for path in paths { pages.update(path) { $0.isReverted = true } }
    }

    /// The clock of a machine was set before its daemon had been through the folder after a power cut. Of what was
    /// written meanwhile nobody can tell any more that it was: it may be set aside as damage, but not thrown away.
    package mutating func lostTrackOfTime(on machine: Int) {
        for path in pages.keys {
            pages.update(path) { page in
                for index in page.acts.indices
                where page.acts[index].machine == machine && page.acts[index].time >= strikes[machine] {
                    page.acts[index].demand = min(page.acts[index].demand, .kept)
                }
            }
        }
    }

    /// A person gave a file the time of an earlier writing before its daemon had read it after a power cut. Nothing but that time could say
    /// that he, or another, had written to it: it may be set aside as damage, but not thrown away.
    package mutating func backdated(_ path: Path, holding value: Value) {
        pages.update(path) { page in
            page.returnOvertaken(value)
            page.isReverted = true
        }
    }

    /// The daemon takes for damage by a power cut what somebody had on the disk before that cut, tells of it and keeps it. It may: where it had not
    /// read it by then, it is the cut that has it to answer for. What was made since must be known for what it is. True if it was owed.
    package mutating func tookForDamage(_ value: Value, at path: Path, on machine: Int) -> Bool {
        let strike = strikes[machine]
        guard let page = pages[path], page.acts.contains(where: { $0.after == value && page.isOwed($0) }),
            pages.contains(where: { entry in
                entry.value.acts.contains { $0.after == value && $0.machine == machine && $0.time <= strike }
            })
        else { return false }
        backdated(path, holding: value)
        return true
    }

    /// After a power cut somebody has moved a directory, and the process that had seen it ended before it had read what is in it (`looksOld`:
    /// the rows know another file there, the file is older than the boot, and the rows know the directory, or the file nowhere any more). For all
    /// that can be seen the cut has given that back: it may be set aside, but not thrown away.
    package mutating func broughtUnseen(on machine: Int, looksOld: (Path) -> Bool) {
        for (path, page) in pages {
            guard let act = page.acts.last(where: { $0.machine == machine }), act.time >= strikes[machine],
                act.before == .absent, act.after.isContent, looksOld(path)
            else { continue }
            pages.update(path) { $0.acts[act.number].demand = min(act.demand, .kept) }
        }
    }

    /// The clock of a machine stood still, or was behind, when it came up again after a power cut: what the cut has left bears times of
    /// now (`looksWritten`), as if somebody had just written it. What it was may be history then, but not lost.
    package mutating func remainsLookWritten(on machine: Int, looksWritten: (Path, Value) -> Bool) {
        for path in pages.keys {
            pages.update(path) { page in
                for remains in page.remains where remains.machine == machine && looksWritten(path, remains.found) {
                    page.returnOvertaken(remains.value)
                }
            }
        }
    }

    /// The clock of a machine was set back before it came up again after a power cut, and what stands there bears the time of an earlier
    /// writing than what is on record (`older`: by all that can be seen). It may be set aside as damage, but not thrown away.
    package mutating func foundOlder(on machine: Int, older: (Path) -> Value?) {
        for path in pages.keys {
            if let value = older(path) { pages.update(path) { $0.returnOvertaken(value) } }
        }
    }

    /// A person refused a mass deletion: what was to go stays, though it had been deleted. That is also said of what the
    /// daemon has `held` and somebody has made anew a moment ago: what was there before comes back unless the new is seen first.
    package mutating func rejectedDeletions(of held: [Path] = [], on machine: Int, at time: Int64) {
        refusals[machine] = time
        doubted(held)
        for path in pages.keys {
            pages.update(path) { page in
                // (A special file in its place is nothing to the daemon.)
                if page.leaves.contains(where: { [.absent, .special].contains($0.after) }) { page.isReverted = true }
            }
        }
    }

    /// The daemon of a machine lost what it knew: it may take the old for new, and it does not know any more what it had
    /// just moved aside. What a late writer put into that stays there (`isInTree` where it had come back by then).
    /// What was on its way out of its place (`isOnItsWay`) and is in no folder stays aside: nobody knows where it was. What somebody had moved and
    /// the other node shows under its former name (`other`) is told of by that, and may stand there again.
    package mutating func forgot(
        _ machine: Int, isInTree: (Value) -> Bool, other: Holdings = Holdings(tree: [:]),
        isOnItsWay: (Value, Path) -> Bool = { _, _ in false }
    ) {
        hasForgotten = true
        displacements[machine] = [:]
        strandLateWrites(on: machine, isInTree: isInTree)
        for path in pages.keys {
            let moved = (pages[path]?.acts ?? []).filter { isUnderFormerName($0, at: path, on: machine, in: other) }
            pages.update(path) { page in
                for act in moved { page.acts[act.number].demand = min(act.demand, .inTree) }
                for index in page.acts.indices where isOnItsWay(page.acts[index].after, path) {
                    page.acts[index].demand = min(page.acts[index].demand, .kept)
                }
            }
        }
    }

    private func isUnderFormerName(_ act: Act, at path: Path, on machine: Int, in other: Holdings) -> Bool {
        guard act.machine == machine, act.after.isContent, !other.holds(act.after, near: path) else { return false }
        return other.tree.contains { place, found in
            found == act.after && pages[place]?.acts.contains { $0.machine == machine && $0.before == found } == true
        }
    }

    /// What late writers put into files that had been moved aside stays there. After a power cut nobody can tell the whole
    /// of what was written from a part of it; what `isGone` with the cut was never synced.
    package mutating func strandLateWrites(
        on machine: Int, isInTree: (Value) -> Bool, isGone: (Value) -> Bool = { _ in false }
    ) {
        for path in pages.keys {
            pages.update(path) { page in
                for index in page.acts.indices {
                    let act = page.acts[index]
                    guard act.machine == machine, act.isAside, !isInTree(act.after) else { continue }
                    page.acts[index].demand = min(act.demand, isGone(act.after) ? .excused : .kept)
                }
            }
        }
    }
}

extension Ledger.Page {
    /// A person has removed it, if only on the other machine, and the daemon of this one has done so for him and does not know it.
    package func isMissedAnew(on machine: Int) -> Bool {
        isMissedAnew[machine] && acts.contains(where: \.isRemoval)
    }

    /// A daemon has it and does not know that the other has been told of it, and finds it as something new.
    package var isFoundAnew: Bool { isUnrecorded.contains(true) }

    /// A power cut has put it in the place of something else.
    func wasLeft(_ value: Value) -> Bool { remains.contains { $0.found == value } }

    /// (With the same bytes, which is no act: but whoever finds another file there, or later times, takes that for a person's.)
    mutating func overwriteRemains(on machine: Int) {
        let written = remains.filter { $0.machine == machine && $0.found == shownValue[machine] }
        for remains in written { returnOvertaken(remains.value) }
        if let found = written.first?.found { revived.append(found) }
    }

    /// What was made here after an earlier cut had left just the same on the other machine, empty as what is made anew: that is not it.
    func actsLeft(besides machine: Int) -> ActSet {
        let left = acts.filter { act in
            act.machine == machine
                && remains.contains { $0.machine != machine && $0.found == act.after && $0.acts <= act.number }
        }
        return left.reduce(into: ActSet()) { $0.insert($1.number) }
    }

    mutating func noteRemains(of value: Value, found: Value, on machine: Int) {
        guard value.isContent, found != value else { return }
        // What a second power cut left of the remains is left of the value.
        let lost = [value] + remains.filter { $0.machine == machine && $0.found == value }.map(\.value)
        remains += lost.map { Ledger.Remains(machine: machine, value: $0, found: found, acts: acts.count) }
    }

    /// Some bytes that nobody wrote just so. (Nothing at all is taken for damage.)
    func isTorn(_ value: Value) -> Bool {
        guard case .file(let print) = value, print.size > 0 else { return false }
        return !acts.contains { $0.after == value }
    }

    /// A crash brought back what a person had replaced, or what he wrote unseen carries the times of an earlier clock. Nobody
    /// who finds it in the place of something newer can tell it from damage: it may be set aside, but not thrown away.
    mutating func returnOvertaken(_ value: Value) {
        for index in acts.indices where acts[index].after == value {
            acts[index].demand = min(acts[index].demand, .kept)
        }
    }

    /// Whoever wrote it had seen what he replaced, and the daemon had that on record: it may be history by now.
    mutating func loseCopy(of value: Value, from machine: Int) {
        for index in acts.indices where acts[index].after == value && acts[index].machine == machine {
            acts[index].isUndone = true
            isReverted = true
            returnOvertaken(acts[index].before)
        }
    }

    /// The folder shows `value` now. Acts that only this folder knew, and that are gone with the change, never
    /// happened. If the daemon has them on record, or finds a part of them that looks like a write of somebody's, it
    /// follows them all the same: what they replaced may be history by then.
    mutating func revert(
        _ machine: Int, to value: Value, other: Value, isRecorded: Bool, isDeleted: Bool, lastKnown: Int?,
        isKept: (Ledger.Act) -> Bool
    ) {
        let was = shown[machine]
        var remaining = ActSet()
        if let act = acts.first(where: { $0.after == value && was.contains($0.number) }) {
            remaining = act.seen.inserting(act.number)
        }
        shown[machine] = remaining
        shownValue[machine] = value
        var known = remaining
        // Of several equal values nobody can tell which is back: what was replaced before the last of them may be history.
        if let act = acts.last(where: { $0.after == value && was.contains($0.number) }) {
            known.formUnion(act.seen.inserting(act.number))
        }
        let leftThere = actsLeft(besides: machine)
        if let act = source(of: other, besides: ActSet()), !leftThere.contains(act.number) {
            known.formUnion(act.seen.inserting(act.number))
        }
        // (The oldest of several equal ones: a person who left it like that on the other machine may have known more.)
        if shownValue[1 - machine] == other { known.formUnion(shown[1 - machine]) }
        // A removal that the daemon has told of stays told, though the file may be back.
        if isDeleted, let act = acts.last(where: { $0.after == .absent && was.contains($0.number) }) {
            known.formUnion(act.seen.inserting(act.number))
        }
        for index in acts.indices {
            let act = acts[index]
            if act.machine == machine, was.contains(act.number), !known.contains(act.number), !isKept(act) {
                acts[index].isUndone = true
                if isRecorded || lastKnown.map({ act.number <= $0 }) == true {
                    returnOvertaken(act.before)
                    // And what an earlier cut had left that of: whoever has replaced the remains is on record with it.
                    let remains = remains.filter {
                        $0.machine == machine && $0.found == act.before && $0.acts <= act.number
                    }
                    for lost in remains { returnOvertaken(lost.value) }
                }
                // Or it had come to the other machine, and an earlier cut has left that of it there: what it replaced is history.
                if remains.contains(where: { $0.machine != machine && $0.value == act.after }) {
                    returnOvertaken(act.before)
                }
                // What had been removed is back, but not whole. Or what had been replaced is not, and may be whole elsewhere.
                if act.before != value { noteRemains(of: act.before, found: value, on: machine) }
            }
        }
    }
}
