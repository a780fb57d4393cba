/// One inotify instance: the kernel's queue of events and its watches.
import CLinux
import Glibc

final class Inotify: Sendable {
    private let descriptor: Descriptor

    init() throws(Failure) {
        descriptor = Descriptor(
            owning: try checked(orErrno(inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)))))
    }

    /// A directory by its alias: inotify takes a path, and this one cannot lead anywhere else. The number is the same
    /// for the same directory as long as it is watched.
    func add(_ directory: borrowing Descriptor, isRoot: Bool) throws(Failure) -> WatchNumber {
        let mask = Inotify.mask | (isRoot ? Inotify.rootMask : 0)
        let queue = descriptor.raw
        return try checked(
            unsafe directory.alias().withPointer { unsafe orErrno(inotify_add_watch(queue, $0, mask)) })
    }

    /// Of a directory that is gone, the kernel has removed it already.
    func remove(_ watch: WatchNumber) {
        _ = inotify_rm_watch(descriptor.raw, watch)
    }

    /// What waits in the queue, as far as it fits the buffer.
    func events(_ buffer: inout [UInt8]) throws(Failure) -> [WatchEvent] {
        let queue = descriptor.raw
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            uninterrupted { unsafe orErrno(Glibc.read(queue, bytes.baseAddress, bytes.count)) }
        }
        if count == -EAGAIN { return [] }
        return WatchEvent.all(in: buffer[..<(try checked(count))])
    }

    /// Waits for events or for the bell, for ever if no time is given.
    func wait(orFor bell: borrowing Descriptor, milliseconds: Int32?) {
        var waiting = [
            pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: bell.raw, events: Int16(POLLIN), revents: 0),
        ]
        _ = uninterrupted { unsafe orErrno(poll(&waiting, 2, milliseconds ?? -1)) }
    }

    /// False if no event has come by then.
    func wait(milliseconds: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
        return uninterrupted { unsafe orErrno(poll(&waiting, 1, milliseconds)) } != 0
    }

    private static let mask = UInt32(
        truncatingIfNeeded: IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
            | IN_ONLYDIR)
    /// What becomes of the others, the directory they lie in tells.
    private static let rootMask = UInt32(truncatingIfNeeded: IN_DELETE_SELF | IN_MOVE_SELF)
}
