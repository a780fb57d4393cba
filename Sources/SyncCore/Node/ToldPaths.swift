import SyncModel

/// The paths that people have been told of one by one, so that they hear when it is over; of more than these the list of what is
/// pending tells.
struct ToldPaths: Sendable {
    private var paths = SortedMap<Path, Bool>()
    static let pathsMax = 256

    func contains(_ path: Path) -> Bool { paths.contains(key: path) }

    /// False if there is no room for it.
    mutating func note(_ path: Path) -> Bool {
        guard contains(path) || paths.count < ToldPaths.pathsMax else { return false }
        paths[path] = true
        return true
    }

    /// True if it was told of.
    mutating func forget(_ path: Path) -> Bool { paths.removeValue(forKey: path) != nil }
}
