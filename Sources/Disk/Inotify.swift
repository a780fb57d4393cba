/// One inotify instance: the kernel's queue of events, and a watch for each directory.
import CLinux
import Glibc

final class Inotify: WatchQueue {
    private let descriptor: Descriptor

    init() throws(Failure) {
        descriptor = Descriptor(
            owning: try checked(orErrno(inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)))))
    }

    /// A directory by its alias: inotify takes a path, and this one cannot lead anywhere else.
    func add(_ directory: borrowing Descriptor, isRoot: Bool) throws(Failure) -> WatchNumber {
        let mask = Inotify.mask | (isRoot ? Inotify.rootMask : 0)
        let queue = descriptor.raw
        return WatchNumber(
            try checked(
                unsafe directory.alias().withPointer { unsafe orErrno(inotify_add_watch(queue, $0, mask)) }))
    }

    /// Of a directory that is gone, the kernel has removed it already.
    func remove(_ watch: WatchNumber) {
        _ = inotify_rm_watch(descriptor.raw, watch.rawValue)
    }

    func events(_ buffer: inout [UInt8]) throws(Failure) -> [WatchEvent] {
        WatchEvent.all(in: try descriptor.takeReady(&buffer))
    }

    var raw: Int32 { descriptor.raw }

    private static let mask = UInt32(bitPattern: WatchEvent.wanted | IN_ONLYDIR)
    private static let rootMask = UInt32(bitPattern: WatchEvent.wantedOfRoot)
}
