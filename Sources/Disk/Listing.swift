/// The names in a directory, in byte order, packed: a directory of a million files costs some 30 bytes a name and no
/// heap object each.
import CLinux
import Glibc
import SyncModel

struct Listing {
    private struct Entry {
        /// Of the name in `bytes`, which is ended by a zero byte.
        let start: Int
        let count: UInt16
        let kind: UInt8
    }

    private var bytes: [UInt8] = []
    private var entries: [Entry] = []

    /// `directory` is opened for listing and has not been listed yet.
    init(of directory: borrowing Descriptor) throws(Failure) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let raw = directory.raw
        while true {
            let filled = try checked(
                unsafe buffer.withUnsafeMutableBytes { bytes in
                    unsafe clinux_getdents64(raw, bytes.baseAddress, bytes.count)
                })
            if filled == 0 { break }
            take(buffer[..<filled])
        }
        sort()
    }

    var indices: Range<Int> { entries.indices }

    func name(at index: Int) -> ArraySlice<UInt8> {
        let entry = entries[index]
        return bytes[entry.start..<entry.start + Int(entry.count)]
    }

    /// As far as the directory tells: nil if the file has to be asked.
    func isDirectory(at index: Int) -> Bool? {
        switch Int32(entries[index].kind) {
        case Int32(DT_UNKNOWN): nil
        case Int32(DT_DIR): true
        default: false
        }
    }

    /// A look at an entry without a copy of its name.
    func status(at index: Int, in directory: borrowing Descriptor) throws(Failure) -> Status {
        var found = statx()
        let start = entries[index].start
        let raw = directory.raw
        try checked(
            unsafe bytes.withUnsafeBytes { buffer in
                guard let base = buffer.baseAddress else { return -ENOENT }
                let name = unsafe (base + start).assumingMemoryBound(to: CChar.self)
                return unsafe clinux_statx(
                    raw, name, AT_SYMLINK_NOFOLLOW | CLINUX_AT_NO_AUTOMOUNT, Status.mask, &found)
            })
        return Status(found)
    }

    /// The first entry whose name comes after `name`.
    func firstIndex(after name: [UInt8]) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if name.lexicographicallyPrecedes(self.name(at: middle)) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Records as the kernel writes them: a length, a type, a name and zero bytes.
    private mutating func take(_ records: ArraySlice<UInt8>) {
        var record = records.startIndex
        while record < records.endIndex {
            let lengthAt = record + Int(CLINUX_DIRENT_LENGTH_OFFSET)
            let length = Int(records[lengthAt]) | Int(records[lengthAt + 1]) << 8
            let kind = records[record + Int(CLINUX_DIRENT_TYPE_OFFSET)]
            let name = records[(record + Int(CLINUX_DIRENT_NAME_OFFSET))..<(record + length)].prefix { $0 != 0 }
            if !Listing.isDots(name) {
                entries.append(Entry(start: bytes.count, count: UInt16(name.count), kind: kind))
                bytes.append(contentsOf: name)
                bytes.append(0)
            }
            record += length
        }
    }

    private static func isDots(_ name: ArraySlice<UInt8>) -> Bool {
        name.elementsEqual([0x2E]) || name.elementsEqual([0x2E, 0x2E])
    }

    private mutating func sort() {
        let bytes = bytes
        entries.sort { left, right in
            bytes[left.start..<left.start + Int(left.count)]
                .lexicographicallyPrecedes(bytes[right.start..<right.start + Int(right.count)])
        }
    }
}
