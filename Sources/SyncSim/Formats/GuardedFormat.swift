import SyncModel

/// The four ways in which a file can keep the version of its format: what programs write, and what anybody reads in it.
/// Written apart from the production code, so that a mistake there is not repeated here.
enum GuardedFormat: Int, CaseIterable, Sendable {
    case project
    case catalog
    case container
    case notes

    private var suffix: String {
        switch self {
        case .project: ".proj.json"
        case .catalog: ".db"
        case .container: ".box"
        case .notes: ".note"
        }
    }

    private var version: String {
        switch self {
        case .project: #"{"json": "/version"}"#
        case .catalog: #"{"sqlite": "user_version"}"#
        case .container: #"{"bytes": {"offset": 8, "length": 4, "endian": "big"}}"#
        case .notes: #"{"regex": "^%NOTE-([0-9]+)"}"#
        }
    }

    /// The rules of a machine whose programs understand everything up to a version.
    static func rules(upTo highest: UInt32) -> String {
        let rules = allCases.map { format in
            #"{"name": "\#(format)", "files": "*\#(format.suffix)", "version": \#(format.version), "#
                + #""supports": [1, \#(highest)]}"#
        }
        return #"{"model": "scene", "formats": [\#(rules.joined(separator: ", "))]}"#
    }

    /// Of a path that is guarded; nil for all others, conflict copies among them.
    static func of(_ path: Path) -> GuardedFormat? {
        guard ConflictFamily.base(of: path) == nil else { return nil }
        return reading(path)
    }

    /// By which the file is read: that of the original for a conflict copy.
    static func reading(_ path: Path) -> GuardedFormat? {
        guard let name = ConflictFamily.head(of: path).name?.bytes else { return nil }
        return allCases.first { name.suffix($0.suffix.utf8.count).elementsEqual($0.suffix.utf8) }
    }

    func path(_ directory: Path, _ stem: String) -> Path {
        guard let name = Name(stem + suffix) else { return directory }
        return directory.appending(name)
    }
}

/// What a file says of its version, from the oldest to the newest.
enum FormatAge: Hashable, Comparable, Sendable {
    case broken
    /// 0 where the file says none and need not.
    case version(UInt32)
    case unknown
}

// MARK: What programs write

extension GuardedFormat {
    /// A state that nobody else writes: `token` tells it from all others.
    func bytes(_ version: UInt32, _ token: String) -> [UInt8] {
        bytes("\(version)", GuardedFormat.field(version), token)
    }

    /// What stands where the version belongs is none.
    func unknownBytes(_ token: String) -> [UInt8] {
        bytes(["-1", "1.5", #""two""#, "0", "5000000000"][token.utf8.count % 5], [0, 0, 0, 0], token)
    }

    private func bytes(_ text: String, _ field: [UInt8], _ token: String) -> [UInt8] {
        switch self {
        case .project: return Array(#"{"version": \#(text), "t": "\#(token)"}"#.utf8)
        case .catalog:
            let zeros = [UInt8](repeating: 0, count: 44)
            return GuardedFormat.magic + zeros + field + zeros.prefix(36) + Array(token.utf8)
        case .container: return Array("CONTAIN:".utf8) + field + Array(token.utf8)
        case .notes: return Array("%NOTE-\(text)\n\(token)".utf8)
        }
    }

    /// A file as the first programs wrote it, which knew of no versions.
    func legacyBytes(_ token: String) -> [UInt8] {
        switch self {
        case .project: Array(#"{"t": "\#(token)"}"#.utf8)
        case .catalog: bytes("", [0, 0, 0, 0], token)
        case .container, .notes: bytes(1, token)
        }
    }

    /// The program that wrote it did not get to the end, or it was another program. (Where any bytes have a version, or none,
    /// only an empty file is broken.)
    func brokenBytes(_ version: UInt32, _ token: String) -> [UInt8] {
        switch self {
        case .project: bytes(version, token).dropLast(2)
        case .catalog: Array("not a database: \(token)".utf8)
        case .container: Array("CONT\(token.suffix(3))".utf8)
        case .notes: []
        }
    }

    private static func field(_ version: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(version >> $0 & 0xFF) } }

    private static let magic = Array("SQLite format 3\0".utf8)
}

// MARK: What anybody reads

extension GuardedFormat {
    func age(of bytes: [UInt8]) -> FormatAge {
        if bytes.isEmpty { return .broken }
        switch self {
        case .project: return GuardedFormat.projectAge(bytes)
        case .catalog:
            guard bytes.count >= 100, bytes.starts(with: GuardedFormat.magic) else { return .broken }
            return .version(GuardedFormat.number(bytes[60..<64]))
        case .container:
            guard bytes.count >= 12 else { return .broken }
            let number = GuardedFormat.number(bytes[8..<12])
            return number == 0 ? .unknown : .version(number)
        case .notes:
            guard bytes.starts(with: "%NOTE-".utf8) else { return .unknown }
            return GuardedFormat.age(ofDigits: bytes.dropFirst(6).prefix { (0x30...0x39).contains($0) })
        }
    }

    /// Of the texts that are written here, and no others: `{`, a version or none, a text without quotes, `}`.
    private static func projectAge(_ bytes: [UInt8]) -> FormatAge {
        var rest = bytes[...]
        func take(_ text: String) -> Bool {
            guard rest.starts(with: text.utf8) else { return false }
            rest = rest.dropFirst(text.utf8.count)
            return true
        }
        guard take("{") else { return .broken }
        var age = FormatAge.version(0)
        if take(#""version": "#) {
            let value = rest.prefix { $0 != 0x2C }
            rest = rest.dropFirst(value.count)
            age = self.age(ofDigits: value)
            guard take(", ") else { return .broken }
        }
        guard take(#""t": ""#) else { return .broken }
        let text = rest.prefix { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }
        return rest.dropFirst(text.count).elementsEqual(#""}"#.utf8) ? age : .broken
    }

    private static func age(ofDigits digits: ArraySlice<UInt8>) -> FormatAge {
        guard !digits.isEmpty, digits.count <= 10, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return .unknown
        }
        let number = digits.reduce(UInt64(0)) { $0 * 10 + UInt64($1 - 0x30) }
        return number >= 1 && number <= UInt64(UInt32.max) ? .version(UInt32(number)) : .unknown
    }

    private static func number(_ field: ArraySlice<UInt8>) -> UInt32 { field.reduce(0) { $0 << 8 | UInt32($1) } }
}
