/// One fanotify group with a mark on the whole file system: nothing is to be set up for a directory, and there is no limit to
/// them. Only root may have it. It tells of everything on the file system; what happens in directories that nobody has added is
/// passed over.
///
/// An event: `event_len` (32 bits), version, reserved, `metadata_len` (16), mask (64), a descriptor and a process. What belongs
/// to it follows: type, padding, length (16), the file system (64), the handle of a directory (its length and type, 32 bits
/// each, and its bytes), and a name that ends with a zero; a dot for the directory itself. Numbers are in the machine's order.
import CLinux
import Glibc
import Synchronization

final class Fanotify: WatchQueue {
    private struct Known {
        var numbers: [[UInt8]: WatchNumber] = [:]
        var handles: [WatchNumber: [UInt8]] = [:]
        var last: WatchNumber = 0
    }

    private let descriptor: Descriptor
    private let known = Mutex(Known())

    /// Fails where it is not permitted, or the file system cannot do it.
    init(root: borrowing Descriptor) throws(Failure) {
        descriptor = Descriptor(owning: try checked(clinux_fanotify()))
        try checked(clinux_fanotify_mark(descriptor.raw, root.raw, Fanotify.mask, 1))
        try checked(clinux_fanotify_mark(descriptor.raw, root.raw, Fanotify.rootMask, 0))
        _ = try Fanotify.handle(of: root)
    }

    func add(_ directory: borrowing Descriptor, isRoot: Bool) throws(Failure) -> WatchNumber {
        let handle = try Fanotify.handle(of: directory)
        return known.withLock { known in
            if let number = known.numbers[handle] { return number }
            known.last = known.last.next
            known.numbers[handle] = known.last
            known.handles[known.last] = handle
            return known.last
        }
    }

    func remove(_ watch: WatchNumber) {
        known.withLock { known in
            guard let handle = known.handles.removeValue(forKey: watch) else { return }
            known.numbers[handle] = nil
        }
    }

    func events(_ buffer: inout [UInt8]) throws(Failure) -> [WatchEvent] {
        let bytes = try descriptor.takeReady(&buffer)
        return known.withLock { known in
            Fanotify.events(in: bytes) { known.numbers[$0] }
        }
    }

    var raw: Int32 { descriptor.raw }

    /// It tells of directories only if it is asked to.
    private static let mask = UInt64(WatchEvent.wanted | IN_ISDIR)
    private static let rootMask = UInt64(WatchEvent.wantedOfRoot | IN_ISDIR)

    // MARK: Bytes

    private static let handleBytesMax = 136

    private static func handle(of directory: borrowing Descriptor) throws(Failure) -> [UInt8] {
        var handle = [UInt8](repeating: 0, count: handleBytesMax)
        let raw = directory.raw
        let count = try checked(
            unsafe handle.withUnsafeMutableBytes { unsafe clinux_handle(raw, $0.baseAddress, $0.count) })
        return Array(handle[..<count])
    }

    /// `number` tells which watch a handle stands for; nil if it is not ours.
    static func events(in bytes: ArraySlice<UInt8>, number: ([UInt8]) -> WatchNumber?) -> [WatchEvent] {
        var events: [WatchEvent] = []
        var rest = bytes
        while rest.count >= eventBytes {
            let length = Int(rest.number(UInt32.self, at: 0))
            guard length >= eventBytes, length <= rest.count else { break }
            let mask = UInt32(truncatingIfNeeded: rest.number(UInt64.self, at: 8))
            let about = rest.prefix(length).dropFirst(Int(rest.number(UInt16.self, at: 6)))
            rest = rest.dropFirst(length)
            if mask & UInt32(IN_Q_OVERFLOW) != 0 {
                events.append(WatchEvent(watch: 0, mask: mask, name: []))
            } else if let (handle, name) = subject(about), let watch = number(handle) {
                events.append(WatchEvent(watch: watch, mask: mask, name: name))
            }
        }
        return events
    }

    private static func subject(_ about: ArraySlice<UInt8>) -> (handle: [UInt8], name: [UInt8])? {
        guard about.count >= handleOffset + 8 else { return nil }
        let length = Int(about.number(UInt16.self, at: 2))
        let end = handleOffset + 8 + Int(about.number(UInt32.self, at: handleOffset))
        guard length <= about.count, end <= length else { return nil }
        let name = about.prefix(length).dropFirst(end).prefix { $0 != 0 }
        let isItself = name.elementsEqual([UInt8(ascii: ".")])
        return (Array(about.prefix(end).dropFirst(handleOffset)), isItself ? [] : Array(name))
    }

    private static let eventBytes = Int(CLINUX_FANOTIFY_EVENT_BYTES)
    private static let handleOffset = Int(CLINUX_FANOTIFY_HANDLE_OFFSET)
}
