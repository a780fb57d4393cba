/// A place in a JSON document by its keys and indices (RFC 6901): `/friends/0/name`. The empty pointer is the whole.
public struct JSONPointer: Hashable, Sendable {
    /// Keys without escapes, as bytes: two spellings of one letter are two keys.
    public let tokens: [[UInt8]]

    public static let root = JSONPointer(tokens: [])

    public init(tokens: [[UInt8]]) {
        self.tokens = tokens
    }

    /// Nil for what does not begin with a slash, or has a tilde before anything but 0 or 1.
    public init?(_ text: [UInt8]) {
        guard let first = text.first else {
            self = .root
            return
        }
        guard first == JSONPointer.slash else { return nil }
        var tokens: [[UInt8]] = []
        for part in text.dropFirst().split(separator: JSONPointer.slash, omittingEmptySubsequences: false) {
            guard let token = JSONPointer.unescaped(part) else { return nil }
            tokens.append(token)
        }
        self.tokens = tokens
    }

    public init?(_ text: String) {
        self.init(Array(text.utf8))
    }

    public func appending(_ token: [UInt8]) -> JSONPointer { JSONPointer(tokens: tokens + [token]) }
    public func appending(_ token: String) -> JSONPointer { appending(Array(token.utf8)) }
    public func appending(_ index: Int) -> JSONPointer { appending(String(index)) }

    /// Nil for the root.
    public var parent: JSONPointer? { tokens.isEmpty ? nil : JSONPointer(tokens: tokens.dropLast()) }

    /// Digits without a leading zero; nil for what is no index of an array.
    static func index(_ token: [UInt8]) -> Int? {
        guard token.allSatisfy(JSONByte.isDigit), token.count == 1 || token.first != 0x30 else { return nil }
        return Int(String(decoding: token, as: UTF8.self))
    }

    private static let slash = UInt8(ascii: "/")
    private static let tilde = UInt8(ascii: "~")

    private static func unescaped(_ part: ArraySlice<UInt8>) -> [UInt8]? {
        var token: [UInt8] = []
        var rest = part
        while let byte = rest.popFirst() {
            guard byte == tilde else {
                token.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "0"): token.append(tilde)
            case UInt8(ascii: "1"): token.append(slash)
            default: return nil
            }
        }
        return token
    }
}

extension JSONPointer: CustomStringConvertible {
    public var description: String {
        tokens.map { "/" + String(decoding: $0.flatMap(JSONPointer.escaped), as: UTF8.self) }.joined()
    }

    private static func escaped(_ byte: UInt8) -> [UInt8] {
        switch byte {
        case tilde: [tilde, UInt8(ascii: "0")]
        case slash: [tilde, UInt8(ascii: "1")]
        default: [byte]
        }
    }
}
