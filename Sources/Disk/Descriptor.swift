/// A file descriptor of ours and the calls on it alone. Calls on a name below it are in `Descriptor+Names`.
import CLinux
import Glibc

/// Closed when its owner lets go of it. Every call is a method, so that the descriptor outlives the call.
struct Descriptor: ~Copyable {
    let raw: Int32

    /// Takes over a descriptor that a call has just returned.
    init(owning raw: Int32) {
        self.raw = raw
    }

    deinit {
        close(raw)
    }

    /// As the end of its owner, but tells of an error the kernel kept for the close (NFS, quotas).
    consuming func end() throws(Failure) {
        let raw = raw
        discard self
        let result = orErrno(close(raw))
        // After EINTR the descriptor is closed all the same on Linux.
        if result != -EINTR { try checked(result) }
    }

    borrowing func status() throws(Failure) -> Status {
        var found = statx()
        let raw = raw
        try checked(unsafe clinux_statx(raw, "", CLINUX_AT_EMPTY_PATH, Status.mask, &found))
        return Status(found)
    }

    /// Fills the array as far as the file goes; tells how far that was.
    borrowing func fill(_ bytes: inout [UInt8], at offset: UInt64) throws(Failure) -> Int {
        let raw = raw
        var filled = 0
        while filled < bytes.count {
            let start = filled
            let count = try checked(
                unsafe bytes.withUnsafeMutableBytes { buffer in
                    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
                    return uninterrupted {
                        unsafe orErrno(pread(raw, rest.baseAddress, rest.count, off_t(offset) + off_t(start)))
                    }
                })
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    borrowing func write(_ bytes: ArraySlice<UInt8>, at offset: UInt64) throws(Failure) {
        let raw = raw
        var done = 0
        while done < bytes.count {
            let start = done
            done += try checked(
                unsafe bytes.withUnsafeBytes { buffer in
                    let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[start...])
                    return uninterrupted {
                        unsafe orErrno(pwrite(raw, rest.baseAddress, rest.count, off_t(offset) + off_t(start)))
                    }
                })
        }
    }

    borrowing func truncate(to size: UInt64) throws(Failure) {
        try checked(uninterrupted { orErrno(ftruncate(raw, off_t(size))) })
    }

    /// Once. The kernel tells of a failed write-back only one time, so a second success would mean nothing; an
    /// interruption is no answer yet.
    borrowing func sync() throws(Failure) {
        try checked(uninterrupted { orErrno(fsync(raw)) })
    }

    /// What root makes in somebody else's directory is his: the daemon is seldom root. Nothing that is somebody's already.
    borrowing func inheritOwner(of directory: borrowing Descriptor) throws(Failure) {
        guard geteuid() == 0 else { return }
        let (raw, above) = (raw, directory.raw)
        var (own, other) = (stat(), stat())
        try checked(unsafe orErrno(fstat(raw, &own)))
        try checked(unsafe orErrno(fstat(above, &other)))
        guard own.st_uid == 0, other.st_uid != 0 || other.st_gid != own.st_gid else { return }
        try checked(orErrno(fchown(raw, other.st_uid, other.st_gid)))
    }

    /// Everything on the file system, where one file cannot be opened to be synced alone.
    borrowing func syncFileSystem() throws(Failure) {
        try checked(uninterrupted { clinux_syncfs(raw) })
    }

    /// Lets the disk begin with what was just written, so that the sync that follows has less to wait for.
    borrowing func startWriting(at offset: UInt64, count: UInt64) {
        _ = clinux_start_writing(raw, offset, count)
    }

    borrowing func setMode(_ mode: UInt16) throws(Failure) {
        try checked(orErrno(fchmod(raw, mode_t(mode))))
    }

    /// Of a handle, which fchmod refuses. Works where the mode says that nobody may open the file.
    borrowing func setModeOfHandle(_ mode: UInt16) throws(Failure) {
        try checked(unsafe alias().withPointer { unsafe orErrno(chmod($0, mode_t(mode))) })
    }

    /// Where the next data at or after `offset` begins; nil if only a hole follows.
    borrowing func nextData(from offset: UInt64) throws(Failure) -> UInt64? {
        let found = orErrno(lseek(raw, off_t(offset), CLINUX_SEEK_DATA))
        if found == off_t(-ENXIO) { return nil }
        return UInt64(try checked(found))
    }

    /// False if somebody else holds the lock.
    borrowing func lock() throws(Failure) -> Bool {
        let result = uninterrupted { orErrno(flock(raw, LOCK_EX | LOCK_NB)) }
        if result == -EWOULDBLOCK { return false }
        try checked(result)
        return true
    }

    /// Closing alone would leave the lock to a child that was forked meanwhile, until it has executed something else.
    borrowing func unlock() {
        _ = flock(raw, LOCK_UN)
    }

    /// A name for this very file or directory, whatever becomes of the one it was opened by.
    borrowing func alias() -> CName {
        CName(Array("/proc/self/fd/\(raw)".utf8))
    }
}
