/// What an application says about its files: which records there are, how they hang together, and what is to become of
/// them when two nodes disagree. Read from a file of `models.d` by `ModelReader`; checked whole before anything uses
/// it.
public import SyncModel

public struct Model: Hashable, Sendable {
    /// `org.example.schedules`.
    public let name: [UInt8]
    public let version: Int
    /// Versions of documents that this model can read.
    public let reads: [Int]
    /// The subtree of the shared folder that it governs.
    public let root: Path
    /// Where a document says its format version.
    public let versionAt: JSONPointer
    /// By name.
    public let entities: [Entity]
    /// By name. Each is declared by an entity, or by two as inverses of each other.
    public let relations: [Relation]

    public func entity(_ name: EntityName) -> Entity? {
        entities.first { $0.name == name }
    }

    /// By this member of it a whole document says its format version.
    func isVersion(_ name: PropertyName) -> Bool {
        versionAt.tokens.count == 1 && versionAt.tokens.first == name.bytes
    }

    /// The entities whose records stand in a file; several may share one document.
    public func entities(claiming path: Path) -> [Entity] {
        guard let path = path.rebased(from: root, to: .root) else { return [] }
        return entities.filter { $0.files.claims(path) }
    }
}

/// A kind of record.
public struct Entity: Hashable, Sendable {
    public let name: EntityName
    public let files: FilePattern
    public let id: IDRule
    /// Where in its files the records are: an array or an object of them. Nil if the whole document is one record.
    public let at: JSONPointer?
    /// There is only one, whoever makes it.
    public let isSingleton: Bool
    /// Fields that say which thing a record stands for: two records with the same values are one.
    public let identity: [PropertyName]
    public let onInvalid: OnInvalid
    public let onConcurrentDelete: OnConcurrentDelete
    /// By name.
    public let fields: [Field]
    /// By name.
    public let sides: [Side]

    /// Where the id of a record comes from.
    public enum IDRule: Hashable, Sendable {
        /// The part of the file name that stands for the star.
        case stem
        /// The key under which the record stands in the object at `at`.
        case key
        /// A string in the record.
        case pointer(JSONPointer)
        /// There is only one, and it is called `singleton:` and the entity's name.
        case singleton
    }

    /// What becomes of a record with a value that its type does not allow, or without one that is required.
    public enum OnInvalid: String, Hashable, Sendable, CaseIterable { case quarantine, delete }

    /// What becomes of a record that one node deletes while the other edits it.
    public enum OnConcurrentDelete: String, Hashable, Sendable, CaseIterable { case revive, quarantine }

    public func field(_ name: PropertyName) -> Field? { fields.first { $0.name == name } }
    public func side(_ name: PropertyName) -> Side? { sides.first { $0.name == name } }
}

/// A value of a record.
public struct Field: Hashable, Sendable {
    public let name: PropertyName
    public let type: Kind
    public let isRequired: Bool
    public let merge: Merge

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case string, integer, number, bool, array, object, any
    }

    /// What two values written at once become: the later one, or, line by line, what both changed.
    public enum Merge: String, Hashable, Sendable, CaseIterable { case last, lines }
}

/// A relation as one entity declares it.
public struct Side: Hashable, Sendable {
    public let name: PropertyName
    public let to: EntityName
    public let kind: Cardinality
    public let isRequired: Bool
    public let inverse: PropertyName?
    /// How many a to-many side may hold.
    public let max: Int?
    public let isOrdered: Bool
    public let onDelete: OnDelete
    public let onContest: OnContest

    public enum Cardinality: String, Hashable, Sendable, CaseIterable { case one, many }

    /// What a delete of the record means to those it is related to by this side.
    public enum OnDelete: String, Hashable, Sendable, CaseIterable { case cascade, nullify, deny }
}

/// What becomes of a record that wanted this place of another, and found it taken.
public enum OnContest: Hashable, Sendable {
    case quarantine
    case delete
    /// It goes to the record with this id instead, if there is room.
    case rehome([UInt8])
    /// The one whose place it wanted is cloned for it.
    case fork
}

/// One relation with both its ends. It is kept once, at the owner; the other end is derived, so the two cannot
/// disagree.
public struct Relation: Hashable, Sendable {
    /// The owner's side.
    public let name: RelationName
    public let owner: End
    /// The entity of the other end, and its side if it declares one.
    public let target: End
    /// True if each owner has one target at most: a register of it. Otherwise a set of edges.
    public let isRegister: Bool

    /// One end of a relation.
    public struct End: Hashable, Sendable {
        public let entity: EntityName
        /// Nil at an end that does not declare the relation.
        public let property: PropertyName?
        public let isRequired: Bool
        /// How many records of the other end one record here may have; nil for any number.
        public let countMax: Int?
        public let isOrdered: Bool
        public let onDelete: Side.OnDelete
        /// For those of the other end that lost a place here.
        public let onContest: OnContest
    }
}

extension Relation: CustomStringConvertible {
    public var description: String { name.description }
}
