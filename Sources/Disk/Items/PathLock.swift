/// Locks between processes on paths, whether a daemon is asked or not: one byte for each path in one file that nobody writes to.
///
/// A lock on a document itself would be worth nothing, because a save puts another file in its place; a lock file for each document would
/// litter. The byte is found by a hash of the path, so that two paths may share one: they then wait for each other, and no more. Locks belong
/// to the open file and end with it, also when the process is killed.
import CLinux
import Crypto
import Glibc
import SyncModel

public final class PathLock: Sendable {
    private let file: Descriptor

    private static let place = Array("/tmp/.synckit-locks".utf8)
    private static let triesMax = 8

    private init(_ file: consuming Descriptor) {
        self.file = file
    }

    /// All of them, or nil if somebody has one; readers share. Takes no notice of what this process holds by another lock.
    public static func tryLock(_ paths: [[UInt8]], isRead: Bool) throws(Item.Failure) -> PathLock? {
        do throws(Failure) {
            let file = try open()
            for offset in Set(paths.map(offset)).sorted() {
                guard try file.lockByte(at: offset, isRead: isRead) else { return nil }
            }
            return PathLock(file)
        } catch {
            throw Item.Failure(error: error.error, errno: error.errno)
        }
    }

    private static func offset(of path: [UInt8]) -> UInt64 {
        SHA256Stream.hash(path).prefix(8).reduce(0) { $0 << 8 | UInt64($1) } >> 2
    }

    /// Made by whoever comes first, for all. Where others' files in /tmp may not be opened to be made, it is opened as it is.
    private static func open() throws(Failure) -> Descriptor {
        let flags = O_RDWR | O_NOFOLLOW
        for _ in 0..<triesMax {
            do throws(Failure) {
                return try Folder.open(place, flags: flags)
            } catch {
                guard error.errno == ENOENT else { throw error }
            }
            do throws(Failure) {
                let file = try Folder.open(place, flags: flags | O_CREAT | O_EXCL, mode: 0o666)
                // The umask may have taken something away.
                try file.setMode(0o666)
                return file
            } catch {
                guard error.errno == EEXIST else { throw error }
            }
        }
        throw Failure(.busy)
    }
}

extension Descriptor {
    /// False if somebody else's lock is in the way.
    fileprivate borrowing func lockByte(at offset: UInt64, isRead: Bool) throws(Failure) -> Bool {
        var lock = flock()
        lock.l_type = Int16(isRead ? F_RDLCK : F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(offset)
        lock.l_len = 1
        let raw = raw
        // The structure is used for the time of the call only.
        let result = uninterrupted { unsafe orErrno(fcntl(raw, CLINUX_F_OFD_SETLK, &lock)) }
        if result == -EAGAIN || result == -EACCES { return false }
        try checked(result)
        return true
    }
}
