/// SHA-256, HMAC and chance against published values, and against the core's own SHA-256.
import Crypto
import SyncModel
import Testing

@Suite("SHA-256 streams")
struct DigestTests {
    /// FIPS 180-4 examples, and a million times "a".
    static let known: [(text: String, count: Int, digest: String)] = [
        ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ]

    @Test("published digests come out, in one piece and in many", arguments: known)
    func published(text: String, count: Int, digest: String) {
        let piece = Array(text.utf8)
        var stream = SHA256Stream()
        for _ in 0..<count { stream.update(piece) }
        let streamed = stream.finish()
        #expect(hex(streamed) == digest)
        let whole = (0..<count).flatMap { _ in piece }
        #expect(SHA256Stream.hash(whole) == streamed)
    }

    @Test("wherever the bytes are cut, the digest is the one the core computes") func pieces() {
        var random = SeededRandom(seed: 20)
        for _ in 0..<200 {
            let bytes = Secure.random(random.below(5_000))
            var stream = SHA256Stream()
            var start = 0
            while start < bytes.count {
                let end = start + 1 + random.below(bytes.count - start)
                if random.below(2) == 0 {
                    stream.update(bytes[start..<end])
                } else {
                    stream.update(bytes.span.extracting(start..<end))
                }
                start = end
            }
            let digest = stream.finish()
            #expect(digest == SHA256.digest(of: bytes).bytes)
            #expect(digest == SHA256Stream.hash(bytes))
        }
    }

    @Test("raw memory is hashed where it lies") func raw() {
        let bytes = Secure.random(1_000)
        let (streamed, whole) = unsafe bytes.withUnsafeBytes { memory in
            var stream = SHA256Stream()
            unsafe stream.update(memory)
            unsafe stream.update(UnsafeRawBufferPointer(start: nil, count: 0))
            return (stream.finish(), unsafe SHA256Stream.hash(memory))
        }
        #expect(streamed == SHA256Stream.hash(bytes))
        #expect(whole == streamed)
    }

    @Test("an empty update changes nothing") func emptyUpdates() {
        var stream = SHA256Stream()
        stream.update([UInt8]())
        stream.update(Array("abc".utf8))
        stream.update(([] as [UInt8])[...])
        #expect(hex(stream.finish()) == DigestTests.known[1].digest)
    }
}

@Suite("secrets")
struct SecureTests {
    @Test("random bytes come in the number asked for, and never twice the same") func randomness() {
        for count in [0, 1, 31, 32, 4_096] { #expect(Secure.random(count).count == count) }
        #expect(Secure.random(32) != Secure.random(32))
        #expect(Set(Secure.random(4_096)).count > 200)
    }

    @Test("only equal bytes are equal") func equality() {
        #expect(Secure.areEqual([], []))
        #expect(Secure.areEqual([1, 2, 3], [1, 2, 3]))
        #expect(!Secure.areEqual([1, 2, 3], [1, 2, 4]))
        #expect(!Secure.areEqual([0, 2, 3], [1, 2, 3]))
        #expect(!Secure.areEqual([1, 2, 3], [1, 2]))
        #expect(!Secure.areEqual([], [0]))
    }

    /// RFC 4231, cases 1, 2 and 6; the last one has no key.
    static let codes: [(key: [UInt8], message: String, code: String)] = [
        (
            Array(repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            Array(repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ]

    @Test("published HMACs come out", arguments: codes) func hmac(key: [UInt8], message: String, code: String) {
        #expect(hex(Secure.hmacSHA256(key: key, Array(message.utf8))) == code)
    }
}

func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}
