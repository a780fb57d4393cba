import SyncModel

/// What this node may not read or write waits for a person. After some seconds, within which most who make a file have
/// given it its mode, that is told as a warning, which goes when the wait ends. Directories that cannot be read are
/// told of by the scan that finds them (`Node+Watch`).
struct ForbiddenState: Sendable {
    /// The paths that have been told of; of more the list of what is pending tells.
    var toldOf = SortedMap<Path, Bool>()
    static let toldMax = 256
}

extension Node {
    /// With each try that fails; what an earlier process has tried, with the first round of this one.
    mutating func watchForbidden(_ row: Row, into effects: inout Effects) {
        guard let waiting = row.waiting, waiting.reason == .pathPermission,
            row.condition == .normal || row.condition == .damaged
        else {
            guard !forbidden.toldOf.isEmpty, forbidden.toldOf.removeValue(forKey: row.path) != nil else { return }
            return tellForbidden(row.path, into: &effects)
        }
        // By the wall clock, which goes on from one process to the next. Put forward it has this told early, no more.
        let age = now.wallMilliseconds - waiting.sinceMilliseconds
        guard age >= Int64(clamping: limits.permissionPatienceMilliseconds),
            forbidden.toldOf.contains(key: row.path) || forbidden.toldOf.count < ForbiddenState.toldMax
        else { return }
        forbidden.toldOf[row.path] = true
        tellForbidden(row.path, into: &effects)
    }

    /// A directory may be one that cannot be read, and wait for its mode as well: that is one alert.
    func isForbidden(_ path: Path) -> Bool {
        forbidden.toldOf.contains(key: path) || watch.unreadable[path] == .pathPermission
    }

    private mutating func tellForbidden(_ path: Path, into effects: inout Effects) {
        setAlarm(.pathPermission, subject: path.bytes, if: isForbidden(path), into: &effects)
    }
}
