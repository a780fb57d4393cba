import SyncModel

/// What people did with records, and what they could know when they did it: the judge's memory. It knows nothing of change
/// sets, vectors or clocks of the daemon, only who wrote what where, and when the machine last heard of the other one.
package final class RecordLife {
    struct Write {
        let record: RecordFolder.Name
        let field: String
        /// A text that nobody else ever writes.
        let token: String
        let machine: Int
        let time: Int64
        /// When this machine had last heard anything from the other one.
        let heardAt: Int64
        /// A disaster on its machine may have taken it before anybody knew.
        var isExcused = false
    }

    struct Removal {
        let record: RecordFolder.Name
        let machine: Int
        let time: Int64
        let heardAt: Int64
    }

    let scene: RecordScene
    private(set) var writes: [Write] = []
    private(set) var removals: [Removal] = []
    /// With what token each record was made; by whom and when is in the write.
    private(set) var births: SortedMap<RecordFolder.Name, Int> = [:]
    /// By what name each record with a natural key was made; nobody changes it.
    private var names: SortedMap<RecordFolder.Name, String> = [:]
    private var heardAt: [Int64] = [-1, -1]
    /// Until then what is written on a machine may count as what a disaster has left.
    private var shakyUntil: [Int64] = [.min, .min]
    /// What stood in the folder of a machine when its power was cut, until somebody has seen it there again.
    private var beforeCut: [SortedMap<RecordFolder.Name, Path>] = [[:], [:]]
    /// Where the folder of records was moved to, and what was moved with it.
    private var asides: [(place: Path, files: [Path])] = []
    private var tokens = 0

    init(_ scene: RecordScene) {
        self.scene = scene
    }

    func heard(_ machine: Int, at time: Int64) { heardAt[machine] = time }

    func token(_ machine: Int) -> String {
        tokens += 1
        return "w\(machine)x\(tokens)"
    }

    func wrote(
        _ token: String, _ field: String, of record: RecordFolder.Name, on machine: Int, at time: Int64,
        isBirth: Bool = false
    ) {
        if isBirth { births[record] = writes.count }
        writes.append(
            Write(
                record: record, field: field, token: token, machine: machine, time: time, heardAt: heardAt[machine],
                isExcused: time < shakyUntil[machine]))
    }

    func removed(_ record: RecordFolder.Name, on machine: Int, at time: Int64) {
        removals.append(Removal(record: record, machine: machine, time: time, heardAt: heardAt[machine]))
    }

    func named(_ record: RecordFolder.Name, _ name: String) { names[record] = name }

    /// Records with one name are one.
    func identity(of record: RecordFolder.Name) -> RecordFolder.Name {
        scene.identity(of: record, born: names[record])
    }

    /// What stands in the folder for a record: itself, or another with its name.
    func standIn(for record: RecordFolder.Name, in folder: RecordFolder) -> RecordFolder.Name? {
        if folder.records[record] != nil { return record }
        guard let name = names[record] else { return nil }
        return folder.records.first { $0.value["n"] == name }?.key
    }

    func isUnderAnotherName(_ record: RecordFolder.Name, in folder: RecordFolder) -> Bool {
        standIn(for: record, in: folder).map { $0 != record } ?? false
    }

    /// Nobody is asked for what was written there until now: whoever saved over it did not look at it, or it has gone in a way that is allowed.
    func excuse(_ record: RecordFolder.Name) {
        let identity = identity(of: record)
        for index in writes.indices where self.identity(of: writes[index].record) == identity {
            writes[index].isExcused = true
        }
    }

    func movedAside(to place: Path, with files: [Path]) { asides.append((place, files)) }

    /// What somebody saved into the folder on one machine while it was moved aside on the other has gone with it, and stays there.
    func savedAside(_ disk: VirtualDisk) -> [Path] {
        asides.flatMap { place, files in
            disk.values(below: place).keys.filter { disk.peekBytes($0) != nil && !files.contains($0) }
        }
    }

    func powerIsCut(on machine: Int, showing places: SortedMap<RecordFolder.Name, Path>) {
        for (record, path) in places { beforeCut[machine][record] = path }
    }

    /// A file is saved whole by somebody who read these records in it. What a cut has taken out of it before he looked, and nobody
    /// has put back yet, he takes out for good: to the daemon, which does not run yet or has not looked, that is a delete like any
    /// other, because the file as it was before the cut is the last that it knows.
    func saved(_ path: Path, having read: [RecordFolder.Name], on machine: Int, at time: Int64) {
        for (record, place) in beforeCut[machine] where place == path {
            beforeCut[machine][record] = nil
            if read.contains(record) || time >= shakyUntil[machine] { continue }
            removed(record, on: machine, at: time)
            excuse(record)
        }
    }

    /// A process runs again; until it has looked round it distrusts what is younger than the disaster, by whatever clock.
    func recovers(_ machine: Int, at time: Int64) {
        if shakyUntil[machine] == .max { shakyUntil[machine] = time + RecordLife.recoveryMilliseconds }
    }

    private static let recoveryMilliseconds: Int64 = 15_000

    /// A power cut, an old image, a lost state: what was written there and is nowhere else may be gone.
    func disaster(on machine: Int) {
        shakyUntil[machine] = .max
        for index in writes.indices where writes[index].machine == machine { writes[index].isExcused = true }
    }

    /// The last write of each machine to each field that nobody can have known who wrote there later, and that no deleter can
    /// have known: whatever the merge decides, it must still be somewhere to be seen.
    var owed: [Write] {
        var last: SortedMap<Key, Write> = [:]
        for write in writes { last[Key(identity(of: write.record), write.field, write.machine)] = write }
        return last.values.filter { write in
            guard !write.isExcused else { return false }
            let other = last[Key(identity(of: write.record), write.field, 1 - write.machine)]
            if let other, mayKnow(other.machine, other.time, other.heardAt, write) { return false }
            return !removals.contains { removal in
                identity(of: removal.record) == identity(of: write.record)
                    && mayKnow(removal.machine, removal.time, removal.heardAt, write)
            }
        }
    }

    private func mayKnow(_ machine: Int, _ time: Int64, _ heardAt: Int64, _ write: Write) -> Bool {
        machine == write.machine ? time >= write.time : time >= write.time && heardAt >= write.time
    }

    /// Records that somebody made and nobody took away, without a disaster in between.
    var ownedForGood: [RecordFolder.Name] {
        births.filter { record, number in
            !writes[number].isExcused
                && !removals.contains { removal in
                    removal.record == record
                        || identity(of: removal.record) == identity(of: record)
                            && mayKnow(removal.machine, removal.time, removal.heardAt, writes[number])
                }
        }.map(\.key)
    }

    private struct Key: Hashable, Comparable {
        let record: RecordFolder.Name
        let field: String
        let machine: Int

        init(_ record: RecordFolder.Name, _ field: String, _ machine: Int) {
            (self.record, self.field, self.machine) = (record, field, machine)
        }

        static func < (left: Key, right: Key) -> Bool {
            (left.record, left.field, left.machine) < (right.record, right.field, right.machine)
        }
    }
}
