import SyncCore
import SyncModel

/// A condition is told once, and it is told when it is over.
package final class OneAlert: StepInvariant {
    package static let id = "R-12"
    package static let sentence = """
        A node raises an alert only when it is not raised, clears only what it raised, and at rest no alert stands whose condition \
        is gone.
        """

    /// What each process has raised and not cleared.
    private var raised: [SortedMap<AlertKey, Bool>] = [[:], [:]]

    package init() {}

    package func see(_ turn: ProcessTurn, _ court: inout Court) { raised[turn.machine] = [:] }

    package func see(_ act: StepAct, _ court: inout Court) {
        for effect in act.effects {
            guard case .report(let report) = effect else { continue }
            switch report {
            case .raised(let alert):
                if raised[act.machine].updateValue(true, forKey: alert.key) != nil {
                    court.find(
                        self, on: act.machine, "\(alert.key.code) of \(Path.escape(alert.key.subject)) was raised twice"
                    )
                }
            case .raisedAgain(let alert):
                if !raised[act.machine].contains(key: alert.key) {
                    court.find(
                        self, on: act.machine,
                        "\(alert.key.code) of \(Path.escape(alert.key.subject)) was raised again and had not been raised"
                    )
                }
            case .cleared(let key):
                if raised[act.machine].removeValue(forKey: key) == nil {
                    court.find(
                        self, on: act.machine,
                        "\(key.code) of \(Path.escape(key.subject)) was cleared and had not been raised")
                }
            case .note, .peerIs: break
            }
        }
    }

    package func see(_ sight: Sight, _ court: inout Court) {
        for (index, machine) in sight.machines.enumerated() {
            for key in machine.alerts.keys where OneAlert.isOverAtRest(key.code) {
                if let path = Path(key.subject), sight.isStuck(path) { continue }
                court.find(
                    self, on: index,
                    "\(key.code) of \(Path.escape(key.subject)) stands, though nothing is wrong any more")
            }
        }
    }

    /// Conditions of the surroundings: at rest everything is mended, so none of them can hold. What waits for a person
    /// (conflicts, quarantine, invalid rules, special files) may stay.
    static func isOverAtRest(_ code: MessageCode) -> Bool {
        switch code {
        case .clockSkew, .contentChanging, .contentOverdue, .contentStalled, .contentUnavailable, .diskError, .diskFull,
            .fuseDeletes,
            .logMissing,
            .nodeHalted, .nodePaused, .pathBusy, .pathPermission, .peerAway, .peerPaused, .peerProtocolViolation,
            .peerRejected,
            .rootEmptied, .rootMissing, .rootReplaced, .waitingChildren, .waitingContent, .waitingFirstImport,
            .waitingParent, .waitingPeer, .waitingSave,
            .watchLimit, .watchOverflow:
            true
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
        case .clockStepped, .conflictDeletedWhileEdited, .conflictFile, .conflictIdentity, .conflictSlot,
            .formatCorrupt,
            .formatDowngradeHeld, .formatNewer, .formatUnknown, .formatZeroLength, .fuseApproved, .fuseRejected,
            .ignoreInvalid, .initialMerged, .itemLateWrite, .itemPoisoned, .itemQuarantined, .itemRestored, .lockHeld,
            .lockSplitHold, .logCorrupt, .logForked, .logNewer, .logRolledBack,
            .pathSpecial,
            .pathUnsupported, .peerIncompatible, .recoveryFinished, .recoveryRescued, .repairExhausted, .schemaInvalid,
            .schemaNewer,
            .stageSwept, .stateDamaged, .statedbNewer, .validationRequiredMissing, .versionKept, .versionPruned,
            .versionRestored, .wireDisjoint:
            false
        }
    }
}
