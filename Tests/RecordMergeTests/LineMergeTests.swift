/// Texts that two people edited at once.
import SyncModel
import Testing

@testable import RecordMerge

@Suite("texts are joined line by line where the model says so")
struct LineMergeTests {
    /// base | one | other | together, `-` for no answer. `/` ends a line.
    static let rows = [
        "a/b/c/|A/b/c/|a/b/C/|A/b/C/", "a/b/c/|a/c/|a/b/c/d/|a/c/d/", "a/b/c/|a/b/c/|a/x/c/|a/x/c/", "a/|b/|b/|b/",
        "a/b/|A/b/|a/B/|-", "a/b/c/|a/x/b/c/|a/y/b/c/|-", "a/b/c/|a/x/b/c/|a/b/y/c/|a/x/b/y/c/", "a/b/c/|b/c/|a/b/|b/",
        "a/b/c/d/|a/X/c/d/|a/X/c/D/|a/X/c/D/", "|x/|y/|-", "a|a/b|a|a/b", "a/b/c|a/b/c/|A/b/c|A/b/c/",
        "a/b/c/|/a/b/c/|a/b/|/a/b/",
    ]

    @Test("what both did, or nothing", arguments: rows) func table(row: String) {
        let columns = row.split(separator: "|", omittingEmptySubsequences: false).map { column in
            Array(column.split(separator: "/", omittingEmptySubsequences: false).joined(separator: "\n").utf8)
        }
        let expected = columns[3] == Array("-".utf8) ? nil : columns[3]
        #expect(LineMerge.merged(base: columns[0], columns[1], columns[2]) == expected)
        #expect(LineMerge.merged(base: columns[0], columns[2], columns[1]) == expected)
    }

    @Test("changes far apart are always joined, near ones never lost in silence") func random() {
        for seed in 0..<UInt64(Effort.times(500)) {
            var random = SeededRandom(seed: seed, stream: "lines")
            let base = (0..<12).map { "\($0 % 5)\n" }
            var (one, other, both) = (base, base, base)
            let (here, there) = (random.below(4), random.range(6...11))
            let (left, right) = ("left\n", "right\n\(random.below(2))\n")
            (one[here], both[here]) = (left, left)
            (other[there], both[there]) = (right, right)
            let merged = LineMerge.merged(base: bytes(base), bytes(one), bytes(other))
            #expect(merged == bytes(both), "seed \(seed)")
        }
    }

    private func bytes(_ lines: [String]) -> [UInt8] { Array(lines.joined().utf8) }

    @Test("two edits of one text become one value; edits of one line stay two") func fields() throws {
        let model = try Model.sketch(
            "N; body string merge=lines")
        let n = RecordID.named("N/n")
        var pair = Pair(model)
        pair.act(.first, .insert(n), .set(n, "body", "one\ntwo\nthree\n"))
        pair.heal()
        pair.act(.first, .set(n, "body", "ONE\ntwo\nthree\n"))
        pair.act(.first, .set(n, "body", "One\ntwo\nthree\n"))
        pair.act(.second, .set(n, "body", "one\ntwo\nThree\n"))
        #expect(pair.view.lines == [#"live N/n {body="One\ntwo\nThree\n"}"#])
        pair.heal()
        pair.act(.second, .set(n, "body", "1\ntwo\nThree\n"))
        pair.act(.first, .set(n, "body", "2\ntwo\nThree\n"))
        #expect(pair.view.live[n]?.values[PropertyName("body")] == .string("2\ntwo\nThree\n"))
        #expect(pair.view.concurrent.map(\.content) == [.value(.string("1\ntwo\nThree\n"))])
    }
}
