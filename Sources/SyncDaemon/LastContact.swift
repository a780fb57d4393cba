import SyncModel

/// When the peer was last heard of, and the version of its program: what a process says of it that has not met it yet.
struct LastContact: Hashable, Sendable {
    var wallMilliseconds: Int64
    /// As it said when it last connected; empty before.
    var program: [UInt8]

    /// The text for people; nil if there is none.
    static func text(of program: [UInt8]) -> String? {
        program.isEmpty ? nil : String(decoding: program, as: UTF8.self)
    }
}

// MARK: On disk

/// Version 1, numbers big-endian: `1 version · 8 wall milliseconds · 4 length, program`.
extension LastContact {
    private static let version: UInt8 = 1

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.put(LastContact.version)
        writer.put(wallMilliseconds)
        writer.putCounted(program)
        return writer.bytes
    }

    /// What cannot be read counts as nothing: it is only told to people.
    init?(encoded bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard reader.byte() == LastContact.version, let time = reader.uint64(),
            let program = reader.counted(max: Limits.programBytesMax)
        else { return nil }
        self.init(wallMilliseconds: Int64(bitPattern: time), program: program)
    }
}
