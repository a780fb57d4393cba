public import RecordMerge
import Synchronization

/// What could not be decoded, with all that is needed to look at it and to write it back.
public struct DecodeFailure: Error, Hashable, Sendable {
    /// The way to the value.
    public let codingPath: [String]
    /// Its place in the list.
    public let index: Int?
    public let reason: String
    /// As it was written, every byte. Nil if the decoder is not one of this library.
    public let raw: JSONText?

    public init(codingPath: [String], index: Int?, reason: String, raw: JSONText?) {
        self.codingPath = codingPath
        self.index = index
        self.reason = reason
        self.raw = raw
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
