public import SyncModel

/// Why something was not done, as `syncd` tells it and `syncctl` shows it: a stable code, what happened, what to do.

/// A message code as it is written. The other side may be newer and have codes that this program does not know.
public struct CodeText: Hashable, Sendable {
    public let text: String

    public init(_ code: MessageCode) {
        text = code.rawValue
    }

    public init(text: String) {
        self.text = text
    }

    public var known: MessageCode? { MessageCode(rawValue: text) }
}

/// Who is in the way of a lock that was not granted in time, as far as it is known.
public struct LockHolder: Hashable, Sendable {
    public let process: Int?
    public let purpose: String?
    public let heldMilliseconds: UInt64

    public init(process: Int?, purpose: String?, heldMilliseconds: UInt64) {
        self.process = process
        self.purpose = purpose
        self.heldMilliseconds = heldMilliseconds
    }

    fileprivate init?(_ json: JSON?) {
        guard let json, let held = json["heldMilliseconds"]?.int else { return nil }
        self.init(
            process: json["process"]?.int, purpose: json["purpose"]?.text, heldMilliseconds: UInt64(clamping: held))
    }

    fileprivate var json: JSON {
        [
            "process": process.map(JSON.count) ?? .null, "purpose": purpose.map(JSON.string) ?? .null,
            "heldMilliseconds": .count(Int(clamping: heldMilliseconds)),
        ]
    }
}

public struct ControlError: Error, Hashable, Sendable {
    /// The number JSON-RPC asks for: -32700 to -32600 for lines that cannot be understood, -32000 for all refusals of ours.
    public let number: Int
    public let code: CodeText
    public let text: String
    public let cure: String
    /// Of a lock that somebody else has.
    public var holder: LockHolder?

    static let numberUnparsable = -32_700
    static let numberNoRequest = -32_600
    static let numberNoSuchMethod = -32_601
    static let numberBadParameters = -32_602
    static let numberRefused = -32_000

    /// Text and cure are those of the registry unless given.
    public init(_ code: MessageCode, text: String? = nil, cure: String? = nil) {
        let number = code == .requestInvalid ? ControlError.numberBadParameters : ControlError.numberRefused
        self.init(number: number, code: CodeText(code), text: text ?? code.kind.meaning, cure: cure ?? code.kind.cure)
    }

    init(number: Int, code: CodeText, text: String, cure: String) {
        self.number = number
        self.code = code
        self.text = text
        self.cure = cure
    }

    static func invalid(_ number: Int, _ text: String) -> ControlError {
        ControlError(
            number: number, code: CodeText(.requestInvalid), text: text, cure: MessageCode.requestInvalid.kind.cure)
    }

    /// The `error` member of a JSON-RPC answer.
    var json: JSON {
        [
            "code": .count(number), "message": .string(text),
            "data": ErrorDocument(self).json["error"] ?? .null,
        ]
    }

    /// Total: an error of another program, without our `data`, is still told.
    init(json: JSON) {
        let message = json["message"]?.text ?? "the daemon refused without saying why"
        self.init(
            number: json["code"]?.int ?? ControlError.numberRefused,
            code: CodeText(text: json["data"]?["code"]?.text ?? MessageCode.requestRefused.rawValue),
            text: json["data"]?["text"]?.text ?? message, cure: json["data"]?["cure"]?.text ?? "")
        holder = LockHolder(json["data"]?["holder"])
    }
}

/// What `--json` prints for an error of any command.
public struct ErrorDocument: ControlDocument {
    public var error: ControlError

    public init(_ error: ControlError) {
        self.error = error
    }

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(try Fields(json).required("error")) { "error" }
        error = ControlError(
            number: ControlError.numberRefused, code: try fields.code("code"), text: try fields.text("text"),
            cure: try fields.text("cure"))
        error.holder = LockHolder(json["error"]?["holder"])
    }

    public var json: JSON {
        guard let holder = error.holder else {
            return [
                "error": ["code": .string(error.code.text), "text": .string(error.text), "cure": .string(error.cure)]
            ]
        }
        return [
            "error": [
                "code": .string(error.code.text), "text": .string(error.text), "cure": .string(error.cure),
                "holder": holder.json,
            ]
        ]
    }
}
