/// Which watch belongs to which directory, and how these hang together. It knows no system call.
///
/// A watch follows its directory through renames, so a directory is known by its parent's watch and its name there;
/// moving one moves everything below it. A directory that is not where it was is adrift until it is seen elsewhere or
/// given up. One that was removed keeps its path: the kernel goes on telling of it for as long as a file is open that was in it.
import SyncModel

/// What a queue calls a watch: the kernel's number, or one given in its place.
struct WatchNumber: Hashable, Sendable, ExpressibleByIntegerLiteral {
    let rawValue: Int32

    init(_ rawValue: Int32) { self.rawValue = rawValue }
    init(integerLiteral value: Int32) { self.init(value) }

    var next: WatchNumber { WatchNumber(rawValue + 1) }
}

struct WatchTable {
    private struct Node {
        /// Nil for the root and for what is adrift.
        var parent: WatchNumber?
        var name: [UInt8]
        let identity: Status
        /// The directories in it have their watches, as far as they were there when it got its own.
        var isCovered = false
        var children: [[UInt8]: WatchNumber] = [:]
    }

    private var nodes: [WatchNumber: Node] = [:]
    private(set) var root: WatchNumber?
    private(set) var adrift: Set<WatchNumber> = []
    private var buried: [WatchNumber: Removed] = [:]
    private var removals: UInt64 = 0
    static let removedMax = 1_024

    private struct Removed {
        let path: Path
        let number: UInt64
    }

    /// Without those of directories that were removed.
    var count: Int { nodes.count - buried.count }

    func contains(_ watch: WatchNumber) -> Bool { nodes[watch] != nil }

    func identity(of watch: WatchNumber) -> Status? { nodes[watch]?.identity }

    func child(_ name: [UInt8], of watch: WatchNumber) -> WatchNumber? { nodes[watch]?.children[name] }

    /// Nil for what is adrift or unknown, and for what is beyond the limits of a path.
    func path(of watch: WatchNumber) -> Path? {
        if let known = buried[watch] { return known.path }
        return names(to: watch).flatMap { Path(Array($0.joined(separator: [0x2F]))) }
    }

    /// It was moved to where it is too deep, or its name too long, to be a path. The scan reports that.
    func isBeyond(_ watch: WatchNumber) -> Bool {
        names(to: watch) != nil && path(of: watch) == nil
    }

    /// From the root; nil for what does not hang on it.
    private func names(to watch: WatchNumber) -> [[UInt8]]? {
        var names: [[UInt8]] = []
        var current = watch
        while current != root {
            guard let node = nodes[current], let parent = node.parent else { return nil }
            names.append(node.name)
            current = parent
        }
        return names.reversed()
    }

    mutating func setRoot(_ watch: WatchNumber, _ identity: Status) {
        nodes[watch] = Node(parent: nil, name: [], identity: identity)
        root = watch
    }

    /// The directory of this watch has been seen under this name in the directory of `parent`. False if it would lie
    /// within itself: what the table says of the directories above is no longer true.
    mutating func place(
        _ watch: WatchNumber, _ identity: Status, _ name: [UInt8], in parent: WatchNumber
    ) -> Bool {
        if isWithin(parent, watch) { return false }
        if child(name, of: parent) == watch { return true }
        if contains(watch) { unlink(watch) } else { nodes[watch] = Node(parent: nil, name: [], identity: identity) }
        clear(name, in: parent)
        nodes[watch]?.parent = parent
        nodes[watch]?.name = name
        nodes[parent]?.children[name] = watch
        adrift.remove(watch)
        buried[watch] = nil
        return true
    }

    func isCovered(_ watch: WatchNumber) -> Bool { nodes[watch]?.isCovered ?? false }

    mutating func cover(_ watch: WatchNumber) {
        nodes[watch]?.isCovered = true
    }

    /// No directory bears this name here: what did is adrift.
    mutating func clear(_ name: [UInt8], in parent: WatchNumber) {
        guard let watch = nodes[parent]?.children[name] else { return }
        unlink(watch)
        adrift.insert(watch)
    }

    /// A directory was removed. If it was another one that bore the name, looking at that puts this one back. The one that makes
    /// room for it: a queue may never say that the last file in a directory is closed.
    mutating func bury(_ watch: WatchNumber, at path: Path) -> WatchNumber? {
        let oldest =
            buried.count < WatchTable.removedMax ? nil : buried.min { $0.value.number < $1.value.number }?.key
        unlink(watch)
        removals += 1
        buried[watch] = Removed(path: path, number: removals)
        return oldest
    }

    func isRemoved(_ watch: WatchNumber) -> Bool { buried[watch] != nil }

    /// What was in directories that were removed and has not been seen elsewhere.
    var leftBehind: [WatchNumber] { buried.keys.flatMap { nodes[$0].map { Array($0.children.values) } ?? [] } }

    /// Forgets a directory and everything below it; the watches that went.
    mutating func remove(_ watch: WatchNumber) -> [WatchNumber] {
        guard contains(watch) else { return [] }
        unlink(watch)
        var removed: [WatchNumber] = []
        var open = [watch]
        while let next = open.popLast() {
            guard let node = nodes.removeValue(forKey: next) else { continue }
            removed.append(next)
            adrift.remove(next)
            buried[next] = nil
            if next == root { root = nil }
            open += node.children.values
        }
        return removed
    }

    private mutating func unlink(_ watch: WatchNumber) {
        guard let node = nodes[watch] else { return }
        if let parent = node.parent { nodes[parent]?.children[node.name] = nil }
        nodes[watch]?.parent = nil
    }

    private func isWithin(_ watch: WatchNumber, _ ancestor: WatchNumber) -> Bool {
        var current: WatchNumber? = watch
        while let next = current {
            if next == ancestor { return true }
            current = nodes[next]?.parent
        }
        return false
    }
}
