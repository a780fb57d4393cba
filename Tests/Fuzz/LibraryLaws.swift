/// The load path of the library: any bytes as the file of an application, and back.
import Disk
import RecordMerge
import SyncKit
import SyncModel

/// A document with everything that is decoded in a way of its own.
private struct Sheet: Codable, Equatable, Sendable {
    var title: String?
    var size: Captured<Double>
    var people: LossyArray<Person>
    var best: FailableDecodable<Person>?
    var marks: [Int8]?
    var byName: [String: Bool]?
}

private struct Person: Codable, Equatable, Sendable {
    var name: String
    var born: Float?
}

extension Law {
    private static let file = JSONFile<Sheet>(reads: 1...2)

    /// Whatever the bytes are, there is an outcome; what could be read is written back as it was, and anew so that it reads as the same.
    static let libraryLaw = Law("library") { bytes throws(Broken) in
        let contents = DocumentContents.file(bytes)
        let decoded = file.decode(contents)
        guard let sheet = try model(in: decoded, of: bytes) else { return }
        let kept = try encoded(sheet, replacing: contents)
        if decoded.outcome == .success { try demand(kept == bytes, "without a change it is saved as \(kept.text)") }
        try demand(
            file.decode(.file(kept)) == Decoded(.success, model: sheet, failures: decoded.failures),
            "saved and loaded it is another: \(kept.text)")
        let new = try encoded(sheet, replacing: nil)
        try demand(file.decode(.file(new)).model == sheet, "written anew it is another: \(new.text)")
    }

    private static func model(in decoded: Decoded<Sheet>, of bytes: [UInt8]) throws(Broken) -> Sheet? {
        switch decoded.outcome {
        case .success, .olderVersion:
            guard let sheet = decoded.model else { throw Broken("loaded, and there is nothing") }
            return sheet
        case .zeroLength: try demand(bytes.isEmpty, "\(bytes.count) bytes are none")
        case .corrupt(let reason, let offset):
            try demand(!reason.isEmpty && offset <= bytes.count, "corrupt at \(offset): \(reason)")
        case .newerVersion(let found, _): try demand(found > 2, "\(found) is newer")
        case .unknownVersion(let found): try demand(!found.isEmpty, "an unknown version of nothing")
        case .notLoaded, .noSuchFile, .accessDenied, .changedDuringRead:
            throw Broken("bytes were loaded as \(decoded.outcome)")
        }
        try demand(decoded.model == nil, "not loaded, and yet there is something")
        return nil
    }

    /// After a change of the model what could not be read is still there, byte for byte, and what was changed as well.
    static let libraryChangeLaw = Law("saves") { bytes throws(Broken) in
        let contents = DocumentContents.file(bytes)
        guard var sheet = file.decode(contents).model else { return }
        let before = sheet
        let person = Person(name: "é\u{1}\"", born: 0.1)
        switch bytes.count % 3 {
        case 0: sheet.people.values.insert(person, at: 0)
        case 1: sheet.people.values = sheet.people.values.dropFirst() + [person]
        default: sheet.people.values = sheet.people.values.reversed()
        }
        sheet.title = "\(sheet.title ?? "")."
        let saved = try encoded(sheet, replacing: contents)
        guard let read = file.decode(.file(saved)).model else {
            throw Broken("what was saved cannot be loaded: \(saved.text)")
        }
        try demand(
            read.people.values == sheet.people.values && read.title == sheet.title, "the change is lost: \(saved.text)")
        let failed = before.people.failures.map(\.raw)
        try demand(read.people.failures.map(\.raw) == failed, "what could not be read is lost: \(saved.text)")
        try demand(
            read.best?.value == before.best?.value && read.size == before.size, "what nobody changed is: \(saved.text)")
    }

    private static func encoded(_ sheet: Sheet, replacing contents: DocumentContents?) throws(Broken) -> [UInt8] {
        let encoded: DocumentContents
        do {
            encoded = try file.encode(sheet, replacing: contents)
        } catch {
            throw Broken("it cannot be saved: \(error)")
        }
        guard case .file(let bytes) = encoded else { throw Broken("a file is saved as a directory") }
        return bytes
    }
}
