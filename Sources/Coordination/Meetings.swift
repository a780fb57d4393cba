import SyncModel

/// Which ids stand for which paths, so that whoever meets a path is found without asking everybody: the path itself, what is
/// above it, and, for an access that covers contents, what is below it.
struct Meetings<ID: Comparable & Sendable>: Sendable {
    private var ids = SortedMap<Path, [ID]>()

    mutating func add(_ id: ID, at path: Path) { ids[path, default: []].append(id) }

    mutating func remove(_ id: ID, from path: Path) {
        guard var rest = ids[path], let index = rest.firstIndex(of: id) else { return }
        rest.remove(at: index)
        ids[path] = rest.isEmpty ? nil : rest
    }

    /// In ascending order, each once. Some may turn out not to meet it.
    func candidates(_ accesses: [Access]) -> [ID] {
        var found: [ID] = []
        for access in accesses { collect(access.path, withContents: access.coversContents, into: &found) }
        guard found.count > 1 else { return found }
        found.sort()
        return found.enumerated().filter { $0.offset == 0 || found[$0.offset - 1] != $0.element }.map(\.element)
    }

    private func collect(_ path: Path, withContents: Bool, into found: inout [ID]) {
        var above: Path? = path
        while let place = above {
            if let here = ids[place] { found += here }
            above = place.parent
        }
        guard withContents else { return }
        // A directory comes right before everything below it.
        ids.forEach(from: path) { place, here in
            guard place == path || place.isBelow(path) else { return false }
            if place != path { found += here }
            return true
        }
    }
}
