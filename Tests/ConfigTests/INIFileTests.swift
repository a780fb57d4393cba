import Testing

/// What libinih does with odd lines, and that none of it happens in silence.
@testable import Config

@Suite("INI lines")
struct INIFileTests {
    private func items(_ text: String) -> [String] {
        INIFile(Array(text.utf8)).items.map { item in
            let parts = [item.section, item.key, item.value].map { String(decoding: $0, as: UTF8.self) }
            return "\(item.line) [\(parts[0])] \(parts[1])=\(parts[2])"
        }
    }

    private func faults(_ text: [UInt8]) -> [Int] { INIFile(text).faults.map(\.line) }
    private func faults(_ text: String) -> [Int] { faults(Array(text.utf8)) }

    @Test("sections, keys, values and their lines") func plain() {
        #expect(
            items("a = 1\n[s]\n\n b=2\nc : 3\n[t] ; why\nd = x = y\n") == [
                "1 [] a=1", "4 [s] b=2", "5 [s] c=3", "7 [t] d=x = y",
            ])
    }

    @Test("comments begin at the start of a line, or with a semicolon after a space") func comments() {
        #expect(
            items("# x\n; y\n  ; z\na = 1 ; one\nb = 1;2\nc = 1 # 2\nd = ; nothing\ne =;f\n") == [
                "4 [] a=1", "5 [] b=1;2", "6 [] c=1 # 2", "7 [] d=", "8 [] e=;f",
            ])
    }

    @Test("whether a comment was cut off is known") func cutOff() {
        let items = INIFile(Array("a = 1 ; one\nb = 1;2\nc = 1   \nd = ;x\n".utf8)).items
        #expect(items.map(\.hasComment) == [true, false, false, true])
    }

    @Test("an indented line is a line of its own, not more of the one before") func indented() {
        #expect(items("[s]\na = 1\n  b = 2\n\tc = 3") == ["2 [s] a=1", "3 [s] b=2", "4 [s] c=3"])
        #expect(faults("[s]\na = 1\n  2\n") == [3])
    }

    @Test("the ends of lines from other systems, and none at the end") func lineEnds() {
        #expect(items("a = 1\r\nb = 2 \r\n\r\nc = 3") == ["1 [] a=1", "2 [] b=2", "4 [] c=3"])
    }

    @Test("a byte order mark is no part of the first key") func byteOrderMark() {
        #expect(items("\u{FEFF}a = 1\n") == ["1 [] a=1"])
    }

    @Test("lines of up to 8 KiB are read whole, longer ones are a fault and never cut") func longLines() {
        for count in [195, 196, 197, 198, 199, 200, 201, 255, 1_000, 4_096, 8_188] {
            let value = String(repeating: "v", count: count)
            #expect(items("k = \(value)\nl = 2") == ["1 [] k=\(value)", "2 [] l=2"])
        }
        #expect(faults("a = 1\nk = \(String(repeating: "v", count: 8_189))\nb = 2\n") == [2])
        #expect(items("k = \(String(repeating: "v", count: 100_000))\nb = 2\n") == ["2 [] b=2"])
    }

    @Test("a zero byte is a fault, not the end of the file") func zeroBytes() {
        let text: [UInt8] = Array("a = 1\nb = 2".utf8) + [0] + Array("3\nc = 4\n".utf8)
        #expect(faults(text) == [2])
        #expect(INIFile(text).items.map(\.line) == [1, 3])
    }

    @Test("every line that is nothing is a fault, not only the first") func nonsense() {
        #expect(faults("[s\nword\n[t]\n[u] x\n= \n[]\nok = 1\nmore words\n]\n") == [1, 2, 4, 8, 9])
    }

    @Test("text behind a section's bracket is a fault") func behindBracket() {
        #expect(faults("[a] b = c\n[a] ; fine\n[a]# fine\n[a]x\n") == [1, 4])
    }

    @Test("nothing at all is nothing") func empty() {
        #expect(items("").isEmpty && faults("").isEmpty)
        #expect(items("\n\n \n\t\r\n;\n#\n").isEmpty)
    }
}
