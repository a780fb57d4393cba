import SyncModel

/// What stands at a path, as far as a person would want it back. Two files with the same bytes are one value.
package enum Value: Hashable, Comparable, Sendable {
    case absent
    case directory
    case file(Fingerprint)
    case symlink(Fingerprint)
    /// FIFO, socket, device: the daemon must leave it alone.
    case special

    /// True for what can be lost: the bytes of a file, the target of a symlink.
    package var isContent: Bool {
        switch self {
        case .file, .symlink: true
        case .absent, .directory, .special: false
        }
    }

    /// A file without any bytes, which is the same wherever it is.
    package var isEmpty: Bool { if case .file(let print) = self { print.size == 0 } else { false } }

    package static func file(_ bytes: [UInt8]) -> Value { .file(Fingerprint(of: bytes)) }
    package static func symlink(to target: [UInt8]) -> Value { .symlink(Fingerprint(of: target)) }
}

extension Value: CustomStringConvertible {
    package var description: String {
        switch self {
        case .absent: "nothing"
        case .directory: "a directory"
        case .file(let print): "file \(print)"
        case .symlink(let print): "symlink \(print)"
        case .special: "a special file"
        }
    }
}

/// Bytes by their length and 64 bits of them: the simulator compares millions of contents and has no enemy who would
/// look for two with the same number. Independent of the product's digests on purpose: a wrong digest must show.
package struct Fingerprint: Hashable, Comparable, Sendable {
    package let size: Int
    package let hash: UInt64

    package init(of bytes: [UInt8]) {
        size = bytes.count
        var state: UInt64 = 0x2545_F491_4F6C_DD1D ^ UInt64(bytes.count)
        let rest = bytes.forEachWord { state = Fingerprint.mixed(state, $0) }
        hash = Fingerprint.mixed(state, rest)
    }

    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
        return product ^ (product >> 31)
    }

    package static func < (left: Fingerprint, right: Fingerprint) -> Bool {
        left.hash == right.hash ? left.size < right.size : left.hash < right.hash
    }
}

extension Fingerprint: CustomStringConvertible {
    package var description: String { "\(String(hash, radix: 16))/\(size)" }
}
