/// Rows, batches and questions by chance, from few names so that they meet, with every field of every type in play.
import SyncModel

struct Draws {
    var random: SeededRandom
    private let paths: [Path]
    private let contents: [(id: ContentID, list: ChunkList)]

    init(seed: UInt64, stream: String = "store") {
        random = SeededRandom(seed: seed, stream: stream)
        // Names with bytes on both sides of the slash, names that begin with one another, and deep ones.
        let texts = [
            "a", "a!", "a/b", "a/b/x", "a/b/y", "a/b!", "a/c", "a/x", "a0", "a0/b", "b", "b/x", "c", "c/d/e", "c/d/e/f",
            ".syncignore", "a/.syncignore", "a/x.conflict-beta-20260101-000000-abcdef",
            "c/x.conflict-beta-20260101-000000-abcdef.txt",
        ]
        paths =
            texts.compactMap { Path($0) }
            + [[0xFF], [0xFF, 0x2F, 0x01], [1], [0x61, 0x2F, 0x01], [0x61, 0x2F, 0xFF, 0xFF]].compactMap { Path($0) }
        contents = (0..<10).map { index in
            // Neighbours share chunks; the first has none, and one says the same chunk twice.
            let digests = (0..<index).map { SHA256.digest(of: [UInt8($0 / 2)]) }
            let list = ChunkList(digests.map { Chunk(digest: $0, length: 10 + UInt32($0.words.0 & 7)) })
            return (ContentID(list.contentID), list)
        }
    }

    mutating func path() -> Path { random.pick(paths) ?? .root }
    mutating func content() -> (id: ContentID, list: ChunkList) { contents[random.below(contents.count)] }
    mutating func digest() -> Digest { Digest(words: (random.next(), random.next(), random.next(), random.next())) }

    mutating func number() -> UInt64 {
        switch random.below(6) {
        case 0: random.pick([0, 1, 127, 128, .max, 1 << 63]) ?? 0
        default: random.next() >> UInt64(random.below(64))
        }
    }

    mutating func signed() -> Int64 { Int64(bitPattern: number()) }

    mutating func timestamp() -> Timestamp {
        Timestamp(seconds: signed(), nanoseconds: UInt32(truncatingIfNeeded: random.next()))
    }

    mutating func maybe<Value>(_ percent: Int = 50, _ draw: (inout Draws) -> Value) -> Value? {
        random.chance(percent: percent) ? draw(&self) : nil
    }

    mutating func position() -> LogPosition {
        if random.chance(percent: 15) { return .none }
        let epoch = random.chance(percent: 5) ? number() : UInt64(random.range(1...3)) << 32
        return LogPosition(
            epoch: Epoch(raw: epoch), seq: random.chance(percent: 5) ? number() : UInt64(random.below(9)))
    }

    mutating func origin() -> Origin {
        Origin(
            author: random.chance(percent: 50) ? .own : .peer, position: position(),
            time: HybridTime(raw: number()))
    }

    mutating func origins() -> Origins {
        if random.chance(percent: 40) { return Origins(all: origin()) }
        return Origins(content: origin(), mode: origin(), time: origin())
    }

    mutating func vector() -> VersionVector { VersionVector(own: position(), peer: position()) }

    mutating func entry() -> Entry {
        let content: Content =
            switch random.below(8) {
            case 0: .absent
            case 1, 2: .directory
            case 3: .symlink(random.bytes(1 + random.below(20)))
            default: file()
            }
        return Entry(content: content, mode: UInt16(random.below(0o1000)), modified: timestamp())
    }

    private mutating func file() -> Content {
        let content = content()
        return .file(content.id, size: random.chance(percent: 5) ? number() : content.list.size)
    }

    mutating func identity() -> FileIdentity {
        FileIdentity(
            device: UInt64(random.range(1...2)), inode: random.chance(percent: 5) ? number() : UInt64(random.below(6)),
            birth: Timestamp(seconds: Int64(random.below(2)), nanoseconds: 0))
    }

    /// Mostly what a disk would tell about the entry, as in real rows.
    mutating func stat(beside entry: Entry) -> Stat {
        let kind = entry.content.kind ?? .special
        if random.chance(percent: 60) {
            return Stat(
                identity: identity(), kind: kind, mode: entry.mode, size: entry.content.size,
                modified: entry.modified, changed: timestamp())
        }
        return Stat(
            identity: identity(), kind: random.pick([.file, .directory, .symlink, .special]) ?? kind,
            mode: UInt16(random.below(0o1000)), size: number(), modified: timestamp(), changed: timestamp())
    }

    mutating func formatMark() -> FormatMark {
        let readings: [FormatReading] = [
            .zeroLength, .corrupt, .unknown, .version(0), .version(UInt32(random.below(300))),
        ]
        var mark = FormatMark(
            content: ContentID(digest()), rule: UInt32(truncatingIfNeeded: random.next()),
            reading: random.pick(readings) ?? .unknown)
        mark.isGivenUp = random.chance(percent: 30)
        return mark
    }

    mutating func revision() -> Revision {
        Revision(
            origin: origin(), seen: vector(), entry: entry(), origins: origins(), movedFrom: maybe(20) { $0.path() },
            movedTo: maybe(20) { $0.path() })
    }

    mutating func row() -> Row { row(at: random.chance(percent: 2) ? .root : path()) }

    mutating func row(at path: Path) -> Row {
        var row = Row(path: path)
        row.heads = (0..<random.pick([0, 1, 1, 1, 2, 3], or: 1)).map { _ in revision() }
        if random.chance(percent: 75) {
            let entry = row.heads.first?.entry ?? entry()
            let shown = random.chance(percent: 70) ? entry : self.entry()
            row.disk = Row.DiskState(
                entry: shown, stat: stat(beside: shown), origins: row.heads.first?.origins ?? origins(),
                isRacy: random.chance(percent: 20))
            row.disk?.isUnwritten = random.chance(percent: 20)
        }
        row.reflected = random.chance(percent: 70) ? row.version : vector()
        if random.chance(percent: 30) { row.condition = [.missing, .damaged, .ignored][random.below(3)] }
        row.waiting = maybe(15) {
            Row.Waiting(reason: $0.code(), sinceMilliseconds: $0.signed(), tries: Int($0.signed()))
        }
        row.owesCopy = random.chance(percent: 20)
        row.format = maybe(20) { $0.formatMark() }
        return row
    }

    mutating func code() -> MessageCode { random.pick(MessageCode.allCases) ?? .pathBusy }

    mutating func record() -> LogRecord {
        let change: LogRecord.Change =
            random.chance(percent: 70) ? .put(path(), revision()) : .relocate(relocation(from: path(), to: path()))
        return LogRecord(
            head: LogHead(position: position(), chain: digest()), time: HybridTime(raw: number()), change: change)
    }

    mutating func relocation(from: Path, to: Path) -> Relocation {
        Relocation(
            from: from, to: to, origin: origin(), seenPeer: position(),
            summary: SubtreeSummary.Contents(liveRows: number(), fingerprint: number()))
    }

    mutating func keptVersion() -> KeptVersion {
        let entry = entry()
        return KeptVersion(
            id: VersionID(raw: random.chance(percent: 5) ? number() : UInt64(random.below(8))), path: path(),
            entry: entry, stat: stat(beside: entry), author: random.chance(percent: 50) ? .own : .peer,
            keptMilliseconds: random.chance(percent: 5) ? signed() : Int64(random.below(100)), reason: code(),
            isQuarantined: random.chance(percent: 30))
    }

    mutating func stage() -> StageName {
        StageName(raw: random.chance(percent: 5) ? number() : UInt64(random.below(6)))
    }

    mutating func intent() -> Intent {
        let action: Intent.Action =
            switch random.below(3) {
            case 0: .place(maybe { $0.identity() }, entry())
            case 1: .remove
            default: .rename(from: path())
            }
        let displaced: Intent.Displaced? =
            switch random.below(4) {
            case 0: .version(keptVersion())
            case 1: .conflictCopy(path())
            case 2: .quarantine(keptVersion())
            default: nil
            }
        return Intent(
            stage: stage(), path: path(), action: action, expected: maybe { $0.stat(beside: .absent) },
            displaced: displaced, stagedTime: maybe { $0.timestamp() },
            shown: maybe { Intent.Shown(version: $0.vector(), origins: $0.origins()) })
    }

    mutating func head() -> LogHead { LogHead(position: position(), chain: digest()) }

    mutating func node() -> NodeRecord {
        var node = NodeRecord(
            id: NodeID(digest()), name: random.bytes(random.below(65)), folder: FolderID(digest()))
        node.peer = maybe { NodeID($0.digest()) }
        node.peerName = random.bytes(random.below(65))
        (node.ownHead, node.prunedThrough, node.importedHead) = (head(), head(), head())
        node.importedEpochs = (0..<random.below(5)).map { _ in head() }
        node.acknowledged = head()
        node.applied = position()
        node.clock = HybridTime(raw: number())
        node.aliveMilliseconds = signed()
        node.steadySince = maybe { $0.signed() }
        (node.nextStage, node.nextVersion) = (number(), number())
        node.stoppedCleanly = random.chance(percent: 50)
        node.isPaused = random.chance(percent: 50)
        node.initialImportDone = random.chance(percent: 50)
        node.isForked = random.chance(percent: 50)
        node.held = maybe {
            NodeRecord.HeldDeletes(id: $0.number(), files: Int($0.signed()), sinceMilliseconds: $0.signed())
        }
        node.distrustSince = maybe { $0.signed() }
        node.distrustOfIgnored = maybe { $0.signed() }
        node.rollbackCommon = maybe { $0.position() }
        node.adoptBeyond = maybe { $0.position() }
        node.adoptSparing = maybe { Epoch(raw: $0.number()) }
        node.rulesConsidered = maybe { $0.digest() }
        node.formatsConsidered = maybe { $0.digest() }
        if node.isForked { node.untoldRules = [Path("d/.syncignore"), Path("e/.syncignore")].compactMap { $0 } }
        node.peerFormats = (0..<random.below(3)).map { _ in
            let low = UInt32(random.below(9))
            return FormatSupport(
                model: random.bytes(random.below(9)), name: random.bytes(random.below(9)), rule: low,
                versions: low...(low + 3))
        }
        node.setMarks =
            maybe { NodeRecord.SetMarks(own: $0.position(), peer: $0.position(), promised: $0.position()) } ?? .none
        node.steadySince = maybe { $0.signed() }
        node.toldBeforeCut = maybe { $0.signed() }
        node.writtenMilliseconds = maybe { $0.signed() }
        node.clockShown = maybe { draws in
            let stretches = (0..<draws.random.below(3)).map { _ in
                let (one, other) = (draws.signed(), draws.signed())
                return min(one, other)...max(one, other)
            }
            return NodeRecord.ClockShown(stretches: stretches, monotonicMilliseconds: draws.number())
        }
        node.lost = maybe { NodeRecord.LostLog(after: $0.position(), before: Epoch(raw: $0.number())) }
        return node
    }
}

extension SeededRandom {
    mutating func pick<Element>(_ choices: [Element], or other: Element) -> Element { pick(choices) ?? other }
}
