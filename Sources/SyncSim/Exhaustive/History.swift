import SyncModel

/// What one side does in the small scope: up to two operations on a handful of paths.
struct History: Equatable, Comparable {
    let operations: [SmallOperation]

    static func < (left: History, right: History) -> Bool {
        left.operations.lexicographicallyPrecedes(right.operations)
    }

    /// With the two names of the upper level exchanged.
    var renamed: History { History(operations: operations.map(\.renamed)) }
}

extension History: CustomStringConvertible {
    var description: String { operations.isEmpty ? "nothing" : operations.map(\.description).joined(separator: "; ") }
}

/// The paths of the scope: three names on two levels.
enum SmallPath: UInt8, CaseIterable, Comparable {
    case a, b, aInner, bInner

    static func < (left: SmallPath, right: SmallPath) -> Bool { left.rawValue < right.rawValue }

    var path: Path {
        switch self {
        case .a: Path.root.appending(.known("a"))
        case .b: Path.root.appending(.known("b"))
        case .aInner: SmallPath.a.path.appending(.known("c"))
        case .bInner: SmallPath.b.path.appending(.known("c"))
        }
    }

    var parent: SmallPath? {
        switch self {
        case .a, .b: nil
        case .aInner: .a
        case .bInner: .b
        }
    }

    var child: SmallPath? {
        switch self {
        case .a: .aInner
        case .b: .bInner
        case .aInner, .bInner: nil
        }
    }

    var renamed: SmallPath {
        switch self {
        case .a: .b
        case .b: .a
        case .aInner: .bInner
        case .bInner: .aInner
        }
    }
}

enum SmallOperation: Equatable, Comparable {
    case write(SmallPath)
    case makeDirectory(SmallPath)
    case link(SmallPath)
    case remove(SmallPath)
    case rename(SmallPath, SmallPath)
    case changeMode(SmallPath)

    var renamed: SmallOperation {
        switch self {
        case .write(let path): .write(path.renamed)
        case .makeDirectory(let path): .makeDirectory(path.renamed)
        case .link(let path): .link(path.renamed)
        case .remove(let path): .remove(path.renamed)
        case .rename(let from, let to): .rename(from.renamed, to.renamed)
        case .changeMode(let path): .changeMode(path.renamed)
        }
    }

    /// Every operation there is, whether or not it can be done somewhere.
    static let all: [SmallOperation] = {
        var all: [SmallOperation] = []
        for path in SmallPath.allCases {
            all += [.write(path), .makeDirectory(path), .link(path), .remove(path), .changeMode(path)]
            for target in SmallPath.allCases where target != path && target != path.child && path != target.child {
                all.append(.rename(path, target))
            }
        }
        return all.sorted()
    }()
}

extension SmallOperation: CustomStringConvertible {
    var description: String {
        switch self {
        case .write(let path): "write \(path.path)"
        case .makeDirectory(let path): "mkdir \(path.path)"
        case .link(let path): "ln -s \(path.path)"
        case .remove(let path): "rm -r \(path.path)"
        case .rename(let from, let to): "mv \(from.path) \(to.path)"
        case .changeMode(let path): "chmod \(path.path)"
        }
    }
}

/// Which kinds stand where: enough to know what can be done.
struct SmallTree: Equatable {
    enum Kind: UInt8 {
        case file, directory, symlink
    }

    private(set) var kinds: [Kind?] = [nil, nil, nil, nil]

    subscript(path: SmallPath) -> Kind? {
        get { kinds[Int(path.rawValue)] }
        set { kinds[Int(path.rawValue)] = newValue }
    }

    /// The tree after the operation; nil if it cannot be done, or would change nothing.
    func after(_ operation: SmallOperation) -> SmallTree? {
        var next = self
        switch operation {
        case .write(let path):
            guard hasHome(path), self[path] != .directory, self[path] != .symlink else { return nil }
            next[path] = .file
        case .makeDirectory(let path):
            guard hasHome(path), self[path] == nil else { return nil }
            next[path] = .directory
        case .link(let path):
            // `ln -sf`: replaces a file, never a directory.
            guard hasHome(path), self[path] != .directory else { return nil }
            next[path] = .symlink
        case .remove(let path):
            guard self[path] != nil else { return nil }
            next.clear(path)
        case .rename(let from, let to):
            guard let kind = self[from], hasHome(to), canTake(to, kind) else { return nil }
            let inner = from.child.flatMap { self[$0] }
            // A third level is outside the scope.
            if inner != nil, to.child == nil { return nil }
            next.clear(from)
            next[to] = kind
            if let child = to.child { next[child] = inner }
        case .changeMode(let path):
            guard self[path] == .file || self[path] == .directory else { return nil }
        }
        return next
    }

    private func hasHome(_ path: SmallPath) -> Bool { path.parent.map { self[$0] == .directory } ?? true }

    /// rename(2): a file over a file, a directory over an empty one.
    private func canTake(_ target: SmallPath, _ kind: Kind) -> Bool {
        guard let old = self[target] else { return true }
        if kind == .directory { return old == .directory && target.child.flatMap { self[$0] } == nil }
        return old != .directory
    }

    private mutating func clear(_ path: SmallPath) {
        self[path] = nil
        if let child = path.child { self[child] = nil }
    }

    /// All histories of at most `length` operations from here.
    func histories(length: Int) -> [History] {
        var result = [History(operations: [])]
        var open: [(SmallTree, [SmallOperation])] = [(self, [])]
        for _ in 0..<length {
            var longer: [(SmallTree, [SmallOperation])] = []
            for (tree, done) in open {
                for operation in SmallOperation.all {
                    // Changing a mode is done once: the second time it would change nothing.
                    if done.contains(operation), case .changeMode = operation { continue }
                    guard let next = tree.after(operation) else { continue }
                    longer.append((next, done + [operation]))
                }
            }
            result += longer.map { History(operations: $0.1) }
            open = longer
        }
        return result.sorted()
    }
}
