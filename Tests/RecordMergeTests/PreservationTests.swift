/// What nobody knows stays as it was written: members without a name in the model, their order, white space, and numbers of any
/// size, through edits of a known field on both nodes at once. SYNCD_EFFORT=5000 tries a million.
import RecordMerge
import SyncModel
import Testing

@Suite("documents with members that nobody knows")
struct PreservationTests {
    private static let entities =
        #"{"N": {"files": "n/*", "id": "stem", "fields": {"title": {"type": "string"}, "body": {"type": "string"}}}}"#

    @Test("I25, V16: an edit of a known field leaves every other byte as it was") func preserved() throws {
        let model = try Model(entities: Self.entities)
        var random = SeededRandom(seed: 1, stream: "documents")
        for _ in 0..<Effort.times(10) {
            let texts = (0..<20).map { _ in Self.document(&random) }
            var office = Office(model)
            func files(_ text: (Document) -> String) -> [String: String?] {
                Dictionary(uniqueKeysWithValues: texts.enumerated().map { ("n/\($0.offset)", text($0.element)) })
            }
            try office.save(.first, files { $0.text("old", "old") })
            try office.heal()
            try office.save(.first, files { $0.text("new", "old") })
            try office.save(.second, files { $0.text("old", "new") })
            try office.heal()
            for (number, document) in texts.enumerated() {
                let wanted = document.text("new", "new")
                let both = [office.text(.first, "n/\(number)"), office.text(.second, "n/\(number)")]
                #expect(both == [wanted, wanted])
            }
        }
    }

    /// The pieces around the values of the two known members, in either order.
    private struct Document {
        let pieces: [String]
        let isTitleFirst: Bool

        func text(_ title: String, _ body: String) -> String {
            let (one, two) = isTitleFirst ? (title, body) : (body, title)
            return "\(pieces[0])\"\(one)\"\(pieces[1])\"\(two)\"\(pieces[2])"
        }
    }

    private static func document(_ random: inout SeededRandom) -> Document {
        let isTitleFirst = random.chance(percent: 50)
        let names = isTitleFirst ? ["title", "body"] : ["body", "title"]
        var pieces = ["{" + gap(&random), "," + gap(&random), ""]
        var number = 0
        for place in pieces.indices {
            let unknown = (0..<random.below(5)).map { _ in
                number += 1
                return "\"u\(number)\"\(gap(&random)):\(gap(&random))\(value(&random, depth: 0))"
            }.joined(separator: gap(&random) + "," + gap(&random))
            if place < 2 {
                pieces[place] += unknown.isEmpty ? "" : unknown + "," + gap(&random)
                pieces[place] += "\"\(names[place])\"\(gap(&random)):\(gap(&random))"
            } else {
                pieces[place] =
                    gap(&random) + (unknown.isEmpty ? "" : "," + unknown) + gap(&random) + "}" + gap(&random)
            }
        }
        return Document(pieces: pieces, isTitleFirst: isTitleFirst)
    }

    private static func gap(_ random: inout SeededRandom) -> String {
        random.pick(["", "", " ", "\n  ", "\t", "\r\n"]) ?? ""
    }

    private static func value(_ random: inout SeededRandom, depth: Int) -> String {
        switch random.below(depth < 3 ? 8 : 6) {
        case 0:
            return random.pick([
                "0", "-0", "1.0", "1.50", "2e3", "1E-400", "-1e+9999", "9007199254740993",
                "123456789012345678901234567890.0123456789012345678901234567890",
            ]) ?? "0"
        case 1: return "\(1 + random.below(1_000_000))\(random.below(1_000_000)).\(random.below(1_000_000))0"
        case 2: return random.pick(["true", "false", "null"]) ?? "null"
        case 3, 4, 5:
            return random.pick(["\"\"", "\"\\u00e9é\"", "\"\\/ / \\n\"", "\"\\ud83d\\ude00 😀\"", "\"a\\tb\""]) ?? "\"\""
        case 6:
            let elements = (0..<random.below(4)).map { _ in value(&random, depth: depth + 1) }
            return "[\(gap(&random))" + elements.joined(separator: ",\(gap(&random))") + "\(gap(&random))]"
        default:
            let members = (0..<random.below(4)).map { "\"m\($0)\":\(value(&random, depth: depth + 1))" }
            return "{\(gap(&random))" + members.joined(separator: ",\(gap(&random))") + "\(gap(&random))}"
        }
    }
}
