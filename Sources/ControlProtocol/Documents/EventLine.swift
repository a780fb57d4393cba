public import SyncModel

/// `events --json`: one line for each thing that happens, with what belongs to that kind of event.
public struct EventLine: ControlDocument {
    /// Dotted, such as `import.finished`.
    public var event: String
    public var timeMilliseconds: Int64
    /// The other members.
    public var details: JSONObject

    public init(event: String, timeMilliseconds: Int64, details: JSONObject = [:]) {
        self.event = event
        self.timeMilliseconds = timeMilliseconds
        self.details = details
    }

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(json)
        event = try fields.text("event")
        timeMilliseconds = try fields.time("time")
        details = fields.all
        details["event"] = nil
        details["time"] = nil
    }

    public var json: JSON {
        var object = JSONObject().with("event", .string(event))
            .with("time", .string(TimeText.milliseconds(timeMilliseconds)))
        for member in details.members { object[member.key] = member.value }
        return .object(object)
    }
}

extension EventLine {
    /// A batch of the other node's changes has become visible in the folder.
    public static func importFinished(
        at time: Int64, from: [UInt8], firstSeq: UInt64, lastSeq: UInt64, applied: Int, held: Int, repaired: Int,
        quarantined: Int, milliseconds: Int
    ) -> EventLine {
        let details = JSONObject().with("from", name: from).with("firstSeq", .unsigned(firstSeq))
            .with("lastSeq", .unsigned(lastSeq)).with("applied", .count(applied)).with("held", .count(held))
            .with("repaired", .count(repaired)).with("quarantined", .count(quarantined))
            .with("milliseconds", .count(milliseconds))
        return EventLine(event: "import.finished", timeMilliseconds: time, details: details)
    }

    public static func alertRaised(at time: Int64, code: MessageCode, subject: [UInt8]) -> EventLine {
        message("alert.raised", time, code, subject)
    }

    public static func alertCleared(at time: Int64, code: MessageCode, subject: [UInt8]) -> EventLine {
        message("alert.cleared", time, code, subject)
    }

    /// A decision that is over once it is told.
    public static func note(at time: Int64, code: MessageCode, subject: [UInt8]) -> EventLine {
        message("note", time, code, subject)
    }

    public static func peerConnected(at time: Int64, name: [UInt8], address: String?) -> EventLine {
        let details = JSONObject().with("peer", name: name).with("address", address.map(JSON.string))
        return EventLine(event: "peer.connected", timeMilliseconds: time, details: details)
    }

    public static func peerDisconnected(at time: Int64, name: [UInt8], reason: MessageCode?) -> EventLine {
        let details = JSONObject().with("peer", name: name).with("reason", reason.map { .string($0.rawValue) })
        return EventLine(event: "peer.disconnected", timeMilliseconds: time, details: details)
    }

    private static func message(_ event: String, _ time: Int64, _ code: MessageCode, _ subject: [UInt8]) -> EventLine {
        let details = JSONObject().with("code", .string(code.rawValue))
            .with("severity", .string(code.severity.rawValue)).with("subject", name: subject)
        return EventLine(event: event, timeMilliseconds: time, details: details)
    }
}
