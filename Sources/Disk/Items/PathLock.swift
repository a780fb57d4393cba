/// Locks between processes on paths, whether a daemon is asked or not: one byte for each path in one file that nobody writes to.
///
/// A lock on a document itself would be worth nothing, because a save puts another file in its place; a lock file for each document would
/// litter. Locks belong to the open file and end with it, also when the process is killed.
///
/// Each path has a stretch of the file, found by a hash of it: the first byte is the path itself, and each of the others stands for something
/// below it, found by a hash, too. Whoever locks a path takes its stretch, and of each directory above it the one byte that it is there. So a
/// directory excludes what is in it, and two things within it do not meet. Two paths may share a byte: they then wait for each other, and no more.
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

    /// Given back, and not only closed: a child of this process between its fork and its exec has the open file, too, and with it the locks.
    deinit { file.releaseLocks() }

    public struct Item: Sendable {
        let path: [UInt8]
        let coversContents: Bool

        /// Absolute and resolved.
        public init(path: [UInt8], coversContents: Bool) {
            self.path = path
            self.coversContents = coversContents
        }
    }

    /// All of them, or nil if somebody has one; readers share. Takes no notice of what this process holds by another lock; `except` is what of it
    /// lies within these paths and is not to be in their way.
    public static func tryLock(
        _ items: [Item], isRead: Bool, except had: [[UInt8]] = []
    ) throws(Disk.Item.Failure) -> PathLock? {
        do throws(Failure) {
            let lock = PathLock(try open())
            lock.file.touch()
            for range in ranges(of: items, except: had) {
                guard try lock.file.lock(range, isRead: isRead) else { return nil }
            }
            return lock
        } catch {
            throw Disk.Item.Failure(error: error.error, errno: error.errno)
        }
    }

    /// In ascending order, so that nobody has the first of what somebody else has the second of for long.
    private static func ranges(of items: [Item], except had: [[UInt8]]) -> [Range<UInt64>] {
        items.flatMap { item -> [Range<UInt64>] in
            let hash = hash(item.path)
            let own = stretch(hash)
            let whole = own..<(item.coversContents ? own + stretchBytes : own + 1)
            let within = had.filter { $0 != item.path }.map { own + offset(PathLock.hash($0)) }.sorted()
            return parts(of: whole, without: within)
                + directories(above: item.path).map { above in
                    let byte = stretch(PathLock.hash(above)) + offset(hash)
                    return byte..<(byte + 1)
                }
        }.sorted { $0.lowerBound < $1.lowerBound }
    }

    private static func parts(of range: Range<UInt64>, without bytes: [UInt64]) -> [Range<UInt64>] {
        var parts: [Range<UInt64>] = []
        var start = range.lowerBound
        for byte in bytes where range.contains(byte) && byte >= start {
            if start < byte { parts.append(start..<byte) }
            start = byte + 1
        }
        return start < range.upperBound ? parts + [start..<range.upperBound] : parts
    }

    private static func directories(above path: [UInt8]) -> [[UInt8]] {
        path.indices.dropFirst().filter { path[$0] == UInt8(ascii: "/") }.map { Array(path[..<$0]) }
    }

    private static var stretchBytes: UInt64 { 1 << 32 }

    /// 2³⁰ of them, so that the last one ends where the kernel's offsets do.
    private static func stretch(_ hash: UInt64) -> UInt64 { (hash >> 34) * stretchBytes }

    /// Of something below a directory, within the stretch of that.
    private static func offset(_ hash: UInt64) -> UInt64 { 1 + hash % (stretchBytes - 1) }

    private static func hash(_ path: [UInt8]) -> UInt64 {
        SHA256Stream.hash(path).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
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
    /// Programs that clean /tmp take away what nobody has touched for days, locked or not. Who came next would lock another file, and
    /// keep nobody away. That it cannot be touched is no reason for anything.
    fileprivate borrowing func touch() { _ = futimens(raw, nil) }

    /// Whatever is locked by this open file. That it cannot be is no reason for anything: the locks end with the file.
    fileprivate borrowing func releaseLocks() {
        var lock = flock()
        lock.l_type = Int16(F_UNLCK)
        lock.l_whence = Int16(SEEK_SET)
        let raw = raw
        // The structure is used for the time of the call only.
        _ = uninterrupted { unsafe orErrno(fcntl(raw, CLINUX_F_OFD_SETLK, &lock)) }
    }

    /// False if somebody else's lock is in the way.
    fileprivate borrowing func lock(_ range: Range<UInt64>, isRead: Bool) throws(Failure) -> Bool {
        var lock = flock()
        lock.l_type = Int16(isRead ? F_RDLCK : F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(range.lowerBound)
        lock.l_len = off_t(range.count)
        let raw = raw
        // The structure is used for the time of the call only.
        let result = uninterrupted { unsafe orErrno(fcntl(raw, CLINUX_F_OFD_SETLK, &lock)) }
        if result == -EAGAIN || result == -EACCES { return false }
        try checked(result)
        return true
    }
}
