/// The names of conflict copies: what people see, what scripts look for, and what `status` counts.
import SyncModel
import Testing

struct ConflictNameTests {
    private static let content = Content.file(ContentID(SHA256.digest(of: Array("lost".utf8))), size: 4)
    /// 2026-11-21 02:03:04 UTC.
    private static let time = HybridTime(wallMilliseconds: 1_795_226_584_999, counter: 7)
    private static let hex = SHA256.digest(of: Array("lost".utf8)).hex(digits: 6)

    private func copied(
        _ text: String, node: String = "left", time: HybridTime = ConflictNameTests.time,
        losing content: Content = ConflictNameTests.content
    ) -> Path? {
        ConflictName.path(for: path(text), losing: content, node: Array(node.utf8), time: time)
    }

    @Test(
        "where the mark goes",
        arguments: [
            ("report.txt", "report", ".txt"), ("a/b/report.txt", "a/b/report", ".txt"), ("Makefile", "Makefile", ""),
            (".bashrc", ".bashrc", ""), (".config.json", ".config", ".json"), ("a.tar.gz", "a.tar", ".gz"),
            ("ends.", "ends", "."), ("two..dots", "two.", ".dots"), ("x.y/z", "x.y/z", ""), ("-", "-", ""),
            ("ä ö.ü", "ä ö", ".ü"), ("..a", ".", ".a"), ("a.conflict", "a", ".conflict"),
        ]) func format(text: String, stem: String, suffix: String)
    {
        let expected = "\(stem).conflict-left-20261121-020304-\(ConflictNameTests.hex)\(suffix)"
        #expect(copied(text) == path(expected))
    }

    @Test(
        "the date is the calendar's, in UTC",
        arguments: [
            (0, "19700101-000000"), (946_684_799, "19991231-235959"), (951_825_600, "20000229-120000"),
            (951_868_800, "20000301-000000"), (1_677_628_799, "20230228-235959"), (1_709_186_828, "20240229-060708"),
            (1_735_603_200, "20241231-000000"), (1_795_226_584, "20261121-020304"), (2_147_483_648, "20380119-031408"),
            (4_102_444_799, "20991231-235959"), (4_107_542_399, "21000228-235959"), (4_107_542_400, "21000301-000000"),
            (13_574_566_923, "24000229-010203"), (253_402_300_799, "99991231-235959"),
        ] as [(Int64, String)])
    func dates(seconds: Int64, stamp: String) {
        let copy = copied("a.txt", time: HybridTime(wallMilliseconds: seconds * 1_000 + 999))
        #expect(copy == path("a.conflict-left-\(stamp)-\(ConflictNameTests.hex).txt"))
    }

    @Test("each day has a date of its own, in order") func days() throws {
        var last = ""
        for day in 0..<60_000 {
            let copy = try #require(copied("a", time: HybridTime(wallMilliseconds: Int64(day) * 86_400_000)))
            let text = copy.description
            if text <= last { Issue.record("\(text) is not after \(last)") }
            last = text
        }
        #expect(last == "a.conflict-left-21340410-000000-\(ConflictNameTests.hex)")
    }

    @Test("a node's name cannot break out of its place in the name")
    func nodeNames() {
        for (node, shown) in [
            ("a b/c.d", "a-b-c-d"), ("", ""), ("..", "--"), ("ä", "--"), ("A_z-9", "A_z-9"), ("\n\0", "--"),
            (String(repeating: "n", count: 200), String(repeating: "n", count: Limits.nodeNameBytesMax)),
        ] {
            let found = copied("x.txt", node: node)
            #expect(found == path("x.conflict-\(shown)-20261121-020304-\(ConflictNameTests.hex).txt"))
            #expect(found.map(ConflictName.isConflictCopy) == true)
        }
    }

    @Test("the hash tells losers of one second apart, links and directories too") func hashes() throws {
        let other = Content.file(ContentID(SHA256.digest(of: [1])), size: 1)
        let names = try [ConflictNameTests.content, other, .symlink([0x61]), .symlink([0x62])].map {
            try #require(copied("x", losing: $0))
        }
        #expect(Set(names).count == 4)
        let link = SHA256.digest(of: [0x61]).hex(digits: 6)
        #expect(copied("x", losing: .symlink([0x61])) == path("x.conflict-left-20261121-020304-\(link)"))
    }

    @Test("R-15: the name depends on the losing version alone") func same() {
        #expect(copied("a/x.txt") == copied("a/x.txt"))
        #expect(copied("a/x.txt", time: HybridTime(wallMilliseconds: 1_795_226_584_000)) == copied("a/x.txt"))
    }

    // MARK: Too long, and odd bytes

    @Test("long names are cut before the mark; the mark and the suffix stay whole", arguments: [1, 200, 240, 250, 255])
    func longNames(length: Int) throws {
        for suffix in ["", ".txt", "." + String(repeating: "s", count: 31), "." + String(repeating: "s", count: 32)] {
            guard suffix.utf8.count < length else { continue }
            let name = String(repeating: "n", count: length - suffix.utf8.count) + suffix
            for node in ["l", String(repeating: "w", count: 64)] {
                let copy = try #require(copied("d/" + name, node: node))
                let bytes = try #require(copy.name?.bytes)
                #expect(bytes.count <= Limits.nameBytesMax && copy.parent == path("d"))
                #expect(ConflictName.isConflictCopy(copy))
                #expect(bytes.first == 0x6E)
                if suffix.utf8.count <= 32 { #expect(bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)) }
            }
        }
    }

    @Test("of a long name a copy says the beginning, and which names that may have been", arguments: ["", ".txt"])
    func longOriginals(suffix: String) throws {
        let long = path("d/" + String(repeating: "n", count: 255 - suffix.utf8.count) + suffix)
        let copy = try #require(copied("d/" + String(repeating: "n", count: 255 - suffix.utf8.count) + suffix))
        let beginning = try #require(ConflictName.cutOriginal(of: copy))
        #expect(long.bytes.starts(with: beginning.bytes) && ConflictName.parts(of: copy)?.original != long)
        #expect(ConflictName.isNamed(copy, after: long))
        let uncut = try #require(ConflictName.parts(of: copy)?.original)
        #expect(ConflictName.isNamed(copy, after: uncut), "both would be called so")
        let other = path("d/" + String(repeating: "n", count: 254 - suffix.utf8.count) + "m" + suffix)
        #expect(ConflictName.isNamed(copy, after: other))
        #expect(!ConflictName.isNamed(copy, after: path("d/n" + suffix)))
        #expect(!ConflictName.isNamed(copy, after: path("d/m" + String(repeating: "n", count: 250))))
        let short = try #require(copied("d/x.txt"))
        #expect(ConflictName.cutOriginal(of: short) == nil && ConflictName.isNamed(short, after: path("d/x.txt")))
    }

    @Test("a letter of several bytes is not cut in two", arguments: [1, 2, 3, 4])
    func letters(before: Int) throws {
        for letter in ["é", "€", "😀"] {
            let ascii = String(repeating: "n", count: before)
            let letters = String(repeating: letter, count: (255 - before) / letter.utf8.count)
            let copy = try #require(copied(ascii + letters))
            #expect(String(validating: copy.bytes, as: UTF8.self) != nil, "\(copy)")
            #expect(copy.bytes.count > 255 - 4 && ConflictName.isNamed(copy, after: path(ascii + letters)))
        }
        let bytes = try #require(Path([UInt8](repeating: 0x80, count: 255)))
        let copy = ConflictName.path(for: bytes, losing: ConflictNameTests.content, node: [0x6C], time: .zero)
        #expect(copy?.bytes.count == 255, "what is no text is cut where the room ends")
    }

    @Test("names that are no text get a copy too") func bytes() throws {
        let original = try #require(Path([0xFF, 0xFE, 0x2E, 0x80]))
        let copy = try #require(
            ConflictName.path(for: original, losing: ConflictNameTests.content, node: [0xFF], time: .zero))
        let mark = Array(".conflict---19700101-000000-\(ConflictNameTests.hex)".utf8)
        #expect(copy.bytes == [0xFF, 0xFE] + mark + [0x2E, 0x80])
        #expect(ConflictName.isConflictCopy(copy))
    }

    @Test("where no name fits there is none: the root, and a directory at the bound of a path") func impossible() {
        #expect(ConflictName.path(for: .root, losing: .absent, node: [], time: .zero) == nil)
        let deep = Array(repeating: String(repeating: "d", count: 250), count: 16).joined(separator: "/")
        #expect(copied(deep + "/" + String(repeating: "e", count: 70)) == nil)
    }

    // MARK: Recognised

    @Test("every copy is recognised, whatever the name, the node and the time", arguments: 1...3)
    func roundTrip(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let alphabet = Array("ab.-_ 09é/conflict-".utf8).filter { $0 != 0x2F }
        for _ in 0..<1_000 {
            let name = (0...random.below(30)).map { _ in alphabet[random.below(alphabet.count)] }
            guard let original = Path(name) else { continue }
            let time = HybridTime(raw: random.next() % HybridTime(wallMilliseconds: 253_402_300_800_000).raw)
            let copy = try #require(
                ConflictName.path(
                    for: original, losing: ConflictNameTests.content, node: random.bytes(random.below(80)), time: time))
            if !ConflictName.isConflictCopy(copy) { Issue.record("\(copy) is not recognised") }
        }
    }

    @Test("R-06: a conflict copy of a conflict copy is one, also where the names are cut") func copyOfCopy() throws {
        let long = String(repeating: "n", count: 200)
        for text in ["a.txt", "a", ".a", long, long + ".txt", long + String(repeating: "m", count: 55)] {
            var name = text
            var seen: [Path] = []
            for round in 0..<6 {
                let content = Content.file(ContentID(SHA256.digest(of: [UInt8(round)])), size: 1)
                let copy = try #require(copied(name, node: "node\(round)", losing: content))
                guard ConflictName.isConflictCopy(copy), !seen.contains(copy) else {
                    Issue.record("round \(round): \(copy)")
                    break
                }
                seen.append(copy)
                name = copy.description
            }
        }
    }

    @Test("a copy of a file whose own name looks a little like one is recognised")
    func likeness() throws {
        for text in ["x.conflict-notes.txt", "x.conflict-", ".conflict-a.conflict-b", "y.conflict-1-2-3"] {
            #expect(!ConflictName.isConflictCopy(path(text)), "\(text)")
            #expect(try ConflictName.isConflictCopy(#require(copied(text))), "the copy of \(text)")
        }
    }

    @Test("a year of five digits is still a conflict") func farFuture() throws {
        let copy = try #require(copied("a.txt", time: HybridTime(raw: .max)))
        #expect(ConflictName.isConflictCopy(copy), "\(copy)")
    }

    @Test(
        "what only looks like a conflict copy is an ordinary file",
        arguments: [
            "", "a", "a.txt", "conflict", "a.conflict", ".conflict-", "a.conflict-", "a.conflict-left.txt",
            "a.conflict-left-20261121.txt", "a.conflict-left-20261121-020304.txt",
            "a.conflict-left-20261121-020304-abc.txt", "a.conflict-left-20261121-020304-abcdefg.txt",
            "a.conflict-left-2026112-020304-abcdef.txt", "a.conflict-left-20261121-02030-abcdef.txt",
            "a.conflict-20261121-020304-abcdef.txt", "a-conflict-left-20261121-020304-abcdef.txt",
            "a.conflict-with-somebody-should-notice.txt", "a.conflict-left-2026x121-020304-abcdef.txt",
            "a.conflict-left-20261121-0203x4-abcdef.txt", "a.conflict-left-20261121-020304-abcdeg.txt",
            "a.conflict-left-20261121-020304-abcdef/b.txt",
        ]) func ordinary(text: String)
    {
        #expect(!ConflictName.isConflictCopy(path(text)))
    }
}
