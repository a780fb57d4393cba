internal import CLibuv
internal import Glibc

/// A listening unix socket's place in the file system: taken without a race, and given back.
struct UnixSocket {
    let descriptor: Int32
    private let path: [UInt8]
    private let identity: Identity

    private struct Identity: Equatable {
        let device: dev_t
        let inode: ino_t
    }

    /// Binds `path`. A socket file that a dead process left is replaced; one that somebody listens on is an error, and
    /// so is a file of another kind. Nobody can connect before `listen`, so the mode is in force from the first moment.
    static func bind(path: [UInt8], mode: UInt16?) throws(LoopError) -> UnixSocket {
        let operation = "listen on \(String(decoding: path, as: UTF8.self))"
        var address = try address(of: path, operation)
        let lock = try lockDirectory(of: path, operation)
        defer { Glibc.close(lock) }

        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = try LoopError.checkErrno(socket(AF_UNIX, type, 0), operation)
        do throws(LoopError) {
            if bind(descriptor, &address) != 0 {
                guard errno == EADDRINUSE else { throw LoopError(operation: operation, code: -errno) }
                try removeStale(path, &address, operation)
                try LoopError.checkErrno(bind(descriptor, &address), operation)
            }
            if let mode { try LoopError.checkErrno(unsafe chmod(cPath(path), mode_t(mode)), operation) }
            guard let identity = identity(of: path) else {
                throw LoopError(operation: operation, code: LoopError.noSuchFile)
            }
            return UnixSocket(descriptor: descriptor, path: path, identity: identity)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    /// Removes the file, if it is still ours. The descriptor belongs to whoever took it.
    func removeFile() {
        if Self.identity(of: path) == identity { unsafe unlink(Self.cPath(path)) }
    }

    /// libuv 1.44 cuts a path that is too long for the kernel and uses the rest; here it is an error.
    static func checkLength(of path: [UInt8], _ operation: String) throws(LoopError) {
        guard !path.isEmpty, !path.contains(0) else {
            throw LoopError(operation: operation, code: LoopError.invalidArgument)
        }
        guard path.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
            throw LoopError(operation: operation, code: LoopError.nameTooLong)
        }
    }

    /// Two processes that both find a stale file must not each remove the other's new one. Everybody who may read the
    /// directory may keep it locked: who has it for so long takes no socket in it, and is not to keep us from ours.
    private static func lockDirectory(of path: [UInt8], _ operation: String) throws(LoopError) -> Int32 {
        let slash = path.lastIndex(of: UInt8(ascii: "/"))
        let directory = slash.map { $0 == 0 ? [UInt8(ascii: "/")] : Array(path[..<$0]) } ?? [UInt8(ascii: ".")]
        let descriptor = try LoopError.checkErrno(
            unsafe open(cPath(directory), O_RDONLY | O_DIRECTORY | O_CLOEXEC), operation)
        // Whoever starts beside us in the same directory needs it for a moment only.
        for _ in 0..<lockTries {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
            guard errno == EWOULDBLOCK || errno == EINTR else { break }
            usleep(lockPauseMicroseconds)
        }
        return descriptor
    }

    private static let lockTries = 200
    private static let lockPauseMicroseconds: UInt32 = 10_000

    /// Only a socket that refuses connections was left behind by the dead.
    private static func removeStale(
        _ path: [UInt8], _ address: inout sockaddr_un, _ operation: String
    ) throws(LoopError) {
        var status = stat()
        try LoopError.checkErrno(unsafe lstat(cPath(path), &status), operation)
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw LoopError(operation: operation, code: LoopError.notASocket)
        }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let probe = try LoopError.checkErrno(socket(AF_UNIX, type, 0), operation)
        defer { Glibc.close(probe) }
        let answer = unsafe withAddress(&address) { unsafe connect(probe, $0, $1) }
        guard answer != 0, errno == ECONNREFUSED else {
            throw LoopError(operation: operation, code: LoopError.addressInUse)
        }
        try LoopError.checkErrno(unsafe unlink(cPath(path)), operation)
    }

    private static func bind(_ descriptor: Int32, _ address: inout sockaddr_un) -> Int32 {
        unsafe withAddress(&address) { unsafe Glibc.bind(descriptor, $0, $1) }
    }

    private static func withAddress(
        _ address: inout sockaddr_un, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func address(of path: [UInt8], _ operation: String) throws(LoopError) -> sockaddr_un {
        try checkLength(of: path, operation)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        return address
    }

    private static func identity(of path: [UInt8]) -> Identity? {
        var status = stat()
        guard unsafe lstat(cPath(path), &status) == 0 else { return nil }
        return Identity(device: status.st_dev, inode: status.st_ino)
    }

    private static func cPath(_ path: [UInt8]) -> [CChar] { path.map(CChar.init(bitPattern:)) + [0] }
}
