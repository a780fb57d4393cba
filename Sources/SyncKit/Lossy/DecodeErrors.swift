public import RecordMerge
import Synchronization

/// What could not be decoded, with all that is needed to look at it and to write it back. No larger than a pointer, so that in a list the
/// elements that are good pay nothing for those that may not be.
public struct DecodeFailure: Error, Sendable {
    private final class Details: Sendable {
        let codingPath: [String]
        let index: Int?
        let reason: String
        let raw: JSONText?

        init(_ codingPath: [String], _ index: Int?, _ reason: String, _ raw: JSONText?) {
            self.codingPath = codingPath
            self.index = index
            self.reason = reason
            self.raw = raw
        }
    }

    private let details: Details

    /// The way to the value.
    public var codingPath: [String] { details.codingPath }
    /// Its place in the list.
    public var index: Int? { details.index }
    public var reason: String { details.reason }
    /// As it was written, every byte. Nil if the decoder is not one of this library.
    public var raw: JSONText? { details.raw }

    public init(codingPath: [String], index: Int?, reason: String, raw: JSONText?) {
        details = Details(codingPath, index, reason, raw)
    }

    init(_ error: any Error, at decoder: any Decoder) {
        let text: String =
            if let error = error as? DecodingError {
                error.details.text
            } else {
                "\(error)"
            }
        let last = decoder.codingPath.last
        self.init(
            codingPath: decoder.codingPath.map(\.stringValue), index: last?.intValue, reason: text,
            raw: (decoder as? TreeDecoder)?.raw)
    }
}

extension DecodeFailure: Hashable {
    public static func == (left: DecodeFailure, right: DecodeFailure) -> Bool {
        left.codingPath == right.codingPath && left.index == right.index && left.reason == right.reason
            && left.raw == right.raw
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(codingPath)
        hasher.combine(index)
        hasher.combine(reason)
        hasher.combine(raw)
    }
}

/// Gathers failures while something is decoded: a class, because `userInfo` is the only way in and a value would be lost. Put one under
/// `CodingUserInfoKey.decodeErrors`; without one, lists are decoded leniently all the same, and nothing is kept of what failed.
public final class DecodeErrorCollector: Sendable {
    private let found = Mutex<[DecodeFailure]>([])

    public init() {}

    public var failures: [DecodeFailure] { found.withLock { $0 } }

    func add(_ failure: DecodeFailure) { found.withLock { $0.append(failure) } }
}

extension CodingUserInfoKey {
    public static let decodeErrors = CodingUserInfoKey("net.syncd.decode-errors")
}

extension Decoder {
    public var decodeErrors: DecodeErrorCollector? { userInfo[.decodeErrors] as? DecodeErrorCollector }
}

extension TreeDecoder {
    var raw: JSONText { JSONText(place, of: source.document) }
}
