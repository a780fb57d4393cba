/// How state gets from what programs see to stable storage: by fsync, and by the kernel in its own time.
import SyncModel

extension VirtualDisk {
    /// fsync of a file: its content, its mode and its times. Not its name.
    /// After a failure the pages count as clean: a second fsync succeeds, and what was lost stays lost.
    /// Where the one who is told would write everything once more, the pages stay to be written (`keepingPages`).
    mutating func syncInode(_ key: InodeKey, at path: Path, keepingPages: Bool = false) -> DiskError? {
        if inodes[key].isDirectory { return syncDirectory(key, at: path) }
        if inodes[key].kind == .special { return .unsupported }
        guard !faults.strikesSync(path) else {
            if !keepingPages { inodes[key].dropPages() }
            return .inputOutput
        }
        inodes[key].makeSafe()
        syncedSequence = sequence
        return nil
    }

    /// fsync of a directory: the names in it. After a failure they are as un-synced as before.
    mutating func syncDirectory(_ key: InodeKey, at path: Path) -> DiskError? {
        guard !faults.strikesSync(path) else { return .inputOutput }
        inodes[key].makeSafe()
        syncedSequence = sequence
        let touching = journal.indices(touching: key)
        if touching.isEmpty { return nil }
        if journal.makes(key) {
            // Its own name may still be lost, and then what is in it is lost with it; but not otherwise.
            journal.anchor(journal.closure(touching), in: key)
        } else {
            settleNames(touching, syncing: key)
        }
        return nil
    }

    /// What the kernel does every few seconds: changes of a certain age are written, without being asked for.
    package mutating func writeBack(olderThan milliseconds: UInt64) {
        guard uptimeMilliseconds >= milliseconds else { return }
        let latest = uptimeMilliseconds - milliseconds
        let old = journal.operations.indices.prefix { journal.operations[$0].uptimeMilliseconds <= latest }
        if let last = old.last {
            syncedSequence = max(syncedSequence, journal.operations[last].sequence)
            settleNames(Array(old), syncing: nil)
        }
        for key in inodes.keys {
            guard let since = inodes[key].unsynced?.sinceMilliseconds, since <= latest else { continue }
            inodes[key].makeSafe()
        }
    }

    /// sync(2), as an orderly shutdown does it.
    package mutating func syncEverything() {
        settleNames(Array(journal.operations.indices), syncing: nil)
        for key in inodes.keys where inodes[key].unsynced != nil { inodes[key].makeSafe() }
        syncedSequence = sequence
    }

    /// True if a power cut could change nothing.
    package var isSynced: Bool {
        journal.isEmpty && inodes.keys.allSatisfy { inodes[$0].unsynced == nil }
    }

    /// Brings these operations on names to stable storage, with all they hang on. A rename from another directory into
    /// the one being synced is there with its new name only: whether the old one is gone too is that directory's affair.
    private mutating func settleNames(_ wanted: [Int], syncing directory: InodeKey?) {
        let taken = journal.remove(journal.fullClosure(wanted))
        for (index, operation) in taken.enumerated() {
            var settled = operation
            if let directory, isHalfSettled(operation, by: directory),
                !taken[(index + 1)...].contains(where: { $0.dependsOn(operation) })
            {
                settled.changes.removeLast()
                journal.insert(operation.leftover)
            }
            settle(settled)
        }
        for operation in taken {
            for object in operation.objects { release(object.key) }
        }
    }

    private func isHalfSettled(_ operation: NameOperation, by directory: InodeKey) -> Bool {
        guard operation.kind == .rename, operation.changes.count == 2, let moved = operation.objects.first else {
            return false
        }
        return operation.changes[0].directory == directory && operation.changes[1].directory != directory
            && !inodes[moved.key].isDirectory
    }

    /// Does to stable storage what the operation did to the names that programs see.
    mutating func settle(_ operation: NameOperation) {
        for change in operation.changes {
            let replaced = inodes[change.directory].safeEntries[change.name]
            inodes.update(change.directory) { directory in
                directory.safeEntries[change.name] = change.inode
                directory.safe.modified = operation.stamp
                directory.safe.changed = operation.stamp
            }
            if let replaced { inodes[replaced].safeLinkCount -= 1 }
            if let inode = change.inode { inodes[inode].safeLinkCount += 1 }
        }
        for object in operation.objects { inodes[object.key].safe.changed = operation.stamp }
    }
}
