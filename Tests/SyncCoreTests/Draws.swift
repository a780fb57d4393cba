/// Seeded values of everything that goes into the log or over the link, always such as an honest node could write.
import SyncCore
import SyncModel

extension SeededRandom {
    mutating func drawPath() -> Path {
        while true {
            let parts = (0...below(4)).map { _ in bytes(1 + below(12)) }
            if let path = Path(Array(parts.joined(separator: [0x2F]))), !path.isReserved, !path.isRoot { return path }
        }
    }

    mutating func drawDigest() -> Digest { Digest(words: (next(), next(), next(), next())) }

    mutating func drawPosition() -> LogPosition {
        if chance(percent: 10) { return .none }
        return LogPosition(
            epoch: Epoch(number: UInt32(1 + below(3)), nonce: UInt32(below(2))), seq: UInt64(1 + below(1_000)))
    }

    mutating func drawTime(upTo last: HybridTime = HybridTime(raw: .max)) -> HybridTime {
        let time = chance(percent: 30) ? next() : UInt64(1_790_000_000_000 + below(1_000_000)) << 16
        return HybridTime(raw: min(time, last.raw))
    }

    mutating func drawHead() -> LogHead { LogHead(position: drawPosition(), chain: drawDigest()) }

    mutating func drawContent() -> Content {
        switch below(5) {
        case 0: .absent
        case 1: .directory
        case 2: .symlink((0...below(20)).map { _ in UInt8(1 + below(255)) })
        default: .file(ContentID(drawDigest()), size: next() % (Limits.fileBytesMax + 1))
        }
    }

    mutating func drawEntry() -> Entry {
        let seconds = chance(percent: 10) ? [Int64.min, .max, -1][below(3)] : Int64(below(2_000_000_000))
        return Entry(
            content: drawContent(), mode: UInt16(below(0o1000)),
            modified: Timestamp(seconds: seconds, nanoseconds: UInt32(below(1_000_000_000))))
    }

    /// A revision whose author had seen what was before it, and took each aspect from there or from itself.
    mutating func drawRevision(at position: LogPosition, time: HybridTime) -> Revision {
        let origin = Origin(author: .own, position: position, time: time)
        let isFirst = position.seq == 1
        let before = LogPosition(epoch: position.epoch, seq: isFirst ? 0 : 1 + UInt64(below(Int(position.seq) - 1)))
        let seen = VersionVector(own: chance(percent: 20) ? .none : before, peer: drawPosition())
        func aspect(_ random: inout SeededRandom) -> Origin {
            switch random.below(3) {
            case 0: origin
            case 1: Origin(author: .own, position: seen.own, time: random.drawTime(upTo: time))
            default: Origin(author: .peer, position: seen.peer, time: random.drawTime(upTo: time))
            }
        }
        let origins = Origins(content: aspect(&self), mode: aspect(&self), time: aspect(&self))
        return Revision(
            origin: origin, seen: seen, entry: drawEntry(), origins: origins,
            movedFrom: chance(percent: 20) ? drawPath() : nil, movedTo: chance(percent: 20) ? drawPath() : nil)
    }

    mutating func drawChange(at position: LogPosition, time: HybridTime) -> LogRecord.Change {
        guard chance(percent: 20) else { return .put(drawPath(), drawRevision(at: position, time: time)) }
        let origin = Origin(author: .own, position: position, time: time)
        while true {
            let (from, to) = (drawPath(), drawPath())
            if from == to || from.isBelow(to) || to.isBelow(from) { continue }
            let summary = SubtreeSummary.Contents(liveRows: next(), fingerprint: next())
            return .relocate(
                Relocation(from: from, to: to, origin: origin, seenPeer: drawPosition(), summary: summary))
        }
    }

    /// A log of one node, entry by entry, sometimes with a new epoch.
    mutating func drawLog(_ count: Int, node: NodeID) -> [LogRecord] {
        var head = LogHead.none
        return (0..<count).map { _ in
            let isNew = head == .none || chance(percent: 10)
            let epoch = isNew ? Epoch(number: head.position.epoch.number + 1, nonce: 5) : head.position.epoch
            let position = LogPosition(epoch: epoch, seq: isNew ? 1 : head.position.seq + 1)
            let time = drawTime()
            let change = drawChange(at: position, time: time)
            let record = LogCodec.record(change, at: position, time: time, after: head, node: node)
            head = record.head
            return record
        }
    }

    mutating func drawRowState() -> RowState {
        let position = LogPosition(epoch: Epoch(number: 2, nonce: 1), seq: UInt64(1 + below(1_000)))
        return RowState(path: drawPath(), revision: drawRevision(at: position, time: drawTime()))
    }

    mutating func drawList<Element>(_ max: Int, _ element: (inout SeededRandom) -> Element) -> [Element] {
        (0..<below(max + 1)).map { _ in element(&self) }
    }

    mutating func drawHello() -> Hello {
        // (What a later program greets with may be longer: `VectorsTests`.)
        let first = UInt16(below(Int(Hello.protocolMax) + 1))
        return Hello(
            versionMin: first, versionMax: UInt16(clamping: Int(first) + below(9)),
            features: drawList(4) { $0.bytes($0.below(65)) }, name: bytes(below(65)), program: bytes(below(65)),
            wallMilliseconds: Int64(bitPattern: next()), ownHead: drawHead(), known: drawList(4) { $0.drawHead() })
    }

    /// A frame of the type with this number, one of 1 to 24.
    mutating func drawFrame(type: UInt8) -> Frame {
        switch type {
        case 1: return .hello(drawHello())
        case 2: return .log(drawList(5) { $0.bytes($0.below(90)) })
        case 3: return .acknowledge(Acknowledgement(head: drawHead(), isSettled: chance(percent: 50)))
        case 4: return .rows(drawList(4) { $0.drawRowState() })
        case 5: return .rowsEnd(drawHead())
        case 6: return .want(drawList(6) { ContentID($0.drawDigest()) })
        case 7:
            let chunks = drawList(6) { Chunk(digest: $0.drawDigest(), length: UInt32(truncatingIfNeeded: $0.next())) }
            let first = UInt32(below(1_000))
            let total = first + UInt32(chunks.count + below(1_000))
            return .chunkList(
                ContentPage(content: ContentID(drawDigest()), first: first, total: total, chunks: chunks))
        case 8: return .wantChunks(ContentID(drawDigest()), drawList(9) { UInt32(truncatingIfNeeded: $0.next()) })
        case 9:
            let chunks = drawList(4) {
                ChunkData(index: UInt32(truncatingIfNeeded: $0.next()), bytes: $0.bytes($0.below(60)))
            }
            return .chunks(ContentID(drawDigest()), chunks)
        case 10: return .gone(ContentID(drawDigest()))
        case 11: return .rolledBack(drawPosition())
        case 12: return .expand(drawPosition())
        case 13: return .expansion(drawPosition(), drawList(3) { $0.drawRowState() }, isLast: chance(percent: 50))
        case 14: return .ping
        case 15: return .pong(wallMilliseconds: Int64(bitPattern: next()))
        case 16: return .halt(pick(MessageCode.allCases) ?? .nodeHalted)
        case 17:
            let contents = drawList(4) { SmallContent(id: ContentID($0.drawDigest()), bytes: $0.bytes($0.below(60))) }
            return .contents(contents)
        case 18: return .later(ContentID(drawDigest()))
        case 19:
            return .wantChanged(
                drawList(4) { ChangedWish(content: ContentID($0.drawDigest()), base: ContentID($0.drawDigest())) })
        case 20:
            let (content, base) = (ContentID(drawDigest()), ContentID(drawDigest()))
            return .changedList(ChangedList(content: content, base: base, parts: drawList(5) { $0.drawPart() }))
        case 21:
            let models = drawList(3) {
                RecordsHello.Model(
                    name: $0.bytes($0.below(60)), version: UInt32(truncatingIfNeeded: $0.next()),
                    digest: $0.drawDigest())
            }
            return .records(
                RecordsHello(models: models, own: drawPosition(), before: drawPosition(), known: drawPosition()))
        case 22:
            let bytes = bytes(below(60))
            let offset = UInt32(below(1_000))
            return .changeSet(
                SetPiece(
                    author: chance(percent: 50) ? .own : .peer, position: drawPosition(),
                    total: offset + UInt32(bytes.count + below(1_000)), offset: offset, bytes: bytes))
        case 23: return .setsTaken(drawPosition())
        case 24: return .formats(drawList(3) { $0.drawSupport() })
        case 25: return .setsShown(drawPosition())
        case 26: return .claim(drawClaim())
        case 27: return .claimAnswer(Claim.ID(next()), isGranted: chance(percent: 50))
        case 28: return .releaseClaim(Claim.ID(next()))
        case 29:
            return .setsBase(
                SetsBase(
                    pick([.forgotten, .wanted, .begins, .ends]) ?? .ends, own: drawPosition(), peer: drawPosition(),
                    ownEnd: drawPosition(), peerEnd: drawPosition()))
        case 30: return .pausing(chance(percent: 50))
        case 31:
            var claim = drawClaim()
            claim.purpose = bytes(1 + below(60))
            return .claim(claim)
        case 32: return .holding(files: UInt32(truncatingIfNeeded: next()))
        case 33:
            return .claimWaits(
                drawList(3) { PeerWait(purpose: $0.bytes(1 + $0.below(60)), awaited: $0.bytes(1 + $0.below(60))) })
        case let other: return .unknown(other)
        }
    }

    private mutating func drawClaim() -> PeerClaim {
        PeerClaim(
            id: Claim.ID(next()), isRead: chance(percent: 50), isHeld: chance(percent: 50),
            process: UInt32(truncatingIfNeeded: next()), holder: bytes(below(60)), paths: drawList(3) { $0.drawPath() })
    }

    private mutating func drawSupport() -> FormatSupport {
        let low = UInt32(below(100))
        return FormatSupport(
            model: bytes(below(40)), name: bytes(below(40)), rule: UInt32(truncatingIfNeeded: next()),
            versions: low...(low + UInt32(below(100))))
    }

    private mutating func drawPart() -> ChangedList.Part {
        let (first, second) = (UInt32(truncatingIfNeeded: next()), UInt32(truncatingIfNeeded: next()))
        if chance(percent: 50) { return .known(first: first, count: second) }
        return .other(Chunk(digest: drawDigest(), length: first))
    }

    /// The bytes with a few of them changed, cut or added.
    mutating func mangle(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        for _ in 0...below(3) {
            switch below(6) {
            case 0 where !result.isEmpty: result.remove(at: below(result.count))
            case 1: result.insert(UInt8(below(256)), at: below(result.count + 1))
            case 2 where !result.isEmpty: result.removeLast(below(min(8, result.count)))
            case 3 where result.count >= 4:
                // Where counts are most likely: a big number in the place of a small one.
                let start = below(result.count - 3)
                result.replaceSubrange(start..<start + 4, with: [0xFF, 0xFF, 0xFF, UInt8(below(256))])
            default: if !result.isEmpty { result[below(result.count)] ^= UInt8(1 << below(8)) }
            }
        }
        return result
    }
}

/// Bytes as two digits each, and back.
enum Hex {
    static func text(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        var rest = text[...]
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
