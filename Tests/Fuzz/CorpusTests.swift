/// Tests/Corpus/LAW holds inputs that come far and what `make fuzz` once found: each is held against its law for ever, whole and damaged.
import Foundation
import SyncModel
import Testing

@Suite("laws of the decoders")
struct CorpusTests {
    @Test(
        "D16: what has once broken a law, and what comes far, breaks none, whole, cut or damaged",
        arguments: Law.all.map(\.name))
    func corpus(name: String) throws {
        let law = try #require(Law.all.first { $0.name == name })
        var random = SeededRandom(seed: 1, stream: name)
        for (file, bytes) in try Self.inputs(of: name) + [
            ("nothing", []), ("zeros", [0, 0, 0]), ("braces", Array("{}".utf8)),
        ] {
            let breach = law.breach(by: bytes)
            #expect(breach == nil, "\(name)/\(file)")
            for _ in 0..<200 {
                let damaged = Self.damaged(bytes, &random)
                let other = law.breach(by: damaged)
                #expect(other == nil, "\(name)/\(file), damaged: \(damaged)")
            }
        }
    }

    @Test("every folder of the corpus is that of a law, and no two laws share one")
    func folders() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
        #expect(folders.filter { name in !Law.all.contains { $0.name == name } } == [])
        #expect(Set(Law.all.map(\.name)).count == Law.all.count)
    }

    private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../Corpus").standardized

    private static func inputs(of law: String) throws -> [(String, [UInt8])] {
        let folder = corpus.appendingPathComponent(law)
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else { return [] }
        return try names.sorted().map { ($0, Array(try Data(contentsOf: folder.appendingPathComponent($0)))) }
    }

    private static func damaged(_ sample: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = sample
        for _ in 0..<random.range(1...4) {
            switch random.below(3) {
            case 0: bytes = Array(bytes.prefix(random.below(bytes.count + 1)))
            case 1: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: random.below(bytes.count + 1))
            default: if !bytes.isEmpty { bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8)) }
            }
        }
        return bytes
    }
}
