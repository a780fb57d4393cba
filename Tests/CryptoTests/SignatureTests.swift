/// Signatures: what is signed, by whom, and everything that is no signature.
import Crypto
import Testing

@Suite("signatures") struct SignatureTests {
    @Test("a public key is known by what its pair is known by, and tells what that has signed") func genuine() throws {
        let key = try IdentityKey.generate()
        let known = try #require(PublicKey(try key.publicKey()))
        #expect(known.fingerprint == key.fingerprint)
        for message in [[], [1], [UInt8](repeating: 7, count: 10_000)] as [[UInt8]] {
            #expect(known.hasSigned(message, try key.sign(message)))
        }
    }

    /// RFC 8032, section 7.1, TEST 2.
    @Test("a signature of the standard is taken, and with one bit changed it is not") func standard() throws {
        let key = try #require(PublicKey(bytes("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")))
        let signature = bytes(
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")
        #expect(key.hasSigned([0x72], signature))
        #expect(!key.hasSigned([0x73], signature))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!key.hasSigned([0x72], changed), "byte \(index)")
        }
    }

    @Test("another key, a part of a signature and what is no key prove nothing") func strangers() throws {
        let key = try IdentityKey.generate()
        let signature = try key.sign([1, 2, 3])
        let other = try #require(PublicKey(try IdentityKey.generate().publicKey()))
        #expect(!other.hasSigned([1, 2, 3], signature))
        let known = try #require(PublicKey(try key.publicKey()))
        #expect(!known.hasSigned([1, 2, 3], Array(signature.dropLast())))
        #expect(!known.hasSigned([1, 2, 3], signature + [0]))
        #expect(!known.hasSigned([1, 2, 3], []))
        #expect(PublicKey([]) == nil)
        #expect(PublicKey([UInt8](repeating: 1, count: 31)) == nil)
    }

    private func bytes(_ text: String) -> [UInt8] {
        let digits = text.utf8.map { UInt8(Character(UnicodeScalar($0)).hexDigitValue ?? 0) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
