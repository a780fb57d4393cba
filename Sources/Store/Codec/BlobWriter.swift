/// Writes the payload of a blob; the format is at the head of `Blob.swift`.
import SyncModel

struct BlobWriter {
    private(set) var bytes: [UInt8] = []
    private var epochs: [Epoch] = []
    private var origins: [Origin] = []
    private var entries: [Entry] = []

    init() {
        bytes.reserveCapacity(192)
    }

    mutating func put(byte: UInt8) { bytes.append(byte) }

    mutating func put(number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func put(signed number: Int64) {
        put(number: UInt64(bitPattern: number << 1 ^ number >> 63))
    }

    mutating func put(count: Int) { put(number: UInt64(count)) }

    mutating func put(fixed number: UInt64, width: Int) {
        for shift in stride(from: (width - 1) * 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }

    mutating func put(_ counted: [UInt8]) {
        put(count: counted.count)
        bytes.append(contentsOf: counted)
    }

    mutating func put(_ path: Path) { put(path.bytes) }

    mutating func put(_ digest: Digest) {
        let (first, second, third, fourth) = digest.words
        put(fixed: first, width: 8)
        put(fixed: second, width: 8)
        put(fixed: third, width: 8)
        put(fixed: fourth, width: 8)
    }

    mutating func put(_ time: Timestamp) {
        put(signed: time.seconds)
        put(fixed: UInt64(time.nanoseconds), width: 4)
    }

    mutating func put(_ code: MessageCode) { put(Array(code.rawValue.utf8)) }

    mutating func put(_ position: LogPosition) {
        if position == .none { return put(byte: 0) }
        if let known = epochs.firstIndex(of: position.epoch) {
            put(count: known + 2)
        } else {
            put(byte: 1)
            put(fixed: position.epoch.raw, width: 8)
            epochs.append(position.epoch)
        }
        put(number: position.seq)
    }

    mutating func put(_ vector: VersionVector) {
        put(vector.own)
        put(vector.peer)
    }

    mutating func put(_ head: LogHead) {
        put(head.position)
        put(head.chain)
    }

    mutating func put(_ origin: Origin) {
        if let known = origins.firstIndex(of: origin) { return put(count: known + 2) }
        put(byte: origin.author.rawValue)
        put(origin.position)
        put(fixed: origin.time.raw, width: 8)
        origins.append(origin)
    }

    mutating func put(_ origins: Origins) {
        put(origins.content)
        put(origins.mode)
        put(origins.time)
    }

    mutating func put(_ entry: Entry) {
        if let known = entries.firstIndex(of: entry) { return put(count: known + 4) }
        switch entry.content {
        case .absent:
            put(byte: 0)
        case .file(let id, let size):
            put(byte: 1)
            put(id.digest)
            put(number: size)
        case .directory:
            put(byte: 2)
        case .symlink(let target):
            put(byte: 3)
            put(target)
        }
        put(number: UInt64(entry.mode))
        put(entry.modified)
        entries.append(entry)
    }
}
