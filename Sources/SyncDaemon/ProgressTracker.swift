import ControlProtocol
import SyncCore

/// How far the present piece of work is. It begins when something is to be done after nothing was, and grows while more comes.
struct ProgressTracker {
    private var total = 0

    mutating func take(_ status: Status, bytesPerSecond: Int) -> StatusDocument.Progress {
        let left = status.toApply + Int(clamping: status.toSend)
        total = left == 0 ? 0 : max(total, left)
        return StatusDocument.Progress(
            phase: ProgressTracker.phase(status), done: total - left, total: total, bytesPerSecond: bytesPerSecond)
    }

    private static func phase(_ status: Status) -> String {
        switch status.state {
        case .starting: "starting"
        case .scanning: "scanning"
        case .paused: "paused"
        case .halted: "halted"
        // (What waits for a person there holds nothing up here.)
        case .waiting where status.peerHeldDeletes == 0:
            status.toApply > 0 || status.toSend > 0 ? "waiting" : "idle"
        case .inSync, .waiting, .syncing:
            if status.toApply > 0 && status.isConnected {
                "applying"
            } else if status.toSend > 0 && status.isConnected {
                "sending"
            } else if status.toApply > 0 || status.toSend > 0 {
                "waiting"
            } else {
                "idle"
            }
        }
    }
}
