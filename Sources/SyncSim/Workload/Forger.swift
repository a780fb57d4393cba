import SyncCore
import SyncModel

/// An enemy with the right key and no node: writes a log of its own by hand, true to the protocol where that serves it and
/// against it wherever that might hurt.
///
/// Each attack says whether an honest node must hang up on it. One that keeps listening is reported.
final class Forger: Enemy {
    static let rareStates = [
        "enemy: hung up on for an invalid path", "enemy: hung up on for a broken log",
        "enemy: hung up on for a broken frame",
        "enemy: served a content that is not what it is called", "enemy: overwrote what it claims to have seen",
        "enemy: told a directory move path by path",
    ]

    private enum Offence: String {
        case path = "enemy: hung up on for an invalid path"
        case log = "enemy: hung up on for a broken log"
        case frame = "enemy: hung up on for a broken frame"
    }

    private struct Entry {
        let head: LogHead
        let bytes: [UInt8]
    }

    private var random: SeededRandom
    private let plan: SeedPlan
    private let node: NodeID
    /// What an honest reader would accept, in order.
    private var log: [Entry] = []
    private let epoch: Epoch
    private var contents: SortedMap<ContentID, [UInt8]> = [:]
    private var victimHead = LogHead.none
    private var victimCursor = LogHead.none
    private var isGreeted = false
    private var life: UInt64?
    private var offence: (kind: Offence, time: Int64, life: UInt64, process: Int)?

    init(_ plan: SeedPlan, _ random: SeededRandom) {
        self.plan = plan
        self.random = random
        node = Machine.freshRecord(1, seed: plan.seed).id
        epoch = Epoch(number: 1, nonce: 7)
    }

    func pause() -> Int { random.range(1...2 * max(1, plan.pause(.evilPeer))) }

    // MARK: The wire

    func connected(_ world: World) {
        life = world.network.life(at: 1)
        isGreeted = false
        offence = nil
        let known = victimCursor == .none ? [] : [victimCursor]
        send(
            .hello(
                Hello(
                    versionMin: 1, versionMax: 1, features: [], name: Array("beta".utf8), program: Array("evil".utf8),
                    wallMilliseconds: world.wall(of: 1), ownHead: log.last?.head ?? .none, known: known)), world)
    }

    func disconnected(_ world: World) {
        if let offence { world.rare.hit(offence.kind.rawValue) }
        offence = nil
        life = nil
        isGreeted = false
    }

    func received(_ frame: [UInt8], in world: World) {
        guard let frame = FrameCodec.decode(frame) else {
            return world.violate(NothingOutside.id, "alpha sends a broken frame")
        }
        switch frame {
        case .hello(let hello):
            isGreeted = true
            victimHead = hello.ownHead
            sendLog(after: hello.known.last ?? .none, world)
        case .log(let entries): take(entries, world)
        case .want(let wanted): for content in wanted { serve(content, world) }
        case .wantChunks(let content, let indexes): serveChunks(content, indexes, world)
        case .ping: send(.pong(wallMilliseconds: 0), world)
        case .wantChanged(let wishes): for wish in wishes { serve(wish.content, world) }
        case .expand(let position): expand(position, world)
        case .acknowledge, .rows, .rowsEnd, .chunkList, .changedList, .chunks, .contents, .gone, .later, .rolledBack,
            .expansion, .pong, .records, .changeSet, .setsTaken, .setsShown, .setsBase, .formats,
            .claim, .claimAnswer, .releaseClaim, .claimWaits, .pausing, .holding,
            .halt, .unknown:
            break
        }
    }

    private func send(_ frame: Frame, _ world: World) { world.sendAsGhost(FrameCodec.encode(frame)) }

    private func take(_ entries: [[UInt8]], _ world: World) {
        let victim = world.machines[0].id
        for bytes in entries {
            guard case .record(let record) = LogCodec.decode(bytes, after: victimCursor, node: victim) else { return }
            guard record.head.position > victimCursor.position else { continue }
            victimCursor = record.head
            victimHead = record.head
        }
        send(.acknowledge(Acknowledgement(head: victimCursor, isSettled: random.chance(percent: 50))), world)
    }

    private func sendLog(after head: LogHead, _ world: World) {
        let rest = log.filter { $0.head.position > head.position }
        if !rest.isEmpty { send(.log(rest.map(\.bytes)), world) }
    }

    // MARK: Attacks

    func attack(_ world: World) {
        judgeOffence(world)
        guard life != nil, isGreeted, offence == nil else { return }
        switch random.below(16) {
        case 0, 1, 2: publish(world, overwriting: false)
        case 3, 4: publish(world, overwriting: true)
        case 5: remove(world)
        case 6: offend(.path, world, .log([entry(at: next, path: evilPath()).bytes]))
        case 7: offend(.log, world, .log([entry(at: gap, path: somePath().bytes).bytes]))
        case 8: forkOwnLog(world)
        case 9: offend(.frame, world, raw: random.bytes(random.range(1...40)))
        case 10: offend(.frame, world, raw: hugeFrame())
        case 11: offend(.log, world, .acknowledge(Acknowledgement(head: beyondVictim(world), isSettled: true)))
        case 12: sendLog(after: .none, world)
        case 13: nonsense(world)
        case 14: moveDirectory(world)
        default: offend(.log, world, .log([fromTheFuture(world).bytes]))
        }
    }

    /// An honest node has had ten seconds, a sound line and no reason to keep listening.
    private func judgeOffence(_ world: World) {
        guard let done = offence else { return }
        let victim = world.machines[0]
        if victim.process != done.process || !victim.isRunning || life != done.life || world.network.isBlocked {
            offence = nil
            return
        }
        guard world.now - done.time > 10_000 + Int64(plan.linkDelayMillisecondsMax) * 4 else { return }
        offence = nil
        world.violate(NothingOutside.id, "alpha keeps listening after \(done.kind)")
    }

    private func offend(_ kind: Offence, _ world: World, _ frame: Frame) {
        offend(kind, world, raw: FrameCodec.encode(frame))
    }

    private func offend(_ kind: Offence, _ world: World, raw: [UInt8]) {
        if let life, !world.network.isBlocked { offence = (kind, world.now, life, world.machines[0].process) }
        world.sendAsGhost(raw)
    }

    private func publish(_ world: World, overwriting: Bool) {
        let bytes = Array("evil \(log.count) ".utf8) + random.bytes(random.below(200))
        let list = ContentHasher.chunks(of: bytes, plan.limits[0].chunking)
        let id = ContentID(list.contentID)
        contents[id] = bytes
        let path = overwriting ? victimPath(world) : somePath()
        if overwriting { world.rare.hit("enemy: overwrote what it claims to have seen") }
        append(path, .file(id, size: UInt64(bytes.count)), seen: overwriting ? victimHead.position : .none, world)
    }

    private func remove(_ world: World) { append(victimPath(world), .absent, seen: victimHead.position, world) }

    private func append(_ path: Path, _ content: Content, seen: LogPosition, _ world: World) {
        let made = record(at: next, path: path, content: content, seen: seen, time: time(world))
        log.append(made)
        send(.log([made.bytes]), world)
    }

    private func moveDirectory(_ world: World) {
        let (from, to) = (somePath(), somePath())
        guard from != to, !from.isBelow(to), !to.isBelow(from) else { return }
        let origin = Origin(author: .own, position: next, time: time(world))
        let move = Relocation(
            from: from, to: to, origin: origin, seenPeer: victimHead.position,
            summary: SubtreeSummary.Contents(liveRows: 3, fingerprint: random.next()))
        let made = LogCodec.record(.relocate(move), at: next, time: origin.time, after: last, node: node)
        log.append(Entry(head: made.head, bytes: LogCodec.encode(made)))
        send(.log([LogCodec.encode(made)]), world)
    }

    /// What one of our directory moves was, path by path: whatever we like, and sometimes without an end.
    private func expand(_ position: LogPosition, _ world: World) {
        guard log.contains(where: { $0.head.position == position }) else { return }
        world.rare.hit("enemy: told a directory move path by path")
        let states = (0..<random.below(6)).map { _ in
            let isBlind = random.chance(percent: 50)
            let contents: [Content] = [.absent, .directory, .symlink(Array("evil".utf8))] + files
            let origin = Origin(author: .own, position: position, time: time(world))
            return RowState(
                path: isBlind ? somePath() : victimPath(world),
                revision: Revision(
                    origin: origin,
                    seen: VersionVector(own: before(position), peer: isBlind ? .none : victimHead.position),
                    entry: SyncModel.Entry(content: random.pick(contents) ?? .absent, mode: 0o755, modified: .zero),
                    origins: Origins(all: origin)))
        }
        send(.expansion(position, states, isLast: random.chance(percent: 80)), world)
    }

    /// The contents that we have told of.
    private var files: [Content] { contents.map { .file($0.key, size: UInt64($0.value.count)) } }

    /// A second, different entry at a position the victim already has.
    private func forkOwnLog(_ world: World) {
        guard let old = log.last, log.count > 1 else { return }
        let before = log[log.count - 2].head
        let path = somePath()
        let other = record(
            at: old.head.position, path: path, content: .symlink(Array("fork".utf8)), seen: .none, time: time(world),
            after: before)
        // Known positions are skipped: nothing may come of it, whether or not the victim hangs up.
        send(.log([other.bytes]), world)
    }

    private func fromTheFuture(_ world: World) -> Entry {
        record(
            at: next, path: somePath(), content: .directory, seen: .none,
            time: HybridTime(wallMilliseconds: Int64(HybridTime.wallMillisecondsMax)))
    }

    /// Frames that mean nothing here; an honest node may hang up or not, but must not stumble.
    private func nonsense(_ world: World) {
        let somewhere = LogPosition(epoch: Epoch(raw: random.next()), seq: random.next())
        let head = LogHead(position: somewhere, chain: SHA256.digest(of: random.bytes(8)))
        let frames: [Frame] = [
            .rowsEnd(head), .gone(ContentID(SHA256.digest(of: [1]))), .expand(somewhere),
            .expansion(somewhere, [], isLast: random.chance(percent: 50)), .unknown(200),
            .wantChunks(ContentID(.zero), [0, .max, 7]),
            .chunks(ContentID(.zero), [ChunkData(index: .max, bytes: [1, 2])]),
            .chunkList(ContentPage(content: ContentID(.zero), first: .max, total: .max, chunks: [])),
            .changedList(
                ChangedList(
                    content: ContentID(.zero), base: ContentID(.zero), parts: [.known(first: .max, count: .max)])),
            .want((0..<300).map { ContentID(SHA256.digest(of: [UInt8($0 & 255)])) }), .pong(wallMilliseconds: 0),
            .contents([SmallContent(id: ContentID(.zero), bytes: random.bytes(10))]),
        ]
        if let frame = random.pick(frames) { send(frame, world) }
    }

    private func hugeFrame() -> [UInt8] {
        var writer = ByteWriter()
        writer.put(UInt32.max)
        writer.put(UInt8(2))
        writer.put(UInt32.max)
        return writer.bytes
    }

    // MARK: Contents

    private func serve(_ content: ContentID, _ world: World) {
        guard let bytes = contents[content] else { return send(.gone(content), world) }
        let list = ContentHasher.chunks(of: bytes, plan.limits[0].chunking)
        switch random.below(6) {
        case 0:
            world.rare.hit("enemy: served a content that is not what it is called")
            send(.contents([SmallContent(id: content, bytes: bytes.map { $0 ^ 1 })]), world)
        case 1:
            world.rare.hit("enemy: served a content that is not what it is called")
            let wrong = list.chunks.map { Chunk(digest: SHA256.digest(of: [9]), length: $0.length) }
            send(
                .chunkList(ContentPage(content: content, first: 0, total: UInt32(wrong.count), chunks: wrong)), world)
        case 2: send(.gone(content), world)
        default:
            if list.chunks.count == 1, bytes.count < 500 {
                send(.contents([SmallContent(id: content, bytes: bytes)]), world)
            } else {
                send(
                    .chunkList(
                        ContentPage(content: content, first: 0, total: UInt32(list.chunks.count), chunks: list.chunks)),
                    world)
            }
        }
    }

    private func serveChunks(_ content: ContentID, _ indexes: [UInt32], _ world: World) {
        guard let bytes = contents[content] else { return send(.gone(content), world) }
        let list = ContentHasher.chunks(of: bytes, plan.limits[0].chunking)
        var offset = 0
        var data: [ChunkData] = []
        let isWrong = random.chance(percent: 20)
        for (index, chunk) in list.chunks.enumerated() {
            let piece = Array(bytes[offset..<(offset + Int(chunk.length))])
            offset += Int(chunk.length)
            if indexes.contains(UInt32(index)) {
                data.append(ChunkData(index: UInt32(index), bytes: isWrong ? piece.map { $0 ^ 3 } : piece))
            }
        }
        send(.chunks(content, data), world)
    }

    // MARK: Making entries

    private var last: LogHead { log.last?.head ?? .none }
    private func before(_ position: LogPosition) -> LogPosition {
        log.last { $0.head.position < position }?.head.position ?? .none
    }
    private var next: LogPosition { LogPosition(epoch: epoch, seq: last.position.seq + 1) }
    private var gap: LogPosition { LogPosition(epoch: epoch, seq: last.position.seq + 2 + UInt64(random.below(9))) }

    private func time(_ world: World) -> HybridTime {
        HybridTime(wallMilliseconds: world.wall(of: 0), counter: UInt16(log.count & 0xFFFF))
    }

    private func beyondVictim(_ world: World) -> LogHead {
        let head = world.machines[0].store.node.ownHead.position
        return LogHead(
            position: LogPosition(epoch: Epoch(raw: head.epoch.raw &+ (1 << 33)), seq: 5), chain: SHA256.digest(of: [3])
        )
    }

    private func record(
        at position: LogPosition, path: Path, content: Content, seen: LogPosition, time: HybridTime,
        after: LogHead? = nil
    ) -> Entry {
        let origin = Origin(author: .own, position: position, time: time)
        let before = after ?? last
        let revision = Revision(
            origin: origin, seen: VersionVector(own: before.position, peer: seen),
            entry: SyncModel.Entry(content: content, mode: 0o644, modified: Timestamp(seconds: 5, nanoseconds: 5)),
            origins: Origins(all: origin))
        let made = LogCodec.record(.put(path, revision), at: position, time: time, after: before, node: node)
        return Entry(head: made.head, bytes: LogCodec.encode(made))
    }

    /// An entry whose path is whatever bytes these are, its chain in order.
    private func entry(at position: LogPosition, path: [UInt8]) -> Entry {
        let honest = record(
            at: position, path: Path.root.appending(.known("p")), content: .directory, seen: .none,
            time: HybridTime(wallMilliseconds: VirtualClock.epochMilliseconds))
        var writer = ByteWriter()
        // The prologue up to the count of paths, then our path in place of "p", then the body.
        writer.putRaw(honest.bytes[..<29])
        writer.putCounted(path)
        writer.putRaw(honest.bytes[(29 + 5)...])
        let chain = LogCodec.chain(of: writer.bytes, at: position, after: last, node: node)
        return Entry(head: LogHead(position: position, chain: chain), bytes: writer.bytes)
    }

    private func evilPath() -> [UInt8] {
        let paths: [[UInt8]] = [
            Array("..".utf8), Array("../outside".utf8), Array("a/../../b".utf8), Array("/etc/passwd".utf8), [],
            Array("a//b".utf8), Array("a/".utf8), Array(".".utf8), [0x61, 0, 0x62], Array(".syncd".utf8),
            Array(".syncd/folder-id".utf8), Array(".syncd/stage/s0000000000000001".utf8),
            [UInt8](repeating: 0x78, count: 256),
            [UInt8](Array(repeating: Array("d/".utf8), count: 200).joined()) + [0x78],
            [UInt8](Array(repeating: [UInt8](repeating: 0x79, count: 200) + [0x2F], count: 30).joined()) + [0x78],
        ]
        return random.pick(paths) ?? []
    }

    private func somePath() -> Path {
        let names = ["a", "b", "c.txt", "d", "d/a", "d/d", "e/a", "evil", "évil"]
        return random.pick(names).flatMap { Path($0) } ?? Path.root.appending(.known("a"))
    }

    private func victimPath(_ world: World) -> Path {
        random.pick(Array(world.machines[0].store.rows.keys)) ?? somePath()
    }

    /// A frame around a body, with the right length and checksum.
    static func sealed(_ body: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.put(UInt32(body.count + 4))
        writer.putRaw(body)
        writer.put(checksum(body))
        return writer.bytes
    }

    /// CRC-32 as the frames use it, bit by bit: the enemy has his own.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var value: UInt32 = .max
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
        }
        return ~value
    }
}
