import SyncModel

/// Renames: single, in rings and chains, there and back, of files and of whole directories.
extension Draft {
    mutating func moveFile(_ hands: Hands) {
        let source = existingFile(hands) ?? file()
        let target = file()
        makeWay(to: target)
        then { $0.rename(source, to: target) }
    }

    mutating func moveAndBack(_ hands: Hands) {
        let source = existingFile(hands) ?? file()
        let target = file()
        let pause = random.chance(percent: 50) ? moment() : span()
        makeWay(to: target)
        then { $0.rename(source, to: target) }
        then(after: pause) { hands in
            if !hands.exists(source) { hands.rename(target, to: source) }
        }
    }

    /// a ↔ b through a third name.
    mutating func swapFiles() {
        let (one, two) = (file(), file())
        guard let third = Hands.beside(one, suffix: ".swap") else { return }
        then { $0.rename(one, to: third) }
        then(after: moment()) { $0.rename(two, to: one) }
        then(after: moment()) { $0.rename(third, to: two) }
    }

    /// a → b → c → a
    mutating func rotateFiles() {
        let (one, two, three) = (file(), file(), file())
        guard let aside = Hands.beside(three, suffix: ".turn") else { return }
        then { $0.rename(three, to: aside) }
        then(after: moment()) { $0.rename(two, to: three) }
        then(after: moment()) { $0.rename(one, to: two) }
        then(after: moment()) { $0.rename(aside, to: one) }
    }

    /// b → c, then a → b: what log rotation does.
    mutating func shiftFiles() {
        let (one, two, three, fresh) = (file(), file(), file(), content())
        then { $0.rename(two, to: three) }
        then(after: moment()) { $0.rename(one, to: two) }
        then(after: moment()) { $0.write(one, fresh) }
    }

    mutating func moveDirectory(_ hands: Hands) {
        let source = existingDirectory(hands) ?? directory()
        var target = directory()
        // Into another directory, or to a new name.
        if random.chance(percent: 40), let name = source.name { target = target.appending(name) }
        makeWay(to: target)
        then { $0.rename(source, to: target) }
    }

    mutating func moveDirectoryAndBack(_ hands: Hands) {
        let source = existingDirectory(hands) ?? directory()
        let target = directory()
        let pause = random.chance(percent: 50) ? moment() : span()
        then { $0.rename(source, to: target) }
        then(after: pause) { hands in
            if !hands.exists(source) { hands.rename(target, to: source) }
        }
    }

    /// a/b becomes the parent and a its child, in a's old place.
    mutating func swapWithChild(_ hands: Hands) {
        let inner = existing(hands) { $0 == .directory } ?? directory()
        guard let outer = inner.parent, !outer.isRoot, let name = inner.name,
            let aside = Hands.beside(outer, suffix: ".in")
        else {
            return moveDirectory(hands)
        }
        then { $0.rename(inner, to: aside) }
        then(after: moment()) { $0.rename(outer, to: aside.appending(name)) }
        then(after: moment()) { $0.rename(aside, to: outer) }
    }

    mutating func swapDirectories(_ hands: Hands) {
        let one = existingDirectory(hands) ?? directory()
        let two = existingDirectory(hands) ?? directory()
        guard one != two, !one.isBelow(two), !two.isBelow(one), let third = Hands.beside(one, suffix: ".swap") else {
            return
        }
        then { $0.rename(one, to: third) }
        then(after: moment()) { $0.rename(two, to: one) }
        then(after: moment()) { $0.rename(third, to: two) }
    }
}
