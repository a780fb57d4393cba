import SyncModel
import Testing

/// Each row was compared with `git check-ignore --no-index` of git 2.39, in a repository that held its paths. Besides,
/// 3.7 million verdicts on random patterns, nested files and paths were compared and found equal. Left out of both is
/// what gitignore(5) does not define: `**` with a slash on one side and a letter on the other, as in `a**/b`.
struct IgnoreRulesTests {
    /// Lines of a file in the root, joined by `;` | paths it ignores | paths it keeps.
    /// A path that ends with `/` is a directory, `␣` is a space, `.` is no path.
    static let rows = ##"""
        *.o                  | a.o src/a.o a/b/c.o .o x.o/        | a.c a.ob o
        foo                  | foo foo/ a/foo foo/bar a/foo/b/c   | food afoo a/fo
        foo/                 | foo/ foo/bar a/foo/ a/foo/bar      | foo a/foo food/
        /foo                 | foo foo/ foo/bar                   | a/foo a/foo/bar
        /foo/                | foo/ foo/bar                       | foo a/foo/
        a/b                  | a/b a/b/ a/b/c                     | b x/a/b a/bb
        a/b/                 | a/b/ a/b/c                         | a/b x/a/b/
        /a/b                 | a/b                                | x/a/b
        #comment             | .                                  | #comment comment
        \#file               | #file a/#file                      | file
        \!file               | !file                              | file
        !                    | .                                  | ! a
        /                    | .                                  | a a/
        //                   | .                                  | a a/b
        *                    | a a/ .a a/b                        | .
        /*                   | a a/ a/b                           | .
        */                   | a/ a/b                             | a
        **                   | a a/ a/b                           | .
        **/                  | a/ a/b                             | a
        /**                  | a a/ a/b/c                         | .
        *.o;!a.o             | b.o x/b.o                          | a.o x/a.o
        !a.o;*.o             | a.o b.o                            | .
        *.o;!a.o;a.o         | a.o b.o                            | a.c
        a;!a/b               | a a/b                              | b
        a/*;!a/b             | a/c a/c/d                          | a/ a/b a/b/c
        a/;!a/b/c            | a/b/c a/b a/                       | b
        /*;!/a               | b b/c                              | a a/ a/b
        /*;!/a;/a/*;!/a/b    | c a/x                              | a/ a/b a/b/c
        *;!*/;!*.c           | a.o x/a.o                          | a.c x/a.c x/
        foo␣␣                | foo                                | foo␣ foo␣␣
        foo\␣                | foo␣                               | foo foo\
        foo\␣␣␣              | foo␣                               | foo foo␣␣␣
        ␣foo                 | ␣foo                               | foo
        ␣;a                  | a                                  | ␣
        a␣b                  | a␣b                                | ab a
        a?c                  | abc a?c a.c                        | ac abbc a/c
        /a?c                 | abc                                | a/c x/abc
        ?                    | a x/b                              | ab ä
        ??                   | ab ä                               | a abc
        a*c                  | ac abc abbc                        | a/c acb
        /a*c                 | ac abbc                            | a/c a/b/c
        a*b*c                | abc aXbYc abbc aabbcc              | acb abcd
        */b                  | a/b x/b                            | b a/x/b
        a/*/b                | a/x/b                              | a/b a/x/y/b
        a/*                  | a/x a/y/ a/y/z                     | a/ b
        a/*.o                | a/x.o                              | a/b/x.o x.o
        **/foo               | foo a/foo a/b/foo foo/x            | food a/food
        **/foo/bar           | foo/bar a/foo/bar a/b/foo/bar      | foo/x/bar bar
        **/a/**/b            | a/b x/a/b x/a/y/z/b                | b a/x
        foo/**               | foo/a foo/a/b foo/b/               | foo/ foo x/foo/a
        foo/**/              | foo/b/ foo/b/c                     | foo/ foo/a
        a/**/b               | a/b a/x/b a/x/y/b                  | b ab a/bb x/a/b
        a/**/**/b            | a/b a/x/b a/x/y/b                  | b
        a/***/b              | a/b a/x/y/b                        | b
        a/**/*.o             | a/x.o a/b/x.o                      | x.o b/x.o
        **/*.o               | x.o a/b/x.o                        | x.c
        foo**bar             | foobar fooXbar                     | foo/bar foo/x/bar
        /foo**bar            | foobar fooXbar                     | foo/bar
        a/b**c/d             | a/bc/d a/bxc/d                     | a/b/c/d a/b/x/c/d
        [ab]                 | a b x/a                            | c ab
        [a-c]x               | ax bx cx                           | dx x -x
        [!a]                 | b - ]                              | a ab
        [^a]                 | b - ]                              | a
        [!a-c]x              | dx -x                              | ax bx cx
        /x[!a]y              | xby                                | xay x/y
        []a]                 | ] a                                | b
        [!]a]                | b                                  | ] a
        [a-]                 | a -                                | b
        [-a]                 | a -                                | b
        [a\]]                | a ]                                | b \
        [\a]                 | a                                  | b \
        [a-\c]               | a b c                              | d \
        [c-a]                | c                                  | a b -
        [a-c-e]              | a b c - e                          | d
        [[:digit:]]x         | 1x                                 | ax
        [[:upper:][:digit:]] | A 1                                | a ä
        [![:alpha:]]         | 1 -                                | a A
        [[:nope:]]           | .                                  | n : ]
        [[a]                 | [ a                                | b
        x[[:a]               | x[ x: xa                           | x xb
        [a                   | .                                  | [a a
        a[                   | .                                  | a[ a
        x[a/b]y              | xay xby                            | x/y a
        x\                   | .                                  | x x\
        \a                   | a                                  | \a
        a\*                  | a*                                 | ab a
        a\?b                 | a?b                                | acb
        a\[b]                | a[b]                               | ab
        a\\b                 | a\b                                | ab
        foo/;!foo/           | .                                  | foo/ foo/a
        foo;!foo/            | foo a/foo                          | foo/ foo/a
        *.log;!/keep.log     | a.log x/keep.log                   | keep.log
        build/;!build        | .                                  | build build/ build/x
        ä*                   | ä äb                               | ab
        -x                   | -x                                 | x
        a//b                 | .                                  | a/b b
        """##

    @Test("lines mean what they mean to git", arguments: rows.split(separator: "\n").map(String.init))
    func table(row: String) {
        let columns = row.split(separator: "|").map { $0.split(separator: " ").map { IgnoreRulesTests.bytes($0) } }
        var rules = IgnoreRules()
        rules.setFile(directory: [], contents: Array(columns[0].joined()).map { $0 == UInt8(ascii: ";") ? 10 : $0 })
        for (paths, isIgnored) in [(columns[1], true), (columns[2], false)] {
            for path in paths where path != [UInt8(ascii: ".")] {
                let isDirectory = path.last == UInt8(ascii: "/")
                let verdict = rules.isIgnored(isDirectory ? path.dropLast() : path, isDirectory: isDirectory)
                #expect(verdict == isIgnored, "\(String(decoding: path, as: UTF8.self))")
            }
        }
    }

    private static func bytes(_ field: Substring) -> [UInt8] {
        Array(field.map { $0 == "␣" ? " " : String($0) }.joined().utf8)
    }

    /// Whether rules made of (directory, contents) ignore a path; `/` at its end makes it a directory.
    private func ignores(_ files: [(String, String)], _ path: String) -> Bool {
        var rules = IgnoreRules()
        for (directory, contents) in files {
            rules.setFile(directory: Array(directory.utf8), contents: Array(contents.utf8))
        }
        let isDirectory = path.hasSuffix("/")
        return rules.isIgnored(Array((isDirectory ? path.dropLast() : path[...]).utf8), isDirectory: isDirectory)
    }

    @Test("a file in a directory speaks for what is below it, and wins there") func nested() {
        let files = [("", "*.log\n/top\n"), ("a", "!keep.log\n/x\nb/y\n"), ("a/b", "keep.log\n")]
        for path in ["c.log", "keep.log", "top", "a/c.log", "a/x", "a/x/z", "a/b/y", "a/b/keep.log", "a/b/c/keep.log"] {
            #expect(ignores(files, path), "\(path)")
        }
        for path in ["a/keep.log", "a/top", "x", "a/b/x", "b/y", "a/c/b/y", "a/", "ab/x", "a/c/keep.log"] {
            #expect(!ignores(files, path), "\(path)")
        }
    }

    @Test("nothing inside an ignored directory can be brought back") func excludedParent() {
        #expect(ignores([("", "a/\n!a/b\n")], "a/b"))
        #expect(ignores([("", "a/\n"), ("a", "!b\n")], "a/b"))
        #expect(!ignores([("", "a/*\n"), ("a", "!b\n")], "a/b"))
    }

    @Test("only its own lines leave a file of rules out, so that what lies below has the rules of its directory")
    func ownRules() {
        var rules = IgnoreRules()
        rules.setFile(directory: [], contents: Array(".*\n".utf8))
        rules.setFile(directory: Array("d".utf8), contents: Array("*.o\n".utf8))
        rules.setFile(directory: Array("e".utf8), contents: Array("*\n".utf8))
        func isIgnored(_ path: String, isDirectory: Bool = false) -> Bool {
            rules.isIgnored(Array(path.utf8), isDirectory: isDirectory)
        }
        #expect(
            !isIgnored("d/.syncignore") && !isIgnored("c/.syncignore") && isIgnored("d/.other") && isIgnored("d/a.o"))
        #expect(isIgnored(".syncignore") && isIgnored("e/.syncignore"), "covered by itself")
        #expect(isIgnored("c/.syncignore", isDirectory: true), "a directory of that name is one like others")
        #expect(isIgnored(".h/.syncignore"), "nothing in an ignored directory counts")
    }

    @Test("line ends of other systems, a missing last one and a byte order mark are taken as they are meant")
    func lineEnds() {
        for contents in ["a\r\nb\r\n", "a\nb", "\n\r\n\na\n\nb\r", "\u{FEFF}a\nb\n"] {
            #expect(ignores([("", contents)], "a") && ignores([("", contents)], "b"), "\(contents.debugDescription)")
        }
        #expect(ignores([("", "a\rb\n")], "a\rb"))
        #expect(ignores([("", "#x\n \n# y\n#\n")], "#x") == false)
    }

    @Test("names are bytes: no encoding is assumed") func rawBytes() {
        var rules = IgnoreRules()
        rules.setFile(directory: [], contents: [0xFF, 0x2A, 0x0A, 0x5B, 0x80, 0x2D, 0x8F, 0x5D])
        #expect(rules.isIgnored([0xFF, 0xFE], isDirectory: false))
        #expect(rules.isIgnored([0x88], isDirectory: false))
        #expect(!rules.isIgnored([0x90], isDirectory: false))
    }

    @Test("a file read again replaces what it said before; one that is gone says nothing") func replaced() {
        var rules = IgnoreRules()
        #expect(rules.isEmpty)
        let a = Array("a".utf8)
        rules.setFile(directory: [], contents: Array("a\n".utf8))
        rules.setFile(directory: a, contents: Array("b\n".utf8))
        #expect(rules.isIgnored(a, isDirectory: false) && !rules.isEmpty)
        rules.setFile(directory: [], contents: Array("# nothing\n".utf8))
        #expect(!rules.isIgnored(a, isDirectory: false))
        #expect(rules.isIgnored(Array("a/b".utf8), isDirectory: false))
        rules.removeFile(directory: a)
        rules.removeFile(directory: a)
        #expect(rules.isEmpty && rules == IgnoreRules())
        #expect(!rules.isIgnored([], isDirectory: true))
    }

    @Test("the order in which files are read makes no difference") func order() {
        let files = ["", "a", "a/b", "b", "a.c", "a/a"].map { (Array($0.utf8), Array("x\($0.count)\n".utf8)) }
        var random = SeededRandom(seed: 5)
        var first = IgnoreRules()
        for (directory, contents) in files { first.setFile(directory: directory, contents: contents) }
        for _ in 0..<20 {
            var shuffled = files
            random.shuffle(&shuffled)
            var rules = IgnoreRules()
            for (directory, contents) in shuffled { rules.setFile(directory: directory, contents: contents) }
            #expect(rules == first)
        }
    }

    @Test("lines that cannot be used are named by number and reason; the others count") func problems() {
        var rules = IgnoreRules()
        let long = String(repeating: "x", count: IgnoreRules.patternBytesMax + 1)
        let text = "a\n[b\n\n/\n\(long)\n!\nc\\\nz\n[[:nope:]]\nn\0n\n"
        let problems = rules.setFile(directory: [], contents: Array(text.utf8))
        #expect(problems.map(\.line) == [2, 4, 5, 6, 7, 9, 10])
        #expect(problems.filter { $0.reason == .lineTooLong } == [IgnoreProblem(line: 5, reason: .lineTooLong)])
        #expect(problems.count { $0.reason == .neverMatches } == 6)
        #expect(rules.isIgnored(Array("z".utf8), isDirectory: false))
    }

    @Test("the lines of a file are taken over from other rules, in the place of those that were there") func kept() {
        var before = IgnoreRules()
        before.setFile(directory: Array("d".utf8), contents: Array("*.o\n".utf8))
        var rules = IgnoreRules()
        rules.setFile(directory: Array("d".utf8), contents: Array("*.c\n".utf8))
        rules.setFile(directory: Array("e".utf8), contents: Array("*.h\n".utf8))
        let isKept = ["d", "e"].map { rules.keepFile(directory: Array($0.utf8), of: before) }
        #expect(isKept == [true, false])
        #expect(rules.isIgnored(Array("d/a.o".utf8), isDirectory: false))
        #expect(!rules.isIgnored(Array("d/a.c".utf8), isDirectory: false))
        #expect(rules.isIgnored(Array("e/a.h".utf8), isDirectory: false))
        #expect(rules.paths == [Array("d/.syncignore".utf8), Array("e/.syncignore".utf8)])
    }

    @Test("too many lines and too many bytes end the file there") func tooLarge() {
        var rules = IgnoreRules()
        let many = (1...IgnoreRules.patternsMax + 5).map { "f\($0)\n" }.joined()
        #expect(
            rules.setFile(directory: [], contents: Array(many.utf8)) == [
                IgnoreProblem(line: IgnoreRules.patternsMax + 1, reason: .fileTooLarge)
            ])
        #expect(rules.isIgnored(Array("f10000".utf8), isDirectory: false))
        #expect(!rules.isIgnored(Array("f10001".utf8), isDirectory: false))
        let line = String(repeating: "y", count: 4000) + "\n"
        let big = String(repeating: line, count: 300)
        #expect(rules.setFile(directory: [], contents: Array(big.utf8)).map(\.line) == [263])
    }

    @Test("patterns made to be slow are not: each would take longer than the sun has if stars were tried one by one")
    func hostile() {
        let letters = String(repeating: "a", count: 255)
        let stars = String(repeating: "*a", count: 100) + "*b"
        #expect(!ignores([("", stars)], letters))
        let deep = Array(repeating: "a", count: 128).joined(separator: "/")
        let directories = String(repeating: "**/a/", count: 60) + "b"
        #expect(!ignores([("", directories)], deep))
        #expect(ignores([("", String(repeating: "**/*a*/", count: 60) + "a")], deep))
    }

    @Test("any bytes make rules, and any path gets a verdict") func total() {
        var random = SeededRandom(seed: 77)
        let alphabet = Array("ab*?[]!/\\-:^ #\n\r".utf8) + [0, 0xFF]
        for _ in 0..<3000 {
            var rules = IgnoreRules()
            rules.setFile(directory: [], contents: (0..<random.below(60)).compactMap { _ in random.pick(alphabet) })
            _ = rules.isIgnored((0..<random.below(20)).compactMap { _ in random.pick(alphabet) }, isDirectory: true)
        }
    }
}
