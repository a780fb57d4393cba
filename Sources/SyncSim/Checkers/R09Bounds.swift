import SyncCore
import SyncModel

/// Memory and messages have sizes that were decided before any input was seen.
package final class Bounds: StepInvariant {
    package static let id = "R-09"
    package static let sentence =
        "At every step a node's queues, requests and frames are within the bounds of `Limits`."

    package init() {}

    package func see(_ act: StepAct, _ court: inout Court) {
        for effect in act.effects { judge(effect, act, &court) }
        if let footprint = act.footprint { judge(footprint, act, &court) }
    }

    private func judge(_ effect: Effect, _ act: StepAct, _ court: inout Court) {
        switch effect {
        case .send(_, let bytes):
            if bytes.count > Limits.frameBytesMax + 4 {
                court.find(self, on: act.machine, "a frame of \(bytes.count) bytes")
            }
        case .scan(_, let request, _):
            if request.limit > act.limits.scanChunkMax {
                court.find(self, on: act.machine, "a scan of \(request.limit) differences at once")
            }
        case .inspect(_, let paths), .hash(_, let paths):
            if paths.count > act.limits.batchPathsMax {
                court.find(self, on: act.machine, "\(paths.count) paths looked at at once")
            }
        case .load, .store, .read, .parse, .disk, .listStage, .close, .wake, .report, .answer, .program, .finish: break
        }
    }

    /// Each count with what it may be: a few batches of everything, whatever the size of the folder.
    private func judge(_ footprint: Footprint, _ act: StepAct, _ court: inout Court) {
        let limits = act.limits
        let batch = limits.batchPathsMax
        func check(_ name: StaticString, _ amount: Int, _ bound: Int) {
            if amount > bound { court.find(self, on: act.machine, "\(amount) \(name), \(bound) allowed") }
        }
        check("jobs in flight", footprint.jobs, 64 + 4 * limits.applyTasksMax)
        check(
            "transactions waiting", footprint.transactions,
            64 + 4 * (limits.applyTasksMax + limits.notedPathsMax + batch))
        check("paths noted", footprint.noted, 2 * limits.notedPathsMax + 8 * batch + limits.scanChunkMax + 16)
        check(
            "imported records waiting", footprint.imports, limits.importRecordsMax + limits.logRecordsPerFrameMax)
        check("paths being applied", footprint.tasks, limits.applyTasksMax + 2 * batch + 8)
        check("contents being fetched", footprint.fetches, limits.applyTasksMax + 2 * batch + 8)
        check(
            "bytes handed to the link", footprint.outboundBytes, limits.outboundBytesMax + Limits.frameBytesMax + 4)
        check("requests of the peer waiting", footprint.serving, 1_024)
    }
}
