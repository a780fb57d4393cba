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
        if isNeeded { pause(milliseconds: Patrol.pauseMillisecondsMin) }
    }

    func close() {
        isNeeded = false
        timer.close()
    }

    private func pause(milliseconds: UInt64) {
        timer.start(afterMilliseconds: milliseconds) { [unowned self] in
            ask { [weak self] answer in
                guard let self, isNeeded else { return }
                goOn(answer)
            }
        }
    }

    /// A scan that is asked for again before it has ended begins anew, and would never come to its end.
    private func goOn(_ answer: Answer) {
        guard case .status(let status) = answer, status.state != .starting, status.state != .scanning else {
            return pause(milliseconds: Patrol.lookMilliseconds)
        }
        let now = Clock.monotonicMilliseconds()
        if let begun { endScan(after: now - begun) } else { beginScan(at: now) }
    }

    private func beginScan(at now: UInt64) {
        begun = now
        post(.overflowed)
        pause(milliseconds: Patrol.lookMilliseconds)
    }

    private func endScan(after milliseconds: UInt64) {
        begun = nil
        pause(milliseconds: max(Patrol.pauseMillisecondsMin, milliseconds * Patrol.pauseInScans))
        onScanned()
    }
}
