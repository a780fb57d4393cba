/// Runs disk programs: `DiskOperation` by `DiskOperation`, with the meaning that DiskProgram.swift gives them.
public import SyncModel

extension Folder {
    /// One program after the other, each on its own: a failed one does not stop its siblings.
    public func run(_ programs: [DiskProgram]) -> [DiskResult] {
        programs.map { run($0) }
    }

    private func run(_ program: DiskProgram) -> DiskResult {
        var result = DiskResult()
        for (index, operation) in program.operations.enumerated() {
            do throws(Failure) {
                try perform(operation, &result)
            } catch {
                result.failure = DiskResult.Failure(index: index, error: error.error)
                break
            }
        }
        return result
    }

    private func perform(_ operation: DiskOperation, _ result: inout DiskResult) throws(Failure) {
        switch operation {
        case .createFile(let place): try createFile(place)
        case .write(let place, let offset, let bytes): try write(bytes, to: place, at: offset)
        case .copy(let source, let offset, let length, let target, let at, let digest):
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
        case .expectIdentity(let place, let identity): try expect(place) { $0.identity == identity }
        case .inspect(let place): result.inspected.append(try look(place))
        case .exchange(let left, let right): try rename(left, right, .exchange)
        case .move(let source, let target): try rename(source, target, .move)
        case .removeDirectory(let place):
            let slot = try slot(place)
            try slot.directory.removeDirectory(slot.name)
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
            try slot.directory.removeDirectory(slot.name)
        } else {
            try slot.directory.removeFile(slot.name)
        }
        if case .stage(let name) = place { pins.forget(name) }
    }
}
