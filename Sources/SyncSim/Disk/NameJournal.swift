/// What has been done to names and is not yet on stable storage, in order, and what hangs on what.
///
/// A power cut keeps a subset of these operations. Not any subset: no file system reorders two operations on the same name
/// or the same inode, and none lets go of a directory before what was in it has left. `dependsOn` says so, and a subset that
/// survives is always closed under it. Everything else, sibling renames above all, may be lost independently.
import SyncModel

struct NameOperation: Sendable {
    enum Kind: Sendable {
        /// A new inode, an added link or a name taken away.
        case plain
        /// The first change gives the new name, the second takes away the old one.
        case rename
        case exchange
        /// The second half of a rename whose first half has been synced with its directory.
        case leftover
    }

    struct Change: Sendable {
        let directory: InodeKey
        let name: Name
        /// What the name stands for afterwards.
        let inode: InodeKey?
    }

    struct Object: Sendable {
        let key: InodeKey
        /// As programs see it: an inode made with a number that was free only since another was removed hangs on that removal.
        let number: UInt64
    }

    let sequence: UInt64
    let uptimeMilliseconds: UInt64
    /// The change time that the operation gave to its objects and its directories.
    let stamp: Timestamp
    var kind: Kind
    var changes: [Change]
    /// The inodes it is about; of a rename, the renamed one comes first.
    var objects: [Object]
    /// The directory that got its first name.
    var made: InodeKey?
    /// The directory that lost its name.
    var removed: InodeKey?
    /// A directory changed its parent: such operations keep their order, or two of them could make a ring.
    var reparents = false
    /// Directories that were synced while their own name was not: if the directory survives, so does this.
    var anchors: [InodeKey] = []

    /// What remains of a rename when its new name is on stable storage.
    var leftover: NameOperation {
        var rest = self
        rest.kind = .leftover
        rest.changes.removeFirst()
        rest.objects.removeSubrange(1...)
        rest.anchors = []
        return rest
    }

    func touches(_ directory: InodeKey) -> Bool {
        changes.contains { $0.directory == directory }
    }

    func touches(_ name: Name, in directory: InodeKey) -> Bool {
        changes.contains { $0.directory == directory && $0.name == name }
    }

    func dependsOn(_ earlier: NameOperation) -> Bool {
        if reparents && earlier.reparents { return true }
        for object in objects where earlier.objects.contains(where: { $0.number == object.number }) { return true }
        if let made = earlier.made, touches(made) { return true }
        if let removed, earlier.touches(removed) { return true }
        return changes.contains { earlier.touches($0.name, in: $0.directory) }
    }
}

struct NameJournal: Sendable {
    /// In the order in which they happened.
    private(set) var operations: [NameOperation] = []

    var isEmpty: Bool { operations.isEmpty }

    mutating func append(_ operation: NameOperation) {
        operations.append(operation)
    }

    func mentions(_ inode: InodeKey) -> Bool {
        operations.contains { $0.objects.contains { $0.key == inode } }
    }

    /// True while the first name of the directory is not on stable storage.
    func makes(_ directory: InodeKey) -> Bool {
        operations.contains { $0.made == directory }
    }

    func touches(_ name: Name, in directory: InodeKey) -> Bool {
        operations.contains { $0.touches(name, in: directory) }
    }

    func indices(touching directory: InodeKey) -> [Int] {
        operations.indices.filter { operations[$0].touches(directory) }
    }

    /// These operations and everything that must be there for them, in order.
    func closure(_ wanted: [Int]) -> [Int] {
        guard var position = wanted.last else { return [] }
        var isIn = [Bool](repeating: false, count: position + 1)
        var members: [Int] = []
        for index in wanted { isIn[index] = true }
        while position >= 0 {
            if isIn[position] || members.contains(where: { operations[$0].dependsOn(operations[position]) }) {
                members.append(position)
            }
            position -= 1
        }
        return members.reversed()
    }

    /// As `closure`, together with what is anchored in a directory that comes along, and so on until nothing is missing.
    func fullClosure(_ wanted: [Int]) -> [Int] {
        var members = closure(wanted)
        while true {
            let made = members.compactMap { operations[$0].made }
            let anchored = operations.indices.filter { index in
                operations[index].anchors.contains { made.contains($0) } && !members.contains(index)
            }
            if anchored.isEmpty { return members }
            members = closure((members + anchored).sorted())
        }
    }

    mutating func anchor(_ indices: [Int], in directory: InodeKey) {
        for index in indices where !operations[index].anchors.contains(directory) {
            operations[index].anchors.append(directory)
        }
    }

    /// Takes out the operations at these ascending indices.
    mutating func remove(_ indices: [Int]) -> [NameOperation] {
        var taken: [NameOperation] = []
        var kept: [NameOperation] = []
        var next = 0
        for (index, operation) in operations.enumerated() {
            if next < indices.count, indices[next] == index {
                taken.append(operation)
                next += 1
            } else {
                kept.append(operation)
            }
        }
        operations = kept
        return taken
    }

    /// Puts an operation back into its place in the order.
    mutating func insert(_ operation: NameOperation) {
        let place = operations.firstIndex { $0.sequence > operation.sequence } ?? operations.count
        operations.insert(operation, at: place)
    }

    mutating func removeAll() {
        operations = []
    }
}
