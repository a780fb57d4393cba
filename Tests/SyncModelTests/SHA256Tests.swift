import SyncModel
import Testing

/// Against the examples of FIPS 180; the digests of lengths 0…130 were made with another implementation.
struct SHA256Tests {
    @Test(
        "the published examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                """
                abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst\
                nopqrstu
                """,
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
        ])
    func published(text: String, expected: String) {
        #expect(SHA256.digest(of: Array(text.utf8)).hex() == expected)
    }

    @Test("a million times the letter a, fed in thousands") func millionA() {
        var hasher = SHA256()
        let thousand = [UInt8](repeating: 0x61, count: 1000)
        for _ in 0..<1000 { hasher.update(thousand) }
        #expect(hasher.finish().hex() == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    /// Message n is the bytes 0, 1, … n−1; the digests of all 131 are hashed together.
    @Test("every length around the block borders") func lengths() {
        var together = SHA256()
        for length in 0...130 {
            together.update(SHA256.digest(of: (0..<length).map { UInt8($0) }).bytes)
        }
        #expect(together.finish().hex() == "e5bbbecd60c3632a3455f465bfd8b079c30ef608d2bcc34227f4e5573029020e")
    }

    @Test("the pieces in which bytes are fed make no difference") func pieces() {
        var random = SeededRandom(seed: 256)
        for length in 0...130 {
            let message = random.bytes(length)
            let whole = SHA256.digest(of: message)
            for split in 0...length {
                var hasher = SHA256()
                hasher.update(message[..<split])
                hasher.update(message[split...])
                #expect(hasher.finish() == whole, "length \(length), split at \(split)")
            }
        }
        let long = random.bytes(10_000)
        var hasher = SHA256()
        var start = 0
        while start < long.count {
            let end = min(long.count, start + random.below(200))
            hasher.update(long[start..<end])
            start = end
        }
        #expect(hasher.finish() == SHA256.digest(of: long))
    }

    @Test("asking for the digest changes nothing, and a copy goes its own way") func copies() {
        var hasher = SHA256()
        hasher.update(Array("ab".utf8))
        let early = hasher.finish()
        #expect(hasher.finish() == early)
        var copy = hasher
        hasher.update(Array("c".utf8))
        copy.update(Array("d".utf8))
        #expect(hasher.finish() == SHA256.digest(of: Array("abc".utf8)))
        #expect(copy.finish() == SHA256.digest(of: Array("abd".utf8)))
    }

    @Test("numbers and digests are fed as their big-endian bytes") func numbers() {
        let inner = SHA256.digest(of: [1])
        var hasher = SHA256()
        hasher.update(bigEndian: UInt32(0x0102_0304))
        hasher.update(bigEndian: UInt64(0x0506_0708_090A_0B0C))
        hasher.update(inner)
        #expect(hasher.finish() == SHA256.digest(of: Array(1...12) + inner.bytes))
    }
}
