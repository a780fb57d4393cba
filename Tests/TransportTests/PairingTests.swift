import Crypto
import EventLoop
import Testing

@testable import Transport

@Suite("pairing") struct PairingTests {
    @Test("the joining node dials: both learn key and name, show the same six words, and connect") func joinerDials()
        throws
    {
        try withStrangers { loop, alpha, beta in
            let invitation = try #require(alpha.link).invite()
            #expect(invitation.expiresWallMilliseconds > Clock.wallMilliseconds() + 14 * 60 * 1_000)
            let outcome = try join(loop, beta, with: alpha, invitation.token)
            let (atAlpha, atBeta) = try #require(outcome.pair)
            #expect(atAlpha.fingerprint == beta.key.fingerprint)
            #expect(atBeta.fingerprint == alpha.key.fingerprint)
            #expect(atAlpha.name == Array("beta".utf8))
            #expect(atBeta.name == Array("alpha".utf8))
            #expect(atAlpha.words == atBeta.words)
            #expect(atAlpha.words.count == 6)
            beta.link?.setPeer(alpha.endpoint)
            alpha.link?.setPin(atAlpha.fingerprint)
            beta.link?.setPin(atBeta.fingerprint)
            loop.run { alpha.life != nil && beta.life != nil }
        }
    }

    @Test("the inviting node dials when only it knows the way") func inviterDials() throws {
        try withStrangers { loop, alpha, beta in
            alpha.link?.setPeer(beta.endpoint)
            let nowhere = Endpoint.tcp(host: "127.0.0.1", port: 1)
            let invitation = try #require(alpha.link).invite(hint: nowhere)
            let outcome = try join(loop, beta, with: alpha, invitation.token)
            #expect(outcome.pair?.0.words == outcome.pair?.1.words)
            #expect(outcome.pair != nil)
        }
    }

    @Test("the joining node uses its configured peer when the token's address leads nowhere") func configuredPeer()
        throws
    {
        try withStrangers { loop, alpha, beta in
            beta.link?.setPeer(alpha.endpoint)
            let token = try #require(alpha.link).invite(hint: .tcp(host: "127.0.0.1", port: 1)).token
            #expect(try join(loop, beta, with: alpha, token).pair != nil)
        }
    }

    @Test("the inviting node answers only when it has stored the pairing") func storedFirst() throws {
        try withStrangers { loop, alpha, beta in
            var release: ((PairingVerdict) -> Void)?
            alpha.link?.onPaired = { release = $1 }
            let token = try #require(alpha.link).invite().token
            var result: Result<Paired, PairingError>?
            beta.link?.join(token) { result = $0 }
            loop.run { release != nil }
            loop.run(forMilliseconds: 100)
            #expect(result == nil)
            release?(.stored)
            loop.run { result != nil }
            #expect(throws: Never.self) { try result?.get() }
        }
    }

    @Test("a node that cannot take the other as its peer says so at once, and neither waits") func notTaken() throws {
        try withStrangers { loop, alpha, beta in
            for (verdict, problem) in [
                (PairingVerdict.pairedBefore, PairingError.otherPairedBefore), (.sameName, .sameName),
                (.notStored, .otherCouldNotStore),
            ] {
                let token = try #require(alpha.link).invite().token
                var asked = 0
                alpha.link?.onPaired = { _, settle in
                    asked += 1
                    settle(verdict)
                }
                for _ in 0..<2 {
                    var result: Result<Paired, PairingError>?
                    beta.link?.join(token) { result = $0 }
                    loop.run { result != nil }
                    #expect(throws: problem) { try result?.get() }
                }
                #expect(asked == 2, "a refusal does not use the token up")
                alpha.link?.onPaired = { _, settle in settle(.stored) }
                var result: Result<Paired, PairingError>?
                beta.link?.join(token) { result = $0 }
                loop.run { result != nil }
                #expect(throws: Never.self) { try result?.get() }
            }
        }
    }

    @Test("a node that belongs to a pair with another does not even prove that it was invited") func stranger() throws {
        try withStrangers { loop, alpha, beta in
            let token = try #require(alpha.link).invite().token
            var asked = 0
            alpha.link?.onPaired = { _, _ in asked += 1 }
            var result: Result<Paired, PairingError>?
            beta.link?.join(token, only: [noise(32)]) { result = $0 }
            loop.run { result != nil }
            #expect(throws: PairingError.pairedBefore) { try result?.get() }
            #expect(asked == 0)
            alpha.link?.onPaired = { _, settle in settle(.stored) }
            result = nil
            beta.link?.join(token, only: [alpha.key.fingerprint]) { result = $0 }
            loop.run { result != nil }
            #expect(throws: Never.self) { try result?.get() }
        }
    }

    @Test("an answer that was lost is repeated for the same node") func lostAnswer() throws {
        try withStrangers { loop, alpha, beta in
            let proxy = try Proxy(loop, to: alpha.endpoint)
            defer { proxy.close() }
            let token = try #require(alpha.link).invite(hint: proxy.endpoint).token
            var paired = 0
            alpha.link?.onPaired = { _, settle in
                paired += 1
                // The answer goes into a connection that is gone.
                proxy.cut()
                settle(.stored)
            }
            var result: Result<Paired, PairingError>?
            beta.link?.join(token) { result = $0 }
            loop.run { result != nil }
            #expect(throws: Never.self) { try result?.get() }
            #expect(paired == 1, "let in once")
            #expect(proxy.connections > 1)
        }
    }

    @Test("a token works for one node; another is told that it is used") func used() throws {
        try withStrangers { loop, alpha, beta in
            let token = try #require(alpha.link).invite().token
            #expect(try join(loop, beta, with: alpha, token).pair != nil)
            let gamma = try TestNode("gamma")
            try gamma.start(loop, pin: nil)
            #expect(try join(loop, gamma, with: alpha, token).error == .used)
            // The same node may come again until the link is up, and then no more.
            #expect(try join(loop, beta, with: alpha, token).result != nil)
            beta.link?.setPeer(alpha.endpoint)
            alpha.link?.setPin(beta.key.fingerprint)
            beta.link?.setPin(alpha.key.fingerprint)
            loop.run { alpha.life != nil && beta.life != nil }
            #expect(try join(loop, beta, with: alpha, token).error == .used)
            gamma.stop()
        }
    }

    @Test("a token that has expired is told as such") func expired() throws {
        try withStrangers(adjust: { $0.invitationMilliseconds = 30 }) { loop, alpha, beta in
            let token = try #require(alpha.link).invite().token
            loop.run(forMilliseconds: 60)
            #expect(try join(loop, beta, with: alpha, token).error == .expired)
        }
    }

    @Test("a token whose invitation was cancelled or replaced does not work") func cancelled() throws {
        try withStrangers { loop, alpha, beta in
            let first = try #require(alpha.link).invite().token
            alpha.link?.cancelInvite()
            #expect(try join(loop, beta, with: alpha, first).error == .notInviting)
            let second = try #require(alpha.link).invite().token
            _ = try #require(alpha.link).invite()
            #expect(try join(loop, beta, with: alpha, second).error == .wrongSecret)
        }
    }

    @Test("three wrong proofs void the token, and its rightful bearer is told") func voided() throws {
        try withStrangers { loop, alpha, beta in
            let token = try PairingToken.parse(try #require(alpha.link).invite().token)
            let forged = PairingToken(secret: noise(16), inviter: token.inviter, hint: token.hint)
            for _ in 0..<3 { #expect(try join(loop, beta, with: alpha, forged.text).error == .wrongSecret) }
            #expect(try join(loop, beta, with: alpha, token.text).error == .voided)
            let again = try #require(alpha.link).invite().token
            #expect(try join(loop, beta, with: alpha, again).pair != nil, "a new invitation starts over")
        }
    }

    @Test("two wrong proofs do not void the token") func notYetVoided() throws {
        try withStrangers { loop, alpha, beta in
            let token = try PairingToken.parse(try #require(alpha.link).invite().token)
            let forged = PairingToken(secret: noise(16), inviter: token.inviter, hint: token.hint)
            for _ in 0..<2 { #expect(try join(loop, beta, with: alpha, forged.text).error == .wrongSecret) }
            #expect(try join(loop, beta, with: alpha, token.text).pair != nil)
        }
    }

    @Test("another node at the inviter's address is recognised, and learns nothing") func wrongInviter() throws {
        try withStrangers { loop, alpha, beta in
            let gamma = try TestNode("gamma")
            try gamma.start(loop, pin: nil)
            var learnt = false
            gamma.link?.onPaired = { _, _ in learnt = true }
            _ = try #require(gamma.link).invite()
            let token = try #require(alpha.link).invite(hint: gamma.endpoint).token
            let error = try #require(try join(loop, beta, with: alpha, token).error)
            #expect(error == .wrongInviter(address: "\(gamma.endpoint)"))
            #expect(!learnt)
            gamma.stop()
        }
    }

    @Test("a wrong node at one address and nobody at the other is told without waiting") func wrongAndAway() throws {
        try withStrangers(adjust: { $0.pairingMilliseconds = 60_000 }) { loop, alpha, beta in
            let gamma = try TestNode("gamma")
            try gamma.start(loop, pin: nil)
            beta.link?.setPeer(gamma.endpoint)
            _ = try #require(gamma.link).invite()
            let token = try #require(alpha.link).invite(hint: .tcp(host: "127.0.0.1", port: 1)).token
            let error = try #require(try join(loop, beta, with: alpha, token).error)
            #expect(error == .wrongInviter(address: "\(gamma.endpoint)"))
            gamma.stop()
        }
    }

    @Test("a wrong node at one address, and the right one just being restarted at the other: it is called again")
    func wrongAndRestarting() throws {
        try withStrangers(adjust: { $0.pairingMilliseconds = 60_000 }) { loop, alpha, beta in
            let gamma = try TestNode("gamma")
            try gamma.start(loop, pin: nil)
            beta.link?.setPeer(gamma.endpoint)
            _ = try #require(gamma.link).invite()
            let proxy = try Proxy(loop, to: alpha.endpoint)
            proxy.mode = .refusing
            proxy.onConnection = { if $0 == 2 { proxy.mode = .passing } }
            let token = try #require(alpha.link).invite(hint: proxy.endpoint).token
            let outcome = try join(loop, beta, with: alpha, token)
            #expect(outcome.error == nil && outcome.pair != nil)
            #expect(proxy.connections == 2)
            proxy.close()
            gamma.stop()
        }
    }

    @Test("nobody there is told with the network's reason when the time is over") func unreachable() throws {
        try withStrangers(adjust: { $0.pairingMilliseconds = 1_000 }) { loop, alpha, beta in
            let token = try #require(alpha.link).invite(hint: .tcp(host: "127.0.0.1", port: 1)).token
            guard case .unreachable(let error) = try join(loop, beta, with: alpha, token).error else {
                Issue.record("joined nobody")
                return
            }
            #expect(error.code == LoopError.connectionRefused)
        }
    }

    @Test("without any address the node waits to be dialled, and says so in the end") func noAddress() throws {
        try withStrangers(adjust: { $0.pairingMilliseconds = 100 }) { loop, alpha, beta in
            let token = PairingToken(secret: noise(16), inviter: noise(16, seed: 2), hint: nil)
            #expect(try join(loop, beta, with: alpha, token.text).error == .noAddress)
            let deaf = try TestNode("deaf")
            try deaf.start(loop, pin: nil, listen: false)
            #expect(try join(loop, deaf, with: alpha, token.text).error == .noAddress)
            deaf.stop()
        }
    }

    @Test("what is wrong with the token alone is told without asking anybody") func badTokens() throws {
        try withStrangers { loop, alpha, beta in
            let token = try #require(alpha.link).invite().token
            #expect(try join(loop, alpha, with: alpha, token).error == .ownToken)
            #expect(try join(loop, beta, with: alpha, "hello").error == .notAToken)
            #expect(try join(loop, beta, with: alpha, String(token.dropLast())).error == .mistyped)
            #expect(try join(loop, beta, with: alpha, "syncd2-000").error == .newerVersion)
        }
    }

    @Test("one join at a time, and it can be cancelled") func oneAtATime() throws {
        try withStrangers { loop, alpha, beta in
            let token = PairingToken(secret: noise(16), inviter: noise(16, seed: 2), hint: alpha.endpoint).text
            var first: Result<Paired, PairingError>?
            var second: Result<Paired, PairingError>?
            beta.link?.join(token) { first = $0 }
            beta.link?.join(token) { second = $0 }
            #expect(first == nil && second == nil, "told in a later turn")
            beta.link?.cancelJoin()
            loop.run { first != nil && second != nil }
            #expect(throws: PairingError.cancelled) { try first?.get() }
            #expect(throws: PairingError.alreadyJoining) { try second?.get() }
            let real = try #require(alpha.link).invite().token
            #expect(try join(loop, beta, with: alpha, real).pair != nil)
        }
    }

    @Test("pairing is offered on the port only while somebody pairs") func offeredOnDemand() throws {
        try withStrangers { loop, alpha, beta in
            let key = try IdentityKey.generate()
            func isOffered() throws -> Bool {
                let raw = RawClient(loop, alpha.endpoint)
                let peer = try RawPeer(
                    loop, raw, key: key, pin: alpha.key.fingerprint, protocols: [PeerLink.pairingProtocol])
                loop.run { peer.isEstablished || raw.hasEnded }
                raw.close()
                return peer.isEstablished
            }
            #expect(try !isOffered())
            _ = try #require(alpha.link).invite()
            #expect(try isOffered())
            alpha.link?.cancelInvite()
            #expect(try !isOffered())
        }
    }

    @Test("a proof made for one session is worth nothing in another") func boundToSession() throws {
        try withStrangers { loop, alpha, beta in
            let token = try PairingToken.parse(try #require(alpha.link).invite().token)
            let key = try IdentityKey.generate()
            var learnt = 0
            alpha.link?.onPaired = { _, _ in learnt += 1 }
            var replayed: [UInt8]?
            for session in 0..<2 {
                let raw = RawClient(loop, alpha.endpoint)
                let peer = try RawPeer(
                    loop, raw, key: key, pin: alpha.key.fingerprint, protocols: [PeerLink.pairingProtocol])
                loop.run { peer.isEstablished }
                let proof = PairingProof(
                    exporter: try peer.export(), inviter: alpha.key.fingerprint, joiner: key.fingerprint)
                let name = Array("mallory".utf8)
                let fresh = PairingMessage(
                    proof: proof.make(.joiner, name: name, secret: token.secret), name: name
                ).payload
                peer.say(Record.pairing(.proof, replayed ?? Array(repeating: 0, count: 40)))
                loop.run { !peer.heard.isEmpty }
                #expect(peer.heard == Record.pairing(.refusal, [PairingRefusal.wrongSecret.rawValue]))
                if session == 0 { replayed = fresh }
                raw.close()
            }
            #expect(learnt == 0)
        }
    }

    @Test(
        "hostile words while pairing end the conversation and nothing else",
        arguments: [
            [0, 0, 0, 0], [0, 0, 2, 0, 1], Record.pairing(.proof, [1, 2, 3]),
            Record.pairing(.proof, [UInt8](repeating: 1, count: 32)),
            Record.pairing(.proof, [UInt8](repeating: 1, count: 97)),
            Record.pairing(.answer, [UInt8](repeating: 1, count: 40)),
            Record.pairing(.refusal, []), Record.pairing(.refusal, [99]), Record.pairing(.refusal, [1]),
        ] as [[UInt8]])
    func hostile(bytes: [UInt8]) throws {
        try withStrangers { loop, alpha, beta in
            let token = try #require(alpha.link).invite().token
            let raw = RawClient(loop, alpha.endpoint)
            let peer = try RawPeer(
                loop, raw, key: try IdentityKey.generate(), pin: alpha.key.fingerprint,
                protocols: [PeerLink.pairingProtocol])
            loop.run { peer.isEstablished }
            peer.say(bytes)
            loop.run { raw.hasEnded }
            raw.close()
            #expect(try join(loop, beta, with: alpha, token).pair != nil)
        }
    }

    @Test("silent strangers cannot keep the bearer of the token out") func crowd() throws {
        try withStrangers { loop, alpha, beta in
            let token = try #require(alpha.link).invite().token
            let crowd = try (0..<12).map { _ in
                let raw = RawClient(loop, alpha.endpoint)
                return (
                    raw,
                    try RawPeer(
                        loop, raw, key: try IdentityKey.generate(), pin: alpha.key.fingerprint,
                        protocols: [PeerLink.pairingProtocol])
                )
            }
            loop.run { crowd.allSatisfy { $0.1.isEstablished || $0.0.hasEnded } }
            #expect(try join(loop, beta, with: alpha, token).pair != nil)
            for (raw, _) in crowd { raw.close() }
        }
    }

    @Test("every error is a sentence that says what to do") func wording() {
        let errors: [PairingError] = [
            .notAToken, .mistyped, .newerVersion, .ownToken, .wrongSecret, .expired, .used, .voided, .notInviting,
            .wrongInviter(address: "beta:1"), .noAddress,
            .unreachable(LoopError(operation: "connect to beta:1", code: LoopError.timedOut)), .timedOut, .cancelled,
            .alreadyJoining, .violation("x"), .sameName,
        ]
        for error in errors {
            #expect(error.description.last == "." && error.description.first?.isUppercase == true)
        }
    }

    // MARK: Helpers

    private struct Outcome {
        let result: Paired?
        let error: PairingError?
        let pair: (Paired, Paired)?
    }

    /// `joiner` uses the token; the outcome has what both were told.
    private func join(
        _ loop: Loop, _ joiner: TestNode, with inviter: TestNode, _ token: String
    ) throws -> Outcome {
        var atInviter: Paired?
        if inviter !== joiner {
            inviter.link?.onPaired = { paired, settle in
                atInviter = paired
                settle(.stored)
            }
        }
        var result: Result<Paired, PairingError>?
        joiner.link?.join(token) { result = $0 }
        loop.run { result != nil }
        switch try #require(result) {
        case .success(let paired): return Outcome(result: paired, error: nil, pair: atInviter.map { ($0, paired) })
        case .failure(let error): return Outcome(result: nil, error: error, pair: nil)
        }
    }

    private func withStrangers(
        sourceLocation: SourceLocation = #_sourceLocation, adjust: (inout LinkSettings) -> Void = { _ in },
        _ body: (Loop, _ alpha: TestNode, _ beta: TestNode) throws -> Void
    ) throws {
        try withLoop(sourceLocation: sourceLocation) { loop in
            let alpha = try TestNode("alpha")
            let beta = try TestNode("beta")
            try alpha.start(loop, pin: nil, adjust)
            try beta.start(loop, pin: nil, adjust)
            defer {
                alpha.stop()
                beta.stop()
            }
            try body(loop, alpha, beta)
        }
    }
}
