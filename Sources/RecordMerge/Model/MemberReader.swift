import SyncModel

/// Reads the members of one object of a model file, and says what is wrong with each. Members that nobody asked for are
/// faults, because a name that was mistyped must not be passed over in silence.
struct MemberReader {
    private let document: JSONDocument
    private let place: JSONDocument.Place
    let pointer: JSONPointer
    let file: String
    private(set) var faults: [ModelFault] = []
    private var known: [String] = []

    /// A value that is no object is a fault, and has no members.
    init(_ place: JSONDocument.Place, of document: JSONDocument, at pointer: JSONPointer, file: String) {
        self.document = document
        self.place = place
        self.pointer = pointer
        self.file = file
        if document.kind(of: place) != .object { fault(nil, "an object is expected") }
    }

    /// The members of a whole file. What is no JSON has none, and only that is told of it.
    init(parsing bytes: [UInt8], file: String) throws(ModelRefusal) {
        do throws(JSONFault) {
            self.init(.root, of: try JSONDocument(parsing: bytes), at: .root, file: file)
        } catch {
            throw ModelRefusal(faults: [ModelFault(file: file, pointer: .root, reason: error.description)])
        }
    }

    mutating func fault(_ name: String?, _ reason: String) {
        let place = name.map { pointer.appending($0) } ?? pointer
        faults.append(ModelFault(file: file, pointer: place, reason: reason))
    }

    mutating func take(_ inner: MemberReader) { faults += inner.faults }
    mutating func take(_ more: [ModelFault]) { faults += more }

    /// The value of a member; a fault if it is required and absent.
    private mutating func value(_ name: String, isRequired: Bool) -> JSONDocument.Place? {
        known.append(name)
        let value = document.member(Array(name.utf8), of: place)
        if value == nil, isRequired, document.kind(of: place) == .object { fault(nil, "\(name) is missing") }
        return value
    }

    mutating func string(_ name: String, isRequired: Bool = false) -> [UInt8]? {
        guard let value = value(name, isRequired: isRequired) else { return nil }
        guard let text = document.string(of: value), !text.isEmpty else {
            fault(name, "a string that is not empty is expected")
            return nil
        }
        return text
    }

    /// What a thing is called, also on the link: with a bound.
    mutating func name(_ name: String) -> [UInt8] {
        let text = string(name, isRequired: true) ?? []
        if text.count > Limits.nameBytesMax { fault(name, "a name has \(Limits.nameBytesMax) bytes at most") }
        return text
    }

    mutating func bool(_ name: String) -> Bool {
        guard let value = value(name, isRequired: false) else { return false }
        if document.kind(of: value) != .bool { fault(name, "true or false is expected") }
        return document.text(of: value).first == UInt8(ascii: "t")
    }

    mutating func count(_ name: String, isRequired: Bool = false) -> Int? {
        guard let value = value(name, isRequired: isRequired) else { return nil }
        return count(at: value, name)
    }

    private mutating func count(at value: JSONDocument.Place, _ name: String) -> Int? {
        let number = Int(String(decoding: document.text(of: value), as: UTF8.self)) ?? 0
        if document.kind(of: value) == .number, number > 0 { return number }
        fault(name, "a whole number above 0 is expected")
        return nil
    }

    func has(_ name: String) -> Bool { document.member(Array(name.utf8), of: place) != nil }

    var isObject: Bool { document.kind(of: place) == .object }

    /// Any whole number.
    mutating func number(_ name: String, isRequired: Bool = false) -> Int? {
        guard let value = value(name, isRequired: isRequired) else { return nil }
        if let number = number(at: value) { return number }
        fault(name, "a whole number is expected")
        return nil
    }

    mutating func numbers(_ name: String, isRequired: Bool = false) -> [Int]? {
        guard let value = value(name, isRequired: isRequired) else { return nil }
        let numbers = document.children(of: value).map { number(at: $0) }
        if document.kind(of: value) == .array, !numbers.contains(nil) { return numbers.compactMap(\.self) }
        fault(name, "a list of whole numbers is expected")
        return nil
    }

    private func number(at value: JSONDocument.Place) -> Int? {
        guard document.kind(of: value) == .number else { return nil }
        return Int(String(decoding: document.text(of: value), as: UTF8.self))
    }

    /// One of the words of an enumeration.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, or fallback: Choice, isRequired: Bool = false
    ) -> Choice where Choice.RawValue == String {
        guard let text = string(name, isRequired: isRequired) else { return fallback }
        if let choice = Choice.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text) }) { return choice }
        fault(name, "one of \(Choice.allCases.map(\.rawValue).joined(separator: ", ")) is expected")
        return fallback
    }

    mutating func strings(_ name: String) -> [[UInt8]] {
        elements(name).compactMap { element in
            if let text = document.string(of: element), !text.isEmpty { return text }
            fault(name, "a list of strings that are not empty is expected")
            return nil
        }
    }

    mutating func counts(_ name: String) -> [Int] {
        elements(name).compactMap { count(at: $0, name) }
    }

    private mutating func elements(_ name: String) -> [JSONDocument.Place] {
        guard let value = value(name, isRequired: false) else { return [] }
        let elements = Array(document.children(of: value))
        if document.kind(of: value) != .array || elements.isEmpty {
            fault(name, "a list with something in it is expected")
        }
        return document.kind(of: value) == .array ? elements : []
    }

    /// The members of an object of objects, each with a reader of its own, which must be handed back with `take`.
    mutating func objects(_ name: String, isRequired: Bool = false) -> [(name: [UInt8], reader: MemberReader)] {
        guard let value = value(name, isRequired: isRequired) else { return [] }
        let inside = pointer.appending(name)
        guard document.kind(of: value) == .object else {
            fault(name, "an object is expected")
            return []
        }
        return document.children(of: value).map { child in
            let key = document.key(of: child) ?? []
            return (key, MemberReader(child, of: document, at: inside.appending(key), file: file))
        }
    }

    /// An object with a reader of its own, which must be handed back with `take`.
    mutating func object(_ name: String, isRequired: Bool = false) -> MemberReader? {
        guard let value = value(name, isRequired: isRequired) else { return nil }
        return MemberReader(value, of: document, at: pointer.appending(name), file: file)
    }

    /// The objects of a list, likewise.
    mutating func objects(inList name: String) -> [MemberReader] {
        let inside = pointer.appending(name)
        return elements(name).enumerated().map { index, element in
            MemberReader(element, of: document, at: inside.appending(index), file: file)
        }
    }

    /// After everything was asked for: what is left is unknown.
    mutating func finish() {
        guard document.kind(of: place) == .object else { return }
        for child in document.children(of: place) {
            let key = String(decoding: document.key(of: child) ?? [], as: UTF8.self)
            if known.contains(where: { $0.utf8.elementsEqual(key.utf8) }) { continue }
            unknown(key, "there is no such member here; known are \(known.joined(separator: ", "))")
        }
    }

    /// A fault that may be none for a later program.
    mutating func unknown(_ name: String?, _ reason: String) {
        fault(name, reason)
        faults[faults.count - 1].mayBeLater = true
    }
}
