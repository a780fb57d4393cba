import SyncModel

/// Kinds, modes, times, links, rules: everything about a path but its bytes.
extension Draft {
    mutating func changeMode(_ hands: Hands) {
        let path = existing(hands) { $0.isContent || $0 == .directory } ?? file()
        let mode = random.pick([0o600, 0o644, 0o755, 0o400, 0o777, 0o500].map { UInt16($0) }) ?? 0o644
        then { hands in
            // A directory that nobody may enter is a fault of its own; see the operator.
            let isDirectory = hands.kind(path) == .directory
            hands.chmod(path, isDirectory ? mode | 0o700 : mode)
        }
    }

    mutating func touch(_ hands: Hands) {
        let path = existing(hands) { $0.isContent || $0 == .directory } ?? file()
        let time = Timestamp(
            seconds: random.pick([-1, 0, 1, 1_000_000_000, 1_750_000_000, 4_102_444_800]) ?? 0,
            nanoseconds: UInt32(random.pick([0, 1, 500_000_000, 999_999_999]) ?? 0))
        then { $0.touch(path, time) }
    }

    mutating func makeSymlink() {
        let (path, other) = (file(), file())
        let target =
            random.pick([
                other.bytes, Array("../".utf8) + other.bytes, Array("/etc/passwd".utf8), Array("nowhere".utf8),
                Array(".".utf8),
                Array("..".utf8), [0xFF, 0x0A],
            ]) ?? other.bytes
        makeWay(to: path)
        then { hands in
            if hands.value(at: path).isContent { hands.unlink(path) }
            hands.symlink(path, to: target.isEmpty ? [0x2E] : target)
        }
    }

    /// What stands at a path becomes something of another kind.
    mutating func changeKind() {
        let (path, bytes, target) = (random.chance(percent: 50) ? file() : directory(), content(), file())
        let kind = random.below(3)
        let pause = moment()
        makeWay(to: path)
        then { hands in
            if hands.kind(path) == .directory { hands.removeAll([path]) } else { hands.unlink(path) }
        }
        then(after: pause) { hands in
            switch kind {
            case 0: hands.write(path, bytes)
            case 1:
                hands.mkdir(path)
                hands.write(path.appending(.known("in")), bytes)
            default: hands.symlink(path, to: target.bytes)
            }
        }
    }

    mutating func editRules() {
        let directory = random.chance(percent: 70) ? Path.root : directory()
        let path = directory.appending(.known(".syncignore"))
        let lines = ["*.tmp", "a", "/b", "d/", "!a", "*~", "e/*", "**/c", "# nothing", "*.ign"]
        var text = ""
        for _ in 0..<random.range(0...3) { text += (random.pick(lines) ?? "") + "\n" }
        let bytes = Array(text.utf8)
        makeWay(to: path)
        then { $0.write(path, bytes) }
    }

    mutating func writeIgnored() {
        let (path, bytes) = (file(), content())
        guard let ignored = Hands.beside(path, suffix: ".ign") else { return }
        makeWay(to: ignored)
        then { $0.write(ignored, bytes) }
    }

    mutating func makeFifo() {
        let path = file()
        makeWay(to: path)
        then { hands in
            if !hands.exists(path) { hands.mkfifo(path) }
        }
        guard random.chance(percent: 60) else { return }
        then(after: span()) { hands in
            if hands.kind(path) == .special { hands.unlink(path) }
        }
    }

    mutating func makeHardLink(_ hands: Hands) {
        let (source, target, bytes) = (existingFile(hands) ?? file(), file(), content())
        makeWay(to: target)
        then { $0.link(source, to: target) }
        let isWritten = random.chance(percent: 60)
        then(after: span()) { hands in
            guard isWritten, let file = hands.open(target, create: false, truncate: false) else { return }
            hands.write(file, at: 0, bytes)
            hands.close(file)
        }
    }
}
