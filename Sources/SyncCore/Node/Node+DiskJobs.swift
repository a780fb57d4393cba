import SyncModel

/// Disk jobs come back: each to whoever has asked for it.
extension Node {
    mutating func finishDisk(_ job: JobID, _ results: [DiskResult], into effects: inout Effects) {
        guard let purpose = jobs.removeValue(forKey: job) else { return }
        switch purpose {
        case .recoveryLook: finishRecoveryLook(results, into: &effects)
        case .recoveryRepair: finishRepair(results, into: &effects)
        case .staging(let content, let stage): finishStaging(content, stage, results, into: &effects)
        case .stagingPlain(let path, let name, let entry):
            finishStagingPlain(path, name, entry, results, into: &effects)
        case .applying: finishBatch(results, into: &effects)
        case .undoing: finishUndo(results, into: &effects)
        case .undoingBlindly: finishBlindUndo(results, into: &effects)
        case .givingWay: finishGivingWay(results, into: &effects)
        case .rescuing: finishRescue(results, into: &effects)
        case .syncing: finishSync(results, into: &effects)
        case .relocating: finishRelocation(results)
        case .lateCheck(let looks): finishLateCheck(looks, results, into: &effects)
        case .securing(let look, let stage): finishSecuring(look, stage, results, into: &effects)
        case .copyingUnsynced(let copies): finishCopyingUnsynced(copies, results, into: &effects)
        case .replacingUnsynced(let replaced): finishReplacingUnsynced(replaced, results, into: &effects)
        case .leavingUnsynced(let left): finishLeavingUnsynced(left, results, into: &effects)
        case .lateVerify(let version, let stage): finishLateVerify(version, stage, results, into: &effects)
        case .lateRescue(let path, let version, let intent):
            finishLateRescue(path, version, intent, results, into: &effects)
        case .pruning(let versions): finishPruning(versions, results, into: &effects)
        case .pruned(let versions): finishPruned(versions, results, into: &effects)
        case .confirming(let path, let stat, let stage): finishConfirming(path, stat, stage, results, into: &effects)
        case .placingNewer(let version, let past, let stage):
            finishPlacingNewer(version, past: past, stage, results, into: &effects)
        case .keepingNewer(let version, let past, let stage):
            finishKeepingNewer(version, past: past, stage, results, into: &effects)
        case .stagingRecords(let shelvings): finishStagingRecords(shelvings, results, into: &effects)
        case .placingRecords(let shelvings): finishPlacingRecords(shelvings, results, into: &effects)
        case .copyingKept(let command, let kept, let path, let stage):
            finishCopyingKept(command, kept, path, stage, results, into: &effects)
        case .placingKept(let command, let kept, let copy, let path, let stage):
            finishPlacingKept(command, kept, copy, path, stage, results, into: &effects)
        case .droppingCopy(let version): finishDroppingCopy(version, results)
        case .restoring(let command, let kept, let path, let old, let intent):
            finishRestore(command, kept, path, old, intent, results, into: &effects)
        case .takingBack(let command, let kept, let path, let intent):
            finishTakingBack(command, kept, path, intent, results, into: &effects)
        case .settingAside(let command, let version, let intent):
            finishSettingAside(command, version, intent, results, into: &effects)
        case .bringingBack(let command, let version, let intent):
            finishBringingBack(command, version, intent, results, into: &effects)
        case .transaction, .scan, .inspection, .moveCheck, .rootCheck, .batchRootCheck, .hashing, .ignoreFiles,
            .readingSave, .readingHeader, .readingStagedHeader, .readingKept, .readingSpare, .stageList, .serving,
            .nothing:
            break
        }
    }
}
