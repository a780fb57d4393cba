package import SyncModel

/// What must be findable now, computed from the acts alone.
extension Ledger {
    /// A value that somebody wrote and nobody who had seen it removed.
    package struct Duty: Sendable {
        package let path: Path
        package let value: Value
        package let demand: Demand
        /// Where it was written.
        package let machine: Int

        package func isSame(as other: Self, by machine: Int) -> Bool {
            self.machine == machine && path == other.path && value == other.value
        }
    }

    /// Every duty, in path order; excused ones are left out.
    package var duties: [Duty] {
        var result: [Duty] = []
        for (path, page) in pages {
            for act in page.acts where act.after.isContent {
                let demand = page.demand(of: act)
                if demand == .excused { continue }
                result.append(Duty(path: path, value: act.after, demand: demand, machine: act.machine))
            }
        }
        return result
    }

    /// A disaster has left nobody able to tell this value, where it stands, from what the disaster itself left there.
    package func mayBeRemains(_ value: Value, at path: Path) -> Bool {
        let makers = pages[path]?.acts.filter { $0.after == value } ?? []
        return makers.allSatisfy { $0.demand < .atPath }
    }

    /// A person removed or replaced this value at the path, whatever was written there later; `isUndone` if a disaster took
    /// that back.
    package func wasLetGo(_ value: Value, at path: Path, isUndone: Bool) -> Bool {
        pages[path]?.acts.contains { $0.before == value && $0.isUndone == isUndone } ?? false
    }

    /// Nobody put this value at the path but through a handle on a file that a daemon had taken from there before.
    package func wasOnlyWrittenAside(_ value: Value, at path: Path) -> Bool {
        let makers = pages[path]?.acts.filter { $0.after == value } ?? []
        return !makers.isEmpty && makers.allSatisfy(\.isAside)
    }

    /// A person wrote over this value in place without having looked: his folder has nothing of it any more.
    package func wasOverwrittenBlindly(_ value: Value, at path: Path) -> Bool {
        pages[path]?.acts.contains { $0.before == value && $0.isBlind && !$0.isUndone } ?? false
    }

    /// It was written on the other machine, and a power cut has taken it from this one: nobody but its author was to sync it there.
    package func isTaken(_ duty: Duty, from machine: Int) -> Bool {
        duty.machine != machine && duty.demand == .kept
            && pages[duty.path]?.remains.contains { $0.machine == machine && $0.value == duty.value } == true
    }

    /// What went with many others came back, and a person at the same machine deleted it again by itself.
    package func wentAgain(_ path: Path, since burst: Burst) -> Bool {
        pages[path]?.acts.contains {
            $0.machine == burst.machine && $0.after == .absent && $0.time > burst.time && !$0.isUndone
        } ?? false
    }

    /// A person has just removed it, or asked the daemon to set it aside.
    package func wasRemoved(_ path: Path, on machine: Int, at time: Int64) -> Bool {
        pages[path]?.acts.contains { $0.machine == machine && $0.after == .absent && $0.time == time } ?? false
    }

    /// What people have made since, and what has `arrived` from the other machine, counts as well by the time the deletes are
    /// judged: no daemon can know how many files there were at the very moment.
    package func enlarged(_ burst: Burst, by arrived: [Path] = []) -> Burst {
        var made = SortedMap(arrived.map { ($0, true) })
        for (path, page) in pages where page.acts.contains(where: { isMade($0, at: path, since: burst) }) {
            made[path] = true
        }
        var tops = burst.tops
        for (path, _) in made { if let top = path.top, top != path { tops[top, default: Burst.Top()].before += 1 } }
        return Burst(
            machine: burst.machine, time: burst.time, paths: burst.paths, all: burst.all,
            filesBefore: burst.filesBefore + made.count, tops: tops)
    }

    /// (Or in the same moment: a file in the place of a directory that went.)
    private func isMade(_ act: Act, at path: Path, since burst: Burst) -> Bool {
        let isLater = act.time > burst.time || act.time == burst.time && !burst.all.contains(key: path)
        return act.machine == burst.machine && isLater && act.before == .absent && act.after.isContent
    }

    /// How well a value of a path must be kept now. The head of the family of conflict copies knows more than the copy: a
    /// loser is owed under its first name.
    package func demand(of value: Value, at path: Path) -> Demand {
        var strongest = Demand.excused
        for page in ([path] + originals(of: path)).compactMap({ pages[$0] }) {
            for act in page.acts where act.after == value { strongest = max(strongest, page.demand(of: act)) }
        }
        return strongest
    }
}

extension Ledger.Page {
    /// As strong as it was written, unless somebody who had seen the value took it away. Who wrote over it without
    /// having looked leaves it at least in history.
    func demand(of act: Ledger.Act) -> Ledger.Demand {
        if act.isUndone || discarded.contains(where: { $0.value == act.after && $0.time >= act.time }) {
            return .excused
        }
        var demand = act.demand
        for other in acts where other.before == act.after && !other.isUndone && other.number != act.number {
            if act.seen.contains(other.number) { continue }
            demand = min(demand, other.isBlind ? .kept : .excused)
        }
        let isTold = told.contains { $0.machine != act.machine && $0.value == act.after }
        return isTold || isDisposedOf(act) || isRemains(act) ? min(demand, .kept) : demand
    }

    /// What a power cut had left was moved away and put back: nobody who finds it where it was can tell that from
    /// before. (What was done to the path on the other machine meanwhile does not alter it.)
    private func isRemains(_ act: Ledger.Act) -> Bool {
        remains.contains { remains in
            guard remains.machine == act.machine, remains.found == act.after, remains.acts <= act.number else {
                return false
            }
            let since = acts[remains.acts...act.number].filter { $0.machine == remains.machine }
            return since.first?.before == remains.found
                && since.allSatisfy { act in
                    [act.before, act.after].allSatisfy { $0 == .absent || $0 == remains.found }
                }
        }
    }

    /// Somebody replaced or removed what a power cut had left of the value. The daemon may see only what he made of it, and
    /// cannot know that he never saw the value itself.
    private func isDisposedOf(_ act: Ledger.Act) -> Bool {
        remains.contains { remains in
            remains.value == act.after && isOlder(act, than: remains)
                && acts.dropFirst(remains.acts).contains {
                    $0.machine == remains.machine && $0.before == remains.found && !$0.isUndone
                }
        }
    }

    /// Made before the cut. Or only moved away and back since, on the other machine, which told nobody.
    private func isOlder(_ act: Ledger.Act, than remains: Ledger.Remains) -> Bool {
        if act.number < remains.acts { return true }
        return act.machine != remains.machine
            && acts[remains.acts...act.number].allSatisfy { $0.after != act.after || $0.isBack }
    }

    /// In the tree, at its path or in a copy.
    func isOwed(_ act: Ledger.Act) -> Bool { demand(of: act) == .atPath }

    /// The acts that no other act has seen.
    package var leaves: [Ledger.Act] {
        let counted = acts.filter { !$0.isUndone }
        return counted.filter { act in !counted.contains { $0.seen.contains(act.number) } }
    }

    /// Everyone who had a say left nothing here.
    package var isDeleted: Bool {
        let leaves = leaves
        return !leaves.isEmpty && leaves.allSatisfy { $0.after == .absent }
    }

    /// Only people at one machine ever changed this path, and nothing blurred what they did.
    package var soleWriter: Int? {
        guard let first = acts.first?.machine ?? left?.machine, !isReverted, !isSharedMetadata else { return nil }
        if let left, left.machine != first { return nil }
        let isClear = acts.allSatisfy { $0.machine == first && !$0.isRacing && !$0.isAside && !$0.isUndone }
        return isClear ? first : nil
    }

    /// True if the value was written here while somebody else wrote something different: the only good reason for a conflict copy.
    package func isContested(_ value: Value) -> Bool {
        // Nobody meant what a crash left, and nobody can have seen it. Of what it brought back and something newer either may lose.
        // (An earlier state that a cut has given back looks like a write where somebody has changed its mode since.)
        if isEntangled || carried.contains(value) || !revived.isEmpty || wasLeft(value) || backAtOnce.contains(value) {
            return true
        }
        // A daemon's move of the directory has taken along what the rules left out on its machine: nobody has seen both.
        let makers = acts.filter { $0.after == value }
        if !makers.isEmpty, carriedFrom.contains(where: { $0.value != value && $0.value.isContent }) { return true }
        return makers.contains { maker in
            maker.isRacing || maker.isAside
                // (What its own daemon finds anew, because it was set back to before it had told of it, has been seen by nobody.)
                || isUnrecorded[maker.machine]
                // (Who has put another file with the same bytes over what it was made of meant that file.)
                || putOver.contains { $0.machine != maker.machine && !$0.seen.contains(maker.number) }
                || acts.contains { other in
                    other.after != value
                        && (other.isRacing || other.isAside
                            || (!other.seen.contains(maker.number) && !maker.seen.contains(other.number)
                                && other.number != maker.number))
                }
        }
    }

    /// Acts at this path of somebody other than the author of `value`, whether or not he had seen it.
    func isTouched(by machine: Int) -> Bool { acts.contains { $0.machine == machine } }
}

extension Ledger {
    /// The evidence for a conflict copy of `path` that holds `value`: a contest at the path itself, or a directory on one
    /// side against a file on the other, whose acts are on the pages below or above.
    package func isContested(_ value: Value, at path: Path) -> Bool {
        if let page = pages[path] {
            if page.isContested(value) { return true }
            let makers = page.acts.filter { $0.after == value }
            for maker in makers where isContestedBelow(path, by: maker) { return true }
        }
        return false
    }

    /// Somebody else did something below the path: there it was a directory for him. Or the same person after a power cut had given him the
    /// directory back in the place of the file.
    private func isContestedBelow(_ path: Path, by maker: Act) -> Bool {
        let isDirectoryBack = pages[path]?.remains.contains {
            $0.machine == maker.machine && $0.value == maker.after && $0.found == .directory
        }
        for (other, page) in pages.range(from: path) {
            if other == path { continue }
            guard other.isBelow(path) else { return false }
            if page.isTouched(by: 1 - maker.machine) || page.acts.contains(where: { $0.isRacing || $0.isUndone }) {
                return true
            }
            if isDirectoryBack == true,
                page.acts.contains(where: { $0.after != .absent && $0.time > maker.time })
            {
                return true
            }
            // What had been deleted there is back, because of a disaster or because a person refused to let it go: it needs
            // its directory, whatever stands in the place of that by now.
            if page.isReverted { return true }
        }
        return false
    }
}

extension Ledger {
    /// The directory was kept for something, though somebody deleted it. A special file was in it for a while: nobody syncs
    /// that, so its deleter cannot have seen it. It may have come with a directory that a daemon moved here. Or something
    /// lived in it when it was deleted on the other machine, or was written there before word of that had come, and went
    /// only later.
    package func wasHome(_ path: Path) -> Bool {
        let deletions = pages[path]?.acts.filter { $0.after == .absent } ?? []
        return pages.range(from: path).prefix { $0.key == path || $0.key.isBelow(path) }.contains { below, page in
            page.acts.contains { $0.after == .special } || page.carried.contains(.special)
                || below != path && deletions.contains { page.lived(during: $0) || page.wasWritten(after: $0) }
        }
    }

    /// Below the path, what a person at the other machine still saw there and took away after it had been deleted.
    package func wentLater(than path: Path) -> [Path] {
        let deletions = pages[path]?.acts.filter { $0.after == .absent } ?? []
        return pages.range(from: path).prefix { $0.key == path || $0.key.isBelow(path) }.filter { below, page in
            below != path
                && deletions.contains { deletion in
                    page.acts.contains {
                        $0.machine != deletion.machine && $0.before.isContent && $0.time > deletion.time
                    }
                }
        }.map(\.key)
    }
}

extension Ledger.Page {
    fileprivate func lived(during deletion: Ledger.Act) -> Bool {
        acts.contains { made in
            made.machine != deletion.machine && made.after != .absent && made.time <= deletion.time
                && !acts.contains {
                    $0.number > made.number && $0.before == made.after && $0.time <= deletion.time
                }
        }
    }

    /// Nobody can write anything in a directory that is not there, and nobody has made this one anew.
    fileprivate func wasWritten(after deletion: Ledger.Act) -> Bool {
        acts.contains { $0.machine != deletion.machine && $0.after != .absent && $0.time > deletion.time }
    }
}
