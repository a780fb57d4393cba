/// Single looks: paths, pieces of files, our own stage.
import Glibc
public import SyncModel

extension Folder {
    /// The root is looked at last: if it is healthy then, it was when the paths were looked at. The way to a directory is
    /// found once for names of it that follow each other; who renames it meanwhile is told of.
    public func inspect(_ paths: [Path]) -> Inspection {
        ways.beginRun()
        defer { ways.endRun() }
        var parent: Path?
        let results = paths.map { path -> Inspection.Result in
            if path.parent != parent { ways.beginProgram() }
            parent = path.parent
            do throws(Failure) {
                if path.isReserved { throw Failure(.unsupported) }
                return try look(.tree(path)).map { .found($0) } ?? .absent
            } catch {
                return .failed(error.error)
            }
        }
        return Inspection(root: rootState, results: results)
    }

    /// Fewer bytes than asked for at the end of the file.
    public func read(_ requests: [ReadRequest]) -> [ReadOutcome] {
        requests.map { request in
            do throws(Failure) {
                return .bytes(try read(request))
            } catch {
                return .failed(error.error)
            }
        }
    }

    private func read(_ request: ReadRequest) throws(Failure) -> [UInt8] {
        if isInterrupted { throw Failure(.busy) }
        let file: OpenFile
        do throws(Failure) {
            file = try openForReading(request.place)
        } catch {
            // Something of another kind stands there than what is expected.
            let isOther = error.error == .isDirectory || error.error == .unsupported
            if request.expected?.kind == .file && isOther { throw Failure(.mismatch) }
            throw error
        }
        try expect(file.status, request.expected)
        let rest = file.status.size > request.offset ? file.status.size - request.offset : 0
        var bytes = [UInt8](repeating: 0, count: Int(min(UInt64(max(0, request.length)), rest)))
        let count = try file.descriptor.fill(&bytes, at: request.offset)
        // What was read is of the expected file only if that was so until the end.
        try expect(try file.descriptor.status(), request.expected)
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    private func expect(_ status: Status, _ expected: Stat?) throws(Failure) {
        guard let expected else { return }
        guard try device.stat(status).isUntouched(since: expected) else {
            throw Failure(.mismatch)
        }
    }

    /// Everything in `.syncd/stage` that bears a stage name, in the order of the names. An error is not an empty stage:
    /// recovery would throw away what it does not see.
    public func stagedFiles() throws(FolderError) -> [StagedFile] {
        let subject = path + Array("/.syncd/stage".utf8)
        return try step("list the stage", subject) { () throws(Failure) in
            let stage = try root.openChild(CName(".syncd/stage"), .list)
            var files: [StagedFile] = []
            let listing = try Listing(of: stage)
            for index in listing.indices {
                let name = listing.name(at: index)
                guard let number = NumberedName.number(in: name, letter: "s") else { continue }
                do throws(Failure) {
                    files.append(
                        StagedFile(
                            name: StageName(raw: number), stat: try device.stat(try stage.status(of: CName(name)))))
                } catch {
                    if !error.isAbsence { throw error }
                }
            }
            return files
        }
    }
}
