/// What came of loading a file: one answer for the daemon, `syncctl doc check` and the library. What was never loaded comes first on
/// purpose: a fresh value is not success.
public enum LoadOutcome: Hashable, Sendable {
    case notLoaded
    case success
    case noSuchFile
    case zeroLength
    case corrupt(reason: String, offset: Int)
    /// No error: it is read through migration, and rewritten by a real save only.
    case olderVersion(found: UInt32)
    case newerVersion(found: UInt32, supported: ClosedRange<UInt32>)
    /// What stands where the version should be.
    case unknownVersion(found: [UInt8])
    case accessDenied
    case changedDuringRead
}
