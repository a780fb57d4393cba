package import SyncModel

/// History never shrinks below its promise.
package final class PromisedHistory: DiskInvariant, StoreInvariant {
    package static let id = "R-16"
    package static let sentence =
        "What is set aside is in the history, and on the disk, until it is older than promised or the versions together take more room than allowed."

    private let settings: [Settings]
    private var now: [Int64] = [0, 0]
    /// The state is younger than what was set aside: of that it knows nothing.
    private var hasForgotten = [false, false]
    /// What has gone from among the versions into the folder, and no sync has made that last: a power cut may bring it back, or has done so.
    private var mayReturn = [0, 0]
    private var mayBeBack = [0, 0]
    private var hasFailedToSync = [false, false]

    package init(settings: [Settings] = [Settings(), Settings()]) {
        self.settings = settings
    }

    package func see(_ act: StoreAct, _ court: inout Court) {
        now[act.machine] = act.wallMilliseconds
        for operation in act.batch.operations {
            if case .putVersion(let version) = operation { judge(version, act, &court) }
            guard case .dropVersion(let id) = operation, let version = act.store.versions[id] else { continue }
            // A version that was put back into the folder is kept there now.
            if act.value(version.place) == .absent { continue }
            judge(id, act.store, on: act.machine, &court)
        }
    }

    package func see(_ act: DiskAct, _ court: inout Court) {
        if act.error == .inputOutput, act.operation.isSync { hasFailedToSync[act.machine] = true }
        guard act.error == nil else { return }
        if case .move(let place, to: .tree) = act.operation, place.isAside { mayReturn[act.machine] += 1 }
        if case .syncParent(let place) = act.operation, place.isAside { mayReturn[act.machine] = 0 }
        guard case .discard(let place) = act.operation else { return }
        switch place {
        case .version(let id), .quarantine(let id):
            // The record goes first, or a crash leaves one that leads nowhere; what has none was judged when it was dropped.
            if act.store.versions[id] != nil { judge(id, act.store, on: act.machine, &court) }
        case .tree, .stage: break
        }
    }

    package func see(_ cut: PowerCut, _ court: inout Court) {
        mayBeBack[cut.machine] += mayReturn[cut.machine]
        mayReturn[cut.machine] = 0
    }

    package func see(_ act: OperatorAct, _ court: inout Court) {
        switch act.kind {
        case .restoredImage, .restoredTree, .restoredState, .wipedState: hasForgotten[act.machine] = true
        case .approvedDeletes, .rejectedDeletes, .damagedRoot: break
        }
    }

    package func see(_ sight: Sight, _ court: inout Court) {
        for (index, machine) in sight.machines.enumerated() where !hasForgotten[index] {
            let unknown = machine.aside.count - machine.store.versions.count
            guard unknown > mayBeBack[index] else { continue }
            let aside = machine.aside.map { "\($0)" }.joined(separator: ", ")
            court.find(self, on: index, "\(unknown) of the files set aside are in no history: of \(aside)")
        }
    }

    /// (Where a sync has failed, the node goes on with what a person has asked for.)
    private func judge(_ version: KeptVersion, _ act: StoreAct, _ court: inout Court) {
        guard act.store.versions[version.id] == nil, !hasFailedToSync[act.machine], act.mayBeLost(version) else {
            return
        }
        // The first file of a version that was written anew stays for a late writer alone.
        let isWrittenAnew = act.batch.operations.contains { operation in
            guard case .putVersion(let other) = operation else { return false }
            return other.id != version.id && other.path == version.path && other.entry == version.entry
                && !act.mayBeLost(other)
        }
        if isWrittenAnew { return }
        court.find(
            self, on: act.machine, "version \(version.id.raw) of \(version.path) is on record and not on the disk")
    }

    private func judge(_ id: VersionID, _ store: VirtualStore, on machine: Int, _ court: inout Court) {
        guard let version = store.versions[id] else { return }
        // A private copy is nobody's: what it is a copy of stands in the tree, or went among the versions by itself.
        if version.reason == .formatNewer || version.reason == .versionRestored { return }
        let bytes = store.versions.values.reduce(UInt64(0)) { $0 + $1.entry.content.size }
        if bytes > settings[machine].keepVersionsBytes { return }
        let age = now[machine] - version.keptMilliseconds
        if age >= settings[machine].keepVersionsMilliseconds { return }
        court.find(self, on: machine, "version \(id.raw) of \(version.path) was removed after \(age) ms")
    }
}

extension Place {
    fileprivate var isAside: Bool {
        switch self {
        case .version, .quarantine: true
        case .tree, .stage: false
        }
    }
}
