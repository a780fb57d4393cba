/// The inodes of a disk by key. Each lies in a box of its own, so that looking at one copies nothing, and an image of the
/// disk shares all of them until one changes.
import SyncModel

struct InodeTable: Sendable {
    /// An array of one element: a box with the semantics of a value.
    private typealias Box = ContiguousArray<Inode>

    private var boxes = SortedMap<InodeKey, Box>()

    /// In order, as they are now: the table may change while they are gone through.
    var keys: [InodeKey] { boxes.map { $0.key } }

    func contains(_ key: InodeKey) -> Bool { boxes.contains(key: key) }

    subscript(key: InodeKey) -> Inode {
        _read {
            guard let box = boxes[key] else {
                preconditionFailure("inode \(key) was freed while a name or a handle leads to it")
            }
            // (By a span, which copies nothing.)
            yield box.span[0]
        }
        _modify {
            precondition(boxes.contains(key: key), "inode \(key) was freed while a name or a handle leads to it")
            yield &boxes[key, default: []][0]
        }
    }

    /// What is asked about many times in each step is asked in the box: for a method of an inode the compiler copies all of it.
    @inline(__always)
    func look<Answer>(at key: InodeKey, _ ask: (borrowing Inode) -> Answer) -> Answer {
        guard let box = boxes[key] else {
            preconditionFailure("inode \(key) was freed while a name or a handle leads to it")
        }
        return ask(box.span[0])
    }

    func isDirectory(_ key: InodeKey) -> Bool { look(at: key) { $0.kind == .directory } }
    func stat(of key: InodeKey) -> Stat { look(at: key) { $0.stat } }

    /// What the directory holds by the name that is this part of a path.
    func child(of directory: InodeKey, _ path: Path, _ part: Range<Int>) -> InodeKey? {
        look(at: directory) { $0.entries.value { $0.order(beside: path.bytes, in: part) } }
    }

    mutating func add(_ inode: Inode, _ key: InodeKey) {
        boxes[key] = [inode]
    }

    mutating func remove(_ key: InodeKey) {
        boxes[key] = nil
    }

    mutating func update(_ key: InodeKey, _ change: (inout Inode) -> Void) {
        change(&self[key])
    }
}
