/// The daemon's disk work: `DiskOperation` by `DiskOperation`, with the meaning that DiskProgram.swift gives them.
import SyncCore
package import SyncModel

package enum OperationOutcome: Hashable, Sendable {
    case done
    case inspected(Stat?)
    case failed(DiskError)
}

/// A program on its way: the world performs one operation at a time, and users, crashes and faults may come between any two.
package struct ProgramRun: Sendable {
    package let program: DiskProgram
    package private(set) var next = 0
    package private(set) var result = DiskResult()

    package init(_ program: DiskProgram) {
        self.program = program
    }

    package var isFinished: Bool { result.failure != nil || next == program.operations.count }

    /// Performs the next operation, if there is one.
    package mutating func advance(on disk: inout VirtualDisk, now: Timestamp) {
        guard !isFinished else { return }
        switch disk.perform(program.operations[next], now: now) {
        case .done: break
        case .inspected(let stat): result.inspected.append(stat)
        case .failed(let error): result.failure = .init(index: next, error: error)
        }
        next += 1
    }
}

extension VirtualDisk {
    /// A whole program without anything in between.
    package mutating func run(_ program: DiskProgram, now: Timestamp) -> DiskResult {
        var run = ProgramRun(program)
        while !run.isFinished { run.advance(on: &self, now: now) }
        return run.result
    }

    package mutating func perform(_ operation: DiskOperation, now: Timestamp) -> OperationOutcome {
        switch operation {
        case .createFile(let place): create(.file, at: place, mode: 0o600, now: now)
        case .createDirectory(let place, let mode): create(.directory, at: place, mode: mode, now: now)
        case .createSymlink(let place, let target): createSymlink(place, target, now: now)
        case .write(let place, let offset, let bytes): write(place, bytes, at: offset, now: now)
        case .copy(let source, let offset, let length, let target, let at, let digest):
            copy(source, offset, length, to: target, at: at, digest, now: now)
        case .truncate(let place, let size): truncate(place, to: size, now: now)
        case .setMode(let place, let mode): setMode(place, mode, now: now)
        case .setModified(let place, let time): setModified(place, time, now: now)
        case .syncFile(let place): existing(place) { disk, slot, key in disk.syncInode(key, at: slot.path) }
        case .syncParent(let place): syncParent(place)
        case .expectAbsent(let place): expectAbsent(place)
        case .expect(let place, let stat): expect(place) { $0.isUntouched(since: stat) }
        case .expectContent(let place, let stat): expect(place) { $0.isSameContent(as: stat) }
        case .expectIdentity(let place, let identity, let kind):
            expect(place) { $0.identity == identity && $0.kind == kind }
        case .expectUnheld(let place): isHeld(place) ? .failed(.busy) : .done
        case .inspect(let place): inspect(place)
        case .exchange(let left, let right): exchange(left, right, now: now)
        case .move(let source, let target): move(source, to: target, now: now)
        case .removeDirectory(let place): removeDirectory(place, now: now)
        case .discard(let place): discard(place, now: now)
        }
    }
}

// Making and filling
extension VirtualDisk {
    private mutating func create(_ kind: FileKind, at place: Place, mode: UInt16, now: Timestamp) -> OperationOutcome {
        vacant(place) { disk, slot in disk.make(kind, slot, mode: mode, target: [], now: now) }
    }

    private mutating func createSymlink(_ place: Place, _ target: [UInt8], now: Timestamp) -> OperationOutcome {
        if target.isEmpty { return .failed(.notFound) }
        if target.count > Limits.symlinkBytesMax { return .failed(.nameTooLong) }
        return vacant(place) { disk, slot in disk.make(.symlink, slot, mode: 0o777, target: target, now: now) }
    }

    private mutating func write(_ place: Place, _ bytes: [UInt8], at offset: UInt64, now: Timestamp) -> OperationOutcome
    {
        existing(place) { disk, slot, key in
            disk.fill(key, at: slot.path, bytes, offset: offset, now: now) ?? disk.closing(slot)
        }
    }

    /// The bytes are written before they are known to be the right ones, as a reflink would: a failed copy leaves them.
    private mutating func copy(
        _ source: Place, _ offset: UInt64, _ length: UInt64, to target: Place, at: UInt64, _ digest: Digest?,
        now: Timestamp
    ) -> OperationOutcome {
        let piece: [UInt8]
        switch bytes(of: source, at: offset, count: Int(clamping: length)) {
        case .success(let bytes): piece = bytes
        case .failure(let error): return .failed(error)
        }
        let outcome = write(target, piece, at: at, now: now)
        if outcome != .done { return outcome }
        let isRight = digest.map { $0 == SHA256.digest(of: piece) } ?? true
        return isRight && UInt64(piece.count) == length ? .done : .failed(.mismatch)
    }

    private mutating func truncate(_ place: Place, to size: UInt64, now: Timestamp) -> OperationOutcome {
        existing(place) { disk, slot, key in
            if let error = disk.refusalToWrite(key, at: slot.path, end: size) { return error }
            disk.cut(key, to: size, now: now)
            return disk.closing(slot)
        }
    }

    private mutating func setMode(_ place: Place, _ mode: UInt16, now: Timestamp) -> OperationOutcome {
        existing(place) { disk, slot, key in
            if let error = disk.obstacle(to: slot.path) { return error }
            // Linux has no call for it, and the mode of a symlink means nothing.
            if disk.inodes[key].kind == .symlink { return .unsupported }
            disk.setMode(key, mode, now: now)
            return disk.closing(slot)
        }
    }

    private mutating func setModified(_ place: Place, _ time: Timestamp, now: Timestamp) -> OperationOutcome {
        existing(place) { disk, slot, key in
            if let error = disk.obstacle(to: slot.path) { return error }
            disk.setModified(key, time, now: now)
            return disk.closing(slot)
        }
    }

    private mutating func syncParent(_ place: Place) -> OperationOutcome {
        switch slot(place) {
        case .failure(let error): return .failed(error)
        case .success(let slot):
            let error = syncDirectory(slot.directory, at: slot.path.parent ?? .root)
            return error.map { .failed($0) } ?? .done
        }
    }
}

// Looking
extension VirtualDisk {
    private mutating func expectAbsent(_ place: Place) -> OperationOutcome {
        switch look(place) {
        case .success(nil): .done
        case .success: .failed(.mismatch)
        case .failure(let error): .failed(error)
        }
    }

    private mutating func expect(_ place: Place, _ holds: (Stat) -> Bool) -> OperationOutcome {
        switch look(place) {
        case .success(let stat): stat.map(holds) == true ? .done : .failed(.mismatch)
        case .failure(let error): .failed(error)
        }
    }

    private func isHeld(_ place: Place) -> Bool {
        guard seesWriters, case .success(let slot) = slot(place), let key = slot.inode else { return false }
        return isOpen(key)
    }

    private mutating func inspect(_ place: Place) -> OperationOutcome {
        switch look(place) {
        case .success(let stat): .inspected(stat)
        case .failure(let error): .failed(error)
        }
    }
}

// Names
extension VirtualDisk {
    private mutating func exchange(_ left: Place, _ right: Place, now: Timestamp) -> OperationOutcome {
        existing(left) { disk, first, firstKey in
            let second: Slot
            switch disk.slot(right) {
            case .failure(let error): return error
            case .success(let slot): second = slot
            }
            guard let secondKey = second.inode else { return .notFound }
            if let error = disk.obstacle(to: first.path) ?? disk.obstacle(to: second.path) { return error }
            // A directory can not change places with what it holds.
            if disk.isWithin(second.directory, firstKey) || disk.isWithin(first.directory, secondKey) {
                return .unsupported
            }
            disk.exchange(first, second, now: now)
            disk.notice(.touched, first)
            disk.notice(.touched, second)
            return nil
        }
    }

    private mutating func move(_ source: Place, to target: Place, now: Timestamp) -> OperationOutcome {
        existing(source) { disk, from, key in
            let to: Slot
            switch disk.slot(target) {
            case .failure(let error): return error
            case .success(let slot): to = slot
            }
            if to.inode != nil { return .exists }
            if let error = disk.obstacle(to: from.path) ?? disk.obstacle(to: to.path) { return error }
            if disk.isWithin(to.directory, key) { return .unsupported }
            disk.rename(from, to: to, now: now)
            disk.notice(.gone, from)
            disk.notice(.touched, to)
            return nil
        }
    }

    private mutating func removeDirectory(_ place: Place, now: Timestamp) -> OperationOutcome {
        existing(place) { disk, slot, key in disk.removeDirectory(slot, key, now: now) }
    }

    private mutating func discard(_ place: Place, now: Timestamp) -> OperationOutcome {
        if case .tree = place { return .failed(.unsupported) }
        return existing(place) { disk, slot, key in
            if disk.inodes[key].isDirectory { return disk.removeDirectory(slot, key, now: now) }
            if let error = disk.obstacle(to: slot.path) { return error }
            disk.removeName(slot, now: now)
            return nil
        }
    }
}

// What operations of the daemon and of users' programs have in common. Nil is success.
extension VirtualDisk {
    mutating func make(_ kind: FileKind, _ slot: Slot, mode: UInt16, target: [UInt8], now: Timestamp) -> DiskError? {
        if let error = obstacle(to: slot.path) { return error }
        guard hasRoom(for: VirtualDisk.inodeBytes) else { return .noSpace }
        let key = makeInode(kind, mode: mode, in: slot.directory, target: target, now: now)
        enter(key, slot.name, in: slot.directory, now: now)
        notice(.touched, slot)
        return nil
    }

    mutating func fill(_ key: InodeKey, at path: Path, _ bytes: [UInt8], offset: UInt64, now: Timestamp) -> DiskError? {
        let (end, isTooFar) = offset.addingReportingOverflow(UInt64(bytes.count))
        if let error = refusalToWrite(key, at: path, end: isTooFar ? .max : end) { return error }
        if bytes.isEmpty { return nil }
        guard hasRoom(for: inodes[key].now.content.unallocated(at: offset, count: bytes.count)) else { return .noSpace }
        put(bytes, at: offset, in: key, now: now)
        return nil
    }

    mutating func refusalToWrite(_ key: InodeKey, at path: Path, end: UInt64) -> DiskError? {
        switch inodes[key].kind {
        case .directory: return .isDirectory
        case .symlink, .special: return .unsupported
        case .file: break
        }
        if let error = obstacle(to: path) { return error }
        return end > Limits.fileBytesMax ? .unsupported : nil
    }

    mutating func removeDirectory(_ slot: Slot, _ key: InodeKey, now: Timestamp) -> DiskError? {
        guard inodes[key].isDirectory else { return .notDirectory }
        guard inodes[key].entries.isEmpty else { return .notEmpty }
        if let error = obstacle(to: slot.path) { return error }
        noteRemoval(ofDirectory: key, at: slot.path)
        removeName(slot, now: now)
        notice(.gone, slot)
        return nil
    }

    /// The daemon writes with a handle of its own that it closes at once: one notice for the whole.
    private mutating func closing(_ slot: Slot) -> DiskError? {
        notice(.touched, slot)
        return nil
    }

    private mutating func existing(
        _ place: Place, _ body: (inout VirtualDisk, Slot, InodeKey) -> DiskError?
    ) -> OperationOutcome {
        switch slot(place) {
        case .failure(let error): return .failed(error)
        case .success(let slot):
            guard let key = slot.inode else { return .failed(.notFound) }
            return body(&self, slot, key).map { .failed($0) } ?? .done
        }
    }

    private mutating func vacant(_ place: Place, _ body: (inout VirtualDisk, Slot) -> DiskError?) -> OperationOutcome {
        switch slot(place) {
        case .failure(let error): return .failed(error)
        case .success(let slot):
            if slot.inode != nil { return .failed(.exists) }
            return body(&self, slot).map { .failed($0) } ?? .done
        }
    }
}
