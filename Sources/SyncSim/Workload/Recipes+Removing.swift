import SyncModel

/// Deleting, much and little, and thinking better of it.
extension Draft {
    mutating func removeFile(_ hands: Hands) {
        let path = existing(hands) { $0.isContent } ?? file()
        then { $0.unlink(path) }
    }

    mutating func makeDirectory() {
        let path = directory()
        then { $0.makeDirectories(path) }
    }

    mutating func removeEmptyDirectory() {
        let path = directory()
        then { $0.rmdir(path) }
    }

    mutating func copyThenRemove() {
        let (source, target) = (file(), file())
        makeWay(to: target)
        then { hands in
            guard case .file = hands.value(at: source) else { return }
            hands.write(target, hands.bytes(source))
        }
        then(after: moment()) { hands in
            if hands.value(at: source) == hands.value(at: target), source != target { hands.unlink(source) }
        }
    }

    mutating func removeTree(_ hands: Hands) {
        let path = existingDirectory(hands) ?? directory()
        then { $0.removeAll([path]) }
    }

    mutating func removeTreeAndUndo(_ hands: Hands) {
        let path = existingDirectory(hands) ?? directory()
        let pause = random.chance(percent: 50) ? moment() : span()
        let undone = Undone()
        then { undone.remains = $0.removeAll([path]) }
        then(after: pause) { hands in
            for (path, remains) in undone.remains where !hands.exists(path) { hands.restore(path, remains) }
        }
    }

    mutating func removeEverything(_ hands: Hands) {
        let isUndone = random.chance(percent: 50)
        let undone = Undone()
        then { hands in
            undone.remains = hands.removeAll(hands.tree.keys.filter { $0.depth == 1 })
        }
        guard isUndone else { return }
        then(after: span()) { hands in
            for (path, remains) in undone.remains where !hands.exists(path) { hands.restore(path, remains) }
        }
    }

    /// A person deals with a conflict: takes the loser, throws it away, or works on in it.
    mutating func tidyConflictCopy(_ hands: Hands) {
        let copies = hands.tree.keys.filter { ConflictFamily.base(of: $0) != nil }
        guard let copy = random.pick(Array(copies)), let base = ConflictFamily.base(of: copy) else { return write() }
        let bytes = content()
        switch random.below(4) {
        case 0: then { $0.unlink(copy) }
        case 1: then { $0.rename(copy, to: base) }
        case 2: then { $0.write(copy, bytes) }
        default:
            guard let aside = Hands.beside(base, suffix: ".mine") else { return }
            then { $0.rename(copy, to: aside) }
        }
    }

    final class Undone {
        var remains: [(path: Path, content: Hands.Remains)] = []
    }
}
