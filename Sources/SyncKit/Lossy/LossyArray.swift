public import RecordMerge

/// A list of which one bad element does not take the others along. What could not be decoded stays in its place and is written back as it
/// was, so that reading leniently never becomes losing.
///
/// Ten elements in are ten elements here: `values.count + failures.count`.
public struct LossyArray<Element> {
    /// In the order of the file.
    public private(set) var entries: [Result<Element, DecodeFailure>]

    public init(_ values: [Element] = []) {
        entries = values.map { .success($0) }
    }

    /// What could be decoded. Setting it keeps what could not where it stands, as far as there is such a place.
    public var values: [Element] {
        get { entries.compactMap(\.value) }
        set {
            var rest = newValue[...]
            var result: [Result<Element, DecodeFailure>] = []
            for entry in entries {
                switch entry {
                case .failure: result.append(entry)
                case .success: if let next = rest.popFirst() { result.append(.success(next)) }
                }
            }
            entries = result + rest.map { .success($0) }
        }
    }

    public var failures: [DecodeFailure] { entries.compactMap(\.failure) }
}

extension LossyArray: Equatable where Element: Equatable {}
extension LossyArray: Hashable where Element: Hashable {}
extension LossyArray: Sendable where Element: Sendable {}

extension LossyArray: Decodable where Element: Decodable {
    public init(from decoder: any Decoder) throws {
        let collector = decoder.decodeErrors
        var container = try decoder.unkeyedContainer()
        var entries: [Result<Element, DecodeFailure>] = []
        entries.reserveCapacity(container.count ?? 0)
        while !container.isAtEnd {
            // It has moved on before the element is looked at, so not even a list of nothing but bad ones or `null` goes on for ever.
            let element = try container.superDecoder()
            do {
                entries.append(.success(try Element(from: element)))
            } catch {
                let failure = DecodeFailure(error, at: element)
                collector?.add(failure)
                entries.append(.failure(failure))
            }
        }
        self.entries = entries
    }
}

extension LossyArray: Encodable where Element: Encodable {
    /// Fails rather than leave out what it cannot write back: another encoder than this library's has no way to write it as it was.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for entry in entries {
            switch entry {
            case .success(let value): try container.encode(value)
            case .failure(let failure):
                guard let element = container.superEncoder() as? TreeEncoder, let raw = failure.raw else {
                    throw EncodingError.invalidValue(
                        failure.reason,
                        .init(
                            codingPath: encoder.codingPath,
                            debugDescription: "an element that could not be read would be lost by writing the list"))
                }
                element.encode(raw: raw)
            }
        }
    }
}

/// One value that may have failed.
public enum FailableDecodable<Value> {
    case value(Value)
    case failure(DecodeFailure)

    public var value: Value? {
        switch self {
        case .value(let value): value
        case .failure: nil
        }
    }
}

extension FailableDecodable: Sendable where Value: Sendable {}
extension FailableDecodable: Equatable where Value: Equatable {}

extension FailableDecodable: Decodable where Value: Decodable {
    public init(from decoder: any Decoder) throws {
        do {
            self = .value(try Value(from: decoder))
        } catch {
            let failure = DecodeFailure(error, at: decoder)
            decoder.decodeErrors?.add(failure)
            self = .failure(failure)
        }
    }
}

extension FailableDecodable: Encodable where Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .value(let value): try value.encode(to: encoder)
        case .failure(let failure):
            guard let encoder = encoder as? TreeEncoder, let raw = failure.raw else {
                throw EncodingError.invalidValue(
                    failure.reason,
                    .init(codingPath: encoder.codingPath, debugDescription: "what could not be read would be lost"))
            }
            encoder.encode(raw: raw)
        }
    }
}

/// A value together with the text it was read from. As long as nobody changes it, it is written back as that text: `1.10` stays `1.10`.
public struct Captured<Value> {
    public private(set) var raw: JSONText?
    public var value: Value { didSet { raw = nil } }

    public init(_ value: Value) {
        self.value = value
    }
}

extension Captured: Sendable where Value: Sendable {}
extension Captured: Equatable where Value: Equatable {}

extension Captured: Decodable where Value: Decodable {
    public init(from decoder: any Decoder) throws {
        value = try Value(from: decoder)
        raw = (decoder as? TreeDecoder)?.raw
    }
}

extension Captured: Encodable where Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? TreeEncoder, let raw {
            encoder.encode(raw: raw)
        } else {
            try value.encode(to: encoder)
        }
    }
}

extension Result where Failure == DecodeFailure {
    fileprivate var value: Success? {
        switch self {
        case .success(let value): value
        case .failure: nil
        }
    }

    fileprivate var failure: DecodeFailure? {
        switch self {
        case .success: nil
        case .failure(let failure): failure
        }
    }
}
