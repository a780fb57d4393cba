/// The real disk and the simulated one do the same: random programs and random hands of a user, step by step, with
/// equal results and equal trees. The simulator's proofs are about `VirtualDisk`; here they become proofs about this
/// code.
import Glibc
import SyncModel
import SyncSim
import Testing

@testable import Disk

@Suite("programs mean the same on the real disk and on the simulated one")
struct AgainstSimulatorTests {
    @Test("random programs and random users", arguments: 1...20) func programs(seed: UInt64) throws {
        var twin = try Twin(seed: seed)
        for step in 0..<250 {
            twin.step()
            let (virtual, real) = (twin.virtualTree(), twin.realTree())
            if virtual != real {
                Issue.record("step \(step), \(twin.last): \(virtual) is now \(real)")
                return
            }
        }
        #expect(twin.performed > 80)
        #expect(twin.failed > 50)
    }
}

/// One folder twice.
private struct Twin {
    private let scratch: Scratch
    private var virtual: VirtualDisk
    private var random: SeededRandom
    private var clock: Int64 = 1_000
    /// What was seen at a place, on both disks.
    private var seen: [(place: Place, virtual: Stat, real: Stat)] = []
    private(set) var performed = 0
    private(set) var failed = 0
    private(set) var last = ""

    init(seed: UInt64) throws {
        scratch = try Scratch(in: seed % 5 == 0 ? "/tmp" : Scratch.fastDirectory)
        virtual = VirtualDisk(device: 7, folder: scratch.id, now: Timestamp(milliseconds: 1))
        random = SeededRandom(seed: seed)
    }

    private mutating func now() -> Timestamp {
        clock += 1_000
        return Timestamp(milliseconds: clock)
    }

    mutating func step() {
        if random.chance(percent: 30) { userActs() } else { programRuns() }
    }

    // MARK: Programs

    private mutating func programRuns() {
        var program: [(virtual: DiskOperation, real: DiskOperation)] = []
        for _ in 0...random.below(4) { program.append(operation()) }
        let expected = virtual.run(DiskProgram(program.map(\.virtual)), now: now())
        let found = scratch.folder.run([DiskProgram(program.map(\.real))])[0]
        last = program.map { "\($0.virtual.summary)" }.joined(separator: "; ")
        performed += expected.failure?.index ?? program.count
        failed += expected.failure == nil ? 0 : 1
        let inspections = program.compactMap { if case .inspect(let place) = $0.virtual { place } else { nil } }
        #expect(isAlike(expected.failure, found.failure), "\(last): \(expected) is now \(found)")
        #expect(expected.inspected.count == found.inspected.count, "\(last)")
        for (place, pair) in zip(inspections, zip(expected.inspected, found.inspected)) {
            compare(pair.0, pair.1, at: place)
        }
    }

    /// Two things can be wrong with an operation on two places; which of them is told is nobody's business.
    private func isAlike(_ one: DiskResult.Failure?, _ other: DiskResult.Failure?) -> Bool {
        if one == other { return true }
        guard let one, let other, one.index == other.index else { return false }
        let lacks: [DiskError] = [.notFound, .notDirectory, .exists, .unsupported, .busy, .isDirectory]
        return lacks.contains(one.error) && lacks.contains(other.error)
    }

    private mutating func compare(_ virtual: Stat?, _ real: Stat?, at place: Place) {
        guard let virtual, let real else {
            #expect(virtual == nil && real == nil, "\(last)")
            return
        }
        #expect(virtual.kind == real.kind, "\(last)")
        #expect(virtual.mode == real.mode, "\(last)")
        if virtual.kind == .file || virtual.kind == .symlink { #expect(virtual.size == real.size, "\(last)") }
        if virtual.modified.seconds >= 1_000_000 { #expect(virtual.modified == real.modified, "\(last)") }
        seen.append((place, virtual, real))
    }

    private mutating func operation() -> (virtual: DiskOperation, real: DiskOperation) {
        var one = place()
        var other = place()
        // Half of the time something stands where something has to.
        let choice = random.below(24)
        let isMaking = choice < 3 || choice == 7 || choice == 8 || choice == 9 || choice == 14
        if random.chance(percent: 60) {
            for _ in 0..<8 where exists(one) == isMaking { one = place() }
            for _ in 0..<8 where exists(other) != (choice == 18 || choice == 19 || choice == 5) { other = place() }
        }
        let plain: DiskOperation
        switch choice {
        case 0, 1, 2: plain = .createFile(one)
        case 3, 4: plain = .write(one, offset: UInt64(random.below(9_000)), bytes: text())
        case 5:
            plain = .copy(
                from: one, offset: UInt64(random.below(4)), length: UInt64(random.below(9)), to: other, at: 3,
                digest: digest(of: one))
        case 6: plain = .truncate(one, size: UInt64(random.below(10_000)))
        case 7, 8: plain = .createDirectory(one, mode: mode())
        case 9: plain = .createSymlink(one, target: random.chance(percent: 10) ? [] : text())
        case 10: plain = .setMode(one, mode())
        case 11: plain = .setModified(one, Timestamp(seconds: 1_000_000 + Int64(random.below(99)), nanoseconds: 7))
        case 12: plain = .syncFile(one)
        case 13: plain = .syncParent(one)
        case 14: plain = .expectAbsent(one)
        case 15: return expectation() ?? (.inspect(one), .inspect(one))
        case 16, 17: plain = .inspect(one)
        case 18, 19: plain = .exchange(one, other)
        case 20, 21: plain = .move(one, to: other)
        case 22: plain = .removeDirectory(one)
        default: plain = .discard(one)
        }
        return (plain, plain)
    }

    private func exists(_ place: Place) -> Bool {
        if case .success(.some) = virtual.stat(place) { return true }
        return false
    }

    private mutating func expectation() -> (virtual: DiskOperation, real: DiskOperation)? {
        guard !seen.isEmpty else { return nil }
        let known = seen[random.below(seen.count)]
        switch random.below(3) {
        case 0: return (.expect(known.place, known.virtual), .expect(known.place, known.real))
        case 1: return (.expectContent(known.place, known.virtual), .expectContent(known.place, known.real))
        default:
            return (
                .expectIdentity(known.place, known.virtual.identity, known.virtual.kind),
                .expectIdentity(known.place, known.real.identity, known.real.kind)
            )
        }
    }

    private mutating func place() -> Place {
        switch random.below(10) {
        case 0, 1: .stage(StageName(raw: UInt64(random.below(3))))
        case 2: .version(VersionID(raw: UInt64(random.below(2))))
        case 3: .quarantine(VersionID(raw: 9))
        default: .tree(path())
        }
    }

    private static let names = ["a", "b", "a/x", "a/y", "b/x", "a/x/p", "b/x/p", "c", "a/y/q"]

    private mutating func path() -> Path {
        switch random.below(60) {
        case 0: .root
        case 1: at(".syncd")
        case 2: at(".syncd/stage/s0000000000000000")
        default: at(Twin.names[random.below(Twin.names.count)])
        }
    }

    private mutating func text() -> [UInt8] { (0...random.below(6)).map { _ in UInt8(97 + random.below(26)) } }

    private mutating func mode() -> UInt16 { [0o644, 0o755, 0o600, 0o000, 0o777, 0o4711][random.below(6)] }

    private mutating func digest(of place: Place) -> Digest {
        var copy = virtual
        let piece = copy.read(ReadRequest(place: place, expected: nil, offset: 1, length: 3))
        if case .bytes(let bytes) = piece { return SHA256.digest(of: bytes) }
        return .zero
    }

    // MARK: Users

    private mutating func userActs() {
        let (one, other, bytes, time) = (userPath(), userPath(), text(), now())
        let (first, second) = (one.description, other.description)
        let kind = random.below(8)
        last = "user \(kind) \(first) \(second)"
        do {
            switch kind {
            case 0, 1:
                if virtual.writeFile(one, bytes, now: time) == nil { try scratch.write(first, bytes) }
            case 2: if virtual.mkdir(one, now: time) == nil { try scratch.makeDirectory(first) }
            case 3: if virtual.rename(one, to: other, now: time) == nil { try scratch.rename(first, second) }
            case 4: if virtual.unlink(one, now: time) == nil { try scratch.unlink(first) }
            case 5:
                if virtual.symlink(one, target: bytes, now: time) == nil {
                    try scratch.symlink(first, to: String(decoding: bytes, as: UTF8.self))
                }
            case 6: if virtual.mkfifo(one, now: time) == nil { try scratch.makeFIFO(first) }
            default:
                // A real path would be followed through a symlink.
                if virtual.exists(one) {
                    virtual.removeTree(one, now: time)
                    scratch.removeTree(first)
                }
            }
        } catch {
            Issue.record("\(last): \(error)")
        }
    }

    private mutating func userPath() -> Path { at(Twin.names[random.below(Twin.names.count)]) }

    // MARK: Trees

    func realTree() -> [Path: Scratch.Standing] {
        scratch.tree().filter { $0.key != at(".syncd/folder-id") }
    }

    func virtualTree() -> [Path: Scratch.Standing] {
        var found: [Path: Scratch.Standing] = [:]
        for stored in virtual.allContents() where stored.path != at(".syncd/folder-id") {
            let content: Scratch.Standing.Content =
                switch stored.entry.content {
                case .file(let bytes): .file(bytes.bytes)
                case .directory: .directory
                case .symlink(let target): .symlink(target)
                case .special: .special
                }
            found[stored.path] = Scratch.Standing(content: content, mode: stored.entry.mode)
        }
        return found
    }
}
