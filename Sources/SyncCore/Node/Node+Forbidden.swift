import SyncModel

/// What this node may not read or write, and what cannot be stored here, waits for a person. After some seconds, within which most
/// who make a file have given it its mode, that is told as a warning, which goes when the wait ends. Directories that cannot be
/// read are told of by the scan that finds them (`Node+Watch`).
extension Node {
    private static let forbidding: [MessageCode] = [.pathPermission, .pathUnsupported]

    /// With each try that fails; what an earlier process has tried, with the first round of this one.
    mutating func watchForbidden(_ row: Row, into effects: inout Effects) {
        let waiting = row.condition == .normal || row.condition == .damaged ? row.waiting : nil
        for code in Node.forbidding where waiting?.reason != code {
            if toldForbidden[code]?.forget(row.path) == true { tellForbidden(row.path, code, into: &effects) }
        }
        guard let waiting, Node.forbidding.contains(waiting.reason) else { return }
        // By the wall clock, which goes on from one process to the next. Put forward it has this told early, no more.
        let age = now.wallMilliseconds - waiting.sinceMilliseconds
        guard age >= Int64(clamping: limits.permissionPatienceMilliseconds),
            toldForbidden[waiting.reason, default: ToldPaths()].note(row.path)
        else { return }
        tellForbidden(row.path, waiting.reason, into: &effects)
    }

    /// A directory may be one that cannot be read, and wait for its mode as well: that is one alert.
    private func isForbidden(_ path: Path, _ code: MessageCode) -> Bool {
        toldForbidden[code]?.contains(path) == true || watch.unreadable[path] == code
    }

    /// Also where nothing waits for it any more.
    mutating func tellForbidden(_ path: Path, _ code: MessageCode, into effects: inout Effects) {
        setAlarm(code, subject: path.bytes, if: isForbidden(path, code), into: &effects)
    }
}
