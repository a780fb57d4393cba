import SyncModel
import Testing

@testable import SyncSim

/// The words the ledger thinks in: values and their fingerprints, sets of acts, families of conflict copies.
@Suite("The oracle's words")
struct OracleValueTests {
    // MARK: Values

    @Test("Equal bytes are one value, whatever else differs; a link and a file of one text are two") func values() {
        #expect(Value.text("a") == .file(utf8("a")) && Value.text("a") != .text("b"))
        #expect(Value.file(utf8("a")) != .symlink(to: utf8("a")))
        for content in [Value.text(""), .symlink(to: utf8("a"))] { #expect(content.isContent) }
        for other in [Value.absent, .directory, .special] { #expect(!other.isContent) }
    }

    @Test("A fingerprint tells any bit, any length and any order apart", arguments: 0..<4) func fingerprints(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        for size in 1...24 {
            let bytes = random.bytes(size)
            let print = Fingerprint(of: bytes)
            #expect(print == Fingerprint(of: bytes) && print.size == size)
            for bit in 0..<8 {
                var changed = bytes
                changed[random.below(size)] ^= 1 << UInt8(bit)
                #expect(Fingerprint(of: changed).hash != print.hash)
            }
            #expect(Fingerprint(of: bytes + [0]).hash != print.hash && Fingerprint(of: [0] + bytes).hash != print.hash)
            #expect(Fingerprint(of: Array(bytes.dropLast())).hash != print.hash)
            if bytes != bytes.reversed() { #expect(Fingerprint(of: bytes.reversed()).hash != print.hash) }
        }
        #expect((0..<40).allSatisfy { Fingerprint(of: [UInt8](repeating: 0, count: $0)).size == $0 })
        #expect(Set((0..<40).map { Fingerprint(of: [UInt8](repeating: 0, count: $0)).hash }).count == 40)
    }

    @Test("Values and fingerprints have one order") func order() {
        let prints = (0..<50).map { Fingerprint(of: utf8("\($0)")) }
        for one in prints {
            #expect(!(one < one))
            for two in prints where one != two { #expect((one < two) != (two < one)) }
        }
        let values: [Value] = [.special, .symlink(to: [1]), .file([1]), .directory, .absent]
        #expect(values.sorted() == values.reversed())
    }

    // MARK: Sets of acts

    @Test("A set of acts holds what was put into it, across words") func actSets() {
        var set = ActSet()
        #expect(set.isEmpty)
        let numbers = [0, 1, 63, 64, 200]
        for number in numbers { set.insert(number) }
        #expect((0..<300).filter { set.contains($0) } == numbers && !set.isEmpty)
        let more = set.inserting(5)
        #expect(more.contains(5) && !set.contains(5))
    }

    @Test("A union holds both and forgets neither, whichever is longer") func unions() {
        let (low, high) = (ActSet().inserting(3), ActSet().inserting(130))
        for (one, two) in [(low, high), (high, low)] {
            var union = one
            union.formUnion(two)
            #expect((0..<300).filter { union.contains($0) } == [3, 130])
            #expect(!two.contains(two == low ? 130 : 3))
        }
        var same = low
        same.formUnion(ActSet())
        #expect(same == low)
    }

    // MARK: Families of conflict copies

    private static let tag = ".conflict-beta-20260101-000000-abcdef"
    private static let later = ".conflict-al-pha-20260102-030405-012345"

    @Test(
        "The path that a copy was made of is read from its name",
        arguments: [
            ("a\(tag)", "a"), ("a\(tag).txt", "a.txt"), ("d/e/a\(tag)", "d/e/a"), (".bashrc\(tag)", ".bashrc"),
            ("a\(later)", "a"), ("a\(tag)\(later)", "a\(tag)"), ("a\(tag)\(later).txt", "a\(tag).txt"),
            ("a.conflict--20260101-000000-abcdef", "a"),
            ("a.conflict-.conflict-b-20260101-000000-abcdef", "a.conflict-"),
            ("ends\(tag).", "ends."),
        ])
    func bases(copy: String, base: String) {
        #expect(ConflictFamily.base(of: at(copy)) == at(base))
        #expect(ConflictFamily.isCopy(at(copy), of: at(base)) && !ConflictFamily.isCopy(at(base), of: at(copy)))
    }

    @Test(
        "Ordinary names are copies of nothing",
        arguments: [
            "a", "a.conflict-", ".conflict-beta-20260101-000000-abcdef", "a.conflict-20260101-000000-abcdef",
            "a.conflict-beta-20260101-000000-ABCDEF", "a.conflict-beta-2026010-0000000-abcdef",
            "a.conflict-beta-20260101-000000-abcde", "a.conflict-beta-20260101-000000-abcdefg",
            "a-conflict-beta-20260101-000000-abcdef", "a.conflict-beta-20260101-000000-abcdef-b",
        ])
    func ordinary(name: String) {
        #expect(ConflictFamily.base(of: at(name)) == nil)
        #expect(ConflictFamily.head(of: at(name)) == at(name))
    }

    @Test("The root is a copy of nothing") func root() {
        #expect(ConflictFamily.base(of: .root) == nil && ConflictFamily.head(of: .root) == .root)
        #expect(!ConflictFamily.isCopy(.root, of: .root))
    }

    @Test("All generations belong to the family, siblings and other directories do not") func generations() {
        let (tag, later) = (OracleValueTests.tag, OracleValueTests.later)
        let second = at("d/a\(tag)\(later).txt")
        #expect(ConflictFamily.head(of: second) == at("d/a.txt"))
        #expect(ConflictFamily.isCopy(second, of: at("d/a.txt")))
        #expect(ConflictFamily.isCopy(second, of: at("d/a\(tag).txt")))
        #expect(!ConflictFamily.isCopy(second, of: at("d/a\(later).txt")))
        #expect(!ConflictFamily.isCopy(second, of: at("a.txt")) && !ConflictFamily.isCopy(second, of: at("d/b.txt")))
        #expect(!ConflictFamily.isCopy(at("d/a.txt"), of: at("d/a.txt")))
    }

    @Test("Every copy that the daemon names is known as one of its path, also where the name was cut")
    func agreesWithTheDaemon() throws {
        var random = SeededRandom(seed: 4)
        let letters = utf8("ab.-c0")
        for _ in 0..<500 {
            let isLong = random.chance(percent: 30)
            let name = (0..<(isLong ? random.range(200...255) : random.range(1...12))).map { _ in random.pick(letters) }
            guard let original = Path(utf8("d/") + name.compactMap { $0 }) else { continue }
            guard let copy = copied(original, &random) else { continue }
            #expect(ConflictFamily.isCopy(copy, of: original), "\(copy) of \(original)")
            if isLong { continue }
            #expect(ConflictFamily.base(of: copy) == original)
            let second = try #require(copied(copy, &random))
            #expect(ConflictFamily.base(of: second) == copy && ConflictFamily.isCopy(second, of: original))
        }
    }

    private func copied(_ path: Path, _ random: inout SeededRandom) -> Path? {
        let time = HybridTime(wallMilliseconds: Int64(random.below(1 << 40)))
        return ConflictName.path(for: path, losing: .symlink(random.bytes(4)), node: utf8("beta"), time: time)
    }

    @Test("A name that is merely alike is no cut copy of a long one") func cutNames() {
        let tag = OracleValueTests.tag
        func name(_ letter: String, _ count: Int) -> String { String(repeating: letter, count: count) }
        let long = at(name("l", 240) + ".txt")
        #expect(ConflictFamily.isCopy(at(name("l", 200) + tag + ".txt"), of: long))
        #expect(!ConflictFamily.isCopy(at(name("m", 200) + tag + ".txt"), of: long))
        #expect(!ConflictFamily.isCopy(at(name("l", 200) + tag + ".md"), of: long))
        #expect(!ConflictFamily.isCopy(at(name("l", 20) + tag + ".txt"), of: at(name("l", 30) + ".txt")))
    }
}
