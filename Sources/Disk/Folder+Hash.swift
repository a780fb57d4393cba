/// Reading whole files to name their content.
import Crypto
public import SyncModel

extension Folder {
    /// A content counts only if its file was the same from the first look to the last, and still bears the name.
    public func hash(_ paths: [Path], chunking: ChunkerParameters) -> [HashOutcome] {
        paths.map { path in
            do throws(Failure) {
                return try hash(path, chunking)
            } catch {
                return error.isAbsence ? .absent : .failed(error.error)
            }
        }
    }

    private func hash(_ path: Path, _ chunking: ChunkerParameters) throws(Failure) -> HashOutcome {
        if isInterrupted { throw Failure(.busy) }
        guard let stat = try look(.tree(path)) else { return .absent }
        switch stat.kind {
        case .directory: return .content(.directory, ChunkList(), stat)
        case .special: return .failed(.unsupported)
        case .symlink:
            let slot = try slot(.tree(path))
            let target = try slot.parent.descriptor.target(of: slot.name)
            return try isUntouched(path, stat) ? .content(.symlink(target), ChunkList(), stat) : .changing
        case .file:
            if stat.size > Limits.fileBytesMax { return .failed(.unsupported) }
            guard let chunks = try chunks(of: path, stat, chunking), try isUntouched(path, stat) else {
                return .changing
            }
            let id = ContentID(chunks.contentID { Digest(sha256: SHA256Stream.hash($0)) })
            return .content(.file(id, size: stat.size), chunks, stat)
        }
    }

    private func isUntouched(_ path: Path, _ stat: Stat) throws(Failure) -> Bool {
        try look(.tree(path))?.isUntouched(since: stat) ?? false
    }

    /// Nil if the file is not the one that was looked at. Whether it stayed so, a look afterwards tells.
    private func chunks(of path: Path, _ stat: Stat, _ chunking: ChunkerParameters) throws(Failure) -> ChunkList? {
        let file: OpenFile
        do throws(Failure) {
            file = try openForReading(.tree(path))
        } catch {
            // It was a file a moment ago.
            if error.error == .isDirectory || error.error == .unsupported { return nil }
            throw error
        }
        guard try device.stat(file.status).isUntouched(since: stat) else { return nil }
        var reading = FileReading(file, mayHaveHoles: mayHaveHoles(file.status), chunking)
        while try reading.advance() {
            if isInterrupted { throw Failure(.busy) }
        }
        let chunks = reading.finish()
        return chunks.size == stat.size ? chunks : nil
    }

    /// Asking for holes costs a call a megabyte: only where there must be some. OpenZFS has told of holes where there
    /// was fresh data (2023), so it is not asked.
    private func mayHaveHoles(_ status: Status) -> Bool {
        !device.isZFS && status.allocatedBytes < status.size
            && status.size - status.allocatedBytes >= Folder.blockBytes
    }
}
