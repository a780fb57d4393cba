import SyncModel

/// What this node may not read or write waits for a person. After some seconds, within which most who make a file have
/// given it its mode, that is told as a warning, which goes when the wait ends. Directories that cannot be read are
/// told of by the scan that finds them (`Node+Watch`).
extension Node {
    /// With each try that fails; what an earlier process has tried, with the first round of this one.
    mutating func watchForbidden(_ row: Row, into effects: inout Effects) {
        guard let waiting = row.waiting, waiting.reason == .pathPermission,
            row.condition == .normal || row.condition == .damaged
        else {
            if toldForbidden.forget(row.path) { tellForbidden(row.path, into: &effects) }
            return
        }
        // By the wall clock, which goes on from one process to the next. Put forward it has this told early, no more.
        let age = now.wallMilliseconds - waiting.sinceMilliseconds
        guard age >= Int64(clamping: limits.permissionPatienceMilliseconds), toldForbidden.note(row.path) else {
            return
        }
        tellForbidden(row.path, into: &effects)
    }

    /// A directory may be one that cannot be read, and wait for its mode as well: that is one alert.
    func isForbidden(_ path: Path) -> Bool {
        toldForbidden.contains(path) || watch.unreadable[path] == .pathPermission
    }

    /// Also where nothing waits for it any more.
    mutating func tellForbidden(_ path: Path, into effects: inout Effects) {
        setAlarm(.pathPermission, subject: path.bytes, if: isForbidden(path), into: &effects)
    }
}
