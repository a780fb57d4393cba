import Testing

@testable import syncctl

struct StyleTests {
    @Test("columns line up, marks and colours take no room, and the last one may be long") func table() {
        let style = Style(usesColor: false, asciiOnly: false, width: 40)
        #expect(
            style.table(["ID", "NAME", "PATH"], [["1", "u\u{308}b", "a/long/path"], ["22", "漢字", "x"]]) == [
                "ID  NAME  PATH", "1   u\u{308}b    a/long/path", "22  漢字  x",
            ])
        #expect(style.table(["ID"], []) == [])
        #expect(Style.columns("\u{1B}[31mred\u{1B}[0m") == 3)
    }

    @Test("text is broken between words, and a word that does not fit is not cut") func wrapping() {
        let style = Style(usesColor: false, asciiOnly: false, width: 12)
        #expect(style.wrapped("aaa bbb ccc ddd", indent: 2) == ["  aaa bbb", "  ccc ddd"])
        #expect(style.wrapped("a incomprehensibilities b") == ["a", "incomprehensibilities", "b"])
        #expect(style.wrapped("") == [""])
    }

    @Test("colour only where it is wanted") func colour() {
        #expect(Style(usesColor: true).red("x") == "\u{1B}[31mx\u{1B}[0m")
        #expect(Style.plain.red("x") == "x")
    }

    @Test("names do no harm, to the terminal or to the shell they are copied into") func names() {
        #expect(Style.plain.name(Array("a\u{1B}]0;x\u{07}ü".utf8)) == #"a\x1b]0;x\x07ü"#)
        #expect(Style(asciiOnly: true).name(Array("ü".utf8)) == #"\xc3\xbc"#)
        #expect(Style.plain.argument(Array("/srv/a-b_c.1".utf8)) == "/srv/a-b_c.1")
        #expect(Style.plain.argument(Array("a b;$(rm)'x".utf8)) == #"'a b;$(rm)'\''x'"#)
        #expect(Style.plain.argument([]) == "''")
        #expect(Style.plain.argument(Array("it's\n\\".utf8) + [0xFF]) == #"$'it\'s\x0a\x5c\xff'"#)
    }

    @Test("numbers, sizes and times are as people say them") func words() {
        #expect(Words.count(1, "file") == "1 file" && Words.count(0, "file") == "0 files")
        #expect(Words.count(2, "directory", "directories") == "2 directories")
        #expect([0, 999, 1_000, 1_234_567, -1_000].map(Words.grouped) == ["0", "999", "1,000", "1,234,567", "-1,000"])
        #expect(
            [0, 1_023, 1_024, 1_536, 10_240, 5 << 30].map(Words.bytes) == [
                "0 B", "1023 B", "1.0 KiB", "1.5 KiB", "10 KiB", "5.0 GiB",
            ])
        #expect(
            [-5, 0, 59_999, 60_000, 3_600_000, 86_400_000, 200_000_000].map { Words.duration(milliseconds: $0) } == [
                "0 s", "0 s", "59 s", "1 min", "1 h", "1 day", "2 days",
            ])
        #expect(Words.time(1_767_225_600_000) == "2026-01-01 00:00:00")
    }
}
