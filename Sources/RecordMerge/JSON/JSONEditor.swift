import SyncModel

/// Changes to one document, made together. Pointers name places in the document as it was read; every byte that no
/// change names stays, but for the commas and the white space around what comes or goes.
public struct JSONEditor {
    private let document: JSONDocument
    private var replaced: SortedMap<JSONDocument.Place, JSONText> = [:]
    private var removed: SortedMap<JSONDocument.Place, Bool> = [:]
    private var inserted: SortedMap<JSONDocument.Place, [Insertion]> = [:]

    /// Something new in a container, before the child of this number.
    private struct Insertion {
        let position: Int
        /// As it is written; nil in an array.
        let key: [UInt8]?
        let value: JSONText
    }

    public init(_ document: JSONDocument) {
        self.document = document
    }

    public mutating func replace(_ pointer: JSONPointer, with value: JSONText) throws(JSONEditRefusal) {
        let place = try place(at: pointer)
        guard removed[place] == nil else { throw JSONEditRefusal(.gone, pointer) }
        replace(place, with: value)
    }

    /// The whole cannot be removed.
    public mutating func remove(_ pointer: JSONPointer) throws(JSONEditRefusal) {
        let place = try place(at: pointer)
        guard place != .root else { throw JSONEditRefusal(.whole, pointer) }
        remove(place)
    }

    /// A member that is not there yet goes to the end of its object. In an array the last token is the index of the
    /// element that the new one comes before, or `-` for the end.
    public mutating func insert(_ value: JSONText, at pointer: JSONPointer) throws(JSONEditRefusal) {
        guard let parent = pointer.parent, let token = pointer.tokens.last else {
            throw JSONEditRefusal(.whole, pointer)
        }
        let container = try place(at: parent)
        switch document.kind(of: container) {
        case .object:
            guard isFree(token, in: container) else { throw JSONEditRefusal(.taken, pointer) }
            append(value, key: token, to: container)
        case .array:
            if token == [UInt8(ascii: "-")] { return append(value, key: nil, to: container) }
            let index = JSONPointer.index(token)
            guard let index, index == 0 || document.element(index - 1, of: container) != nil else {
                throw JSONEditRefusal(.absent, pointer)
            }
            inserted[container, default: []].append(Insertion(position: index, key: nil, value: value))
        case .string, .number, .bool, .null:
            throw JSONEditRefusal(.noContainer, pointer)
        }
    }

    private func isFree(_ key: [UInt8], in container: JSONDocument.Place) -> Bool {
        if let member = document.member(key, of: container), removed[member] == nil { return false }
        let written = JSONString.encoded(key)
        return inserted[container]?.contains { $0.key == written } != true
    }

    private func place(at pointer: JSONPointer) throws(JSONEditRefusal) -> JSONDocument.Place {
        guard let place = document.place(at: pointer) else { throw JSONEditRefusal(.absent, pointer) }
        return place
    }
}

/// For those who have looked already.
extension JSONEditor {
    mutating func replace(_ place: JSONDocument.Place, with value: JSONText) {
        replaced[place] = value
    }

    mutating func remove(_ place: JSONDocument.Place) {
        replaced[place] = nil
        removed[place] = true
    }

    /// At the end of an object, with a key that is not there, or of an array, without.
    mutating func append(_ value: JSONText, key: [UInt8]?, to container: JSONDocument.Place) {
        let key = key.map(JSONString.encoded)
        inserted[container, default: []].append(Insertion(position: .max, key: key, value: value))
    }
}

/// Why an edit cannot be made.
public struct JSONEditRefusal: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        case absent, taken, gone, noContainer, whole
    }

    public let reason: Reason
    public let pointer: JSONPointer

    init(_ reason: Reason, _ pointer: JSONPointer) {
        self.reason = reason
        self.pointer = pointer
    }
}

extension JSONEditRefusal: CustomStringConvertible {
    public var description: String {
        switch reason {
        case .absent: "there is nothing at \(pointer)"
        case .taken: "\(pointer) is there already"
        case .gone: "\(pointer) is removed by the same edit"
        case .noContainer: "\(pointer) is in a value that is neither an object nor an array"
        case .whole: "the whole document can only be replaced"
        }
    }
}

// MARK: - Writing the result

extension JSONEditor {
    /// The text with all changes made. What was changed inside of something replaced or removed goes with it.
    public func finished() -> [UInt8] {
        let root = document.range(of: .root)
        var output: [UInt8] = []
        output.reserveCapacity(document.bytes.count)
        output += document.bytes[..<root.lowerBound]
        var writer = JSONEditWriter(document: document, output: output)
        write(.root, with: &writer)
        return writer.output + document.bytes[root.upperBound...]
    }

    /// As deep as the document, which `JSONRules.depthMax` bounds.
    private func write(_ place: JSONDocument.Place, with writer: inout JSONEditWriter) {
        if let value = replaced[place] { return writer.append(value.bytes) }
        guard isChanged(within: place) else { return writer.append(document.text(of: place)) }
        writer.open(place, isResized: isResized(place))
        for item in items(of: place) { write(item, with: &writer) }
        writer.close(place)
    }

    private func write(_ item: Item, with writer: inout JSONEditWriter) {
        switch item {
        case .kept(let child, let isFirst):
            writer.beginKept(child, wasFirst: isFirst)
            write(child, with: &writer)
        case .new(let insertion):
            writer.appendNew(key: insertion.key, value: insertion.value)
        }
    }

    private enum Item {
        case kept(JSONDocument.Place, isFirst: Bool)
        case new(Insertion)
    }

    /// What a container holds in the end.
    private func items(of container: JSONDocument.Place) -> [Item] {
        var arrivals = (inserted[container] ?? [])[...]
        var items: [Item] = []
        var position = 0
        arrivals = stable(arrivals)[...]
        for child in document.children(of: container) {
            while let next = arrivals.first, next.position <= position {
                items.append(.new(next))
                arrivals.removeFirst()
            }
            if removed[child] == nil { items.append(.kept(child, isFirst: position == 0)) }
            position += 1
        }
        return items + arrivals.map { .new($0) }
    }

    /// By position; those at one position as they were asked for.
    private func stable(_ arrivals: ArraySlice<Insertion>) -> [Insertion] {
        arrivals.enumerated().sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }
            .map(\.element)
    }

    private func isResized(_ container: JSONDocument.Place) -> Bool {
        inserted[container] != nil || document.children(of: container).contains { removed[$0] != nil }
    }

    private func isChanged(within place: JSONDocument.Place) -> Bool {
        let inside = place..<JSONDocument.Place(index: Int(document.values[place.index].next))
        return !replaced.range(inside).isEmpty || !removed.range(inside).isEmpty || !inserted.range(inside).isEmpty
    }
}
