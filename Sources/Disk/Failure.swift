/// Why a call or an operation did not happen, and the one table from errno to the vocabulary of disk programs.
import Glibc
import SyncModel

/// Thrown by everything inside this target that can fail. It ends at the public calls, as a value or as a
/// `FolderError`.
struct Failure: Error, Equatable {
    let error: DiskError
    /// 0 if no system call was refused: the world was not as expected.
    let errno: Int32

    init(_ error: DiskError) {
        self.error = error
        errno = 0
    }

    init(errno: Int32) {
        error = Failure.meaning(of: errno)
        self.errno = errno
    }

    /// Nothing is at the place, because the name or the way to it is missing.
    var isAbsence: Bool { error == .notFound || error == .notDirectory }

    /// Nothing could be opened, whatever it is.
    var isWantOfDescriptors: Bool { errno == EMFILE || errno == ENFILE }

    /// A passing lack of the process or the kernel counts as `busy`: it is worth another try. What nobody has heard of
    /// is the disk's fault, because that stops the most.
    private static func meaning(of errno: Int32) -> DiskError {
        switch errno {
        case ENOENT: .notFound
        case EEXIST: .exists
        case ENOTEMPTY: .notEmpty
        // No symlink is ever followed: one on the way is a file where a directory should be.
        case ENOTDIR, ELOOP: .notDirectory
        case EISDIR: .isDirectory
        case ENOSPC, EDQUOT: .noSpace
        case EROFS: .readOnly
        case EBUSY, ETXTBSY, EAGAIN, EINTR, ENOMEM, EMFILE, ENFILE: .busy
        case EACCES, EPERM: .permission
        case ENAMETOOLONG: .nameTooLong
        case EXDEV: .crossDevice
        case EINVAL, EOPNOTSUPP, ENOSYS, ENOTTY, EFBIG, EOVERFLOW, EMLINK, ENXIO, ESPIPE: .unsupported
        default: .inputOutput
        }
    }
}

/// The result of a call of CLinux: its errors are negative.
@discardableResult
func checked<Result: SignedInteger>(_ result: Result) throws(Failure) -> Result {
    if result < 0 { throw Failure(errno: Int32(-result)) }
    return result
}

/// The result of a call of glibc as those of CLinux are. To be used around the call itself: nothing may come in between
/// that could overwrite errno.
func orErrno<Result: SignedInteger>(_ result: Result) -> Result {
    result == -1 ? Result(-errno) : result
}

/// Calls again while a signal interrupts it.
func uninterrupted<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result != Result(-EINTR) { return result }
    }
}
