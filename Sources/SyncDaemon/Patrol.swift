import EventLoop
import SyncCore
import SyncModel

/// Goes through the whole folder again and again while the kernel watches only a part of it. Each scan tries for the
/// missing watches as well, so this ends by itself.
final class Patrol {
    private let timer: Timer
    /// Asks the core how it is.
    var ask: (@escaping (Answer) -> Void) -> Void = { _ in }
    /// A scan has ended: perhaps everything is watched now.
    var onScanned: () -> Void = {}
    private let post: (Event) -> Void
    private var isNeeded = false
    /// When the scan under way was asked for. None is under way otherwise.
    private var begun: UInt64?

    private static let pauseMillisecondsMin: UInt64 = 2_000
    /// Between two scans is this many times as long as the first took: a large tree must not keep the disk busy.
    private static let pauseInScans: UInt64 = 10
    private static let lookMilliseconds: UInt64 = 500

    init(loop: Loop, post: @escaping (Event) -> Void) {
        timer = Timer(loop: loop)
        self.post = post
    }

    func setNeeded(_ isNeeded: Bool) {
        guard isNeeded != self.isNeeded else { return }
        self.isNeeded = isNeeded
        begun = nil
        timer.stop()
        if isNeeded { setOut(afterMilliseconds: Patrol.pauseMillisecondsMin) }
    }

    func close() {
        isNeeded = false
        timer.close()
    }

    /// A scan that has not ended would begin again, and never come to its end.
    private func setOut(afterMilliseconds pause: UInt64) {
        timer.start(afterMilliseconds: pause) { [unowned self] in
            ask { [weak self] answer in
                guard let self, isNeeded else { return }
                guard case .status(let status) = answer, status.state != .starting, status.state != .scanning else {
                    return setOut(afterMilliseconds: Patrol.lookMilliseconds)
                }
                if begun == nil { post(.overflowed) }
                rest()
            }
        }
    }

    /// After a scan was asked for, or when it has ended.
    private func rest() {
        let now = Clock.monotonicMilliseconds()
        guard let begun else {
            begun = now
            return setOut(afterMilliseconds: Patrol.lookMilliseconds)
        }
        self.begun = nil
        setOut(afterMilliseconds: max(Patrol.pauseMillisecondsMin, (now - begun) * Patrol.pauseInScans))
        onScanned()
    }
}
