/// The disk as checkers see it: without faults, both layers, our own directories included.
package import SyncModel

package struct VirtualEntry: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case file(SparseBytes)
        case directory
        case symlink([UInt8])
        case special
    }

    package let content: Content
    package let mode: UInt16
    package let modified: Timestamp

    /// Of a file.
    package var bytes: [UInt8]? {
        if case .file(let content) = content { return content.bytes }
        return nil
    }
}

/// Something that still exists, and in which part of the folder.
package struct StoredContent: Hashable, Sendable {
    package enum Area: UInt8, Hashable, Sendable {
        case tree, stage, versions, quarantine
        /// Elsewhere in our own directory.
        case own
    }

    package let area: Area
    /// From the root.
    package let path: Path
    package let entry: VirtualEntry
    package let stat: Stat
}

extension VirtualDisk {
    /// Which of the two states of the disk is meant.
    package enum Layer: Sendable {
        /// What programs see.
        case volatile
        /// What is left if nothing survives a power cut that need not.
        case durable
    }

    /// What a user sees in the folder, in path order. What stands in the folder's place while it is away is seen too.
    package func tree() -> [(Path, VirtualEntry)] { tree(.volatile) }

    /// The same as a power cut would leave it at worst.
    package func durableTree() -> [(Path, VirtualEntry)] { tree(.durable) }

    /// Everything that exists on the folder's own file system, mounted or not: what is in here is not lost.
    package func allContents(_ layer: Layer = .volatile) -> [StoredContent] {
        found(below: home, layer).map { path, key in
            inodes.look(at: key) { inode in
                StoredContent(
                    area: VirtualDisk.area(of: path), path: path, entry: inode.entry(layer), stat: inode.stat(layer))
            }
        }
    }

    /// What was written to the mount point while the folder was away. The daemon must never add to it.
    package func strayContents() -> [(Path, VirtualEntry)] {
        found(below: mountPoint, .volatile).map { ($0, inodes[$1].entry(.volatile)) }
    }

    /// True if something stands at the path, and neither its content nor a name on the way to it has been changed since it
    /// was synced: it will be there, just so, after any power cut.
    /// `orSpoilt`: or a sync of it has failed, and no other will tell.
    package func isSettled(_ path: Path, orSpoilt isSpoiltToo: Bool = false) -> Bool {
        guard var current = root else { return false }
        for component in path.bytes.split(separator: 0x2F) {
            guard let name = Name(Array(component)), let next = inodes[current].entries[name] else { return false }
            if journal.touches(name, in: current) { return false }
            current = next
        }
        let inode = inodes[current]
        if inode.hasLostPages { return isSpoiltToo }
        guard let unsynced = inode.unsynced else { return true }
        // A change of mode or times alone leaves the content settled.
        let size = inode.safe.content.size
        return unsynced.dirty.isEmpty && unsynced.lowSize == size && inode.now.content.size == size
    }

    private func tree(_ layer: Layer) -> [(Path, VirtualEntry)] {
        guard let root else { return [] }
        return found(below: root, layer).compactMap { $0.isReserved ? nil : ($0, inodes[$1].entry(layer)) }
    }

    private static func area(of path: Path) -> StoredContent.Area {
        if !path.isReserved { return .tree }
        if path.isBelow(stagePath) { return .stage }
        if path.isBelow(versionsPath) { return .versions }
        return path.isBelow(quarantinePath) ? .quarantine : .own
    }

    private func found(below directory: InodeKey, _ layer: Layer) -> [(Path, InodeKey)] {
        var result: [(Path, InodeKey)] = []
        collect(directory, .root, layer, into: &result)
        return result
    }

    private func collect(_ key: InodeKey, _ path: Path, _ layer: Layer, into result: inout [(Path, InodeKey)]) {
        for (name, child) in layer == .volatile ? inodes[key].entries : inodes[key].safeEntries {
            let below = path.appending(name)
            result.append((below, child))
            if inodes.isDirectory(child) { collect(child, below, layer, into: &result) }
        }
    }
}

extension Inode {
    @inline(__always)
    fileprivate func entry(_ layer: VirtualDisk.Layer) -> VirtualEntry {
        let state = state(layer)
        let content: VirtualEntry.Content =
            switch kind {
            case .file: .file(state.content)
            case .directory: .directory
            case .symlink: .symlink(target)
            case .special: .special
            }
        return VirtualEntry(content: content, mode: state.mode, modified: state.modified)
    }

    @inline(__always)
    fileprivate func stat(_ layer: VirtualDisk.Layer) -> Stat { stat(of: state(layer)) }

    @inline(__always)
    private func state(_ layer: VirtualDisk.Layer) -> State { layer == .volatile ? now : safe }
}
