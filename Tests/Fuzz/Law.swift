/// What must hold of a decoder for any bytes whatever. `make fuzz` looks for bytes that break a law (see `Target.swift`), and `make test`
/// holds against each law what has ever broken one (see `CorpusTests.swift`).
struct Law: Sendable {
    /// As it is called before `.ci/fuzz`, and the name of its folder in Tests/Corpus.
    let name: String
    /// Inputs longer than this say nothing new, and cost.
    let bytesMax: Int
    private let check: @Sendable ([UInt8]) throws(Broken) -> Void

    init(_ name: String, bytesMax: Int = 4_096, _ check: @escaping @Sendable ([UInt8]) throws(Broken) -> Void) {
        self.name = name
        self.bytesMax = bytesMax
        self.check = check
    }

    /// What is broken by these bytes; nil if the law holds.
    func breach(by bytes: [UInt8]) -> String? {
        do throws(Broken) {
            try check(bytes)
            return nil
        } catch {
            return error.text
        }
    }

    static let all =
        wireLaws + storeLaws + recordLaws + formatLaws + controlLaws + textLaws + [libraryLaw, libraryChangeLaw]
}

struct Broken: Error {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}

func demand(_ holds: Bool, _ text: @autoclosure () -> String) throws(Broken) {
    if !holds { throw Broken(text()) }
}

extension [UInt8] {
    /// For laws about two or three texts: cut at the first zero bytes. Always `count` parts, of which the last has the rest.
    func parts(_ count: Int) -> [[UInt8]] {
        var parts = split(separator: 0, maxSplits: count - 1, omittingEmptySubsequences: false).map { Array($0) }
        while parts.count < count { parts.append([]) }
        return parts
    }

    var text: String { String(decoding: self, as: UTF8.self) }
}
