/// The regular expressions of format rules against the plainest way to match: try everything.
import SyncModel
import Testing

@testable import RecordMerge

@Suite("regular expressions over bytes")
struct ByteRegexTests {
    private func capture(_ pattern: String, _ text: String) throws -> String? {
        try ByteRegex(Array(pattern.utf8)).capture(in: Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    static let examples: [(String, String, String?)] = [
        ("^a(b*)c", "abbbc", "bbb"), ("^a(b*)c", "xabc", nil), ("^(a|ab)c", "abc", "ab"), ("^(a|ab)", "ab", "a"),
        ("^(ab|a)", "ab", "ab"), ("^x{2,3}(\\d+)", "xxx12", "12"), ("^x{2,3}(\\d+)", "x12", nil),
        ("^[^0-9]*([0-9]{2})$", "ab12", "12"), ("^[^0-9]*([0-9]{2})$", "ab123", nil), ("^(?:v|V)\\.?(\\d)", "V.7", "7"),
        ("^(a?)(b)", "b", ""), ("^(.*)x", "axbxc", "axb"), ("^([]a]+)", "]a]b", "]a]"), ("^\\w+\\s(\\w)", "ab c", "c"),
        ("^()", "abc", ""), ("^x{2,}(\\d)", "xxxx7", "7"), ("^x{2,}(\\d)", "x7", nil),
        ("^\\n\\r\\t(a)", "\n\r\ta", "a"),
        ("^([\\d\\-x]+)", "1-x2y", "1-x2"), ("^(\\(\\w)", "(_", "(_"),
    ]

    @Test("examples", arguments: examples) func example(pattern: String, text: String, expected: String?) throws {
        #expect(try capture(pattern, text) == expected)
    }

    private static let counts = "{n}, {n,} or {n,m} with numbers up to 256 is expected"
    private static let tooLong = "the pattern is too long once it is repeated"

    private static let faults: [(String, String)] = [
        ("a(b)", "the pattern must begin with ^: a header is read from its beginning"),
        ("", "the pattern must begin with ^: a header is read from its beginning"),
        ("^a", "a group in brackets is missing: it says where the version stands"),
        ("^(a", "a bracket ( is not closed"), ("^a)b(c)", "a bracket ) is not opened"),
        ("^(*)", "there is nothing before the repetition at byte 3"),
        ("^(a)$*", "there is nothing before the repetition at byte 6"), ("^(a){0}", counts), ("^(a{2,1})", counts),
        ("^(a){257}", counts), ("^(a){x}", counts), ("^(a){1,2,3}", counts), ("^(a{2", "a bracket { is not closed"),
        ("^([b-a])", "a range in [ ] ends before it begins"), ("^([a-\\d])", "a range in [ ] ends before it begins"),
        ("^([a", "a bracket [ is not closed"), ("^(\\q)", "\\q is not known"),
        ("^(a)\\", "nothing follows the last \\"),
        ("^(a)^", "^ stands at the beginning only"),
        ("^" + String(repeating: "(", count: 64), "brackets are nested too deep"),
        ("^(a)" + String(repeating: "b", count: ByteRegex.textMax), "a pattern has 1024 bytes at most"),
        ("^((a{200}){200})", tooLong), ("^(" + String(repeating: "a{250}", count: 20) + ")", tooLong),
        ("^((?:a{15}){0,256})", tooLong),
    ]

    @Test("D15: what makes no sense is refused, each for its own reason", arguments: faults)
    func refused(pattern: String, reason: String) {
        do throws(ByteRegex.Fault) {
            _ = try ByteRegex(Array(pattern.utf8))
            Issue.record("taken: \(pattern)")
        } catch {
            #expect(error.reason == reason)
        }
    }

    @Test("a pattern that would keep others busy for years is done at once") func linear() throws {
        let text = String(repeating: "a", count: 20_000)
        #expect(try capture("^(?:a*)*(a*)*b", text) == nil)
        #expect(throws: ByteRegex.Fault.self) { try ByteRegex(Array("^(((a{200}){200}){200})".utf8)) }
    }

    // MARK: Against the plainest

    private indirect enum Node {
        case byte(UInt8)
        case any
        case sequence(Node, Node)
        case either(Node, Node)
        case star(Node)
        case group(Node)

        var text: String {
            switch self {
            case .byte(let byte): String(UnicodeScalar(byte))
            case .any: "."
            case .sequence(let first, let second): first.text + second.text
            case .either(let first, let second): "(?:\(first.text)|\(second.text))"
            case .star(let inner): "(?:\(inner.text))*"
            case .group(let inner): "(\(inner.text))"
            }
        }

        /// Every end that can be reached, the preferred first, each once.
        func ends(_ text: [UInt8], from start: Int) -> [Int] {
            switch self {
            case .byte(let byte): return start < text.count && text[start] == byte ? [start + 1] : []
            case .any: return start < text.count ? [start + 1] : []
            case .sequence(let first, let second):
                return unique(first.ends(text, from: start).flatMap { second.ends(text, from: $0) })
            case .either(let first, let second):
                return unique(first.ends(text, from: start) + second.ends(text, from: start))
            case .star(let inner):
                let further = inner.ends(text, from: start).filter { $0 > start }
                return unique(further.flatMap { Node.star(inner).ends(text, from: $0) } + [start])
            case .group(let inner): return inner.ends(text, from: start)
            }
        }

        private func unique(_ ends: [Int]) -> [Int] {
            var seen: [Int] = []
            for end in ends where !seen.contains(end) { seen.append(end) }
            return seen
        }
    }

    private func node(_ depth: Int, _ random: inout SeededRandom) -> Node {
        if depth == 0 { return random.below(5) == 0 ? .any : .byte(UInt8(ascii: "a") + UInt8(random.below(2))) }
        switch random.below(4) {
        case 0: return .sequence(node(depth - 1, &random), node(depth - 1, &random))
        case 1: return .either(node(depth - 1, &random), node(depth - 1, &random))
        case 2: return .star(node(depth - 1, &random))
        default: return node(depth - 1, &random)
        }
    }

    @Test("random patterns find what trying everything finds", arguments: 0..<UInt64(30))
    func plainest(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            let (before, group, after) = (node(2, &random), node(3, &random), node(2, &random))
            let pattern = "^\(before.text)(\(group.text))\(after.text)"
            let regex = try ByteRegex(Array(pattern.utf8))
            for _ in 0..<8 {
                let text = (0..<random.below(7)).map { _ in UInt8(ascii: "a") + UInt8(random.below(3)) }
                let found = regex.capture(in: text).map { Array($0) }
                var expected: [UInt8]?
                search: for start in before.ends(text, from: 0) {
                    for end in group.ends(text, from: start) where !after.ends(text, from: end).isEmpty {
                        expected = Array(text[start..<end])
                        break search
                    }
                }
                #expect(found == expected, "\(pattern) in \(String(decoding: text, as: UTF8.self))")
            }
        }
    }
}
