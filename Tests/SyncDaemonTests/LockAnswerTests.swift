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
            (.timedOut(holder: nil, purpose: nil, heldMilliseconds: 0), .waitTimedOut, "see syncctl locks"),
            (.wouldDeadlock(["a", "b"]), .lockCircle, "a waits for b, which waits for the first"),
            (.presenterFailed("the disk is full"), .lockRefused, "the disk is full"),
            (.withdrawn, .requestRefused, "no longer wanted"), (.tooMany, .requestRefused, "too many"),
        ] as [(ClaimRefusal, MessageCode, String)])
    func refusals(reason: ClaimRefusal, code: MessageCode, text: String) {
        let error = Daemon.error(of: reason)
        #expect(error.code.known == code && error.text.contains(text), "\(error.text)")
    }

    @Test("nobody may claim under the node's name, or under one that cannot be read")
    func purposes() {
        for purpose in [nil, "edit", "document 1 of 3xk", "ä"] { #expect(Daemon.isPurpose(purpose)) }
        for purpose in ["", "syncd", "a\nb", String(repeating: "x", count: 257)] { #expect(!Daemon.isPurpose(purpose)) }
    }
}
