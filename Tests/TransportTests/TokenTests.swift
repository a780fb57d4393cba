import Crypto
import EventLoop
import Testing

@testable import Transport

@Suite("pairing tokens") struct TokenTests {
    private let token = PairingToken(
        secret: noise(16, seed: 3), inviter: noise(16, seed: 4), hint: .tcp(host: "beta.example", port: 7_420))

    @Test("a token is one word that comes back whole, however it was wrapped") func roundTrip() throws {
        let text = token.text
        #expect(text.hasPrefix("syncd1-"))
        #expect(text.utf8.count < 110)
        #expect(text.allSatisfy { $0.isASCII && !$0.isWhitespace })
        #expect(try PairingToken.parse(text) == token)
        #expect(try PairingToken.parse("  \(text)\n") == token)
        #expect(try PairingToken.parse(text.uppercased()) == token)
        let middle = text.index(text.startIndex, offsetBy: 40)
        #expect(try PairingToken.parse("\(text[..<middle])\r\n  \(text[middle...])") == token)
    }

    @Test("letters that look like digits are taken for them") func lookalikes() throws {
        let text = token.text.replacingDigits("0", by: "O").replacingDigits("1", by: "l", after: "syncd1-")
        #expect(try PairingToken.parse(text) == token)
    }

    @Test("a token without an address is fine; one with a hint that is none loses only the hint") func hints() throws {
        let bare = PairingToken(secret: token.secret, inviter: token.inviter, hint: nil)
        #expect(try PairingToken.parse(bare.text) == bare)
        let long = PairingToken(
            secret: token.secret, inviter: token.inviter,
            hint: .tcp(host: String(repeating: "a", count: 250), port: 1))
        #expect(try PairingToken.parse(long.text).hint == nil)
    }

    @Test("a hint that is no text, or longer than any of ours, is none") func foreignHints() throws {
        let start = [1] + token.secret + token.inviter
        for hint in [Array("/a".utf8) + [0xFF], Array("/".utf8) + [UInt8](repeating: 0x61, count: 160)] {
            let sum = Array(SHA256Stream.hash(start + hint).prefix(4))
            let read = try PairingToken.parse("syncd1-" + Base32.encode(start + hint + sum))
            #expect(read.hint == nil)
            #expect(try PairingToken.parse(read.text) == read)
        }
    }

    @Test("every single changed, lost or doubled character is noticed") func typingErrors() throws {
        let text = Array(token.text.utf8)
        let start = 7
        for index in start..<text.count {
            for replacement in Array("0123456789abcdefghjkmnpqrstvwxyz-!u".utf8) where replacement != text[index] {
                var bad = text
                bad[index] = replacement
                #expect(throws: PairingToken.Problem.mistyped) { try parse(bad) }
            }
            #expect(throws: PairingToken.Problem.mistyped) { try parse(text[..<index] + text[(index + 1)...]) }
            #expect(throws: PairingToken.Problem.mistyped) { try parse(text[...index] + text[index...]) }
            #expect(throws: PairingToken.Problem.mistyped) { try parse(text[..<index]) }
        }
    }

    @Test("neighbours that changed places are noticed") func swapped() throws {
        let text = Array(token.text.utf8)
        for index in 7..<(text.count - 1) where text[index] != text[index + 1] {
            var bad = text
            bad.swapAt(index, index + 1)
            #expect(throws: PairingToken.Problem.mistyped) { try parse(bad) }
        }
    }

    @Test("something else is no token, and a later kind of token is told as such") func others() {
        for text in ["", "syncd", "syncd1", "beta:7420", "sync1-abc", "syncd-abc", "syncdx-abc", "syncd\u{301}1-abc"] {
            #expect(throws: PairingToken.Problem.notAToken) { try PairingToken.parse(text) }
        }
        for text in ["syncd2-abc", "syncd99-", "SYNCD3-xyz"] {
            #expect(throws: PairingToken.Problem.newerVersion) { try PairingToken.parse(text) }
        }
    }

    @Test("a token never shows itself in a description") func secrecy() {
        #expect("\(token)" == "a pairing token")
    }

    @Test("base 32 gives back any bytes and refuses left-over bits") func base32() {
        for count in 0..<40 {
            let bytes = noise(count, seed: UInt64(count) + 9)
            #expect(Base32.decode(Base32.encode(bytes)[...]) == bytes)
        }
        #expect(Base32.decode("01") == nil, "bits that no encoder writes")
        #expect(Base32.decode("0") == nil)
        #expect(Base32.decode("00u0") == nil)
        #expect(Base32.decode("é") == nil)
    }

    @Test("the words are 256, short, plain, and told apart by three letters") func words() {
        let words = WordList.words
        #expect(words.count == 256)
        #expect(Set(words.map { $0.prefix(3) }).count == 256)
        #expect(words == words.sorted())
        #expect(words.allSatisfy { (3...8).contains($0.count) && $0.allSatisfy { ("a"..."z").contains($0) } })
    }

    private func parse(_ bytes: some Sequence<UInt8>) throws -> PairingToken {
        try PairingToken.parse(String(decoding: Array(bytes), as: UTF8.self))
    }
}

extension String {
    fileprivate func replacingDigits(_ digit: Character, by letter: Character, after prefix: String = "") -> String {
        let start = hasPrefix(prefix) ? index(startIndex, offsetBy: prefix.count) : startIndex
        return self[..<start] + String(self[start...].map { $0 == digit ? letter : $0 })
    }
}
