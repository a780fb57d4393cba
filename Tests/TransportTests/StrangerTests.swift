/// Everybody who is not the peer, and the peer when it misbehaves.
import Crypto
import EventLoop
import Testing

@testable import Transport

@Suite("strangers and bad peers") struct StrangerTests {
    @Test("the wrong key is refused on both sides, told once, and never becomes a life") func wrongKey() throws {
        try withLoop { loop in
            let node = try TestNode("node")
            let stranger = try TestNode("stranger")
            let expected = try IdentityKey.generate()
            try node.start(loop, pin: expected.fingerprint)
            try stranger.start(loop, pin: node.key.fingerprint)
            stranger.link?.setPeer(node.endpoint)
            loop.run { !node.rejections.isEmpty && !stranger.rejections.isEmpty }
            loop.run(forMilliseconds: 400)
            #expect(node.rejections == [.wrongKey(fingerprint: stranger.key.fingerprint)])
            #expect(stranger.rejections == [.ourKeyRefused])
            node.link?.setPeer(stranger.endpoint)
            loop.run { node.rejections.count == 2 }
            guard case .rejected("\(stranger.endpoint)", true, .wrongKey) = node.events.last else {
                Issue.record("\(node.events)")
                return
            }
            #expect(node.lives == 0 && stranger.lives == 0)
            node.stop()
            stranger.stop()
        }
    }

    @Test("a node without a peer tells a dialler that it is not paired") func notPaired() throws {
        try withLoop { loop in
            let node = try TestNode("node")
            let other = try TestNode("other")
            try node.start(loop, pin: nil)
            try other.start(loop, pin: node.key.fingerprint)
            other.link?.setPeer(node.endpoint)
            loop.run { !other.rejections.isEmpty && !node.rejections.isEmpty }
            #expect(other.rejections == [.notPairedThere])
            #expect(node.rejections == [.notPairedHere])
            node.stop()
            other.stop()
        }
    }

    @Test(
        "what is no TLS is refused without ado",
        arguments: [
            Array("GET / HTTP/1.0\r\n\r\n".utf8), [UInt8](repeating: 0, count: 300), [0x16, 3, 1, 0xFF, 0xFF, 1],
            noise(100_000), Array("SSH-2.0-OpenSSH_9.2\r\n".utf8),
        ])
    func garbage(bytes: [UInt8]) throws {
        try withNodes(dialling: false) { loop, left, right in
            let raw = RawClient(loop, right.endpoint)
            defer { raw.close() }
            raw.say(bytes)
            loop.run { raw.hasEnded }
            #expect(right.lives == 0)
            // It does not keep the peer out.
            left.link?.setPeer(right.endpoint)
            loop.run { left.life != nil && right.life != nil }
        }
    }

    @Test("a handshake that never ends is dropped, and eight at most are under way") func dawdlers() throws {
        try withNodes(dialling: false) { loop, left, right in
            let crowd = (0..<20).map { _ in RawClient(loop, right.endpoint) }
            defer { for client in crowd { client.close() } }
            for client in crowd { client.say([0x16, 3, 1]) }
            loop.run { crowd.filter(\.hasEnded).count >= 12 }
            #expect(right.link?.handshakes.count == 8)
            left.link?.setPeer(right.endpoint)
            loop.run { left.life != nil && right.life != nil }
            #expect(crowd.filter { !$0.hasEnded }.count <= 8)
            loop.run { crowd.allSatisfy(\.hasEnded) }
            #expect(right.rejections == [.tooSlow] || right.rejections.isEmpty)
            #expect(right.life != nil)
        }
    }

    @Test("two connections at once: the one that the smaller key dialled stays") func bothDial() throws {
        var keptWhenDialledLast = 0
        for round in 0..<12 {
            try withNodes(dialling: false) { loop, left, right in
                let leftIsSmaller = left.key.fingerprint.lexicographicallyPrecedes(right.key.fingerprint)
                let isSmallerFirst = round.isMultiple(of: 2)
                let (first, second) = leftIsSmaller == isSmallerFirst ? (left, right) : (right, left)
                first.link?.setPeer(second.endpoint)
                second.link?.setPeer(first.endpoint)
                loop.run { left.life != nil && right.life != nil }
                loop.run(forMilliseconds: 60)
                #expect(left.lives == 1 && right.lives == 1, "round \(round): \(left.events) \(right.events)")
                let leftDialled = left.address == "\(right.endpoint)"
                #expect((right.address == "\(left.endpoint)") == !leftDialled)
                if isSmallerFirst {
                    #expect(leftDialled == leftIsSmaller)
                } else {
                    // The larger key's may be through before the other is established, and then it stays.
                    keptWhenDialledLast += leftDialled == leftIsSmaller ? 1 : 0
                }
                left.send([1])
                right.send([2])
                loop.run { left.frames == [[2]] && right.frames == [[1]] }
            }
        }
        #expect(keptWhenDialledLast >= 3)
    }

    @Test("a peer that lost its connection gets a new one although the old one seems to live") func replaced() throws {
        try withNodes(dialling: false) { loop, left, right in
            // The old connection ends for the dialler only.
            let proxy = try Proxy(loop, to: right.endpoint)
            defer { proxy.close() }
            left.link?.setPeer(proxy.endpoint)
            loop.run { left.life != nil && right.life != nil }
            proxy.mode = .swallowing
            left.link?.setPeer(right.endpoint)
            if let life = left.life { left.link?.close(life: life) }
            loop.run { left.lives == 2 && right.lives == 2 && left.life != nil && right.life != nil }
            #expect(right.ends == [.replaced])
        }
    }

    @Test("the smaller key gives its dead connection up when the peer dials anew") func probed() throws {
        try withLoop { loop in
            let keys = try [IdentityKey.generate(), IdentityKey.generate()]
                .sorted { $0.fingerprint.lexicographicallyPrecedes($1.fingerprint) }
            let small = try TestNode("small", key: keys[0])
            let large = try TestNode("large", key: keys[1])
            // Only the probe can end the dead life in time.
            try small.start(loop, pin: large.key.fingerprint) { $0.deadMilliseconds = 20_000 }
            try large.start(loop, pin: small.key.fingerprint) { $0.deadMilliseconds = 20_000 }
            let proxy = try Proxy(loop, to: large.endpoint)
            small.link?.setPeer(proxy.endpoint)
            loop.run { small.life != nil && large.life != nil }
            proxy.mode = .swallowing
            large.link?.setPeer(small.endpoint)
            if let life = large.life { large.link?.close(life: life) }
            loop.run { small.lives == 2 && large.lives == 2 && small.life != nil && large.life != nil }
            guard case .silent = small.ends.first else {
                Issue.record("\(small.ends)")
                return
            }
            proxy.close()
            small.stop()
            large.stop()
        }
    }

    @Test(
        "an authenticated peer that breaks the format ends its life and nothing else",
        arguments: [
            [0, 0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF, 0], [0, 16, 0, 65, 0], [0, 0, 0, 4, 1, 1, 2, 3],
            // A zstd frame that says it holds 16 MiB.
            [0, 0, 0, 10, 1, 0x28, 0xB5, 0x2F, 0xFD, 0xA0, 0, 0, 0, 1],
        ] as [[UInt8]])
    func violation(bytes: [UInt8]) throws {
        try withLoop { loop in
            let node = try TestNode("node")
            let key = try IdentityKey.generate()
            try node.start(loop, pin: key.fingerprint)
            let raw = RawClient(loop, node.endpoint)
            let peer = try RawPeer(loop, raw, key: key, pin: node.key.fingerprint)
            loop.run { peer.isEstablished && node.life != nil }
            peer.say(bytes)
            loop.run { node.life == nil }
            guard case .violation = node.ends.first else {
                Issue.record("\(node.ends)")
                return
            }
            #expect(node.frames.isEmpty)
            raw.close()
            node.stop()
            loop.run(forMilliseconds: 5)
        }
    }

    @Test("kinds of a later version are skipped, and a flood of keep-alives gets few answers") func tolerant() throws {
        try withLoop { loop in
            let node = try TestNode("node")
            let key = try IdentityKey.generate()
            try node.start(loop, pin: key.fingerprint)
            let raw = RawClient(loop, node.endpoint)
            let peer = try RawPeer(loop, raw, key: key, pin: node.key.fingerprint)
            loop.run { peer.isEstablished && node.life != nil }
            peer.say(Record.encode(kind: 200, [1, 2, 3]))
            let alive = Record.link(.keepAlive)
            peer.say((0..<20_000).flatMap { _ in alive })
            peer.say(Record.link(.frame, [42]))
            loop.run { node.frames == [[42]] }
            loop.run(forMilliseconds: 20)
            #expect(peer.heard.count > 0 && peer.heard.count < 2_000)
            #expect(node.life != nil)
            // One byte at a time is as good as any other way.
            for byte in Record.link(.frame, Array(1...50)) { peer.say([byte]) }
            loop.run { node.frames.last == Array(1...50) }
            raw.close()
            node.stop()
        }
    }
}

/// Somebody with a socket.
final class RawClient {
    private let loop: Loop
    private var dialer: Dialer?
    private(set) var stream: EventLoop.Stream?
    private var waiting: [[UInt8]] = []
    private(set) var hasEnded = false
    var onRead: (([UInt8]) -> Void)?

    init(_ loop: Loop, _ endpoint: Endpoint) {
        self.loop = loop
        dialer = Dialer(loop: loop, endpoint: endpoint, timeoutMilliseconds: 5_000) { [self] in connected($0) }
    }

    func say(_ bytes: [UInt8]) {
        guard let stream else { return waiting.append(bytes) }
        stream.write(bytes)
    }

    func close() {
        dialer?.cancel()
        stream?.close()
        onRead = nil
    }

    private func connected(_ result: Result<EventLoop.Stream, LoopError>) {
        guard case .success(let made) = result else { return hasEnded = true }
        stream = made
        made.onRead = { [self] in onRead?($0) }
        made.onEnd = { [self] _ in hasEnded = true }
        made.startReading()
        for bytes in waiting { made.write(bytes) }
    }
}

/// The right key in the wrong hands.
final class RawPeer {
    private let raw: RawClient
    private let session: TLSSession
    private(set) var heard: [UInt8] = []

    init(_ loop: Loop, _ raw: RawClient, key: IdentityKey, pin: [UInt8], protocols: [String] = ["syncd/1"]) throws {
        self.raw = raw
        session = try TLSSession(role: .client, key: key, protocols: protocols, trust: .pinned(pin))
        raw.onRead = { [self] bytes in
            try? session.receive(bytes)
            heard += session.readPlain()
            raw.say(session.takeOutgoing())
        }
        raw.say(session.takeOutgoing())
    }

    var isEstablished: Bool { session.isEstablished }

    func export() throws -> [UInt8] {
        try session.exportKey(label: PairingProof.exporterLabel, length: PairingProof.exporterBytes)
    }

    func renewalExport() throws -> [UInt8] {
        try session.exportKey(label: Renewal.exporterLabel, length: Renewal.exporterBytes)
    }

    func say(_ plain: [UInt8]) {
        do { try session.writePlain(plain) } catch { Issue.record(error) }
        raw.say(session.takeOutgoing())
    }
}
