public import SyncModel

/// What the header of a guarded file says, with what a person wants to know of it.
public enum FormatHeader: Hashable, Sendable {
    case zeroLength
    case corrupt(reason: String, offset: Int)
    /// 0 where the file does not say it.
    case version(UInt32)
    /// What stands there instead, as far as it is shown.
    case unknown(found: [UInt8])

    public var reading: FormatReading {
        switch self {
        case .zeroLength: .zeroLength
        case .corrupt: .corrupt
        case .version(let number): .version(number)
        case .unknown: .unknown
        }
    }
}

/// Where a format keeps its version. Total: any bytes give a header.
enum FormatDetector: Hashable, Sendable {
    /// A number at a JSON pointer. The whole text must be JSON.
    case json(JSONPointer)
    /// `user_version` in the header of an SQLite file, which is not opened as a database.
    case sqliteUserVersion
    case bytes(offset: Int, length: Int, isBigEndian: Bool)
    case regex(ByteRegex, text: [UInt8])
    /// As a later program knows it.
    case later

    /// A longer JSON text is not looked into.
    static let jsonBytesMax = 16 << 20
    /// Behind this no header rule looks.
    static let headerBytesMax = 64 << 10
    private static let shownBytesMax = 64

    /// How much of a file has to be read.
    func bytesNeeded(of size: UInt64) -> Int {
        let most =
            switch self {
            case .json: FormatDetector.jsonBytesMax
            case .sqliteUserVersion: FormatDetector.sqliteHeaderBytes
            case .bytes(let offset, let length, _): offset + length
            case .regex: FormatDetector.headerBytesMax
            case .later: 1
            }
        return Int(min(size, UInt64(most)))
    }

    func header(of bytes: [UInt8], size: UInt64) -> FormatHeader {
        if size == 0 { return .zeroLength }
        switch self {
        case .json(let pointer): return FormatDetector.json(bytes, size, at: pointer)
        case .sqliteUserVersion: return FormatDetector.sqlite(bytes)
        case .bytes(let offset, let length, let isBigEndian):
            guard bytes.count >= offset + length else {
                return .corrupt(
                    reason: "the file ends at byte \(size), before the version at \(offset)", offset: bytes.count)
            }
            let field = bytes[offset..<(offset + length)]
            return FormatDetector.version(isBigEndian ? Array(field) : field.reversed())
        case .regex(let regex, _):
            guard let digits = regex.capture(in: bytes) else {
                return .unknown(found: FormatDetector.shown(bytes.prefix(FormatDetector.shownBytesMax)))
            }
            return FormatDetector.version(decimal: digits)
        case .later: return .unknown(found: Array("what a format rule of a later syncd looks for".utf8))
        }
    }

    private static func json(_ bytes: [UInt8], _ size: UInt64, at pointer: JSONPointer) -> FormatHeader {
        guard size <= UInt64(jsonBytesMax) else {
            return .unknown(found: Array("more than \(jsonBytesMax >> 20) MiB of JSON".utf8))
        }
        do throws(JSONFault) {
            let document = try JSONDocument(parsing: bytes)
            guard let place = document.place(at: pointer) else { return .version(0) }
            guard document.kind(of: place) == .number else { return .unknown(found: shown(document.text(of: place))) }
            return version(decimal: document.text(of: place))
        } catch {
            return .corrupt(reason: error.reason, offset: error.offset)
        }
    }

    private static let sqliteHeaderBytes = 100
    private static let sqliteMagic = Array("SQLite format 3\0".utf8)
    private static let sqliteVersionOffset = 60

    private static func sqlite(_ bytes: [UInt8]) -> FormatHeader {
        guard bytes.starts(with: sqliteMagic) else {
            let offset = zip(bytes, sqliteMagic).enumerated().first { $0.element.0 != $0.element.1 }?.offset
            return .corrupt(reason: "this is no SQLite database", offset: offset ?? bytes.count)
        }
        guard bytes.count >= sqliteHeaderBytes else {
            return .corrupt(reason: "the header of the database is cut off", offset: bytes.count)
        }
        let field = Array(bytes[sqliteVersionOffset..<(sqliteVersionOffset + 4)])
        // SQLite's own word for "nobody has set one".
        return field.allSatisfy { $0 == 0 } ? .version(0) : version(field)
    }

    /// Most significant byte first. 0 is no version where there is a place for one.
    private static func version(_ field: [UInt8]) -> FormatHeader {
        var number: UInt64 = 0
        for byte in field { number = number << 8 | UInt64(byte) }
        return version(number) ?? .unknown(found: Array(String(number).utf8))
    }

    private static func version(decimal digits: ArraySlice<UInt8>) -> FormatHeader {
        var number: UInt64 = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit), number <= versionMax else { return .unknown(found: shown(digits)) }
            number = number * 10 + UInt64(digit - 0x30)
        }
        return digits.isEmpty ? .unknown(found: []) : version(number) ?? .unknown(found: shown(digits))
    }

    private static let versionMax = UInt64(UInt32.max)

    private static func version(_ number: UInt64) -> FormatHeader? {
        number >= 1 && number <= versionMax ? .version(UInt32(number)) : nil
    }

    private static func shown(_ bytes: ArraySlice<UInt8>) -> [UInt8] { Array(bytes.prefix(shownBytesMax)) }
}

extension FormatDetector: CustomStringConvertible {
    /// Different for detectors that may read a file differently.
    var description: String {
        switch self {
        case .json(let pointer): "json \(pointer)"
        case .sqliteUserVersion: "sqlite user_version"
        case .bytes(let offset, let length, let isBigEndian):
            "bytes \(offset) \(length) \(isBigEndian ? "big" : "little")"
        case .regex(_, let text): "regex \(Path.escape(text))"
        case .later: "later"
        }
    }
}
