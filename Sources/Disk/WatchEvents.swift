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
        var start = bytes.startIndex
        while bytes.endIndex - start >= headerBytes {
            let length = Int(word(in: bytes, at: start + 12))
            guard bytes.endIndex - start - headerBytes >= length else { break }
            let name = bytes[(start + headerBytes)..<(start + headerBytes + length)].prefix { $0 != 0 }
            events.append(
                WatchEvent(
                    watch: WatchNumber(bitPattern: word(in: bytes, at: start)), mask: word(in: bytes, at: start + 4),
                    name: Array(name)))
            start += headerBytes + length
        }
        return events
    }

    private static let headerBytes = 16

    private static func word(in bytes: ArraySlice<UInt8>, at index: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[index + $1]) << (8 * UInt32($1)) }
    }
}
