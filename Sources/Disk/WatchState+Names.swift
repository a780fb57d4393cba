/// Looking at a name that something has happened to, and giving watches to what is found there.
import Glibc
import SyncModel

extension WatchState {
    /// Sets the table right about a name, and about everything below if a directory has appeared there; but not below
    /// one that a scan is about to list.
    mutating func look(_ slot: Slot, lists: Bool = true) {
        var open = [slot]
        var listed = 0
        while let slot = open.popLast(), !isLost {
            do throws(Failure) {
                guard let (watch, directory) = try see(slot), lists, !table.isCovered(watch) else { continue }
                table.cover(watch)
                let names = try list(directory, watch, &listed)
                open += names.map { Slot(parent: watch, name: $0) }
            } catch {
                // A directory that may not be read is told by the scan. Anything else will pass.
                if error.error != .permission && !error.isAbsence { news.hasOverflowed = true }
            }
        }
    }

    /// The directory that bears the name now, and is watched.
    private mutating func see(_ slot: Slot) throws(Failure) -> (WatchNumber, OpenFile)? {
        if !table.contains(slot.parent) { return nil }
        if table.isBeyond(slot.parent) { return nil }
        guard !table.isRemoved(slot.parent), let parent = table.path(of: slot.parent),
            let above = try directory(of: slot.parent, at: parent)
        else {
            unseen.append(slot)
            return nil
        }
        guard let path = parent.child(slot.name), !path.isReserved else { return nil }
        guard !rules.isIgnored(path.bytes, isDirectory: true), let found = try directory(slot.name, in: above),
            let watch = try watch(found)
        else {
            table.clear(slot.name, in: slot.parent)
            return nil
        }
        isLost = !table.place(watch, found.status, slot.name, in: slot.parent)
        return isLost ? nil : (watch, found)
    }

    /// A directory of the table; nil if its path leads elsewhere by now.
    private func directory(of watch: WatchNumber, at path: Path) throws(Failure) -> OpenFile? {
        do throws(Failure) {
            let found = try OpenFile(try folder.openDirectory(path, .way))
            return table.identity(of: watch)?.isSameFile(as: found.status) == true ? found : nil
        } catch {
            if error.isAbsence || error.error == .crossDevice { return nil }
            throw error
        }
    }

    /// Nil if there is no directory of ours under the name.
    private func directory(_ name: [UInt8], in above: OpenFile) throws(Failure) -> OpenFile? {
        do throws(Failure) {
            let found = try OpenFile(try above.descriptor.openChild(CName(name), .way))
            return found.status.device == folder.device.raw ? found : nil
        } catch {
            if error.isAbsence || error.error == .crossDevice { return nil }
            throw error
        }
    }

    /// Nil if the kernel refuses, or the directory went while it was looked at.
    private mutating func watch(_ directory: OpenFile) throws(Failure) -> WatchNumber? {
        do throws(Failure) {
            let watch = try queue.add(directory.descriptor, isRoot: false)
            // It may have come back before its watch was gone.
            retired.remove(watch)
            return watch
        } catch {
            if error.errno == ENOSPC || error.errno == ENOMEM {
                noteLimit()
                return nil
            }
            if error.isAbsence { return nil }
            throw error
        }
    }

    mutating func noteUnwatched() {
        news.limitReached = true
        isLimited = true
        wasRefusedInScan = true
    }

    /// What is in a directory that has just got its watch was there before it. The names that may be directories.
    private mutating func list(
        _ directory: OpenFile, _ watch: WatchNumber, _ listed: inout Int
    ) throws(Failure) -> [[UInt8]] {
        guard let path = table.path(of: watch) else { return [] }
        let listing = try Listing(of: try directory.descriptor.openChild(.current, .list))
        var directories: [[UInt8]] = []
        for index in listing.indices {
            let name = Array(listing.name(at: index))
            guard let child = path.child(name) else { continue }
            if listing.isDirectory(at: index) ?? true { directories.append(name) }
            listed += 1
            if listed > WatchState.listedMax { news.hasOverflowed = true } else { news.note(child, .touched) }
        }
        return directories
    }

    mutating func release(_ watch: WatchNumber) {
        retired.formUnion(table.remove(watch))
    }

    /// Before the queue is read: there is room for what this writes.
    mutating func retire() {
        for watch in retired.prefix(WatchState.retiredAtOnceMax) {
            queue.remove(watch)
            retired.remove(watch)
        }
    }
}

extension Path {
    /// Nil if it is no path within the limits.
    func child(_ name: [UInt8]) -> Path? {
        Path(isRoot ? name : bytes + [0x2F] + name)
    }
}
