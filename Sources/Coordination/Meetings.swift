import SyncModel

/// Which numbers stand for which paths, so that whoever meets a path is found without asking everybody: the path itself, what is
/// above it, and, for an access that covers contents, what is below it.
struct Meetings: Sendable {
    private var numbers = SortedMap<Path, [UInt64]>()

    mutating func add(_ number: UInt64, at path: Path) { numbers[path, default: []].append(number) }

    mutating func remove(_ number: UInt64, from path: Path) {
        guard var rest = numbers[path], let index = rest.firstIndex(of: number) else { return }
        rest.remove(at: index)
        numbers[path] = rest.isEmpty ? nil : rest
    }

    /// In ascending order, each once. Some may turn out not to meet it.
    func candidates(_ accesses: [Access]) -> [UInt64] {
        var found: [UInt64] = []
        for access in accesses { collect(access.path, withContents: access.coversContents, into: &found) }
        guard found.count > 1 else { return found }
        found.sort()
        return found.enumerated().filter { $0.offset == 0 || found[$0.offset - 1] != $0.element }.map(\.element)
    }

    private func collect(_ path: Path, withContents: Bool, into found: inout [UInt64]) {
        var above: Path? = path
        while let place = above {
            if let here = numbers[place] { found += here }
            above = place.parent
        }
        guard withContents else { return }
        // A directory comes right before everything below it.
        numbers.forEach(from: path) { place, here in
            guard place == path || place.isBelow(path) else { return false }
            if place != path { found += here }
            return true
        }
    }
}
