/// What is asked of a JSON text beyond RFC 8259, and how a text that does not keep to it is told.
import SyncModel

public struct JSONRules: Hashable, Sendable {
    public var bytesMax = Limits.jsonBytesMax
    public var depthMax = Limits.jsonDepthMax
    /// The standard leaves open what a key that comes twice means; a merge cannot.
    public var allowsDuplicateKeys = false

    public init() {}
}

/// Why a text is not taken, and where.
public struct JSONFault: Error, Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case notJSON, notUTF8, loneSurrogate, duplicateKey, tooDeep, tooLarge
    }

    public let kind: Kind
    /// In bytes from the beginning.
    public let offset: Int
    /// From 1. Columns count characters as an editor does: Unicode scalars since the last line feed.
    public let line: Int
    public let column: Int
    /// What was expected there, or what is not allowed.
    public let reason: String

    init(_ kind: Kind, at offset: Int, of bytes: [UInt8], _ reason: String) {
        self.kind = kind
        self.offset = offset
        self.reason = reason
        let before = bytes[..<min(offset, bytes.count)]
        let lineStart = before.lastIndex(of: JSONByte.lineFeed).map { $0 + 1 } ?? 0
        line = 1 + before.count { $0 == JSONByte.lineFeed }
        column = 1 + before[lineStart...].count { $0 & 0xC0 != 0x80 }
    }
}

extension JSONFault: CustomStringConvertible {
    public var description: String { "line \(line), column \(column) (byte \(offset)): \(reason)" }
}

/// Bytes with a meaning in JSON.
enum JSONByte {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let comma = UInt8(ascii: ",")
    static let colon = UInt8(ascii: ":")

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == space || byte == lineFeed || byte == carriageReturn || byte == tab
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}
