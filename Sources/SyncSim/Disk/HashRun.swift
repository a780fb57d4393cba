/// Reading a whole file to name its content. It takes time: half of the bytes are read at the start and half at the end, so
/// that a write in between really tears what was read, and only a second look at the file can tell.
package import SyncModel

package struct HashRun: Sendable {
    package let path: Path
    private let chunking: ChunkerParameters
    private var stage = Stage.waiting

    private enum Stage: Sendable {
        case waiting
        /// The file stays the same one, whatever becomes of its name: it is read through a handle.
        case reading(InodeKey, Stat, firstHalf: [UInt8])
        case finished(HashOutcome)
    }

    /// A file larger than this the simulator will not read: a sparse one can be of any size.
    package static let bytesMax: UInt64 = 64 << 20

    package init(_ path: Path, chunking: ChunkerParameters) {
        self.path = path
        self.chunking = chunking
    }

    package mutating func start(on disk: inout VirtualDisk) {
        guard case .waiting = stage else { return }
        stage = opened(on: &disk)
    }

    package mutating func finish(on disk: inout VirtualDisk) -> HashOutcome {
        start(on: &disk)
        switch stage {
        case .waiting: return .failed(.unsupported)
        case .finished(let outcome): return outcome
        case .reading(let key, let stat, let firstHalf):
            // A freed inode was unlinked meanwhile, which alters its change time.
            guard disk.inodes.contains(key), !disk.inodes[key].isFreed else { return .changing }
            let inode = disk.inodes[key]
            if disk.faults.strikesRead(path) { return .failed(.inputOutput) }
            let bytes = firstHalf + inode.now.content.read(at: UInt64(firstHalf.count), count: Int(clamping: stat.size))
            guard inode.stat.isUntouched(since: stat) else { return .changing }
            let chunks = ContentHasher.chunks(of: bytes, chunking)
            return .content(.file(ContentID(chunks.contentID), size: stat.size), chunks, stat)
        }
    }

    private func opened(on disk: inout VirtualDisk) -> Stage {
        let found: InodeKey?
        switch path.isReserved ? .failure(.unsupported) : disk.find(path) {
        case .failure(let error): return .finished(.failed(error))
        case .success(let key): found = key
        }
        guard let key = found else { return .finished(.absent) }
        if let error = disk.obstacleToRead(path) { return .finished(.failed(error)) }
        let inode = disk.inodes[key]
        switch inode.kind {
        case .directory: return .finished(.content(.directory, ChunkList(), inode.stat))
        case .symlink: return .finished(.content(.symlink(inode.target), ChunkList(), inode.stat))
        case .special: return .finished(.failed(.unsupported))
        case .file:
            guard inode.stat.size <= HashRun.bytesMax else { return .finished(.failed(.unsupported)) }
            let half = Int(inode.stat.size / 2)
            return .reading(key, inode.stat, firstHalf: inode.now.content.read(at: 0, count: half))
        }
    }
}

extension VirtualDisk {
    /// The whole reading at once.
    package mutating func hash(_ path: Path, chunking: ChunkerParameters) -> HashOutcome {
        var run = HashRun(path, chunking: chunking)
        return run.finish(on: &self)
    }
}
