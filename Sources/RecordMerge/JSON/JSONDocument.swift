/// One JSON text as it was written: every byte, and a table of the values in it. Nothing is decoded until it is asked
/// for, so what nobody changes is rendered as it was: order, number text, escapes, white space.
///
/// Made by `JSONParser`, changed by `JSONEditor`.
public struct JSONDocument: Hashable, Sendable {
    /// The whole text.
    public let bytes: [UInt8]
    /// In the order of their first byte, so a container comes right before what is in it. Never empty.
    let values: [Value]

    public enum Kind: UInt8, Hashable, Sendable {
        case object, array, string, number, bool, null
    }

    /// Where one value stands. Offsets are of 32 bits: `Limits.jsonBytesMax` is far below.
    struct Value: Hashable, Sendable {
        var kind: Kind
        /// Of its key with the quotes; both 0 for what is no member.
        var keyStart: UInt32 = 0
        var keyEnd: UInt32 = 0
        var start: UInt32
        var end: UInt32 = 0
        /// The index of the first value after everything within this one.
        var next: UInt32 = 0
    }

    /// A value of the document that gave it out.
    public struct Place: Hashable, Comparable, Sendable {
        let index: Int

        public static let root = Place(index: 0)

        public static func < (left: Place, right: Place) -> Bool { left.index < right.index }
    }

    public init(parsing bytes: [UInt8], rules: JSONRules = JSONRules()) throws(JSONFault) {
        var parser = JSONParser(bytes, rules: rules)
        values = try parser.document()
        self.bytes = bytes
    }

    public static func isReadable(_ bytes: [UInt8]) -> Bool { readable(bytes) != nil }

    public static func readable(_ bytes: [UInt8]) -> JSONDocument? {
        do throws(JSONFault) {
            return try JSONDocument(parsing: bytes)
        } catch {
            return nil
        }
    }

    public func kind(of place: Place) -> Kind { values[place.index].kind }

    /// As it was written, without the white space around it.
    public func text(of place: Place) -> ArraySlice<UInt8> { bytes[range(of: place)] }

    func range(of place: Place) -> Range<Int> {
        Int(values[place.index].start)..<Int(values[place.index].end)
    }

    /// With its quotes; nil for what is no member.
    func keyRange(of place: Place) -> Range<Int>? {
        let value = values[place.index]
        return value.keyEnd == 0 ? nil : Int(value.keyStart)..<Int(value.keyEnd)
    }

    /// The key of a member, without escapes.
    public func key(of place: Place) -> [UInt8]? {
        keyRange(of: place).map { JSONString.decoded(bytes[$0]) }
    }

    /// What a string says, without escapes; nil for anything else.
    public func string(of place: Place) -> [UInt8]? {
        kind(of: place) == .string ? JSONString.decoded(text(of: place)) : nil
    }

    /// The members or elements, in order; none of a value that is no container.
    public func children(of place: Place) -> Children { Children(document: self, of: place) }

    public func member(_ key: [UInt8], of place: Place) -> Place? {
        guard kind(of: place) == .object else { return nil }
        return children(of: place).first { hasKey(key, at: $0) }
    }

    public func element(_ index: Int, of place: Place) -> Place? {
        guard kind(of: place) == .array, index >= 0 else { return nil }
        return children(of: place).dropFirst(index).first { _ in true }
    }

    /// From the root, or from another value of the document.
    public func place(at pointer: JSONPointer, from start: Place = .root) -> Place? {
        var place = start
        for token in pointer.tokens {
            guard let next = member(token, of: place) ?? element(token, of: place) else { return nil }
            place = next
        }
        return place
    }

    private func element(_ token: [UInt8], of place: Place) -> Place? {
        JSONPointer.index(token).flatMap { element($0, of: place) }
    }

    private func hasKey(_ key: [UInt8], at place: Place) -> Bool {
        guard let range = keyRange(of: place) else { return false }
        return JSONString.decodes(bytes[range], to: key)
    }

    /// Walks over the values directly in one.
    public struct Children: Sequence, IteratorProtocol {
        private let document: JSONDocument
        private var index: Int
        private let end: Int

        init(document: JSONDocument, of place: Place) {
            self.document = document
            index = place.index + 1
            end = Int(document.values[place.index].next)
        }

        public mutating func next() -> Place? {
            guard index < end else { return nil }
            defer { index = Int(document.values[index].next) }
            return Place(index: index)
        }
    }
}
