/// Keys: what they are known by, how they are written, and everything that is no key.
import Crypto
import Testing

@Suite("identity keys")
struct IdentityKeyTests {
    @Test("a key written and read is the same key") func roundTrip() throws {
        let key = try IdentityKey.generate()
        let again = try IdentityKey(pem: key.pem)
        #expect(again.fingerprint == key.fingerprint)
        #expect(again.pem == key.pem)
        #expect(key.fingerprint.count == 32)
        #expect(String(decoding: key.pem, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    }

    @Test("no two generated keys are equal") func distinct() throws {
        #expect(try IdentityKey.generate().fingerprint != IdentityKey.generate().fingerprint)
    }

    /// The key of RFC 8410, section 10.3. Its SubjectPublicKeyInfo is a fixed head of twelve bytes and the public key.
    @Test("the fingerprint is SHA-256 of the SubjectPublicKeyInfo") func fingerprint() throws {
        let key = try IdentityKey(pem: Array(Samples.rfc8410.utf8))
        let head: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
        let publicKey: [UInt8] = [
            0x19, 0xBF, 0x44, 0x09, 0x69, 0x84, 0xCD, 0xFE, 0x85, 0x41, 0xBA, 0xC1, 0x67, 0xDC, 0x3B, 0x96,
            0xC8, 0x50, 0x86, 0xAA, 0x30, 0xB6, 0xB6, 0xCB, 0x0C, 0x5C, 0x38, 0xAD, 0x70, 0x31, 0x66, 0xE1,
        ]
        #expect(key.fingerprint == SHA256Stream.hash(head + publicKey))
    }

    @Test("a comment before the key does no harm") func comment() throws {
        let key = try IdentityKey.generate()
        #expect(try IdentityKey(pem: Array("# alpha\n".utf8) + key.pem).fingerprint == key.fingerprint)
    }

    @Test("what is no key is refused with a reason", arguments: Samples.wrong)
    func refused(sample: Samples.Wrong) {
        let error = #expect(throws: CryptoError.self) { _ = try IdentityKey(pem: Array(sample.text.utf8)) }
        #expect(error?.kind == .badKey)
        #expect(error?.description.contains(sample.word) == true, "\(error?.description ?? "")")
    }

    @Test("a key cut anywhere, or with one byte changed, is refused or another key, and never crashes")
    func damaged() throws {
        let key = try IdentityKey.generate()
        for end in 0..<(key.pem.count - 27) {
            #expect(throws: CryptoError.self) { _ = try IdentityKey(pem: Array(key.pem[..<end])) }
        }
        for index in key.pem.indices {
            var damaged = key.pem
            damaged[index] ^= 0x10
            let other = try? IdentityKey(pem: damaged)
            if let other { #expect(other.fingerprint != key.fingerprint || isHarmless(damaged, key.pem)) }
        }
    }

    /// A change that leaves the coded 32 bytes alone, such as one in a line's end.
    private func isHarmless(_ damaged: [UInt8], _ pem: [UInt8]) -> Bool {
        let body = { (text: [UInt8]) in text.split(separator: 0x0A).dropFirst().first.map(Array.init) }
        return body(damaged) == body(pem) || (try? IdentityKey(pem: damaged).pem) == pem
    }
}

/// Keys made with `openssl genpkey` for these tests alone.
enum Samples {
    static let rfc8410 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
        -----END PRIVATE KEY-----
        """

    struct Wrong: CustomTestStringConvertible, Sendable {
        let name: String
        let text: String
        /// Stands in the reason.
        let word: String

        init(_ name: String, _ text: String, _ word: String) {
            self.name = name
            self.text = text
            self.word = word
        }

        var testDescription: String { name }
    }

    static let wrong: [Wrong] = [
        .init("nothing", "", "empty"),
        .init("words", "this is no key\n", "PEM"),
        .init("zeros", String(repeating: "\0", count: 200), "PEM"),
        .init("too much", String(repeating: "x", count: 20_000), "too much"),
        .init("the public half", publicHalf, "PEM"),
        .init("a passphrase", encrypted, "passphrase"),
        .init("a key for key exchange", x25519, "X25519"),
        .init("a key on P-256", p256, "EC"),
        .init("no base64", "-----BEGIN PRIVATE KEY-----\n!!!!\n-----END PRIVATE KEY-----\n", "PEM"),
        .init("no content", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", "PEM"),
    ]

    static let publicHalf = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEA0kNrF17tKHH73vYWJrnF13qKpYwi/4hWXzSjdGqO3iw=
        -----END PUBLIC KEY-----
        """

    static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAh2Vzh6m3jKBAICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEF03OVs3hYm3/1Bh34avi/MEQPK8
        qb99HncqHuzKMaly502oD8VKFPc9eferq3IhaHMSJtPWDKtweLfZmISZITeMvLdI
        Kt5omWnnZ95fGlu1xwU=
        -----END ENCRYPTED PRIVATE KEY-----
        """

    static let x25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VuBCIEIECgqiEx6cit9C2q0vW+6NBDZDXHq3WlxDHtwok0eEVm
        -----END PRIVATE KEY-----
        """

    static let p256 = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQggyAchJSONKSMEr3f
        wKITxbuoS/vEyfOMYqfYwSsC3PmhRANCAAT79IHa2UNYz2Nx5BrtKgDjk5n5y8vh
        G1XImn+rnbVd/YeBWusDLeocAWk+eMlJ3r9Cr+lTTnP3V8Tyo8XtP/yp
        -----END PRIVATE KEY-----
        """

    static let p256Certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBbTCCAROgAwIBAgIUTehGoehr5K4bnYrsaeFlcA/BU5IwCgYIKoZIzj0EAwIw
        DDEKMAgGA1UEAwwBeDAeFw0yNjExMjIwMjMwMDVaFw0yNjEyMjIwMjMwMDVaMAwx
        CjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAT79IHa2UNYz2Nx
        5BrtKgDjk5n5y8vhG1XImn+rnbVd/YeBWusDLeocAWk+eMlJ3r9Cr+lTTnP3V8Ty
        o8XtP/ypo1MwUTAdBgNVHQ4EFgQUv7LNM9+6bdu4XOoIe91qwJiDGgIwHwYDVR0j
        BBgwFoAUv7LNM9+6bdu4XOoIe91qwJiDGgIwDwYDVR0TAQH/BAUwAwEB/zAKBggq
        hkjOPQQDAgNIADBFAiBX3oq9/LBBRAVMjf026ceo05AWUIYd7iiXt3rmmKcHsgIh
        AOYnkbNqMIDtFDeApky3IF03LM+IOPB7UiiY4KqPOYsi
        -----END CERTIFICATE-----
        """
}
