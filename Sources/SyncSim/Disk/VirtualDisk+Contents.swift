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
    package func tree() -> [(Path, VirtualEntry)] {
        root.map { entries(below: $0, .volatile).filter { !$0.0.isReserved } } ?? []
    }

    /// The same as a power cut would leave it at worst.
    package func durableTree() -> [(Path, VirtualEntry)] {
        root.map { entries(below: $0, .durable).filter { !$0.0.isReserved } } ?? []
    }

    /// Everything that exists on the folder's own file system, mounted or not: what is in here is not lost.
    package func allContents(_ layer: Layer = .volatile) -> [StoredContent] {
        entries(below: home, layer).map { path, entry in
            StoredContent(area: VirtualDisk.area(of: path), path: path, entry: entry)
        }
    }

    /// What was written to the mount point while the folder was away. The daemon must never add to it.
    package func strayContents() -> [(Path, VirtualEntry)] {
        entries(below: mountPoint, .volatile)
    }

    private static func area(of path: Path) -> StoredContent.Area {
        if !path.isReserved { return .tree }
        if path.isBelow(stagePath) { return .stage }
        if path.isBelow(versionsPath) { return .versions }
        return path.isBelow(quarantinePath) ? .quarantine : .own
    }

    private func entries(below directory: InodeKey, _ layer: Layer) -> [(Path, VirtualEntry)] {
        var result: [(Path, VirtualEntry)] = []
        collect(directory, .root, layer, into: &result)
        return result
    }

    private func collect(_ key: InodeKey, _ path: Path, _ layer: Layer, into result: inout [(Path, VirtualEntry)]) {
        let directory = inode(key)
        for (name, child) in layer == .volatile ? directory.entries : directory.safeEntries {
            let below = path.appending(name)
            result.append((below, inode(child).entry(layer)))
            if inode(child).isDirectory { collect(child, below, layer, into: &result) }
        }
    }
}

extension Inode {
    fileprivate func entry(_ layer: VirtualDisk.Layer) -> VirtualEntry {
        let state = layer == .volatile ? now : safe
        let content: VirtualEntry.Content =
            switch kind {
            case .file: .file(state.content)
            case .directory: .directory
            case .symlink: .symlink(target)
            case .special: .special
            }
        return VirtualEntry(content: content, mode: state.mode, modified: state.modified)
    }
}
