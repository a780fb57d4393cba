/// What people are shown of a file: its version, and what its records say.
import SyncModel

/// The version of its format that a document names.
public enum DocumentVersion: Hashable, Sendable {
    /// As old as the first there was.
    case absent
    case number(Int)
    /// No whole number from 1 on: what stands there.
    case unknown([UInt8])
}

extension RecordDocument {
    public func version(at pointer: JSONPointer) -> DocumentVersion {
        guard let place = json.place(at: pointer) else { return .absent }
        let text = JSONText(place, of: json).bytes
        let isPlain =
            json.kind(of: place) == .number && text.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        guard isPlain, let number = Int(String(decoding: text, as: UTF8.self)), number >= 1 else {
            return .unknown(text)
        }
        return .number(number)
    }

    /// By name; as it is written.
    public func values(of id: RecordID) -> [(name: PropertyName, text: [UInt8])] {
        (records[id]?.values ?? [:]).filter { $0.key != .location }.map { ($0.key, $0.value.bytes) }
    }

    public func links(of id: RecordID) -> [(name: PropertyName, keys: [[UInt8]])] {
        (records[id]?.links ?? [:]).map { ($0.key, $0.value) }
    }

    /// Members of a document around its records are nobody's.
    public var recordIDs: [RecordID] { ids.filter { !$0.isSurroundings } }
}

extension Model {
    /// 0 for a document that does not say it: it is as old as the first there was.
    public func version(of document: RecordDocument) -> Int {
        switch document.version(at: versionAt) {
        case .absent, .unknown: 0
        case .number(let number): number
        }
    }
}
