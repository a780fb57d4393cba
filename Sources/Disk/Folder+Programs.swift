/// Runs disk programs: `DiskOperation` by `DiskOperation`, with the meaning that DiskProgram.swift gives them.
public import SyncModel
import Synchronization

extension Folder {
    /// Each program on its own: a failed one does not stop its siblings. What they sync at their ends is synced
    /// together.
    public func run(_ programs: [DiskProgram]) -> [DiskResult] {
        ways.beginRun()
        defer { ways.endRun() }
        var runs = programs.map { ProgramRun($0) }
        var waiting = Array(runs.indices)
        while !waiting.isEmpty {
            for index in waiting { advance(&runs[index]) }
            waiting.removeAll { runs[$0].isOver }
            let areNames = waiting.allSatisfy { if case .syncParent? = runs[$0].next { true } else { false } }
            let areSettled = waiting.allSatisfy { runs[$0].next?.syncsWhatIsThere == true }
            let isEachCheap = areNames || areSettled && flushesAreCheap.withLock { $0 } != false
            let areSynced =
                waiting.count >= (isEachCheap ? Folder.settledTogetherMin : Folder.syncsTogetherMin) && syncTogether()
            var shortest = Duration.seconds(1)
            for (place, index) in waiting.enumerated() {
                let time = ContinuousClock().measure { passSync(&runs[index], isSynced: areSynced) }
                if place > 0, runs[index].result.failure == nil { shortest = min(shortest, time) }
            }
            if areSettled, !areSynced { note(shortest, of: waiting.count) }
        }
        return runs.map(\.result)
    }

    /// For fewer, the rest of what waits on the file system would cost more than it saves.
    private static let syncsTogetherMin = 4
    /// A journaling file system that syncs one directory has synced the names in all others with it, and a file that was there before is on
    /// the disk already, as a rule: asking for each costs next to nothing, and nobody else's data is waited for.
    private static let settledTogetherMin = 16
    /// What is on the disk already still asks that for a flush, each by itself: on one that answers within this time.
    private static let cheapFlush = Duration.microseconds(50)

    /// The shortest of some syncs after the first of them, which did the work of all. Asked once: it is the disk's nature.
    private func note(_ shortest: Duration, of count: Int) {
        guard count >= Folder.syncsTogetherMin else { return }
        flushesAreCheap.withLock { $0 = $0 ?? (shortest < Folder.cheapFlush) }
    }

    /// Up to where it has to wait for a sync, or to its end.
    private func advance(_ run: inout ProgramRun) {
        ways.beginProgram()
        while let operation = run.next, !run.mayWait {
            run.step { (result) throws(Failure) in try perform(operation, &result) }
        }
    }

    private func passSync(_ run: inout ProgramRun, isSynced: Bool) {
        guard let operation = run.next else { return }
        ways.beginProgram()
        run.step { (result) throws(Failure) in
            if isSynced { try confirmSync(operation) } else { try perform(operation, &result) }
        }
    }

    /// Everything on the file system at once. False if that says nothing about single files.
    ///
    /// The kernel tells of a failed write-back once: to whoever syncs first, whosever file it was. After a failure only
    /// the files themselves are asked, each by the descriptor that wrote it.
    private func syncTogether() -> Bool {
        guard device.syncsAsOne else { return false }
        return mayTrustCommonSync.withLock { isTrusted in
            guard isTrusted else { return false }
            do throws(Failure) {
                try root.syncFileSystem()
            } catch {
                isTrusted = false
            }
            return isTrusted
        }
    }

    /// The common sync has done it, if what was to be synced is there.
    private func confirmSync(_ operation: DiskOperation) throws(Failure) {
        if case .syncFile(let place) = operation { try confirmFileSync(place) }
        guard case .syncParent(let place) = operation else { return }
        try syncingAllForWant { () throws(Failure) in _ = try slot(place) }
    }

    private func perform(_ operation: DiskOperation, _ result: inout DiskResult) throws(Failure) {
        switch operation {
        case .createFile(let place):
            try expectRoom(for: 0)
            try createFile(place)
        case .write(let place, let offset, let bytes):
            try expectRoom(for: UInt64(bytes.count))
            try write(bytes, to: place, at: offset)
        case .copy(let source, let offset, let length, let target, let at, let digest):
            try expectRoom(for: UInt64(length))
            try copy(source, offset, length, to: target, at: at, digest)
        case .truncate(let place, let size): try truncate(place, to: size)
        case .createDirectory(let place, let mode): try createDirectory(place, mode: mode)
        case .createSymlink(let place, let target): try createSymlink(place, target: target)
        case .setMode(let place, let mode): try setMode(place, mode)
        case .setModified(let place, let time): try setModified(place, time)
        case .syncFile(let place): try syncFile(place)
        case .syncParent(let place): try syncParent(place)
        case .expectAbsent(let place): if try look(place) != nil { throw Failure(.mismatch) }
        case .expect(let place, let stat): try expect(place) { $0.isUntouched(since: stat) }
        case .expectContent(let place, let stat): try expect(place) { $0.isSameContent(as: stat) }
        case .expectIdentity(let place, let identity, let kind):
            try expect(place) { $0.identity == identity && $0.kind == kind }
        case .expectUnheld(let place): if isHeld(place) { throw Failure(.busy) }
        case .inspect(let place): result.inspected.append(try look(place))
        case .exchange(let left, let right): try rename(left, right, .exchange)
        case .move(let source, let target): try rename(source, target, .move)
        case .removeDirectory(let place):
            let slot = try slot(place)
            try slot.parent.descriptor.removeDirectory(slot.name)
            if case .tree(let path) = place { ways.forget(path) }
        case .discard(let place): try discard(place)
        }
    }

    private func expect(_ place: Place, _ holds: (Stat) -> Bool) throws(Failure) {
        guard let stat = try look(place), holds(stat) else { throw Failure(.mismatch) }
    }

    private func discard(_ place: Place) throws(Failure) {
        if case .tree = place { throw Failure(.unsupported) }
        let slot = try slot(place)
        if try slot.status().kind == .directory {
            try slot.parent.descriptor.removeDirectory(slot.name)
        } else {
            try slot.parent.descriptor.removeFile(slot.name)
        }
        if case .stage(let name) = place { pins.forget(name) }
    }
}

/// One program on its way.
private struct ProgramRun {
    private let operations: [DiskOperation]
    /// From here on it only syncs and looks: others may be carried out meanwhile.
    private let tail: Int
    private var index = 0
    private(set) var result = DiskResult()

    init(_ program: DiskProgram) {
        operations = program.operations
        tail = ProgramRun.tail(of: program.operations)
    }

    var isOver: Bool { result.failure != nil || index == operations.count }

    var next: DiskOperation? { isOver ? nil : operations[index] }

    /// The next operation is a sync that may be done together with those of others.
    var mayWait: Bool { index >= tail && operations[index].isSync }

    mutating func step(_ perform: (inout DiskResult) throws(Failure) -> Void) {
        do throws(Failure) {
            try perform(&result)
            index += 1
        } catch {
            result.failure = DiskResult.Failure(index: index, error: error.error)
        }
    }

    /// A directory that is made gets its content from the programs behind it, so it is finished first.
    private static func tail(of operations: [DiskOperation]) -> Int {
        let isMaking = operations.contains { if case .createDirectory = $0 { true } else { false } }
        if isMaking { return operations.count }
        return (operations.lastIndex { !$0.isSync && !$0.isLook } ?? -1) + 1
    }
}

extension DiskOperation {
    fileprivate var isSync: Bool {
        if case .syncFile = self { return true }
        if case .syncParent = self { return true }
        return false
    }

    /// A name, a directory, or a file that was not written here a moment ago.
    fileprivate var syncsWhatIsThere: Bool {
        if case .syncFile(.stage) = self { return false }
        return isSync
    }

    fileprivate var isLook: Bool { if case .inspect = self { true } else { false } }
}
