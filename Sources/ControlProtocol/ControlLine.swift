import SyncModel

/// The lines on the control socket: JSON-RPC 2.0, one message a line, UTF-8, at most `LineBuffer.lineBytesMax` bytes.
///
///     → {"jsonrpc":"2.0","id":1,"method":"status","params":{}}
///     ← {"jsonrpc":"2.0","id":1,"result":{…}}                     the document that `--json` prints
///     ← {"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"…","data":{"code":"path.busy","text":"…","cure":"…"}}}
///     ← {"jsonrpc":"2.0","method":"events","params":{"request":1,"item":{…}}}
///
/// Streams are items that name their request; a stream that ends by itself ends with a result. Whoever has lost interest
/// closes the connection, which also gives up what it waits for. Batches and requests without an id are refused.

public enum RequestID: Hashable, Sendable {
    case number(Int64)
    case text(String)

    var json: JSON {
        switch self {
        case .number(let number): .number(JSONNumber(number))
        case .text(let text): .string(text)
        }
    }

    init?(_ json: JSON?) {
        switch json {
        case .number(let number):
            guard let value = number.int64 else { return nil }
            self = .number(value)
        case .string(let text): self = .text(text)
        case .null, .bool, .array, .object, nil: return nil
        }
    }
}

/// A request on its way to the daemon.
public struct ControlCall: Hashable, Sendable {
    public let id: RequestID
    public let request: ControlRequest

    public init(id: RequestID, request: ControlRequest) {
        self.id = id
        self.request = request
    }

    /// What is thrown is the answer to send: it names the request as far as that could be read.
    public init(line: [UInt8]) throws(ControlRefusal) {
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: line)
        } catch {
            let text = "The request is not JSON: \(error.reason), at byte \(error.offset)."
            throw ControlRefusal(id: nil, error: .invalid(ControlError.numberUnparsable, text))
        }
        guard let id = RequestID(json["id"]), json["jsonrpc"]?.text == "2.0", let method = json["method"]?.text else {
            let text = #"A request is an object with "jsonrpc":"2.0", an "id" and a "method"."#
            throw ControlRefusal(
                id: RequestID(json["id"]), error: .invalid(ControlError.numberNoRequest, text))
        }
        self.id = id
        do throws(ControlError) {
            request = try ControlRequest(method: method, params: json["params"] ?? .null)
        } catch {
            throw ControlRefusal(id: id, error: error)
        }
    }

    /// With the newline.
    public var bytes: [UInt8] {
        let json: JSON = [
            "jsonrpc": "2.0", "id": id.json, "method": .string(request.method), "params": .object(request.params),
        ]
        return json.line
    }
}

/// A refusal on its way to whoever asked; without an id if the request could not be read that far.
public struct ControlRefusal: Error, Hashable, Sendable {
    public let id: RequestID?
    public let error: ControlError

    public init(id: RequestID?, error: ControlError) {
        self.id = id
        self.error = error
    }

    /// To be sent before the connection is closed.
    public static let lineTooLong = ControlRefusal(
        id: nil,
        error: .invalid(
            ControlError.numberNoRequest, "A line is longer than \(LineBuffer.lineBytesMax) bytes, the most allowed."))

    /// With the newline.
    public var bytes: [UInt8] {
        let json: JSON = ["jsonrpc": "2.0", "id": id?.json ?? .null, "error": error.json]
        return json.line
    }
}

/// What the daemon says.
public enum ControlReply: Hashable, Sendable {
    /// The document asked for, or the end of a stream.
    case result(RequestID, JSON)
    /// One document of a stream; `method` is the one of the request.
    case item(RequestID, method: String, JSON)
    case refusal(ControlRefusal)

    public init(line: [UInt8]) throws(DocumentError) {
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: line)
        } catch {
            throw DocumentError(place: "byte \(error.offset)", expected: error.reason)
        }
        let id = RequestID(json["id"])
        if let error = json["error"] {
            self = .refusal(ControlRefusal(id: id, error: ControlError(json: error)))
        } else if let id, let result = json["result"] {
            self = .result(id, result)
        } else if let method = json["method"]?.text, let id = RequestID(json["params"]?["request"]),
            let item = json["params"]?["item"]
        {
            self = .item(id, method: method, item)
        } else {
            throw DocumentError(place: "", expected: "a result, an error or an item of a stream")
        }
    }

    /// With the newline. A document that is longer than a line may be goes out as a refusal that says so.
    public var bytes: [UInt8] {
        let line = json.line
        if line.count <= LineBuffer.lineBytesMax { return line }
        let text = "The answer is longer than \(LineBuffer.lineBytesMax) bytes, the most that one line may have."
        let error = ControlError(.requestRefused, text: text, cure: "Ask for less at a time, with --limit.")
        return ControlRefusal(id: id, error: error).bytes
    }

    public var id: RequestID? {
        switch self {
        case .result(let id, _), .item(let id, _, _): id
        case .refusal(let refusal): refusal.id
        }
    }

    private var json: JSON {
        switch self {
        case .result(let id, let document): ["jsonrpc": "2.0", "id": id.json, "result": document]
        case .item(let id, let method, let document):
            ["jsonrpc": "2.0", "method": .string(method), "params": ["request": id.json, "item": document]]
        case .refusal(let refusal):
            ["jsonrpc": "2.0", "id": refusal.id?.json ?? .null, "error": refusal.error.json]
        }
    }
}

extension JSON {
    fileprivate var line: [UInt8] {
        var line = bytes
        line.append(0x0A)
        return line
    }
}
