/// Power cuts. What was synced is there afterwards; of the rest a part that the model allows, drawn by chance.
package import SyncModel

package enum CrashModel: UInt8, CaseIterable, Sendable {
    /// Whatever POSIX does not promise may be missing: any un-synced content or name, in any order, torn anywhere.
    case strict
    /// Operations survive in order up to some point, and a file's data reaches the disk before its rename does (ext4).
    case ordered
    /// Names survive; content written to them and not synced has length zero (XFS).
    case zeroLength
    /// Syncing a file carries no renames with it; a file renamed and not synced may be found under both names (btrfs).
    case siblings
}

extension VirtualDisk {
    /// The machine stops now and is started again: programs, handles and everything that was only in memory are gone.
    package mutating func powerCut(model: CrashModel, random: inout SeededRandom) {
        let horizon = syncedSequence + UInt64(random.below(Int(sequence - syncedSequence) + 1))
        let surviving = survivors(model, horizon: horizon, random: &random)
        for (index, operation) in surviving.enumerated() {
            var settled = operation
            if model == .siblings, mayKeepOldName(operation, before: surviving[(index + 1)...]),
                random.chance(percent: 33)
            {
                settled.changes.removeLast()
            }
            settle(settled)
        }
        for key in inodes.keys {
            let inode = inodes[key]
            guard let unsynced = inode.unsynced else { continue }
            let outcome = Wreck(old: inode.safe, new: inode.syncable, unsynced: unsynced, isFile: inode.kind == .file)
            let left = outcome.state(model, horizon: horizon, timesMayTrail: faults.timesMayTrailData, random: &random)
            inodes[key].safe = left
        }
        startAgain()
    }

    /// The operations on names that are on the disk after all. Always a set that hangs together (`NameJournal`).
    private func survivors(_ model: CrashModel, horizon: UInt64, random: inout SeededRandom) -> [NameOperation] {
        let operations = journal.operations
        switch model {
        case .zeroLength:
            return operations
        case .ordered:
            return operations.filter { $0.sequence <= horizon || $0.kind == .leftover }
        case .strict, .siblings:
            // Now and then all or nothing, mostly something between.
            let percent = [0, 20, 50, 80, 100][random.below(5)]
            let drawn = operations.indices.filter { index in
                let isLucky = random.chance(percent: percent)
                let isForced = operations[index].kind == .leftover && model == .strict
                return isLucky || isForced
            }
            return journal.fullClosure(drawn).map { operations[$0] }
        }
    }

    /// A renamed file that nothing was done to since.
    private func mayKeepOldName(_ operation: NameOperation, before later: ArraySlice<NameOperation>) -> Bool {
        guard operation.kind == .rename, let moved = operation.objects.first, !inodes[moved.key].isDirectory else {
            return false
        }
        return !later.contains { $0.objects.contains { $0.number == moved.number } }
    }

    /// What is on the disk is all there is.
    private mutating func startAgain() {
        journal.removeAll()
        handles = SortedMap()
        stopWatching()
        let old = inodes
        inodes = InodeTable()
        var open: [InodeKey] = [home, mountPoint] + (root.map { $0 == home || $0 == mountPoint ? [] : [$0] } ?? [])
        for key in open { revive(key, from: old) }
        while let directory = open.popLast() {
            for (name, key) in inodes[directory].entries {
                if !inodes.contains(key) {
                    revive(key, from: old)
                    if inodes[key].isDirectory { open.append(key) }
                }
                inodes[key].links.append(Inode.Link(directory: directory, name: name))
                inodes[key].safeLinkCount += 1
            }
        }
        recount()
        syncedSequence = sequence
    }

    private mutating func revive(_ key: InodeKey, from old: InodeTable) {
        var inode = old[key]
        inode.now = inode.safe
        inode.entries = inode.safeEntries
        inode.unsynced = nil
        inode.hasLostPages = false
        inode.isFreed = false
        inode.isWatched = false
        inode.links = []
        inode.safeLinkCount = 0
        inodes.add(inode, key)
    }
}

/// What a power cut leaves of one inode with un-synced changes.
private struct Wreck {
    let old: Inode.State
    /// What a sync would have made durable.
    let new: Inode.State
    let unsynced: Inode.Unsynced
    let isFile: Bool

    func state(
        _ model: CrashModel, horizon: UInt64, timesMayTrail: Bool, random: inout SeededRandom
    ) -> Inode.State {
        switch model {
        case .strict: strict(timesMayTrail: timesMayTrail, random: &random)
        case .ordered: ordered(horizon: horizon, random: &random)
        case .zeroLength: zeroLength
        case .siblings:
            random.chance(percent: 50) ? new : withTimes(of: random.chance(percent: 50) ? new : old, old.content)
        }
    }

    private func strict(timesMayTrail: Bool, random: inout SeededRandom) -> Inode.State {
        switch random.below(4) {
        case 0: return withTimes(of: random.chance(percent: 50) ? new : old, old.content)
        case 1: return new
        default:
            // Data written after the times that tell of it is the rule; the other way round leaves no trace but the bytes.
            let timesAreOld = timesMayTrail && random.chance(percent: 50)
            return withTimes(of: timesAreOld ? old : new, torn(random: &random))
        }
    }

    /// As it was at the last rename if that survived, else as it was synced; then a part of what came later, from the front.
    private func ordered(horizon: UInt64, random: inout SeededRandom) -> Inode.State {
        var base = old
        var lowSize = unsynced.lowSize
        if let renamed = unsynced.atRename, renamed.sequence <= horizon {
            base = renamed.state
            lowSize = renamed.lowSize
        }
        if unsynced.sequence <= horizon && random.chance(percent: 50) { return new }
        if base.content.size == 0 || random.chance(percent: 50) {
            var grown = new.content
            let written = UInt64(random.below(Int(clamping: grown.size / 4_096) + 1)) * 4_096
            grown.truncate(to: max(min(base.content.size, lowSize), written))
            return withTimes(of: new, grown)
        }
        return base
    }

    private var zeroLength: Inode.State {
        var content = old.content
        if unsynced.lowSize < content.size { content.truncate(to: unsynced.lowSize) }
        return withTimes(of: new, content)
    }

    private func withTimes(of state: Inode.State, _ content: SparseBytes) -> Inode.State {
        var result = state
        result.content = content
        return result
    }

    /// Block by block the new bytes, the old ones or, where the room is fresh, zeros. What was synced and not written
    /// since is in every outcome.
    private func torn(random: inout SeededRandom) -> SparseBytes {
        guard isFile else { return new.content }
        let block: UInt64 = random.chance(percent: 50) ? 512 : 4_096
        let kept = min(unsynced.lowSize, old.content.size)
        var result = old.content
        result.truncate(to: size(kept: kept, block: block, random: &random))
        let numbers = merged(old.content.blocks(of: block), new.content.blocks(of: block))
        for number in numbers {
            let range = (number * block)..<((number + 1) * block)
            guard range.upperBound > kept || unsynced.dirty.overlaps(range) else { continue }
            switch random.below(3) {
            case 0: result.adopt(range, of: new.content)
            case 1 where range.lowerBound >= kept: result.punch(range)
            default: break
            }
        }
        return result
    }

    private func size(kept: UInt64, block: UInt64, random: inout SeededRandom) -> UInt64 {
        let longest = max(old.content.size, new.content.size)
        switch random.below(4) {
        case 0: return max(kept, old.content.size)
        case 1: return max(kept, new.content.size)
        case 2: return kept
        default: return min(longest, max(kept, UInt64(random.below(Int(clamping: longest / block) + 1)) * block))
        }
    }

    private func merged(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] {
        var result: [UInt64] = []
        for number in (left + right).sorted() where result.last != number { result.append(number) }
        return result
    }
}
