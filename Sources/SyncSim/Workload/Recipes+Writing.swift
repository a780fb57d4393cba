import SyncModel

/// Writing content: at once, in pieces, in place, late, and with what was read long ago.
extension Draft {
    /// `echo … > path`
    mutating func write() {
        let (path, bytes) = (file(), content())
        makeWay(to: path)
        then { $0.write(path, bytes) }
    }

    /// `echo … >> path`
    mutating func append() {
        let (path, bytes) = (file(), content())
        makeWay(to: path)
        then { hands in
            guard let file = hands.open(path, create: true, truncate: false) else { return }
            hands.write(file, at: hands.size(of: file), bytes)
            hands.close(file)
        }
    }

    /// A few bytes in the middle, as a database does.
    mutating func writeInPlace() {
        let (path, bytes, place) = (file(), content(), random.below(100))
        then { hands in
            guard let file = hands.open(path, create: false, truncate: false) else { return }
            hands.write(file, at: hands.size(of: file) * place / 100, Array(bytes.prefix(8)))
            hands.close(file)
        }
    }

    /// Open with truncation, think, write in two pieces: in between the file is short.
    mutating func truncateThenWrite() {
        let (path, bytes, held) = (file(), content(), Held())
        makeWay(to: path)
        then { held.file = $0.open(path, create: true, truncate: true) }
        then(after: moment()) { hands in held.use { hands.write($0, at: 0, Array(bytes.prefix(bytes.count / 2))) } }
        then(after: moment()) { hands in
            held.use { hands.write($0, at: bytes.count / 2, Array(bytes.suffix(bytes.count - bytes.count / 2))) }
        }
        let isSynced = random.chance(percent: 30)
        then(after: moment()) { hands in
            held.use { file in
                if isSynced { hands.sync(file) }
                hands.close(file)
            }
        }
    }

    /// A log or a document that stays open, and is written to again much later.
    mutating func holdOpen() {
        let (path, first, second, third, held) = (file(), content(), content(), content(), Held())
        makeWay(to: path)
        then { hands in
            held.file = hands.open(path, create: true, truncate: false)
            held.use { hands.write($0, at: hands.size(of: $0), first) }
        }
        then(after: span()) { hands in held.use { hands.write($0, at: hands.size(of: $0), second) } }
        then(after: span()) { hands in
            held.use { file in
                hands.write(file, at: 0, third)
                hands.close(file)
            }
        }
    }

    /// A program that read the file at start and writes its own idea of it back at the end, whatever has come meanwhile.
    mutating func writeBackStale() {
        let (path, added, read) = (file(), content(), Read())
        then { hands in
            read.value = hands.value(at: path)
            read.bytes = hands.bytes(path)
        }
        then(after: span()) { hands in
            guard case .file = read.value else { return }
            hands.write(path, read.bytes + added, knowing: read.value)
        }
    }

    mutating func appendToBig(_ hands: Hands) {
        let path = existingFile(hands) ?? file()
        let bytes = random.bytes(random.range(1...max(1, plan.fileBytesMax / 4)))
        makeWay(to: path)
        then { hands in
            guard let file = hands.open(path, create: true, truncate: false) else { return }
            hands.write(file, at: hands.size(of: file), bytes)
            hands.close(file)
        }
    }

    mutating func insertInFront(_ hands: Hands) {
        guard let path = existingFile(hands) else { return write() }
        let bytes = Array("front \(number) ".utf8)
        let room = 2 * plan.fileBytesMax
        then { hands in
            guard case .file = hands.value(at: path) else { return }
            hands.write(path, bytes + hands.bytes(path).prefix(room))
        }
    }

    mutating func removeAndWriteAgain() {
        let (path, bytes) = (file(), content())
        let isSame = random.chance(percent: 50)
        makeWay(to: path)
        then { hands in
            let was = hands.bytes(path)
            hands.unlink(path)
            hands.write(path, isSame && !was.isEmpty ? was : bytes)
        }
    }

    /// An open file between micro-steps; lost when the machine loses power.
    final class Held {
        var file: Hands.OpenFile?

        func use(_ body: (Hands.OpenFile) -> Void) {
            if let file { body(file) }
        }
    }

    final class Read {
        var value = Value.absent
        var bytes: [UInt8] = []
    }
}
