/// Where a document is, as the bytes Linux keeps: absolute, or relative to the process's working directory. Never compared as text.
public struct DocumentPath: Hashable, Sendable {
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    public init(_ text: String) {
        bytes = Array(text.utf8)
    }

    public func appending(_ name: String) -> DocumentPath {
        DocumentPath(bytes + (bytes.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]) + Array(name.utf8))
    }

    /// The last part.
    public var name: [UInt8] {
        bytes.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
    }
}

extension DocumentPath: Comparable {
    public static func < (left: DocumentPath, right: DocumentPath) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension DocumentPath: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(text) }
}

extension DocumentPath: CustomStringConvertible {
    /// For people: what is no UTF-8 is repaired.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}
