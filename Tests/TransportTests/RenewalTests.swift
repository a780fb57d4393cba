/// A node changes its key while the two are paired: they stay connected or meet again, whatever is cut, and nobody else profits.
import Crypto
import EventLoop
import Testing

@testable import Transport

@Suite("a new key") struct RenewalTests {
    @Test("the peer takes it, accepts both until it has seen it, and then no other") func renewed() throws {
        try withNodes { loop, left, right in
            let renewer = try Renewer(left, for: right)
            loop.run { left.life != nil && right.life != nil }
            renewer.begin()
            loop.run { renewer.isSettled && right.life != nil && left.life != nil }
            #expect(right.link?.keysInUse?.peer == renewer.new.fingerprint)
            #expect(left.link?.keysInUse?.own == renewer.new.fingerprint)
            #expect(left.lives == 2 && right.lives == 2 && left.ends == [.keyRenewed])
            #expect(right.rejections.isEmpty && left.rejections.isEmpty)
            left.send([1])
            right.send([2])
            loop.run { left.frames == [[2]] && right.frames == [[1]] }
            // The key before opens nothing any more.
            let raw = RawClient(loop, right.endpoint)
            let thief = try RawPeer(loop, raw, key: left.key, pin: right.key.fingerprint)
            loop.run { raw.hasEnded }
            #expect(right.rejections == [.wrongKey(fingerprint: left.key.fingerprint)])
            #expect(thief.heard.isEmpty && right.life != nil)
            raw.close()
        }
    }

    @Test("the side that is dialled renews as well") func dialled() throws {
        try withNodes { loop, left, right in
            let renewer = try Renewer(right, for: left)
            loop.run { left.life != nil && right.life != nil }
            renewer.begin()
            loop.run { renewer.isSettled && right.life != nil && left.life != nil }
            #expect(left.link?.keysInUse?.peer == renewer.new.fingerprint)
        }
    }

    @Test("both renew at once") func both() throws {
        try withNodes { loop, left, right in
            let renewers = try [Renewer(left, for: right), Renewer(right, for: left)]
            loop.run { left.life != nil && right.life != nil }
            for renewer in renewers { renewer.begin() }
            loop.run { renewers.allSatisfy(\.isSettled) && right.life != nil && left.life != nil }
            #expect(left.link?.keysInUse?.own == renewers[0].new.fingerprint)
            #expect(left.link?.keysInUse?.peer == renewers[1].new.fingerprint)
        }
    }

    @Test("wherever the connection is cut, the two meet again and go on") func cuts() throws {
        // At each step once: when it is offered, written down, answered, changed, seen.
        for step in Renewer.Step.allCases {
            try withNodes(dialling: false) { loop, left, right in
                let proxy = try Proxy(loop, to: right.endpoint)
                defer { proxy.close() }
                let renewer = try Renewer(left, for: right)
                renewer.onStep = { if $0 == step { proxy.cut() } }
                left.link?.setPeer(proxy.endpoint)
                loop.run { left.life != nil && right.life != nil }
                renewer.begin()
                loop.run { renewer.isSettled && right.life != nil && left.life != nil }
                #expect(right.link?.keysInUse?.peer == renewer.new.fingerprint, "\(step)")
                #expect((left.rejections + right.rejections).allSatisfy { $0 == .left }, "\(step)")
            }
        }
    }

    @Test("a peer that could not write it down is offered it again, and the key in use stays") func notStored() throws {
        try withNodes { loop, left, right in
            let renewer = try Renewer(left, for: right)
            renewer.refusals = 1
            loop.run { left.life != nil && right.life != nil }
            renewer.begin()
            loop.run { renewer.answers == [false] }
            #expect(left.life != nil && right.life != nil)
            #expect(left.link?.keysInUse?.own == left.key.fingerprint)
            if let life = left.life { left.link?.close(life: life) }
            loop.run { renewer.isSettled && right.life != nil && left.life != nil }
            #expect(renewer.answers == [false, true])
        }
    }

    @Test("a peer that knows the former key only is met with that, and told again") func rolledBack() throws {
        try withNodes(dialling: false) { loop, left, right in
            let renewer = try Renewer(left, for: right)
            // It has changed its key, and the peer comes back with a state from before.
            left.link?.changeKey(to: renewer.new, former: left.key)
            left.link?.setPeer(right.endpoint)
            loop.run { renewer.isSettled && right.life != nil && left.life != nil }
            #expect(right.link?.keysInUse?.peer == renewer.new.fingerprint)
            #expect(left.rejections.contains(.ourKeyRefused), "first the new one was tried")
        }
    }

    @Test("what proves nothing ends the connection, and no key is taken", arguments: Forgery.allCases)
    func forged(_ forgery: Forgery) throws {
        try withLoop { loop in
            let node = try TestNode("node")
            let key = try IdentityKey.generate()
            try node.start(loop, pin: key.fingerprint)
            var offered = 0
            node.link?.onNewKey = { _, _ in offered += 1 }
            let raw = RawClient(loop, node.endpoint)
            let peer = try RawPeer(loop, raw, key: key, pin: node.key.fingerprint)
            loop.run { peer.isEstablished && node.life != nil }
            peer.say(Record.link(.newKey, try forgery.payload(peer, key, node)))
            loop.run { node.life == nil }
            #expect(node.ends == [.violation("it offered a key without proving that it is its own")])
            #expect(offered == 0)
            #expect(node.link?.nextPin == nil)
            raw.close()
            node.stop()
            loop.run(forMilliseconds: 5)
        }
    }

    @Test("an offer that another session has heard is refused in this one") func replayed() throws {
        try withLoop { loop in
            let node = try TestNode("node")
            let (key, new) = try (IdentityKey.generate(), IdentityKey.generate())
            try node.start(loop, pin: key.fingerprint)
            var taken: [[UInt8]] = []
            node.link?.onNewKey = { fingerprint, settle in
                taken.append(fingerprint)
                settle(false)
            }
            var heard: [UInt8] = []
            for round in 0..<2 {
                let raw = RawClient(loop, node.endpoint)
                let peer = try RawPeer(loop, raw, key: key, pin: node.key.fingerprint)
                loop.run { peer.isEstablished && node.lives == round + 1 && node.life != nil }
                if round == 0 { heard = try peer.renewal(by: key, to: node).offer(new, by: key) }
                peer.say(Record.link(.newKey, heard))
                if round == 0 {
                    loop.run { taken.count == 1 }
                    raw.close()
                }
                loop.run { node.life == nil }
                raw.close()
            }
            #expect(taken == [new.fingerprint])
            #expect(node.ends.last == .violation("it offered a key without proving that it is its own"))
            node.stop()
            loop.run(forMilliseconds: 5)
        }
    }

    @Test("a key that is offered before the last one is answered ends the connection") func hasty() throws {
        try withLoop { loop in
            let node = try TestNode("node")
            let key = try IdentityKey.generate()
            try node.start(loop, pin: key.fingerprint)
            var settles: [(Bool) -> Void] = []
            node.link?.onNewKey = { _, settle in settles.append(settle) }
            let raw = RawClient(loop, node.endpoint)
            let peer = try RawPeer(loop, raw, key: key, pin: node.key.fingerprint)
            loop.run { peer.isEstablished && node.life != nil }
            let renewal = try peer.renewal(by: key, to: node)
            let offers = try (0..<3).map { _ in
                Record.link(.newKey, try renewal.offer(try IdentityKey.generate(), by: key))
            }
            // Who waits for the answer may offer another.
            peer.say(offers[0])
            loop.run { settles.count == 1 }
            settles[0](false)
            peer.say(offers[1])
            loop.run { settles.count == 2 }
            #expect(node.life != nil)
            peer.say(offers[2])
            loop.run { node.life == nil }
            #expect(node.ends == [.violation("it offered a key before it was answered about the last one")])
            #expect(settles.count == 2)
            settles = []
            raw.close()
            node.stop()
            loop.run(forMilliseconds: 5)
        }
    }

    @Test("answers that nobody reads end the life instead of the memory") func unread() throws {
        try withLoop { loop in
            let node = try TestNode("node")
            let (key, new) = try (IdentityKey.generate(), IdentityKey.generate())
            // So slowly that the answers wait here and not with the kernel.
            try node.start(loop, pin: key.fingerprint) {
                $0.rateLimitBytesPerSecond = 1
                $0.outboundBytesMax = 1 << 10
            }
            node.link?.onNewKey = { _, settle in settle(true) }
            let raw = RawClient(loop, node.endpoint)
            let peer = try RawPeer(loop, raw, key: key, pin: node.key.fingerprint)
            loop.run { peer.isEstablished && node.life != nil }
            let offer = Record.link(.newKey, try peer.renewal(by: key, to: node).offer(new, by: key))
            for _ in 0..<1_000 { peer.say(offer) }
            loop.run { node.life == nil }
            #expect(node.ends == [.overflow])
            raw.close()
            node.stop()
            loop.run(forMilliseconds: 5)
        }
    }

    enum Forgery: CaseIterable, Sendable {
        case empty, short, unsignedByNew, unsignedByPresent, ofAnotherKey, forAnotherNode, ofTheReceiver, ofTheSender

        func payload(_ peer: RawPeer, _ key: IdentityKey, _ node: TestNode) throws -> [UInt8] {
            let new = try IdentityKey.generate()
            let honest = try peer.renewal(by: key, to: node)
            var offer = try honest.offer(new, by: key)
            switch self {
            case .empty: return []
            case .short: return Array(offer.dropLast())
            case .unsignedByNew: offer[40] ^= 1
            case .unsignedByPresent: offer[150] ^= 1
            case .ofAnotherKey:
                // Whoever has a key of his own, and only hears this session.
                return try honest.offer(new, by: try IdentityKey.generate())
            case .forAnotherNode:
                let other = Renewal(exporter: honest.exporter, sender: key.fingerprint, receiver: new.fingerprint)
                return try other.offer(new, by: key)
            case .ofTheReceiver: return try honest.offer(node.key, by: key)
            case .ofTheSender: return try honest.offer(key, by: key)
            }
            return offer
        }
    }
}

extension RawPeer {
    fileprivate func renewal(by key: IdentityKey, to node: TestNode) throws -> Renewal {
        Renewal(exporter: try renewalExport(), sender: key.fingerprint, receiver: node.key.fingerprint)
    }
}

/// What the owners of two links do while one of them renews its key; what is written down is what this holds.
private final class Renewer {
    enum Step: CaseIterable { case offered, stored, answered, changed, seen }

    let new: IdentityKey
    private let node: TestNode
    private let peer: TestNode
    private(set) var isSettled = false
    private(set) var answers: [Bool] = []
    /// How often the peer cannot write it down.
    var refusals = 0
    var onStep: (Step) -> Void = { _ in }
    private var steps: Set<Step> = []

    init(_ node: TestNode, for peer: TestNode) throws {
        (self.node, self.peer) = (node, peer)
        new = try IdentityKey.generate()
        peer.link?.onNewKey = { [unowned self] fingerprint, settle in
            #expect(fingerprint == new.fingerprint)
            reached(.offered)
            guard refusals == 0 else {
                refusals -= 1
                return settle(false)
            }
            settle(true)
            reached(.stored)
        }
        node.link?.onNewKeyAnswered = { [unowned self] fingerprint, isTaken in
            #expect(fingerprint == new.fingerprint)
            answers.append(isTaken)
            guard isTaken else { return }
            reached(.answered)
            node.link?.changeKey(to: new, former: node.key)
            reached(.changed)
        }
        let (heardByPeer, heardByNode) = (peer.onEvent, node.onEvent)
        peer.onEvent = { [unowned self] in
            heardByPeer?($0)
            guard case .connected = $0, peer.link?.keysInUse?.peer == new.fingerprint else { return }
            peer.link?.settlePin(new.fingerprint)
            reached(.seen)
        }
        node.onEvent = { [unowned self] in
            heardByNode?($0)
            guard case .connected = $0, node.link?.keysInUse?.own == new.fingerprint else { return }
            node.link?.settleKey()
            isSettled = true
        }
    }

    func begin() { node.link?.offer(new) }

    private func reached(_ step: Step) { if steps.insert(step).inserted { onStep(step) } }
}
