import SyncModel
import Testing

@testable import rigdisk

/// The bytes between a machine and its disk, both ways.
struct ConversationTests {
    typealias Memory = VolatileDiskTests.Memory
    typealias Talk = Conversation<Memory>

    static func talk(sectors: Int = 4) -> Talk { Talk(disk: VolatileDisk(medium: Memory(sectors: sectors))) }

    static func option(_ number: UInt32, _ data: [UInt8] = []) -> [UInt8] {
        Array("IHAVEOPT".utf8) + bigEndian(number) + bigEndian(UInt32(data.count)) + data
    }

    static func reply(to option: UInt32, _ kind: UInt32, _ data: [UInt8] = []) -> [UInt8] {
        [0, 3, 0xE8, 0x89, 4, 0x55, 0x65, 0xA9] + bigEndian(option) + bigEndian(kind) + bigEndian(UInt32(data.count))
            + data
    }

    static func request(
        _ type: UInt16, at offset: UInt64 = 0, count: UInt32 = 0, flags: UInt16 = 0, cookie: UInt64 = 7,
        _ data: [UInt8] = []
    ) -> [UInt8] {
        [0x25, 0x60, 0x95, 0x13] + bigEndian(flags) + bigEndian(type) + bigEndian(cookie) + bigEndian(offset)
            + bigEndian(data.isEmpty ? count : UInt32(data.count)) + data
    }

    static func answer(_ error: UInt32 = 0, cookie: UInt64 = 7, _ data: [UInt8] = []) -> [UInt8] {
        [0x67, 0x44, 0x66, 0x98] + bigEndian(error) + bigEndian(cookie) + data
    }

    /// As qemu begins: no zeroes, then go.
    static let flags = bigEndian(UInt32(3))
    static let go = option(7, bigEndian(UInt32(0)) + bigEndian(UInt16(0)))
    static func ready(sectors: Int = 4) -> Talk {
        var talk = talk(sectors: sectors)
        _ = talk.hear(flags + go)
        return talk
    }

    @Test("the greeting is that of the fixed newstyle") func greeting() {
        #expect(Talk.greeting == Array("NBDMAGICIHAVEOPT".utf8) + [0, 3])
    }

    @Test("options: the export is told, what is not offered is refused, and the talk goes on") func options() {
        var talk = Self.talk()
        let export = bigEndian(UInt64(2048)) + bigEndian(UInt16(13))
        #expect(talk.hear(Self.flags).isEmpty)
        for refused: UInt32 in [3, 5, 8, 9, 10, 77] {
            #expect(talk.hear(Self.option(refused, [1, 2])) == Self.reply(to: refused, 0x8000_0001))
        }
        let info = bigEndian(UInt16(0)) + export
        #expect(talk.hear(Self.option(6)) == Self.reply(to: 6, 3, info) + Self.reply(to: 6, 1))
        #expect(talk.hear(Self.go) == Self.reply(to: 7, 3, info) + Self.reply(to: 7, 1))
        #expect(talk.hear(Self.request(3)) == Self.answer())
        #expect(talk.end == nil)
    }

    @Test(
        "the old way to choose an export: its zeroes are sent unless the client does without",
        arguments: [UInt32(1), 3])
    func oldExport(flags: UInt32) {
        var talk = Self.talk()
        let export = bigEndian(UInt64(2048)) + bigEndian(UInt16(13))
        let zeroes = [UInt8](repeating: 0, count: flags == 1 ? 124 : 0)
        #expect(talk.hear(bigEndian(flags) + Self.option(1, Array("any".utf8))) == export + zeroes)
        #expect(talk.hear(Self.request(3)) == Self.answer())
    }

    @Test("who leaves is answered and not heard any more") func leaving() {
        var talk = Self.talk()
        #expect(talk.hear(Self.flags + Self.option(2) + Self.go) == Self.reply(to: 2, 1))
        #expect(talk.end == .agreed)
        var other = Self.ready()
        #expect(other.hear(Self.request(2) + Self.request(3)).isEmpty)
        #expect(other.end == .agreed)
    }

    @Test("what is no part of the protocol ends the talk") func nonsense() {
        let hugeWrite = Array(Self.request(1, count: 32 << 20 + 1))
        let wrong: [[UInt8]] = [
            bigEndian(UInt32(4)), Self.flags + [UInt8](repeating: 9, count: 16),
            Self.flags + Array("IHAVEOPT".utf8) + bigEndian(UInt32(7)) + bigEndian(UInt32(4097)),
            Self.flags + Self.go + [UInt8](repeating: 9, count: 28), Self.flags + Self.go + hugeWrite,
        ]
        for bytes in wrong {
            var talk = Self.talk()
            _ = talk.hear(bytes)
            #expect(talk.end == .nonsense)
        }
    }

    @Test("what was written is read again, in pieces of any size", arguments: [1, 2, 7, 28, 500, 10_000])
    func pieces(size: Int) {
        var talk = Self.talk()
        let data = [UInt8]((0..<1024).map { UInt8(truncatingIfNeeded: $0 / 3) })
        let all =
            Self.flags + Self.go + Self.request(1, at: 512, cookie: 1, data) + Self.request(3, cookie: 2)
            + Self.request(0, at: 500, count: 40, cookie: 3) + Self.request(2)
        var answer: [UInt8] = []
        for start in stride(from: 0, to: all.count, by: size) {
            answer += talk.hear(Array(all[start..<min(start + size, all.count)]))
        }
        let read = [UInt8](repeating: 0, count: 12) + data.prefix(28)
        let expected = Self.answer(cookie: 1) + Self.answer(cookie: 2) + Self.answer(cookie: 3, read)
        #expect(Array(answer.suffix(expected.count)) == expected)
        #expect(talk.end == .agreed)
    }

    @Test("nothing is read or written beyond the end, and the refused write is not there") func bounds() {
        var talk = Self.ready()
        let far: [(UInt64, UInt32)] = [(2048, 1), (2047, 2), (0, 2049), (1 << 63, 1), (.max, 1), (.max - 3, 4)]
        for (offset, count) in far {
            #expect(talk.hear(Self.request(0, at: offset, count: count)) == Self.answer(22))
            let data = [UInt8](repeating: 5, count: Int(count))
            #expect(talk.hear(Self.request(1, at: offset, data)) == Self.answer(28))
        }
        #expect(talk.hear(Self.request(0, at: 2047, count: 1)) == Self.answer(0, [0]))
        #expect(talk.hear(Self.request(0, at: 2048)) == Self.answer())
        #expect(talk.hear(Self.request(0, count: .max)) == Self.answer(22))
        for type: UInt16 in [4, 5, 6, 7, 99] { #expect(talk.hear(Self.request(type, count: 512)) == Self.answer(22)) }
        #expect(talk.end == nil)
    }

    @Test("flush and forced writes reach the medium before they are answered, others do not") func durable() {
        var talk = Self.ready()
        #expect(talk.hear(Self.request(1, at: 0, [1])) == Self.answer() && talk.disk.medium.bytes[0] == 0)
        #expect(talk.hear(Self.request(3)) == Self.answer() && talk.disk.medium.bytes[0] == 1)
        #expect(talk.hear(Self.request(1, at: 9, flags: 1, [2])) == Self.answer() && talk.disk.medium.bytes[9] == 2)
    }

    @Test("a medium that fails is told as such") func failing() {
        var memory = Memory(sectors: 1)
        memory.isBroken = true
        var talk = Talk(disk: VolatileDisk(medium: memory))
        _ = talk.hear(Self.flags + Self.go + Self.request(1, [1]))
        #expect(talk.hear(Self.request(3)) == Self.answer(5) && talk.hear(Self.request(0, count: 1)) == Self.answer(5))
    }
}
