import SyncModel

/// How editors and small tools save, call by call.
extension Draft {
    /// Temporary file, fsync, rename over: the textbook.
    mutating func saveAtomically() {
        let (path, bytes, held) = (file(), content(), Held())
        guard let temporary = Hands.beside(path, suffix: ".tmp") else { return }
        let isSynced = random.chance(percent: 60)
        makeWay(to: path)
        then { held.file = $0.open(temporary, create: true, truncate: true) }
        then(after: moment()) { hands in
            held.use { file in
                hands.write(file, at: 0, bytes)
                if isSynced { hands.sync(file) }
                hands.close(file)
            }
        }
        then(after: moment()) { hands in
            hands.rename(temporary, to: path)
            if isSynced { hands.syncDirectory(of: path) }
        }
    }

    /// `backupcopy=no`: the old file becomes the backup, a new one is written under the name, the backup goes.
    mutating func saveWithVim() {
        let (path, bytes, held) = (file(), content(), Held())
        guard let backup = Hands.beside(path, suffix: "~"), let swap = Hands.beside(path, prefix: ".", suffix: ".swp")
        else { return }
        makeWay(to: path)
        then { $0.write(swap, Array("b0VIM".utf8)) }
        then(after: moment()) { $0.rename(path, to: backup) }
        then(after: moment()) { held.file = $0.open(path, create: true, truncate: true) }
        then(after: moment()) { hands in
            held.use { file in
                hands.write(file, at: 0, bytes)
                hands.sync(file)
                hands.close(file)
            }
        }
        then(after: moment()) { $0.chmod(path, 0o644) }
        then(after: moment()) { $0.unlink(backup) }
        then(after: moment()) { $0.unlink(swap) }
    }

    /// A dangling symlink as lock, an auto-save file, a backup that stays.
    mutating func saveWithEmacs() {
        let (path, draft, bytes, held) = (file(), content(), content(), Held())
        guard let lock = Hands.beside(path, prefix: ".#"), let autosave = Hands.beside(path, prefix: "#", suffix: "#"),
            let backup = Hands.beside(path, suffix: "~")
        else { return }
        let target = Array("\(writer)@host.4711:1750000000".utf8)
        makeWay(to: path)
        then { $0.symlink(lock, to: target) }
        then(after: moment()) { $0.write(autosave, draft) }
        then(after: moment()) { $0.rename(path, to: backup) }
        then(after: moment()) { hands in
            held.file = hands.open(path, create: true, truncate: true)
            held.use { hands.write($0, at: 0, bytes) }
        }
        then(after: moment()) { hands in
            held.use { file in
                hands.sync(file)
                hands.close(file)
            }
            hands.unlink(autosave)
        }
        then(after: moment()) { $0.unlink(lock) }
    }

    /// `sed -i`: a copy with the change, the same mode, rename over.
    mutating func editWithSed() {
        let (path, bytes) = (file(), content())
        guard let parent = path.parent, let name = Name("sed\(String(number, radix: 36))Xy") else { return }
        let temporary = parent.appending(name)
        then { hands in
            guard case .file = hands.value(at: path) else { return }
            hands.write(temporary, hands.bytes(path).prefix(64) + bytes)
        }
        then(after: moment()) { $0.chmod(temporary, 0o640) }
        then(after: moment()) { $0.rename(temporary, to: path) }
    }

    /// `.goutputstream-XXXXXX`, with the old one kept as a hard link until the new one stands.
    mutating func saveWithGedit() {
        let (path, bytes) = (file(), content())
        guard let parent = path.parent, let name = Name(".goutputstream-\(String(number, radix: 36))"),
            let backup = Hands.beside(path, suffix: "~")
        else { return }
        let temporary = parent.appending(name)
        makeWay(to: path)
        then { $0.write(temporary, bytes) }
        then(after: moment()) { hands in
            hands.unlink(backup)
            hands.link(path, to: backup)
        }
        then(after: moment()) { $0.rename(temporary, to: path) }
    }
}
