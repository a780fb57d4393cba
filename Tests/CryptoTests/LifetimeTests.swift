/// What OpenSSL allocates for us is freed, also on the ways out that are not used every day. Each test runs in a process
/// of its own, whose memory nobody else changes.
import Crypto
import Glibc
import Testing

@Suite("Crypto gives memory back")
struct LifetimeTests {
    @Test("finished and dropped digests are freed, in release builds too") func digests() async {
        await #expect(processExitsWith: .success) {
            growth(rounds: 40_000) {
                var finished = SHA256Stream()
                finished.update([1, 2, 3])
                _ = finished.finish()
                var dropped = SHA256Stream()
                dropped.update([1, 2, 3])
            }
        }
    }

    @Test("sessions are freed: unused, established, refused") func sessions() async {
        await #expect(processExitsWith: .success) {
            growth(rounds: 400) {
                _ = try? SessionPair()
                _ = try? SessionPair.established()
                _ = (try? SessionPair(serverTrust: .pinned([])))?.settleKeepingErrors()
            }
        }
    }

    @Test("keys are freed: made, read and refused") func keys() async {
        await #expect(processExitsWith: .success) {
            growth(rounds: 600) {
                _ = (try? IdentityKey.generate()).flatMap { try? IdentityKey(pem: $0.pem) }
                _ = try? IdentityKey(pem: Array(Samples.p256.utf8))
                _ = try? IdentityKey(pem: Array(Samples.encrypted.utf8))
            }
        }
    }

    @Test("a configuration of OpenSSL that leaves SHA-256 out is an error with a reason, not a crash")
    func brokenLibrary() async {
        await #expect(processExitsWith: .success) {
            let name = "/tmp/syncd-test-openssl-\(getpid()).cnf"
            let text = "openssl_conf = a\n[a]\nproviders = b\n[b]\nnull = c\n[c]\nactivate = 1\n"
            try write(text, to: name)
            defer { unsafe unlink(name) }
            unsafe setenv("OPENSSL_CONF", name, 1)
            let error = #expect(throws: CryptoError.self) { _ = try IdentityKey.generate() }
            #expect(error?.kind == .library)
            #expect(error?.reason.contains("SHA-256") == true)
        }
    }
}

/// Runs `body` until its caches are warm, then `rounds` times more, and expects the memory in use to stay.
private func growth(rounds: Int, _ body: () -> Void) {
    for _ in 0..<(rounds / 8) { body() }
    let before = residentPages()
    for _ in 0..<rounds { body() }
    let grown = (residentPages() - before) * Int(getpagesize())
    // Each of these would leak 4 MiB or more in as many rounds.
    #expect(before > 0 && grown < 2 << 20, "\(grown) bytes more after \(rounds) rounds")
}

/// The second number of /proc/self/statm.
private func residentPages() -> Int {
    let file = unsafe open("/proc/self/statm", O_RDONLY)
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 256)
    let count = unsafe read(file, &text, text.count)
    let words = text.prefix(max(0, count)).split(separator: 0x20)
    return words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) ?? 0 : 0
}

private struct WriteFailed: Error {}

private func write(_ text: String, to name: String) throws {
    let bytes = Array(text.utf8)
    let file = unsafe open(name, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    defer { close(file) }
    guard unsafe Glibc.write(file, bytes, bytes.count) == bytes.count else { throw WriteFailed() }
}
