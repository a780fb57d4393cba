/// Calls on a name below a directory's descriptor. `openChild` is the only door into the tree: it never leaves the
/// directory, follows no link of any kind and enters no other file system.
import CLinux
import Glibc
import SyncModel

extension Descriptor {
    /// What a name is opened for. None of these waits for the other end of a FIFO or takes a terminal.
    enum Purpose {
        /// A handle to the name, whatever it names; nothing is opened.
        case handle
        /// A handle to a directory.
        case way
        /// Listing and syncing a directory.
        case list
        case read
        case write
        /// A new, empty file, mode 0600.
        case create

        var flags: Int32 {
            let common = O_CLOEXEC | O_NOFOLLOW
            return switch self {
            case .handle: common | CLINUX_O_PATH
            case .way: common | CLINUX_O_PATH | O_DIRECTORY
            case .list: common | O_DIRECTORY | O_RDONLY
            case .read: common | O_RDONLY | O_NONBLOCK | O_NOCTTY
            case .write: common | O_WRONLY | O_NONBLOCK | O_NOCTTY
            case .create: common | O_RDWR | O_CREAT | O_EXCL
            }
        }
    }

    private static let confined = UInt64(
        RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

    /// How often a look-up is repeated when renames elsewhere disturb it (EAGAIN).
    private static let triesMax = 64

    borrowing func openChild(_ name: CName, _ purpose: Purpose) throws(Failure) -> Descriptor {
        unsafe Descriptor(owning: try checked(name.withPointer { unsafe openRaw($0, purpose) }))
    }

    /// For names that stand in a listing.
    borrowing func openChild(_ name: UnsafePointer<CChar>, _ purpose: Purpose) throws(Failure) -> Descriptor {
        unsafe Descriptor(owning: try checked(openRaw(name, purpose)))
    }

    private borrowing func openRaw(_ name: UnsafePointer<CChar>, _ purpose: Purpose) -> Int32 {
        let mode: UInt64 = if case .create = purpose { 0o600 } else { 0 }
        var tries = 1
        while true {
            let result = unsafe clinux_openat2(raw, name, UInt64(purpose.flags), mode, Self.confined)
            let isDisturbed = result == -EAGAIN || result == -EINTR
            if !isDisturbed || tries == Self.triesMax { return result }
            tries += 1
        }
    }

    borrowing func status(of name: CName) throws(Failure) -> Status {
        var found = statx()
        try checked(unsafe name.withPointer { unsafe statusRaw(of: $0, &found) })
        return Status(found)
    }

    borrowing func status(of name: UnsafePointer<CChar>) throws(Failure) -> Status {
        var found = statx()
        try checked(unsafe statusRaw(of: name, &found))
        return Status(found)
    }

    private borrowing func statusRaw(of name: UnsafePointer<CChar>, _ found: inout statx) -> Int32 {
        unsafe clinux_statx(raw, name, AT_SYMLINK_NOFOLLOW | CLINUX_AT_NO_AUTOMOUNT, Status.mask, &found)
    }

    /// The bytes of a symlink.
    borrowing func target(of name: CName) throws(Failure) -> [UInt8] {
        var target = [UInt8](repeating: 0, count: Limits.symlinkBytesMax + 1)
        let raw = raw
        let capacity = target.count
        let count = try checked(
            unsafe target.withUnsafeMutableBytes { buffer in
                guard let start = buffer.baseAddress else { return Int(-ENAMETOOLONG) }
                return unsafe name.withPointer {
                    unsafe orErrno(readlinkat(raw, $0, start.assumingMemoryBound(to: CChar.self), capacity))
                }
            })
        if count == capacity { throw Failure(.nameTooLong) }
        return Array(target[..<count])
    }

    borrowing func makeDirectory(_ name: CName, mode: UInt16) throws(Failure) {
        try checked(unsafe name.withPointer { unsafe orErrno(mkdirat(raw, $0, mode_t(mode))) })
    }

    borrowing func makeSymlink(_ name: CName, target: [UInt8]) throws(Failure) {
        let target = CName(target)
        try checked(
            unsafe name.withPointer { name in
                unsafe target.withPointer { unsafe orErrno(symlinkat($0, raw, name)) }
            })
    }

    borrowing func removeFile(_ name: CName) throws(Failure) {
        try checked(unsafe name.withPointer { unsafe orErrno(unlinkat(raw, $0, 0)) })
    }

    borrowing func removeDirectory(_ name: CName) throws(Failure) {
        let result = unsafe name.withPointer { unsafe orErrno(unlinkat(raw, $0, AT_REMOVEDIR)) }
        // POSIX lets a file system say either.
        if result == -EEXIST { throw Failure(errno: ENOTEMPTY) }
        try checked(result)
    }

    /// The time of the last access stays as it is.
    borrowing func setModified(_ name: CName, _ time: Timestamp) throws(Failure) {
        let times = [
            timespec(tv_sec: 0, tv_nsec: Int(CLINUX_UTIME_OMIT)),
            timespec(tv_sec: time_t(time.seconds), tv_nsec: Int(time.nanoseconds)),
        ]
        try checked(
            unsafe name.withPointer { unsafe orErrno(utimensat(raw, $0, times, AT_SYMLINK_NOFOLLOW)) })
    }

    enum Renaming {
        /// The new name must be free.
        case move
        /// Both names must be there.
        case exchange

        var flags: UInt32 {
            switch self {
            case .move: CLINUX_RENAME_NOREPLACE
            case .exchange: CLINUX_RENAME_EXCHANGE
            }
        }
    }

    borrowing func rename(
        _ name: CName, to directory: borrowing Descriptor, _ target: CName, _ renaming: Renaming
    ) throws(Failure) {
        let other = directory.raw
        try checked(
            unsafe name.withPointer { name in
                unsafe target.withPointer { unsafe clinux_renameat2(raw, name, other, $0, renaming.flags) }
            })
    }
}
