/// What the kernel tells of a directory, and how inotify writes it.
import Glibc
import SyncModel

struct WatchEvent: Hashable, Sendable {
    let watch: WatchNumber
    let mask: UInt32
    /// Of the entry in the watched directory; empty for the directory itself.
    let name: [UInt8]

    /// One of these bits is set.
    func has(_ bits: Int32) -> Bool { mask & UInt32(bitPattern: bits) != 0 }

    /// An entry came or went, and not only changed.
    var isAboutName: Bool { has(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO) }

    /// fanotify melts what one process did to one name. What came of that, a look will tell.
    var kind: Notice.Kind {
        if has(IN_DELETE | IN_MOVED_FROM), !has(IN_CREATE | IN_MOVED_TO) { return .gone }
        if has(IN_CLOSE_WRITE) { return .closed }
        return has(IN_MODIFY) ? .writing : .touched
    }

    /// Integers `wd`, `mask`, `cookie`, `len`, then `len` bytes of a name and the zeros that
    /// fill it up. The kernel writes whole events only; what is none is left out.
    static func all(in bytes: ArraySlice<UInt8>) -> [WatchEvent] {
        var events: [WatchEvent] = []
        var rest = bytes
        while rest.count >= headerBytes {
            let length = headerBytes + Int(rest.number(UInt32.self, at: 12))
            guard rest.count >= length else { break }
            events.append(
                WatchEvent(
                    watch: WatchNumber(Int32(bitPattern: rest.number(UInt32.self, at: 0))),
                    mask: rest.number(UInt32.self, at: 4),
                    name: Array(rest.prefix(length).dropFirst(headerBytes).prefix { $0 != 0 })))
            rest = rest.dropFirst(length)
        }
        return events
    }

    private static let headerBytes = 16

    /// What a queue is to tell of the entries of a directory.
    static let wanted =
        IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
    /// And of the root itself. What becomes of the other directories, those tell they lie in.
    static let wantedOfRoot = IN_DELETE_SELF | IN_MOVE_SELF
}

extension ArraySlice<UInt8> {
    /// As the kernel writes it into its events, counted from the beginning of the slice.
    func number<Number: FixedWidthInteger>(_: Number.Type, at offset: Int) -> Number {
        (0..<(Number.bitWidth / 8)).reduce(0) { $0 | Number(self[startIndex + offset + $1]) << Number(8 * $1) }
    }
}
