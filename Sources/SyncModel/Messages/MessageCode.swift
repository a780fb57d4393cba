/// Every message code there is. The dotted text is stable for ever: scripts, alerts on disk and rows of the store hold
/// it. A new code is added in its alphabetical place, with its text in the file of its theme.
public enum MessageCode: String, CaseIterable, Hashable, Comparable, Sendable {
    case callerRefused = "caller.refused"

    case clockSkew = "clock.skew"
    case clockStepped = "clock.stepped"

    case configInvalid = "config.invalid"
    case configReloaded = "config.reloaded"

    case conflictDeletedWhileEdited = "conflict.deleted-while-edited"
    case conflictFile = "conflict.file"
    case conflictIdentity = "conflict.identity"
    case conflictSlot = "conflict.slot"

    case contentChanging = "content.changing"
    case contentOverdue = "content.overdue"
    case contentStalled = "content.stalled"
    case contentUnavailable = "content.unavailable"

    case controlLost = "control.lost"
    case controlNotRunning = "control.not-running"
    case controlPermission = "control.permission"
    case controlSilent = "control.silent"
    case controlUnreadable = "control.unreadable"

    case diskError = "disk.error"
    case diskFull = "disk.full"

    case formatCorrupt = "format.corrupt"
    case formatDowngradeHeld = "format.downgrade-held"
    case formatNewer = "format.newer"
    case formatUnknown = "format.unknown"
    case formatZeroLength = "format.zero-length"

    case fuseApproved = "fuse.approved"
    case fuseDeletes = "fuse.deletes"
    case fuseRejected = "fuse.rejected"

    case hookFailed = "hook.failed"

    case ignoreInvalid = "ignore.invalid"

    case initialMerged = "initial.merged"

    case itemLateWrite = "item.late-write"
    case itemPoisoned = "item.poisoned"
    case itemQuarantined = "item.quarantined"
    case itemRestored = "item.restored"

    case keyOffered = "key.offered"
    case keyRenewed = "key.renewed"

    case lockCircle = "lock.circle"
    case lockHeld = "lock.held"
    case lockRefused = "lock.refused"
    case lockSplitHold = "lock.split-hold"

    case logCorrupt = "log.corrupt"
    case logForked = "log.forked"
    case logMissing = "log.missing"
    case logNewer = "log.newer"
    case logRolledBack = "log.rolled-back"

    case nodeHalted = "node.halted"
    case nodePaused = "node.paused"
    case nodeStarted = "node.started"
    case nodeStopped = "node.stopped"

    case pairingDone = "pairing.done"
    case pairingExists = "pairing.exists"
    case pairingFailed = "pairing.failed"
    case pairingNone = "pairing.none"

    case pathBusy = "path.busy"
    case pathPermission = "path.permission"
    case pathSpecial = "path.special"
    case pathUnsupported = "path.unsupported"

    case peerAway = "peer.away"
    case peerConnected = "peer.connected"
    case peerIncompatible = "peer.incompatible"
    case peerPaused = "peer.paused"
    case peerProtocolViolation = "peer.protocol-violation"
    case peerRejected = "peer.rejected"

    case programFault = "program.fault"

    case recoveryFinished = "recovery.finished"
    case recoveryRescued = "recovery.rescued"

    case repairExhausted = "repair.exhausted"

    case requestInvalid = "request.invalid"
    case requestNotFound = "request.not-found"
    case requestOutside = "request.outside"
    case requestRefused = "request.refused"
    case requestUnsupported = "request.unsupported"

    case rootEmptied = "root.emptied"
    case rootMissing = "root.missing"
    case rootReplaced = "root.replaced"

    case schemaInvalid = "schema.invalid"
    case schemaNewer = "schema.newer"

    case setupExists = "setup.exists"
    case setupFailed = "setup.failed"

    case stageSwept = "stage.swept"

    case startFailed = "start.failed"
    case startInUse = "start.in-use"

    case stateDamaged = "state.damaged"
    case stateExposed = "state.exposed"
    case stateForeign = "state.foreign"

    case statedbNewer = "statedb.newer"

    case validationRequiredMissing = "validation.required-missing"

    case versionKept = "version.kept"
    case versionPruned = "version.pruned"
    case versionRestored = "version.restored"

    case waitTimedOut = "wait.timed-out"

    case waitingChildren = "waiting.children"
    case waitingContent = "waiting.content"
    case waitingFirstImport = "waiting.first-import"
    case waitingParent = "waiting.parent"
    case waitingPeer = "waiting.peer"
    case waitingSave = "waiting.save"

    case watchLimit = "watch.limit"
    case watchOverflow = "watch.overflow"

    case wireDisjoint = "wire.disjoint"

    /// By their text.
    public static func < (left: MessageCode, right: MessageCode) -> Bool { left.rawValue < right.rawValue }
}

extension MessageCode: CustomStringConvertible {
    public var description: String { rawValue }
}
