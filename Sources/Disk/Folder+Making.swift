/// The operations of a program that make and fill files, and those that bring them to stable storage.
import Crypto
import Glibc
import SyncModel
import Synchronization

extension Folder {
    // MARK: Making

    func createFile(_ place: Place) throws(Failure) {
        let slot = try slot(place)
        let file = try OpenFile(try slot.open(.create))
        // The umask or an inherited access list may have taken something away.
        if file.status.mode != 0o600 { try file.descriptor.setMode(0o600) }
        if case .stage(let name) = place {
            pins.forget(name)
            pins.keep(file, as: name)
        }
    }

    func createDirectory(_ place: Place, mode: UInt16) throws(Failure) {
        let slot = try slot(place)
        try slot.parent.descriptor.makeDirectory(slot.name, mode: 0o700)
        if case .stage(let name) = place { pins.forget(name) }
        try setMode(place, mode)
    }

    func createSymlink(_ place: Place, target: [UInt8]) throws(Failure) {
        let slot = try slot(place)
        if target.isEmpty { throw Failure(.notFound) }
        if target.count > Limits.symlinkBytesMax { throw Failure(.nameTooLong) }
        // C would take it for the end, and make another link than was asked for.
        if target.contains(0) { throw Failure(.unsupported) }
        try slot.parent.descriptor.makeSymlink(slot.name, target: target)
        if case .stage(let name) = place { pins.forget(name) }
    }

    // MARK: Filling

    func write(_ bytes: [UInt8], to place: Place, at offset: UInt64) throws(Failure) {
        let file = try openForWriting(place)
        try Folder.checkEnd(of: UInt64(bytes.count), at: offset)
        try file.descriptor.write(bytes[...], at: offset)
        if bytes.count >= Folder.earlyWriteBytesMin {
            file.descriptor.startWriting(at: offset, count: UInt64(bytes.count))
        }
    }

    /// What is hashed is what is written. A reflink would not be: pieces begin anywhere, blocks do not.
    func copy(
        _ source: Place, _ offset: UInt64, _ length: UInt64, to target: Place, at: UInt64, _ digest: Digest?
    ) throws(Failure) {
        let from = try openForReading(source)
        let to = try openForWriting(target)
        try Folder.checkEnd(of: length, at: at)
        if offset > Limits.fileBytesMax { throw Failure(.mismatch) }
        var buffer = [UInt8](repeating: 0, count: Int(min(length, Folder.blockBytes)))
        var hasher = SHA256Stream()
        var done: UInt64 = 0
        while done < length {
            let wanted = Int(min(length - done, UInt64(buffer.count)))
            if buffer.count > wanted { buffer.removeLast(buffer.count - wanted) }
            let count = try from.descriptor.fill(&buffer, at: offset + done)
            let isHole = digest == nil && buffer[..<count].allSatisfy { $0 == 0 }
            if !isHole { try to.descriptor.write(buffer[..<count], at: at + done) }
            if digest != nil { hasher.update(buffer[..<count]) }
            done += UInt64(count)
            if count < wanted { break }
        }
        to.descriptor.startWriting(at: at, count: done)
        if done < length { throw Failure(.mismatch) }
        if let digest, Digest(sha256: hasher.finish()) != digest { throw Failure(.mismatch) }
    }

    func truncate(_ place: Place, to size: UInt64) throws(Failure) {
        let file = try openForWriting(place)
        if size > Limits.fileBytesMax { throw Failure(.unsupported) }
        try file.descriptor.truncate(to: size)
    }

    /// Bytes that are read or copied at a time.
    static let blockBytes: UInt64 = 1 << 20

    /// Less is written at the sync, together with its neighbours.
    private static let earlyWriteBytesMin = 64 << 10

    private static func checkEnd(of count: UInt64, at offset: UInt64) throws(Failure) {
        let (end, isTooFar) = offset.addingReportingOverflow(count)
        if isTooFar || end > Limits.fileBytesMax { throw Failure(.unsupported) }
    }

    // MARK: Mode and time

    func setMode(_ place: Place, _ mode: UInt16) throws(Failure) {
        let slot = try slot(place)
        if case .stage(let name) = place, let file = pins.file(name, try slot.status()) {
            return try file.descriptor.setMode(mode & 0o777)
        }
        let file = try OpenFile(try slot.open(.handle))
        // Linux has no call for it, and the mode of a symlink means nothing.
        if file.status.kind == .symlink { throw Failure(.unsupported) }
        // What makes a directory one of its group stays; no file keeps the rights of its owner over new content.
        let kept = file.status.kind == .directory ? file.status.mode & 0o7000 : 0
        try file.descriptor.setModeOfHandle(mode & 0o777 | kept)
    }

    func setModified(_ place: Place, _ time: Timestamp) throws(Failure) {
        let slot = try slot(place)
        // Two values beyond a second have a meaning of their own to the kernel.
        if time.nanoseconds >= 1_000_000_000 {
            _ = try slot.status()
            throw Failure(.unsupported)
        }
        try slot.parent.descriptor.setModified(slot.name, time)
    }

    // MARK: Stable storage

    func syncFile(_ place: Place) throws(Failure) {
        guard case .stage(let name) = place else {
            return try syncingAllForWant { () throws(Failure) in
                let slot = try self.slot(place)
                try sync(slot, try slot.status(), pinned: nil)
            }
        }
        let slot = try slot(place)
        let status = try slot.status()
        if pins.isPoisoned(name) { throw Failure(.inputOutput) }
        do throws(Failure) {
            try sync(slot, status, pinned: pins.file(name, status))
        } catch {
            pins.poison(name)
            throw error
        }
        pins.release(name)
    }

    /// As `syncFile`, after everything on the file system has been synced.
    func confirmFileSync(_ place: Place) throws(Failure) {
        func look() throws(Failure) {
            if try slot(place).status().kind == .special { throw Failure(.unsupported) }
        }
        guard case .stage(let name) = place else { return try syncingAllForWant(look) }
        try look()
        if pins.isPoisoned(name) { throw Failure(.inputOutput) }
        pins.release(name)
    }

    private func sync(_ slot: Slot, _ status: Status, pinned: OpenFile?) throws(Failure) {
        switch status.kind {
        case .file:
            if let pinned { return try Folder.finally { () throws(Failure) in try pinned.descriptor.sync() } }
            try sync(in: slot.parent.descriptor, slot.name, opened: [.read, .write])
        case .directory: try sync(in: slot.parent.descriptor, slot.name, opened: [.list])
        // It cannot be opened, and becomes durable with the directory it was made in.
        case .symlink: try sync(in: slot.parent.descriptor, .current, opened: [.list])
        case .special: throw Failure(.unsupported)
        }
    }

    func syncParent(_ place: Place) throws(Failure) {
        try syncingAllForWant { () throws(Failure) in
            try sync(in: try slot(place).parent.descriptor, .current, opened: [.list])
        }
    }

    /// Where no descriptor is left to open something by, everything is synced by one that is open: who is told that what stands in the
    /// folder cannot be synced has to stop.
    func syncingAllForWant(_ sync: () throws(Failure) -> Void) throws(Failure) {
        do throws(Failure) {
            try sync()
        } catch {
            guard error.isWantOfDescriptors else { throw error }
            if let failure = commonSyncFailure(ifUntrusted: error) { throw failure }
        }
    }

    /// Syncs everything on the file system; nil if all of it is on the disk. Of what failed to be written the kernel tells once, to
    /// whoever asks first by this descriptor: whoever asks beside it or later is not answered by that.
    private func commonSyncFailure(ifUntrusted doubt: Failure) -> Failure? {
        mayTrustCommonSync.withLock { isTrusted in
            guard isTrusted else { return doubt }
            do throws(Failure) {
                try Folder.finally { () throws(Failure) in try root.syncFileSystem() }
                return nil
            } catch {
                isTrusted = false
                return error
            }
        }
    }

    /// Opens in one of these ways and syncs. What may not be opened, and directories on a file system that syncs none,
    /// are synced with everything else.
    private func sync(
        in directory: borrowing Descriptor, _ name: CName, opened ways: [Descriptor.Purpose]
    ) throws(Failure) {
        for way in ways {
            do throws(Failure) {
                let file = try directory.openChild(name, way)
                return try Folder.finally { () throws(Failure) in try file.sync() }
            } catch {
                if error.error != .permission && error.error != .unsupported { throw error }
            }
        }
        if let failure = commonSyncFailure(ifUntrusted: Failure(.inputOutput)) { throw failure }
    }

    /// Whatever the kernel says of a sync that failed: what was to be kept is lost, and asking again would only be
    /// told of what came later.
    private static func finally(_ sync: () throws(Failure) -> Void) throws(Failure) {
        do throws(Failure) {
            try sync()
        } catch {
            if [EINVAL, EROFS, EOPNOTSUPP].contains(error.errno) { throw error }
            throw Failure(.inputOutput)
        }
    }
}
