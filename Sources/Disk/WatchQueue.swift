/// Where the watcher's events come from: a queue of the kernel's that tells what happens in directories.
import Glibc

protocol WatchQueue: AnyObject, Sendable {
    /// From now on the queue tells of what happens in the directory. The number is the same for the same directory until it
    /// is removed.
    func add(_ directory: borrowing Descriptor, isRoot: Bool) throws(Failure) -> WatchNumber

    /// What is on its way about the directory may still be told.
    func remove(_ watch: WatchNumber)

    /// What waits in the queue, as far as it fits the buffer.
    func events(_ buffer: inout [UInt8]) throws(Failure) -> [WatchEvent]

    /// Readable while something waits.
    var raw: Int32 { get }
}

extension WatchQueue {
    /// Waits for events or for the bell, for ever if no time is given.
    func wait(orFor bell: borrowing Descriptor, milliseconds: Int32?) {
        var waiting = [
            pollfd(fd: raw, events: Int16(POLLIN), revents: 0), pollfd(fd: bell.raw, events: Int16(POLLIN), revents: 0),
        ]
        _ = uninterrupted { unsafe orErrno(poll(&waiting, 2, milliseconds ?? -1)) }
    }

    /// False if no event has come by then.
    func wait(milliseconds: Int32) -> Bool {
        var waiting = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
        return uninterrupted { unsafe orErrno(poll(&waiting, 1, milliseconds)) } != 0
    }
}

extension Descriptor {
    /// Reads what a queue of the kernel's has ready; nothing if it has nothing.
    borrowing func takeReady(_ buffer: inout [UInt8]) throws(Failure) -> ArraySlice<UInt8> {
        let queue = raw
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            uninterrupted { unsafe orErrno(read(queue, bytes.baseAddress, bytes.count)) }
        }
        return buffer[..<(count == -EAGAIN ? 0 : try checked(count))]
    }
}
