import SyncModel

/// What people and their programs do with files, as scripts of micro-steps. By theme: `Recipes+Writing`, `+Editors`,
/// `+Moving`, `+Removing`, `+Kinds`.
enum Recipes {
    /// A recipe with how often it is taken, and the habit it belongs to; nil for what everybody does.
    private struct Entry: Sendable {
        let weight: Int
        let habit: Trait?
        let write: @Sendable (inout Draft, Hands) -> Void
    }

    private static let all: [Entry] = [
        Entry(weight: 16, habit: nil) { draft, _ in draft.write() },
        Entry(weight: 6, habit: nil) { draft, _ in draft.append() },
        Entry(weight: 4, habit: nil) { draft, _ in draft.writeInPlace() },
        Entry(weight: 4, habit: nil) { draft, _ in draft.saveAtomically() },
        Entry(weight: 7, habit: nil) { draft, hands in draft.removeFile(hands) },
        Entry(weight: 4, habit: nil) { draft, _ in draft.makeDirectory() },
        Entry(weight: 2, habit: nil) { draft, _ in draft.removeEmptyDirectory() },
        Entry(weight: 3, habit: nil) { draft, _ in draft.copyThenRemove() },
        Entry(weight: 2, habit: nil) { draft, _ in draft.removeAndWriteAgain() },
        Entry(weight: 3, habit: nil) { draft, hands in draft.tidyConflictCopy(hands) },
        Entry(weight: 8, habit: .openWriters) { draft, _ in draft.truncateThenWrite() },
        Entry(weight: 8, habit: .lateWriters) { draft, _ in draft.holdOpen() },
        Entry(weight: 6, habit: .lateWriters) { draft, _ in draft.writeBackStale() },
        Entry(weight: 6, habit: .editorSaves) { draft, _ in draft.saveWithVim() },
        Entry(weight: 5, habit: .editorSaves) { draft, _ in draft.saveWithEmacs() },
        Entry(weight: 4, habit: .editorSaves) { draft, _ in draft.editWithSed() },
        Entry(weight: 4, habit: .editorSaves) { draft, _ in draft.saveWithGedit() },
        Entry(weight: 8, habit: .fileMoves) { draft, hands in draft.moveFile(hands) },
        Entry(weight: 4, habit: .fileMoves) { draft, _ in draft.swapFiles() },
        Entry(weight: 3, habit: .fileMoves) { draft, _ in draft.rotateFiles() },
        Entry(weight: 3, habit: .fileMoves) { draft, _ in draft.shiftFiles() },
        Entry(weight: 3, habit: .fileMoves) { draft, hands in draft.moveAndBack(hands) },
        Entry(weight: 8, habit: .directoryMoves) { draft, hands in draft.moveDirectory(hands) },
        Entry(weight: 3, habit: .directoryMoves) { draft, hands in draft.moveDirectoryAndBack(hands) },
        Entry(weight: 3, habit: .directoryMoves) { draft, hands in draft.swapWithChild(hands) },
        Entry(weight: 3, habit: .directoryMoves) { draft, hands in draft.swapDirectories(hands) },
        Entry(weight: 4, habit: .massDeletes) { draft, hands in draft.removeTree(hands) },
        Entry(weight: 3, habit: .massDeletes) { draft, hands in draft.removeTreeAndUndo(hands) },
        Entry(weight: 1, habit: .massDeletes) { draft, hands in draft.removeEverything(hands) },
        Entry(weight: 6, habit: .permissionChanges) { draft, hands in draft.changeMode(hands) },
        Entry(weight: 6, habit: .timeChanges) { draft, hands in draft.touch(hands) },
        Entry(weight: 6, habit: .symlinks) { draft, _ in draft.makeSymlink() },
        Entry(weight: 8, habit: .kindSwaps) { draft, _ in draft.changeKind() },
        Entry(weight: 5, habit: .ignoreRules) { draft, _ in draft.editRules() },
        Entry(weight: 5, habit: .ignoreRules) { draft, _ in draft.writeIgnored() },
        Entry(weight: 5, habit: .bigFiles) { draft, hands in draft.appendToBig(hands) },
        Entry(weight: 4, habit: .bigFiles) { draft, hands in draft.insertInFront(hands) },
        Entry(weight: 4, habit: .specialFiles) { draft, _ in draft.makeFifo() },
        Entry(weight: 4, habit: .specialFiles) { draft, hands in draft.makeHardLink(hands) },
    ]

    static func write(_ draft: inout Draft, _ hands: Hands) {
        let choices = all.filter { $0.habit.map(draft.plan.isOn) ?? true }
        var left = draft.random.below(choices.reduce(0) { $0 + $1.weight })
        for choice in choices {
            left -= choice.weight
            if left < 0 { return choice.write(&draft, hands) }
        }
    }
}

extension Draft {
    /// Something that is there now, if there is anything of the kind.
    mutating func existing(_ hands: Hands, where isWanted: (Value) -> Bool) -> Path? {
        random.pick(hands.tree.filter { isWanted($0.value) }.map(\.key))
    }

    mutating func existingFile(_ hands: Hands) -> Path? {
        existing(hands) { value in
            if case .file = value { return true }
            return false
        }
    }

    mutating func existingDirectory(_ hands: Hands) -> Path? { existing(hands) { $0 == .directory } }
}
