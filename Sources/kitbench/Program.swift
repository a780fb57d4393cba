/// What the library costs: the coordinator's machine, claims over the daemon's socket, opening many documents. Figures, not tests; the goals
/// stand beside them. `.ci/bench-library` runs all of it.
import Coordination
import Disk
import Glibc
import RecordMerge
import SyncKit
import SyncModel

@main
struct Program {
    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            switch (words.first, words.count) {
            case ("machine", 1): machine()
            case ("claims", 3):
                try await Task.detached {
                    try await claims(socket: DocumentPath(words[1]), folder: DocumentPath(words[2]))
                }.value
            case ("documents", 3): try await documents(in: DocumentPath(words[1]), count: Int(words[2]) ?? 1_000)
            case ("decoding", 1): decoding()
            case ("deaths", 4):
                try await Sharing.deaths(
                    socket: socket(words[1]), folder: DocumentPath(words[2]), rounds: Int(words[3]) ?? 100)
            case ("stopped", 4):
                try await Sharing.stopped(
                    socket: DocumentPath(words[1]), folder: DocumentPath(words[2]), rounds: Int(words[3]) ?? 10)
            case ("crowd", 5):
                try await Sharing.crowd(
                    socket: DocumentPath(words[1]), folder: DocumentPath(words[2]), clients: Int(words[3]) ?? 64,
                    claims: Int(words[4]) ?? 10_000)
            case ("hold", 3): try await Sharing.hold(socket: socket(words[1]), path: DocumentPath(words[2]))
            case ("show", 3): try await Sharing.show(socket: DocumentPath(words[1]), path: DocumentPath(words[2]))
            default:
                print(
                    """
                    kitbench machine | decoding | claims SOCKET FOLDER | documents DIRECTORY COUNT
                    kitbench deaths SOCKET|- FOLDER ROUNDS | stopped SOCKET FOLDER ROUNDS | crowd SOCKET FOLDER CLIENTS CLAIMS
                    """)
                exit(64)
            }
        } catch {
            print("kitbench: \(error)")
            exit(1)
        }
    }

    private static func socket(_ word: String) -> DocumentPath? { word == "-" ? nil : DocumentPath(word) }

    // MARK: Decoding

    private struct Person: Codable, Sendable { var name: String, born: String }
    private struct Strict: Codable, Sendable { var people: [Person] }
    private struct Lossy: Codable, Sendable { var people: LossyArray<Person> }

    /// A list that may have bad elements and has none, beside one that may not; the best of many rounds, taken in turns.
    private static func decoding() {
        let person = #"{"name": "Ada Lovelace", "born": "1815-12-10"}"#
        let people = Array(repeating: person, count: 2_000).joined(separator: ", ")
        let contents = DocumentContents.file(Array(#"{"format": 1, "people": [\#(people)]}"#.utf8))
        var best = [Int.max, Int.max]
        for _ in 0..<100 {
            for (index, isLossy) in [false, true].enumerated() {
                let start = ContinuousClock.now
                let outcome =
                    isLossy ? JSONFile<Lossy>().decode(contents).outcome : JSONFile<Strict>().decode(contents).outcome
                guard outcome == .success else { return print("the list cannot be read") }
                best[index] = min(best[index], (ContinuousClock.now - start).nanoseconds / 1_000)
            }
        }
        print(
            "2,000 elements: \(best[0]) µs as [Element], \(best[1]) µs as LossyArray, \((best[1] - best[0]) * 1_000 / best[0]) ‰ more"
                + " (goal 30)")
    }

    // MARK: The machine

    /// 64 clients, each with one claim at a time, of one to three of 256 paths.
    private static func machine() {
        let (clients, rounds) = (64, 10_000)
        var random = SeededRandom(seed: 6)
        var coordinator = Coordinator()
        var holding: [ClaimID] = []
        var (granted, last, done) = (0, UInt64(0), 0)
        var effects: [Coordinator.Effect] = []
        func step(_ event: Coordinator.Event) {
            effects.removeAll(keepingCapacity: true)
            coordinator.step(event, at: 0, into: &effects)
            for effect in effects {
                guard case .granted(let grant) = effect else { continue }
                granted += 1
                holding.append(grant.claim)
            }
        }
        let start = ContinuousClock.now
        while done < clients * rounds {
            if Int(last) - done < clients, Int(last) < clients * rounds {
                last += 1
                let accesses = (0...random.below(3)).map { _ in
                    let path = Path("d\(random.below(16))/f\(random.below(16))") ?? .root
                    return Access(path, random.chance(percent: 50) ? .read(savesFirst: false) : .write(.update))
                }
                step(
                    .claim(
                        ClaimRequest(id: ClaimID(last), client: ClientID(last % UInt64(clients)), accesses: accesses)))
            } else {
                let index = random.below(holding.count)
                holding.swapAt(index, holding.count - 1)
                step(.end(claim: holding.removeLast(), []))
                done += 1
            }
        }
        let nanoseconds = (ContinuousClock.now - start).nanoseconds
        print(
            "machine: \(granted) of \(clients * rounds) claims of \(clients) clients granted and ended,"
                + " \(nanoseconds / (2 * clients * rounds)) ns an event")
    }

    // MARK: Claims

    private static func claims(socket: DocumentPath, folder: DocumentPath) async throws {
        for (name, coordinator) in [
            ("of this process alone", makeFileCoordinator(socket: nil)),
            ("over the daemon, local", makeFileCoordinator(socket: socket, mode: .local)),
            ("over the daemon, pair", makeFileCoordinator(socket: socket, mode: .pair)),
        ] {
            var times: [Int] = []
            for turn in 0..<3_000 {
                let path = folder.appending("claimed-\(turn % 100)")
                let start = ContinuousClock.now
                try await coordinator.withAccess([.write(path)]) { _ in }
                times.append((ContinuousClock.now - start).nanoseconds / 1_000)
            }
            times.sort()
            print(
                "claim \(name): p50 \(times[times.count / 2]) µs (goal 100), p99 \(times[times.count * 99 / 100]) µs (goal 1000)"
            )
        }
    }

    // MARK: Documents

    private struct Text: Codable, Sendable { var text: String }

    private static func documents(in directory: DocumentPath, count: Int) async throws {
        let coordinator = makeFileCoordinator(socket: nil)
        let text = String(repeating: "x", count: 4_000)
        for index in 0..<count {
            let digits = String(index)
            let name = "doc-" + String(repeating: "0", count: max(0, 7 - digits.count)) + digits
            guard let item = Item(path: directory.appending(name).bytes) else { continue }
            try item.create(.file(Array("{\"format\": 1, \"text\": \"\(text)\"}".utf8)))
        }
        let paths = try Item.regularFiles(in: directory.bytes).map {
            DocumentPath(directory.bytes + [UInt8(ascii: "/")] + $0.bytes)
        }
        let few = Array(paths.prefix(200))
        for (name, width) in [("one after the other", 1), ("16 at a time", 16)] {
            let start = ContinuousClock.now
            let opened = await openAll(JSONFile<Text>(), at: few, width: width, coordinator: coordinator)
            let good = opened.count { $0.result.outcome == .success }
            print(
                "200 documents of 4 KiB, \(name): \((ContinuousClock.now - start).nanoseconds / 1_000_000) ms, \(good) opened"
            )
        }
        let before = resident
        var most = 0
        var good = 0
        // In pieces, as a program would that does not keep them all.
        for start in stride(from: 0, to: paths.count, by: 1_000) {
            let piece = Array(paths[start..<min(start + 1_000, paths.count)])
            async let opened = openAll(JSONFile<Text>(), at: piece, coordinator: coordinator)
            most = max(most, descriptors)
            good += await opened.count { $0.result.outcome == .success }
            most = max(most, descriptors)
        }
        print(
            "\(good) of \(paths.count) documents opened: at most \(most) descriptors seen (goal 64),"
                + " \((resident - before) >> 20) MiB more at the end (goal 64)")
    }

    private static var descriptors: Int {
        guard let directory = unsafe opendir("/proc/self/fd") else { return 0 }
        defer { unsafe _ = closedir(directory) }
        var count = 0
        // Nothing of an entry is looked at.
        while unsafe readdir(directory) != nil { count += 1 }
        // The directory itself, and the two names that every directory has.
        return count - 3
    }

    private static var resident: Int {
        var buffer = [UInt8](repeating: 0, count: 128)
        let file = unsafe open("/proc/self/statm", O_RDONLY)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        // Used for the time of the call only.
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
        let fields = buffer.prefix(max(0, count)).split(separator: UInt8(ascii: " "))
        return fields.count > 1 ? (Int(String(decoding: fields[1], as: UTF8.self)) ?? 0) * 4_096 : 0
    }
}

extension Duration {
    var nanoseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }
}
