/// Reads the format rules of a file of `models.d`. The faults are told all at once.
///
/// What is not known here may be a later program's: another detector, another member, or `"rules": 2`. Then whatever such rules name is
/// guarded all the same, as files of a version that nobody here knows.
import SyncModel

extension FormatRules {
    /// Refuses what is of a later program as well.
    public init(parsing bytes: [UInt8], file: String) throws(ModelRefusal) {
        let (rules, later) = try FormatRules.reading(bytes, file: file)
        guard later.isEmpty else { throw ModelRefusal(faults: later) }
        self = rules
    }

    /// With what in them is of a later program.
    public static func reading(
        _ bytes: [UInt8], file: String
    ) throws(ModelRefusal) -> (rules: FormatRules, later: [ModelFault]) {
        var members = try MemberReader(parsing: bytes, file: file)
        let model = members.name("model")
        if members.has("rules"), let number = members.count("rules"), number > FormatRules.version {
            members.unknown(
                "rules", "these are rules of version \(number), and version \(FormatRules.version) is known")
        }
        var readers = members.objects(inList: "formats")
        members.finish()
        // Who does not know the whole does not know its parts.
        let isLater = members.faults.contains(where: \.mayBeLater)
        var rules: [FormatRule] = []
        for index in readers.indices {
            let rule = FormatRules.rule(of: model, from: &readers[index])
            let faults = readers[index].faults
            let isRuleLater = isLater || !faults.isEmpty && faults.allSatisfy(\.mayBeLater)
            if !isRuleLater {
                members.take(faults)
                if let rule { rules.append(rule) }
                continue
            }
            members.take(faults.filter(\.mayBeLater))
            if let rule = FormatRules.laterRule(of: model, from: &readers[index]) {
                rules.append(rule)
            } else {
                members.take(readers[index].faults.filter { !$0.mayBeLater })
            }
        }
        guard members.faults.allSatisfy(\.mayBeLater) else { throw ModelRefusal(faults: members.faults) }
        return (FormatRules(rules), members.faults)
    }

    private static let version = 1

    /// Nil if it cannot be told which files are meant.
    private static func laterRule(of model: [UInt8], from reader: inout MemberReader) -> FormatRule? {
        guard reader.isObject, let files = reader.string("files"), let pattern = PathPattern(files) else { return nil }
        let name = reader.string("name") ?? files
        return FormatRule(
            model: model, name: name, files: pattern, fileText: files, detector: .later,
            supports: supports(from: &reader) ?? 1...1)
    }

    private static func rule(of model: [UInt8], from reader: inout MemberReader) -> FormatRule? {
        let name = reader.name("name")
        let files = reader.string("files", isRequired: true)
        let pattern = files.flatMap { PathPattern($0) }
        if files != nil, pattern == nil {
            reader.fault("files", "a pattern for files is expected, as in .syncignore but without ! and no directory")
        }
        let detector = detector(from: &reader)
        let supports = supports(from: &reader)
        reader.finish()
        guard let pattern, let detector, let supports, let files else { return nil }
        return FormatRule(
            model: model, name: name, files: pattern, fileText: files, detector: detector, supports: supports)
    }

    private static func supports(from reader: inout MemberReader) -> ClosedRange<UInt32>? {
        guard let numbers = reader.numbers("supports", isRequired: true) else { return nil }
        guard numbers.count == 2, let low = UInt32(exactly: numbers[0]), let high = UInt32(exactly: numbers[1]),
            low <= high, high >= 1
        else {
            reader.fault("supports", "the lowest and the highest version are expected: [1, 3]")
            return nil
        }
        return low...high
    }

    private static func detector(from reader: inout MemberReader) -> FormatDetector? {
        guard let version = reader.object("version", isRequired: true) else { return nil }
        var inner = version
        defer { reader.take(inner) }
        if inner.has("json") {
            let pointer = inner.string("json").flatMap { JSONPointer($0) }
            if pointer == nil { inner.fault("json", "a JSON pointer is expected: /member or /member/member") }
            inner.finish()
            return pointer.map { .json($0) }
        }
        if inner.has("sqlite") {
            let field = inner.string("sqlite")
            inner.finish()
            if field.map({ $0.elementsEqual("user_version".utf8) }) == true { return .sqliteUserVersion }
            inner.fault("sqlite", "user_version is expected")
            return nil
        }
        if inner.has("bytes") { return bytes(from: &inner) }
        if inner.has("regex") { return regex(from: &inner) }
        inner.unknown(nil, "one of json, sqlite, bytes, regex is expected")
        return nil
    }

    private enum Endian: String, CaseIterable {
        case big, little
    }

    private static func bytes(from reader: inout MemberReader) -> FormatDetector? {
        guard var inner = reader.object("bytes", isRequired: true) else { return nil }
        defer { reader.take(inner) }
        let offset = inner.number("offset", isRequired: true)
        let length = inner.number("length", isRequired: true)
        let endian: Endian = inner.choice("endian", or: .big)
        inner.finish()
        reader.finish()
        guard let offset, let length else { return nil }
        if offset < 0 || offset > FormatDetector.headerBytesMax {
            inner.fault("offset", "0 to \(FormatDetector.headerBytesMax) is expected")
        }
        if !(1...8).contains(length) { inner.fault("length", "1 to 8 bytes are expected") }
        return .bytes(offset: offset, length: length, isBigEndian: endian == .big)
    }

    private static func regex(from reader: inout MemberReader) -> FormatDetector? {
        let text = reader.string("regex") ?? []
        reader.finish()
        do throws(ByteRegex.Fault) {
            return .regex(try ByteRegex(text), text: text)
        } catch {
            reader.fault("regex", error.reason)
            return nil
        }
    }
}
