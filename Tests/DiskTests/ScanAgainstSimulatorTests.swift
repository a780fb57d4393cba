/// The real scanner and the simulated one tell the same differences, in the same order, chunk by chunk.
import Glibc
import SyncModel
import SyncSim
import Testing

@testable import Disk

@Suite("scans mean the same on the real disk and on the simulated one")
struct ScanAgainstSimulatorTests {
    @Test("random trees, random changes, random rules and rows", arguments: 1...30) func scans(seed: UInt64) throws {
        var twin = try ScanTwin(seed: seed)
        for _ in 0..<40 { twin.act() }
        twin.remember()
        // Longer than the tick of a kernel that stamps files coarsely.
        usleep(12_000)
        for _ in 0..<25 { twin.act() }
        for _ in 0..<12 { twin.compare() }
        #expect(twin.told > 0)
    }
}

/// One folder twice, each with rows that knew it at one time.
private struct ScanTwin {
    private let scratch: Scratch
    private let watcher: Watcher
    private var virtual: VirtualDisk
    private var random: SeededRandom
    private var clock: Int64 = 1_000
    private var virtualRows = Rows()
    private var realRows = Rows()
    /// Differences so far.
    private(set) var told = 0

    init(seed: UInt64) throws {
        scratch = try Scratch(in: Scratch.fastDirectory)
        watcher = try Watcher(folder: scratch.folder)
        virtual = VirtualDisk(device: 7, folder: scratch.id, now: Timestamp(milliseconds: 1))
        random = SeededRandom(seed: seed)
    }

    private mutating func path() -> Path {
        at((0...random.below(3)).map { _ in ["a", "a-b", "b", "c"][random.below(4)] }.joined(separator: "/"))
    }

    mutating func act() {
        let (one, other) = (path(), path())
        clock += 1_000
        let now = Timestamp(milliseconds: clock)
        let (first, second) = (one.description, other.description)
        do {
            switch random.below(9) {
            case 0, 1, 2: if virtual.mkdir(one, now: now) == nil { try scratch.makeDirectory(first) }
            case 3, 4: if virtual.writeFile(one, [1, 2], now: now) == nil { try scratch.write(first, [1, 2]) }
            case 5: if virtual.rename(one, to: other, now: now) == nil { try scratch.rename(first, second) }
            case 6: if virtual.symlink(one, target: [0x61], now: now) == nil { try scratch.symlink(first, to: "a") }
            case 7: if virtual.unlink(one, now: now) == nil { try scratch.unlink(first) }
            default:
                // A real path would be followed through a symlink.
                if random.chance(percent: 40), virtual.exists(one) {
                    virtual.removeTree(one, now: now)
                    scratch.removeTree(first)
                }
            }
        } catch {
            Issue.record("\(first) \(second): \(error)")
        }
    }

    /// Rows of most of what stands; some of them ignored, some of what never was, some without anything on the disk.
    mutating func remember() {
        for (path, _) in virtual.tree() where random.chance(percent: 85) {
            guard let expected = virtual.stat(path), case .found(let found) = scratch.folder.inspect([path]).results[0]
            else { continue }
            let isIgnored = random.chance(percent: 8)
            for isReal in [false, true] {
                var row = Row(path, isReal ? found : expected)
                if isIgnored {
                    row.disk = nil
                    row.condition = .ignored
                }
                if isReal { realRows[path] = row } else { virtualRows[path] = row }
            }
        }
        let never = path()
        if virtualRows[never] == nil {
            virtualRows[never] = Row(path: never)
            realRows[never] = Row(path: never)
        }
    }

    mutating func compare() {
        let directory = random.chance(percent: 60) ? .root : path()
        let limit = 1 + random.below(6)
        var rules = IgnoreRules()
        let patterns = ["", "", "a/", "b", "/a/b\n", "*\n!c\n"][random.below(6)]
        rules.setFile(directory: [], contents: utf8(patterns))
        let watcher = random.chance(percent: 50) ? watcher : nil
        var after: Path?
        repeat {
            let request = ScanRequest(directory: directory, after: after, limit: limit)
            let expected = virtual.scan(request, rules: rules) { [virtualRows] in virtualRows.first(after: $0)?.value }
            let found = scratch.folder.scan(request, rules: rules, watcher: watcher) { [realRows] in
                realRows.page(below: $0, after: $1, limit: 2)
            }
            let told = found.differences.map { "\($0.path) \($0.stat.map { "\($0.kind)" } ?? "absent")" }
            let meant = expected.differences.map { "\($0.path) \($0.stat.map { "\($0.kind)" } ?? "absent")" }
            #expect(told == meant, "below \(directory) after \(after?.description ?? "nil"), ignoring \(patterns)")
            #expect(found.resume == expected.resume)
            #expect(found.root == expected.root)
            #expect(Set(found.unreadable) == Set(expected.unreadable))
            self.told += told.count
            after = expected.resume
        } while after != nil
    }
}
