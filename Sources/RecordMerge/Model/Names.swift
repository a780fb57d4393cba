/// Names of kinds of records, of their properties, and of records. All are UTF-8 and compared as bytes: Swift's
/// `String` holds two spellings of one letter for equal, which would make one record of two.

/// A kind of record: `Note`.
public struct EntityName: Hashable, Comparable, Sendable {
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    public init(_ text: String) { bytes = Array(text.utf8) }

    public static func < (left: EntityName, right: EntityName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// A member of a record, known to the model or not: `title`.
public struct PropertyName: Hashable, Comparable, Sendable {
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    public init(_ text: String) { bytes = Array(text.utf8) }

    public static func < (left: PropertyName, right: PropertyName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// A relation by the side that owns it: `Note.schedule`.
public struct RelationName: Hashable, Comparable, Sendable {
    public let entity: EntityName
    public let property: PropertyName

    public init(_ entity: EntityName, _ property: PropertyName) {
        self.entity = entity
        self.property = property
    }

    public static func < (left: RelationName, right: RelationName) -> Bool {
        (left.entity, left.property) < (right.entity, right.property)
    }
}

/// One record, on both nodes and for ever: `Note/2026-11-22`.
public struct RecordID: Hashable, Comparable, Sendable {
    public let entity: EntityName
    public let key: [UInt8]

    public init(_ entity: EntityName, _ key: [UInt8]) {
        self.entity = entity
        self.key = key
    }

    public init(_ entity: String, _ key: String) {
        self.init(EntityName(entity), Array(key.utf8))
    }

    public static func < (left: RecordID, right: RecordID) -> Bool {
        left.entity == right.entity
            ? left.key.lexicographicallyPrecedes(right.key) : left.entity < right.entity
    }
}

extension EntityName: CustomStringConvertible {
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension PropertyName: CustomStringConvertible {
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension RelationName: CustomStringConvertible {
    public var description: String { "\(entity).\(property)" }
}

extension RecordID: CustomStringConvertible {
    public var description: String { "\(entity)/\(String(decoding: key, as: UTF8.self))" }
}
