/// One machine's talk with its disk in the protocol of network block devices, the server's end: bytes come in, bytes go out. As much of it as
/// qemu speaks: the fixed newstyle handshake with one export of any name, simple replies, reads, writes, flushes, force unit access.
/// What is not offered (trim, zeroes, structured replies) is refused, and clients do without. Numbers are big-endian.
///
///     server: NBDMAGIC IHAVEOPT flags:2          client: flags:4
///     client: IHAVEOPT option:4 length:4 data    server: magic:8 option:4 reply:4 length:4 data
///     client: magic:4 flags:2 type:2 cookie:8 offset:8 length:4 data      server: magic:4 error:4 cookie:8 data
struct Conversation<M: Medium> {
    /// How a talk ends: as agreed, or because what came is no part of the protocol. A machine that loses its power says nothing.
    enum End: Equatable { case agreed, nonsense }

    private enum Phase { case flags, options, requests }

    /// The client may ask for more at once, and is refused.
    static var requestBytesMax: Int { 32 << 20 }
    static var optionBytesMax: Int { 4096 }
    /// What the server says before anything is asked: fixed newstyle, no zeroes after an old export.
    static var greeting: [UInt8] { Array("NBDMAGICIHAVEOPT".utf8) + bigEndian(UInt16(3)) }

    var disk: VolatileDisk<M>
    private(set) var end: End?
    private var phase = Phase.flags
    private var withoutZeroes = false
    private var input: [UInt8] = []

    init(disk: VolatileDisk<M>) {
        self.disk = disk
    }

    /// What came, in pieces of any size; the answer is what is to be sent. After the end nothing more is heard.
    mutating func hear(_ bytes: [UInt8]) -> [UInt8] {
        input += bytes
        var reader = Reader(bytes: input)
        var answer: [UInt8] = []
        while end == nil {
            let start = reader.position
            let isWhole =
                switch phase {
                case .flags: hearFlags(&reader)
                case .options: hearOption(&reader, into: &answer)
                case .requests: hearRequest(&reader, into: &answer)
                }
            if !isWhole {
                reader.position = start
                break
            }
        }
        input.removeFirst(reader.position)
        return answer
    }

    // MARK: The handshake

    private mutating func hearFlags(_ reader: inout Reader) -> Bool {
        guard let flags = reader.number(4) else { return false }
        withoutZeroes = flags & 2 != 0
        if flags & ~3 != 0 { end = .nonsense } else { phase = .options }
        return true
    }

    private mutating func hearOption(_ reader: inout Reader, into answer: inout [UInt8]) -> Bool {
        guard let magic = reader.number(8), let option = reader.number(4), let length = reader.number(4) else {
            return false
        }
        guard magic == 0x4948_4156_454F_5054, length <= Self.optionBytesMax else {
            end = .nonsense
            return true
        }
        guard reader.bytes(length) != nil else { return false }
        func reply(_ kind: UInt32, _ data: [UInt8] = []) {
            answer += bigEndian(UInt64(0x3_E889_0455_65A9)) + bigEndian(UInt32(truncatingIfNeeded: option))
            answer += bigEndian(kind) + bigEndian(UInt32(data.count)) + data
        }
        switch option {
        case 1:  // the old way to choose an export: no reply can refuse
            answer += export + (withoutZeroes ? [] : [UInt8](repeating: 0, count: 124))
            phase = .requests
        case 2:  // leave
            reply(1)
            end = .agreed
        case 6, 7:  // tell of the export; tell and go
            reply(3, bigEndian(UInt16(0)) + export)
            reply(1)
            if option == 7 { phase = .requests }
        default: reply(0x8000_0001)
        }
        return true
    }

    /// Its size, and that it has flags, flushes and forces unit access.
    private var export: [UInt8] { bigEndian(UInt64(disk.size)) + bigEndian(UInt16(1 | 4 | 8)) }

    // MARK: Requests

    private mutating func hearRequest(_ reader: inout Reader, into answer: inout [UInt8]) -> Bool {
        guard let magic = reader.number(4), let flags = reader.number(2), let type = reader.number(2),
            let cookie = reader.bytes(8), let place = reader.bytes(8), let length = reader.number(4)
        else { return false }
        var data: [UInt8] = []
        if type == 1 {
            guard length <= Self.requestBytesMax else {
                end = .nonsense
                return true
            }
            guard let written = reader.bytes(length) else { return false }
            data = written
        }
        if magic != 0x2560_9513 {
            end = .nonsense
        } else if type == 2 {
            end = .agreed
        } else {
            let (error, read) = perform(type, offset: offset(place), length: length, data: data, flags: flags)
            answer += bigEndian(UInt32(0x6744_6698)) + bigEndian(error) + cookie + read
        }
        return true
    }

    /// Nil if no disk is that large.
    private func offset(_ bytes: [UInt8]) -> Int? {
        Int(exactly: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    private mutating func perform(_ type: Int, offset: Int?, length: Int, data: [UInt8], flags: Int) -> (
        UInt32, [UInt8]
    ) {
        let (invalid, full) = (UInt32(22), UInt32(28))
        let place = offset.flatMap { $0 <= disk.size && length <= disk.size - $0 ? $0 : nil }
        do throws(MediumError) {
            switch type {
            case 0:
                guard let place, length <= Self.requestBytesMax else { return (invalid, []) }
                return (0, try disk.read(at: place, count: length))
            case 1:
                guard let place else { return (full, []) }
                try disk.write(data, at: place, durably: flags & 1 != 0)
            case 3: try disk.flush()
            default: return (invalid, [])
            }
            return (0, [])
        } catch {
            return (UInt32(bitPattern: error.number), [])
        }
    }
}

/// Takes fields off the front of what has come so far; nil where it ends too early.
private struct Reader {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard count <= bytes.count - position else { return nil }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    /// At most seven bytes fit for certain; of eight the protocol's magic does.
    mutating func number(_ count: Int) -> Int? {
        bytes(count).map { $0.reduce(0) { $0 << 8 | Int($1) } }
    }
}

func bigEndian<N: FixedWidthInteger>(_ number: N) -> [UInt8] {
    (0..<N.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
}
