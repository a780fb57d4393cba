import ControlProtocol
import Coordination
import SyncModel
import Testing

@testable import SyncDaemon

@Suite("why a lock was not granted, in words")
struct LockAnswerTests {
    @Test(
        "lock.circle, lock.refused: each refusal has its code, and says what is in the way",
        arguments: [
            (
                .timedOut(holder: 3, purpose: "backup", heldMilliseconds: 4_200), .waitTimedOut,
                "\"backup\" has held it for 4 s"
            ),
            (.timedOut(holder: nil, purpose: nil, heldMilliseconds: 0), .waitTimedOut, "a program of the other node"),
            (
                .timedOut(holder: 0, purpose: nil, heldMilliseconds: 61_000), .waitTimedOut,
                "until syncctl unlock, for 61 s"
            ),
            (.wouldDeadlock(["a", "b"]), .lockCircle, "a waits for b, which waits for the first"),
            (.presenterFailed("the disk is full"), .lockRefused, "the disk is full"),
            (.withdrawn, .requestRefused, "no longer wanted"), (.tooMany, .requestRefused, "too many"),
        ] as [(ClaimRefusal, MessageCode, String)])
    func refusals(reason: ClaimRefusal, code: MessageCode, text: String) {
        let error = Daemon.error(of: reason)
        #expect(error.code.known == code && error.text.contains(text), "\(error.text)")
    }

    @Test("of a program of the other node what is known is said") func there() {
        let reason = ClaimRefusal.timedOut(holder: 3, purpose: nil, heldMilliseconds: 4_200)
        let error = Daemon.error(of: reason, there: "\"sleep\" on beta")
        #expect(error.text.contains("\"sleep\" on beta has held it for 4 s") && error.holder?.process == nil)
    }

    @Test("who cannot ask the other node hears that, and not that somebody holds it")
    func away() {
        let error = Daemon.error(of: .timedOut(holder: nil, purpose: nil, heldMilliseconds: 0), isPeerAway: true)
        #expect(error.text.contains("cannot be asked while it is away"), "\(error.text)")
    }

    @Test("nobody may claim under the node's name, or under one that cannot be read")
    func purposes() {
        for purpose in [nil, "edit", "document 1 of 3xk", "ä"] { #expect(Daemon.isPurpose(purpose)) }
        for purpose in ["", "syncd", "a\nb", String(repeating: "x", count: 257)] { #expect(!Daemon.isPurpose(purpose)) }
    }
}
