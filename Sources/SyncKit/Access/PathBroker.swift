import Disk
import SyncModel
import Synchronization

/// Keeps other processes of this machine away that use this library, whether a daemon runs or not.
struct PathBroker: AccessBroker {
    let clock: any DocumentClock

    var knowsPurposes: Bool { false }

    /// Locks of the kernel ask nobody.
    func present(_ shown: ShownPath, hear: @escaping @Sendable (ShownWord) -> Void) async -> (any ShownAccess)? { nil }

    /// Whoever holds it may be killed, and is not to be waited for longer than this.
    private static var pauseMax: UInt64 { 4 }

    /// Locks of the kernel tell nobody who waits for whom. Who has something while he waits may be one of a circle, and does not wait for ever.
    static let nestedPatience = Duration.seconds(10)

    func hold(_ wanted: HeldPaths, within patience: Duration?, isNested: Bool) async throws -> (any HeldAccess)? {
        let most = patience ?? (isNested ? PathBroker.nestedPatience : nil)
        let ends = most.flatMap { Moment.end(of: $0.milliseconds, after: clock.milliseconds) }
        var pause: UInt64 = 1
        while true {
            if let lock = try PathBroker.lock(wanted) { return HeldPath(lock: lock) }
            let now = clock.milliseconds
            if let ends, ends <= now {
                guard patience == nil else {
                    throw CoordinationError(.timedOut(process: nil, purpose: nil, heldMilliseconds: 0))
                }
                let names = wanted.paths.map { DocumentPath($0).description }.joined(separator: ", ")
                let who = wanted.purpose.isEmpty ? "this access" : wanted.purpose
                throw CoordinationError(.wouldDeadlock([who, "whoever has \(names)"]))
            }
            try await clock.sleep(until: min(now + pause, ends ?? .max))
            pause = min(pause * 2, PathBroker.pauseMax)
        }
    }

    private static func lock(_ wanted: HeldPaths) throws -> PathLock? {
        do throws(Item.Failure) {
            return try PathLock.tryLock(
                wanted.items.map { .init(path: $0.path, coversContents: $0.coversContents) }, isRead: wanted.isRead,
                except: wanted.hadWithin)
        } catch {
            throw CoordinationError(.refused("locks between processes: \(error.error)"))
        }
    }
}

private final class HeldPath: HeldAccess {
    /// Ends with the last who has it.
    private let lock: Mutex<PathLock?>

    init(lock: PathLock) {
        self.lock = Mutex(lock)
    }

    var fence: UInt64? { nil }
    var isOver: Bool { false }
    var moved: [[UInt8]: [UInt8]] { [:] }

    func release(_ deeds: [FileDeed]) { lock.withLock { $0 = nil } }
}
