import SyncModel

/// What people write and type: ignore rules, the configuration, pairing tokens, paths, times, names.
@testable import Config
@testable import ControlProtocol
@testable import Transport

extension Law {
    static let textLaws = [ignoreLaw, configLaw, tokenLaw, pathLaw, nameLaw]

    /// The rules and a path, with a zero byte between them.
    private static let ignoreLaw = Law("ignore") { bytes throws(Broken) in
        let parts = bytes.parts(2)
        var rules = IgnoreRules()
        let problems = rules.setFile(directory: [], contents: parts[0])
        try demand(problems.allSatisfy { $0.line >= 1 }, "a problem without a line")
        if let path = Path(parts[1]), let parent = path.parent, !parent.isRoot {
            let isOut = rules.isIgnored(parent.bytes, isDirectory: true)
            try demand(
                !isOut || rules.isIgnored(path.bytes, isDirectory: false), "\(path) is brought back out of \(parent)")
        }
        // The same rules in a directory say the same of what lies there, and nothing of what does not.
        if let path = Path(parts[1]), !path.isRoot, path.bytes.count + 2 <= Limits.pathBytesMax {
            var deeper = IgnoreRules()
            deeper.setFile(directory: [0x64], contents: parts[0])
            for isDirectory in [false, true] {
                let isOut = rules.isIgnored(path.bytes, isDirectory: isDirectory)
                let below = deeper.isIgnored([0x64, 0x2F] + path.bytes, isDirectory: isDirectory)
                try demand(below == isOut, "rules of a directory say something else of \(path) in it")
                let beside = deeper.isIgnored([0x65, 0x2F] + path.bytes, isDirectory: isDirectory)
                try demand(!beside, "rules of a directory speak of \(path) beside it")
            }
        }
        let digest = rules.digest
        rules.setFile(directory: [], contents: parts[0])
        try demand(rules.digest == digest, "read twice they are others")
        rules.removeFile(directory: [])
        try demand(rules.isEmpty, "rules that are taken away stay")
    }

    private static let configLaw = Law("config") { bytes throws(Broken) in
        let configuration: Configuration
        do throws(ConfigurationError) {
            configuration = try Configuration.parse(bytes, file: "x")
        } catch {
            let most = ConfigurationReader.problemsMax + 1
            try demand(error.problems.count <= most, "\(error.problems.count) problems")
            return try demand(
                !error.description.contains { $0.isNewline && $0 != "\n" }, "a message that can forge a line")
        }
        let again: Configuration
        do throws(ConfigurationError) {
            again = try Configuration.parse(configuration.text, file: "x")
        } catch {
            throw Broken("\(configuration) cannot be read as it is written: \(error)")
        }
        try demand(again == configuration, "\(configuration) was written and read as \(again)")
    }

    /// As text, and as what stands in it: a checksum is put behind that.
    private static let tokenLaw = Law("tokens") { bytes throws(Broken) in
        if let token = try? PairingToken.parse(bytes.text) { try check(token) }
        let body = [1] + bytes
        let sealed = body + SHA256.digest(of: body).bytes.prefix(4)
        let digits = Base32.encode(sealed)
        try demand(Base32.decode(digits[...]) == sealed, "\(sealed) is other bytes in base 32")
        if let token = try? PairingToken.parse("syncd1-\(digits)") { try check(token) }
        if let read = Base32.decode(bytes.text[...]) {
            try demand(Base32.decode(Base32.encode(read)[...]) == read, "\(read) is other bytes in base 32")
        }
    }

    private static func check(_ token: PairingToken) throws(Broken) {
        try demand(token.secret.count == PairingToken.secretBytes, "a secret of \(token.secret.count) bytes")
        try demand(token.inviter.count == PairingToken.inviterBytes, "a fingerprint of \(token.inviter.count) bytes")
        try demand((try? PairingToken.parse(token.text)) == token, "a token is read as another than was written")
    }

    /// Paths, names of conflict copies, and paths as they are typed in a directory: two texts with a zero byte between them.
    private static let pathLaw = Law("paths") { bytes throws(Broken) in
        let parts = bytes.parts(2)
        if let path = Path(parts[0]) {
            try demand(path.bytes == parts[0] && path.depth <= Limits.pathDepthMax, "\(path) is another")
            if let name = path.name, let parent = path.parent {
                try demand(parent.appending(name) == path, "\(path) is not in its parent")
            }
            if let told = ConflictName.parts(of: path) {
                try demand(ConflictName.isConflictCopy(path), "\(path) is a copy and is none")
                try demand(Path(told.original.bytes) == told.original, "\(told.original) is no path")
            }
            let content = Content.file(ContentID(.zero), size: 1)
            let time = HybridTime(raw: UInt64(CRC32.checksum(bytes[...])) << 32)
            if let copy = ConflictName.path(for: path, losing: content, node: parts[1], time: time) {
                try demand(ConflictName.isConflictCopy(copy), "\(copy) is no copy of \(path)")
                try demand(copy.parent == path.parent && Path(copy.bytes) == copy, "\(copy) is elsewhere")
            }
        }
        let typed = PathArgument(typed: parts[0], directory: [0x2F] + parts[1])
        let root = Array("/srv/shared".utf8)
        if let place = typed.path(in: [root]) {
            try demand(Path(place.bytes) == place, "\(place) is no path")
            let whole = PathArgument(typed: root + [0x2F] + place.bytes, directory: root)
            try demand(whole.path(in: [root]) == place, "\(place) written in full is another")
        }
        if let absolute = typed.absolute {
            try demand(!absolute.contains(0) || parts[1].contains(0), "a zero byte came in")
        }
    }

    /// Names, times, ids and base64, as text and as bytes.
    private static let nameLaw = Law("names") { bytes throws(Broken) in
        let text = bytes.text
        try demand(Base64.bytes(of: Base64.text(of: bytes)) == bytes, "other bytes in base 64")
        if let read = Base64.bytes(of: text) { try demand(Base64.text(of: read) == text, "\(text) is not canonical") }
        for shown in [NameText.printable(bytes), NameText.printable(bytes, asciiOnly: true), Path.escape(bytes)] {
            let isHarmless = shown.unicodeScalars.allSatisfy(NameText.isHarmless)
            try demand(isHarmless, "something that a terminal acts upon is shown")
        }
        let isASCII = NameText.printable(bytes, asciiOnly: true).utf8.allSatisfy { $0 < 0x80 }
        try demand(isASCII, "something beyond ASCII is shown")
        if let time = TimeText.parse(text), CalendarTime.range.contains(time) {
            let written = TimeText.milliseconds(time)
            try demand(TimeText.parse(written) == time, "\(text) was written as \(written)")
        }
        if let node = NodeID(text: text) { try demand(NodeID(text: node.text) == node, "\(text) is another node") }
        if let glob = PathPattern(bytes), let path = Path("a/b") {
            try demand(glob.matches(path) == glob.matches(path), "a pattern that changes its mind")
        }
    }
}
