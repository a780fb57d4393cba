/// The lexer under every code rule: what it takes for code, in a table of awkward sources.
import Testing

@Suite("the lexer tells code from prose")
struct LexerTests {
    @Test(
        "only code is left",
        arguments: [
            ("a // b", "a     "),
            ("a /// \"b", "a       "),
            ("a /* b /* c */ d */ e", "a                   e"),
            ("a /* b", "a     "),
            ("x = \"a // b\" + c", "x =          + c"),
            ("\"a\\\"b\" + c", "       + c"),
            ("\"a\\\\\" + c", "      + c"),
            ("\"\\(x!) y\" + c", "   x!     + c"),
            ("\"\\(f(x) + \"in\\(y)\") z\"", "   f(x) +      y      "),
            ("#\"a\"b\\(c)\"# + d", "            + d"),
            ("#\"a\\#(c)\"# + d", "      c    + d"),
            ("#\"\"\"# + d", "      + d"),
            ("\"\"\"\n a \"b\" // c\n \\(x)\n\"\"\" + d", "   \n           \n   x \n    + d"),
            ("\"open\nx", "     \nx"),
            ("\"\" + a", "   + a"),
            ("#if os(Linux)", "#if os(Linux)"),
            ("é // é", "é      "),
        ]) func codeOnly(source: String, code: String)
    {
        #expect(String(decoding: Lexer(Array(source.utf8)).text(keeping: [.code]), as: UTF8.self) == code)
    }

    @Test("comments and strings can be kept apart") func kinds() {
        let lexer = Lexer(Array("a \"b\" // c".utf8))
        #expect(String(decoding: lexer.text(keeping: [.comment]), as: UTF8.self) == "      // c")
        #expect(String(decoding: lexer.text(keeping: [.code, .string]), as: UTF8.self) == "a \"b\"     ")
    }

    @Test("a needle must be a whole word where it starts or ends with a letter") func words() {
        let file = SourceFile(path: "x", text: "Task TaskList myTask runtime( time( \"Task\"\n.Task")
        #expect(file.occurrences(of: "Task").map { file.line(at: $0) } == [1, 2])
        #expect(file.occurrences(of: "time(").count == 1)
    }
}
