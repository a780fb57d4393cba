import Glibc

/// The little that `init` and `doctor` do with files: make what is not there, never replace what is, and look.
extension System {
    struct FileError: Error, Hashable {
        let code: Int32

        var text: String { System.text(of: code) }
        /// Something has the name already.
        var isThere: Bool { code == EEXIST }
        /// Nothing has the name, or the way to it leads through something that is no directory.
        var isNotThere: Bool { code == ENOENT || code == ENOTDIR }

        /// Another user could.
        var isRefused: Bool { code == EACCES || code == EPERM }
    }

    struct FileStatus: Hashable {
        enum Kind { case file, directory, socket, other }

        let kind: Kind
        /// The lowest nine bits: who may do what.
        let mode: UInt32
        let owner: UInt32
    }

    /// Of the thing itself, not of what a symbolic link points to. Nil if nothing is there.
    static func status(of path: [UInt8]) throws(FileError) -> FileStatus? {
        var status = stat()
        // Path and structure are used for the time of the call only.
        let result = unsafe withPath(path) { unsafe lstat($0, &status) }
        if result != 0 {
            if errno == ENOENT { return nil }
            throw FileError(code: errno)
        }
        let kind: FileStatus.Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFSOCK: .socket
            default: .other
            }
        return FileStatus(kind: kind, mode: status.st_mode & 0o777, owner: status.st_uid)
    }

    /// False also where it cannot be told.
    static func exists(_ path: [UInt8]) -> Bool { unsafe withPath(path) { unsafe access($0, F_OK) } == 0 }

    static func makeDirectory(_ path: [UInt8], mode: UInt32) throws(FileError) {
        try check(unsafe withPath(path) { unsafe mkdir($0, mode) })
        let descriptor = try openDirectory(path)
        defer { close(descriptor) }
        // The mask of the process must not make it less than was asked for.
        try check(fchmod(descriptor, mode))
        try handOver(descriptor, at: path)
    }

    /// A directory that root has just made in one of root's own is for whoever owns the other.
    static func giveAway(_ path: [UInt8], like other: [UInt8]) throws(FileError) {
        let descriptor = try openDirectory(path)
        defer { close(descriptor) }
        try handOver(descriptor, like: other)
    }

    private static func openDirectory(_ path: [UInt8]) throws(FileError) -> Int32 {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let descriptor = unsafe withPath(path) { unsafe open($0, flags) }
        guard descriptor >= 0 else { throw FileError(code: errno) }
        return descriptor
    }

    /// What root makes in somebody else's directory is his: the daemon is seldom root.
    private static func handOver(_ descriptor: Int32, at path: [UInt8]) throws(FileError) {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return }
        try handOver(descriptor, like: Array(path[...slash]))
    }

    /// Nothing that is somebody's already.
    private static func handOver(_ descriptor: Int32, like other: [UInt8]) throws(FileError) {
        guard geteuid() == 0 else { return }
        var (own, model) = (stat(), stat())
        // Path and structures are used for the time of the calls only.
        try check(unsafe fstat(descriptor, &own))
        try check(unsafe withPath(other) { unsafe stat($0, &model) })
        guard own.st_uid == 0, model.st_uid != 0 || model.st_gid != own.st_gid else { return }
        try check(fchown(descriptor, model.st_uid, model.st_gid))
    }

    static func setMode(_ path: [UInt8], _ mode: UInt32) throws(FileError) {
        try check(unsafe withPath(path) { unsafe chmod($0, mode) })
    }

    /// Durable when this returns. Refuses if something has the name already; after any other failure it may be there.
    static func makeFile(_ path: [UInt8], _ contents: [UInt8], mode: UInt32) throws(FileError) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = unsafe withPath(path) { unsafe open($0, flags, mode) }
        guard descriptor >= 0 else { throw FileError(code: errno) }
        defer { close(descriptor) }
        try check(fchmod(descriptor, mode))
        try handOver(descriptor, at: path)
        try write(contents, to: descriptor)
        try check(fsync(descriptor))
    }

    private static func write(_ contents: [UInt8], to descriptor: Int32) throws(FileError) {
        var rest = contents[...]
        while !rest.isEmpty {
            // The pointer is used for the time of the call only.
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) }
            if count < 0, errno != EINTR { throw FileError(code: errno) }
        }
    }

    /// Names in it are durable after this.
    static func syncDirectory(_ path: [UInt8]) throws(FileError) {
        let descriptor = unsafe withPath(path) { unsafe open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw FileError(code: errno) }
        defer { close(descriptor) }
        try check(fsync(descriptor))
    }

    static func remove(_ path: [UInt8]) throws(FileError) { try check(unsafe withPath(path) { unsafe unlink($0) }) }

    /// Only if it is empty.
    static func removeDirectory(_ path: [UInt8]) throws(FileError) {
        try check(unsafe withPath(path) { unsafe rmdir($0) })
    }

    static func isEmpty(_ directory: [UInt8]) throws(FileError) -> Bool {
        guard let stream = unsafe withPath(directory, { unsafe opendir($0) }) else { throw FileError(code: errno) }
        defer { unsafe _ = closedir(stream) }
        // Two names are in every directory. An entry is valid until the next call, and none is looked into.
        for _ in 0..<3 where unsafe readdir(stream) == nil { return true }
        return false
    }

    /// At most `bytesMax` bytes.
    static func contents(_ path: [UInt8], bytesMax: Int = 64 << 10) throws(FileError) -> [UInt8] {
        let descriptor = unsafe withPath(path) { unsafe open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { throw FileError(code: errno) }
        defer { close(descriptor) }
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while contents.count < bytesMax {
            // The buffer is used for the time of the call only.
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { break }
            if count > 0 { contents += buffer[..<count] }
            if count < 0, errno != EINTR { throw FileError(code: errno) }
        }
        return Array(contents.prefix(bytesMax))
    }

    /// Free and in all, in bytes, of the file system there.
    static func space(at path: [UInt8]) throws(FileError) -> (free: UInt64, total: UInt64) {
        var status = statvfs()
        // Path and structure are used for the time of the call only.
        try check(unsafe withPath(path) { unsafe statvfs($0, &status) })
        let unit = UInt64(status.f_frsize)
        return (UInt64(status.f_bavail) * unit, UInt64(status.f_blocks) * unit)
    }

    private static func check(_ result: Int32) throws(FileError) {
        if result != 0 { throw FileError(code: errno) }
    }

    /// A path as C wants it, for the time of the call. What no path can hold becomes the empty one, which is not found.
    private static func withPath<Result>(_ path: [UInt8], _ call: (UnsafePointer<CChar>) -> Result) -> Result {
        let text = (path.contains(0) ? [] : path).map { CChar(bitPattern: $0) } + [0]
        return unsafe call(text)
    }
}
