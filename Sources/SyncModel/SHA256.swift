/// SHA-256 (FIPS 180-4) in plain Swift, so that the core and the simulator can name content without a C library.
/// Disk workers hash with OpenSSL through `Crypto`; both give the same `Digest`.

/// Feed bytes with `update`, then ask `finish`. A copy continues on its own: hash a common prefix once.
public struct SHA256: Sendable {
    /// This, or another that gives the same and uses what the processor has for it.
    public typealias Function = @Sendable ([UInt8]) -> Digest

    /// The chaining state a…h.
    private var state: SIMD8<UInt32> = [
        0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
    ]
    /// Bytes that do not fill a block yet; the first `pendingCount` are valid.
    private var pending = [64 of UInt8](repeating: 0)
    private var pendingCount = 0
    private var totalBytes: UInt64 = 0

    public init() {}

    public static func digest(of bytes: [UInt8]) -> Digest {
        var hasher = SHA256()
        hasher.update(bytes.span)
        return hasher.finish()
    }

    public mutating func update(_ bytes: [UInt8]) {
        update(bytes.span)
    }

    public mutating func update(_ bytes: ArraySlice<UInt8>) {
        update(bytes.span)
    }

    public mutating func update(_ bytes: borrowing Span<UInt8>) {
        totalBytes &+= UInt64(bytes.count)
        var offset = 0
        if pendingCount > 0 {
            while pendingCount < 64, offset < bytes.count {
                pending[pendingCount] = bytes[offset]
                pendingCount += 1
                offset += 1
            }
            guard pendingCount == 64 else { return }
            SHA256.compress(pending.span, at: 0, into: &state)
            pendingCount = 0
        }
        while bytes.count - offset >= 64 {
            SHA256.compress(bytes, at: offset, into: &state)
            offset += 64
        }
        while offset < bytes.count {
            pending[pendingCount] = bytes[offset]
            pendingCount += 1
            offset += 1
        }
    }

    /// The 32 bytes of another digest, without an array in between.
    public mutating func update(_ digest: Digest) {
        update(bigEndian: digest.words.0)
        update(bigEndian: digest.words.1)
        update(bigEndian: digest.words.2)
        update(bigEndian: digest.words.3)
    }

    public mutating func update(bigEndian number: UInt64) {
        update(bigEndian: UInt32(truncatingIfNeeded: number &>> 32))
        update(bigEndian: UInt32(truncatingIfNeeded: number))
    }

    public mutating func update(bigEndian number: UInt32) {
        let bytes: [4 of UInt8] = [
            UInt8(truncatingIfNeeded: number &>> 24), UInt8(truncatingIfNeeded: number &>> 16),
            UInt8(truncatingIfNeeded: number &>> 8), UInt8(truncatingIfNeeded: number),
        ]
        update(bytes.span)
    }

    /// The digest of everything fed so far. The hasher itself is not changed and may be fed further.
    public func finish() -> Digest {
        var last = self
        last.pad()
        return Digest(words: (last.pair(0), last.pair(2), last.pair(4), last.pair(6)))
    }

    /// One 1 bit, zeros, and the length in bits as 64 big-endian bits at the end of the last block.
    private mutating func pad() {
        pending[pendingCount] = 0x80
        var index = pendingCount + 1
        if index > 56 {
            while index < 64 {
                pending[index] = 0
                index += 1
            }
            SHA256.compress(pending.span, at: 0, into: &state)
            index = 0
        }
        while index < 56 {
            pending[index] = 0
            index += 1
        }
        let bits = totalBytes &<< 3
        while index < 64 {
            pending[index] = UInt8(truncatingIfNeeded: bits &>> UInt64(8 * (63 - index)))
            index += 1
        }
        SHA256.compress(pending.span, at: 0, into: &state)
    }

    private func pair(_ index: Int) -> UInt64 {
        UInt64(state[index]) &<< 32 | UInt64(state[index + 1])
    }

    /// Sixty-four rounds over the block at `offset`. The message schedule is kept as a ring of 16 words, and eight
    /// rounds are written out so that the working variables change places by name instead of being moved.
    private static func compress(_ bytes: borrowing Span<UInt8>, at offset: Int, into state: inout SIMD8<UInt32>) {
        precondition(offset >= 0 && offset <= bytes.count - 64, "a block is 64 bytes")
        var schedule = [16 of UInt32](repeating: 0)
        for index in 0..<16 {
            let at = offset &+ index &* 4
            schedule[index] =
                UInt32(bytes[at]) &<< 24 | UInt32(bytes[at &+ 1]) &<< 16 | UInt32(bytes[at &+ 2]) &<< 8
                | UInt32(bytes[at &+ 3])
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        var index = 0
        while index < 64 {
            if index >= 16 { extend(&schedule, from: index) }
            round(a, b, c, &d, e, f, g, &h, schedule[index & 15], roundConstants[index])
            round(h, a, b, &c, d, e, f, &g, schedule[(index + 1) & 15], roundConstants[index + 1])
            round(g, h, a, &b, c, d, e, &f, schedule[(index + 2) & 15], roundConstants[index + 2])
            round(f, g, h, &a, b, c, d, &e, schedule[(index + 3) & 15], roundConstants[index + 3])
            round(e, f, g, &h, a, b, c, &d, schedule[(index + 4) & 15], roundConstants[index + 4])
            round(d, e, f, &g, h, a, b, &c, schedule[(index + 5) & 15], roundConstants[index + 5])
            round(c, d, e, &f, g, h, a, &b, schedule[(index + 6) & 15], roundConstants[index + 6])
            round(b, c, d, &e, f, g, h, &a, schedule[(index + 7) & 15], roundConstants[index + 7])
            index += 8
        }
        state = state &+ SIMD8(a, b, c, d, e, f, g, h)
    }

    /// The next eight words of the schedule; written out, as the loop costs a tenth of the speed.
    @inline(__always)
    private static func extend(_ words: inout [16 of UInt32], from index: Int) {
        extendOne(&words, at: index)
        extendOne(&words, at: index &+ 1)
        extendOne(&words, at: index &+ 2)
        extendOne(&words, at: index &+ 3)
        extendOne(&words, at: index &+ 4)
        extendOne(&words, at: index &+ 5)
        extendOne(&words, at: index &+ 6)
        extendOne(&words, at: index &+ 7)
    }

    /// From the words 16, 15, 7 and 2 places before.
    @inline(__always)
    private static func extendOne(_ words: inout [16 of UInt32], at index: Int) {
        let before15 = words[(index &- 15) & 15]
        let before2 = words[(index &- 2) & 15]
        let sigma0 = rotated(before15, 7) ^ rotated(before15, 18) ^ (before15 &>> 3)
        let sigma1 = rotated(before2, 17) ^ rotated(before2, 19) ^ (before2 &>> 10)
        words[index & 15] = words[index & 15] &+ sigma0 &+ words[(index &- 7) & 15] &+ sigma1
    }

    @inline(__always)
    private static func round(
        _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32,
        _ h: inout UInt32, _ word: UInt32, _ constant: UInt32
    ) {
        let choice = g ^ (e & (f ^ g))
        let majority = (a & b) | (c & (a | b))
        let first = h &+ constant &+ word &+ choice &+ (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25))
        d = d &+ first
        h = first &+ majority &+ (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22))
    }

    @inline(__always)
    private static func rotated(_ word: UInt32, _ places: UInt32) -> UInt32 {
        (word &>> places) | (word &<< (32 &- places))
    }
}

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
private let roundConstants: [64 of UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
]
