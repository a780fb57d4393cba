import SyncCore
import SyncModel

/// Both people are told the same about what both share.
package final class EqualAlerts: Invariant {
    package static let id = "R-15"
    package static let sentence =
        "At rest both nodes have the same alerts about conflicts, one for every conflict copy there is."

    package init() {}

    package func see(_ sight: Sight, _ court: inout Court) {
        let sets = sight.machines.map { machine in machine.alerts.keys.filter { EqualAlerts.isShared($0.code) } }
        for (index, keys) in sets.enumerated() {
            let others = sets[1 - index]
            for key in keys where !others.contains(key) {
                // What the rules keep from one node concerns that node only.
                if let path = Path(key.subject), sight.machines.contains(where: { $0.ignores(path) }) { continue }
                court.find(self, on: 1 - index, "\(key.code) of \(Path.escape(key.subject)) is known to one node only")
            }
        }
        for (index, machine) in sight.machines.enumerated() { compareCopies(machine, on: index, sight, &court) }
    }

    /// A copy that nobody is told of may lie there for years.
    private func compareCopies(_ machine: MachineSight, on index: Int, _ sight: Sight, _ court: inout Court) {
        for (path, seen) in machine.tree where ConflictFamily.base(of: path) != nil && !sight.isStuck(path) {
            let isTold = machine.alerts.keys.contains { key in
                key.code == .conflictFile && key.subject == path.bytes
                    || key.code == .formatDowngradeHeld && Path(key.subject) == ConflictFamily.base(of: path)
            }
            if !isTold { court.find(self, on: index, "nobody is told of the conflict copy \(path), \(seen.value)") }
        }
        for key in machine.alerts.keys where key.code == .conflictFile {
            guard let path = Path(key.subject), machine.tree[path] == nil, !sight.isStuck(path), !machine.ignores(path)
            else { continue }
            court.find(self, on: index, "a conflict copy \(path) is told of that is not there")
        }
    }

    static func isShared(_ code: MessageCode) -> Bool {
        switch code {
        case .conflictFile, .conflictIdentity, .conflictSlot, .conflictDeletedWhileEdited: true
        case .callerRefused, .configInvalid, .configReloaded, .controlLost, .controlNotRunning, .controlPermission,
            .controlSilent, .controlUnreadable,
            .pairingExists, .pairingFailed, .pairingNone, .requestInvalid, .requestNotFound, .requestOutside,
            .lockCircle, .lockRefused, .requestRefused, .requestUnsupported, .setupExists, .setupFailed, .startFailed,
            .startInUse, .hookFailed, .keyOffered, .keyRenewed, .nodeStarted, .nodeStopped, .pairingDone,
            .peerConnected,
            .stateExposed,
            .programFault,
            .stateForeign, .waitTimedOut:
            // Said by the shell and its tools, never by a node.
            false
        case .clockSkew, .clockStepped, .contentChanging, .contentOverdue, .contentStalled, .contentUnavailable,
            .diskError, .diskFull,
            .formatCorrupt,
            .formatDowngradeHeld, .formatNewer, .formatUnknown, .formatZeroLength, .fuseApproved, .fuseDeletes,
            .fuseRejected, .ignoreInvalid, .initialMerged, .itemLateWrite, .itemPoisoned, .itemQuarantined,
            .itemRestored, .lockHeld, .lockSplitHold, .logCorrupt, .logForked, .logMissing, .logNewer, .logRolledBack,
            .nodeHalted, .nodePaused, .pathBusy, .pathPermission, .pathSpecial,
            .pathUnsupported, .peerAway, .peerIncompatible, .peerPaused, .peerProtocolViolation, .peerRejected,
            .recoveryFinished,
            .recoveryRescued, .repairExhausted, .rootEmptied, .rootMissing, .rootReplaced, .schemaInvalid, .schemaNewer,
            .stageSwept,
            .stateDamaged, .statedbNewer, .validationRequiredMissing, .versionKept, .versionPruned, .versionRestored,
            .waitingChildren, .waitingContent, .waitingFirstImport, .waitingParent, .waitingPeer, .waitingSave,
            .watchLimit, .watchOverflow,
            .wireDisjoint:
            false
        }
    }
}
