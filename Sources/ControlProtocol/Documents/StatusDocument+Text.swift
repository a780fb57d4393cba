import SyncModel

/// How the status is written: the keys of the contract.
extension StatusDocument: ControlDocument {
    /// Raised when a key changes its meaning, which is not meant to happen: keys are only added.
    static let schema = 1

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(json)
        guard try fields.count("schema") == StatusDocument.schema else {
            throw fields.failure("schema", "\(StatusDocument.schema), the only one this program understands")
        }
        let pending = try fields.list("pending", Pending.init)
        self.init(
            node: try fields.one("node", Node.init), peer: try fields.optional("peer", Peer.init),
            folder: try fields.one("folder", Folder.init), inSync: try fields.flag("inSync"), pending: pending,
            pendingTotal: try fields.optionalCount("pendingTotal"), alerts: try fields.one("alerts", AlertCounts.init),
            conflicts: try fields.count("conflicts"), quarantined: try fields.count("quarantined"),
            held: try fields.count("held"), locks: try fields.count("locks"),
            progress: try fields.one("progress", Progress.init),
            heldDeletes: try fields.optional("heldDeletes", HeldDeletes.init),
            leftOut: fields.has("leftOut") ? try fields.list("leftOut", LeftOut.init) : [])
    }

    public var json: JSON {
        let object: JSONObject = [
            "schema": .count(StatusDocument.schema),
            "node": .object(node.members),
            "peer": peer.map { .object($0.members) } ?? .null,
            "folder": .object(folder.members),
            "inSync": .bool(inSync),
            "pending": .array(pending.map { .object($0.members) }),
            "pendingTotal": .count(pendingTotal),
            "alerts": .object(alerts.members),
            "conflicts": .count(conflicts),
            "quarantined": .count(quarantined),
            "held": .count(held),
            "locks": .count(locks),
            "progress": .object(progress.members),
        ]
        let left = leftOut.isEmpty ? nil : JSON.array(leftOut.map { .object($0.members) })
        return .object(
            object.with("heldDeletes", heldDeletes.map { .object($0.members) }).with("leftOut", left))
    }
}

extension StatusDocument.Node {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            name: try fields.name("name"), id: try fields.node("id"), program: try fields.text("program"),
            uptimeSeconds: try fields.count("uptimeSeconds"), key: try fields.optionalText("key"),
            nextKey: try fields.optionalText("nextKey"), formerKey: try fields.optionalText("formerKey"))
    }

    var members: JSONObject {
        JSONObject().with("name", name: name).with("id", .string(id.text)).with("program", .string(program))
            .with("uptimeSeconds", .count(uptimeSeconds)).with("key", key.map(JSON.string))
            .with("nextKey", nextKey.map(JSON.string)).with("formerKey", formerKey.map(JSON.string))
    }
}

extension StatusDocument.Peer {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            name: try fields.name("name"), id: try fields.node("id"), isConnected: try fields.flag("connected"),
            isPaused: try fields.flag("paused"), heldDeletes: try fields.optionalCount("heldDeletes") ?? 0,
            waits: try fields.flag("waits"), address: try fields.optionalText("address"),
            program: try fields.optionalText("program"),
            toSend: try fields.count("toSend"), toApply: try fields.count("toApply"),
            lastContactMilliseconds: try fields.optionalTime("lastContact"), key: try fields.optionalText("key"),
            nextKey: try fields.optionalText("nextKey"))
    }

    /// What is not known is null: these keys are always there.
    var members: JSONObject {
        JSONObject().with("name", name: name).with("id", .string(id.text)).with("connected", .bool(isConnected))
            .with("address", address.map(JSON.string) ?? .null).with("program", program.map(JSON.string) ?? .null)
            .with("toSend", .count(toSend)).with("toApply", .count(toApply))
            .with("paused", .bool(isPaused)).with("heldDeletes", heldDeletes > 0 ? .count(heldDeletes) : nil)
            .with("waits", waits ? .bool(true) : nil)
            .with("lastContact", lastContactMilliseconds.map { .string(TimeText.seconds($0)) } ?? .null)
            .with("key", key.map(JSON.string)).with("nextKey", nextKey.map(JSON.string))
    }
}

extension StatusDocument.Folder {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            path: try fields.name("path"), state: try fields.choice("state"), files: try fields.count("files"),
            directories: try fields.count("directories"), bytes: try fields.count("bytes"),
            reason: fields.has("reason") ? try fields.code("reason") : nil)
    }

    var members: JSONObject {
        JSONObject().with("path", name: path).with("state", .string(state.rawValue)).with("files", .count(files))
            .with("directories", .count(directories)).with("bytes", .count(bytes))
            .with("reason", reason.map { .string($0.text) })
    }
}

extension StatusDocument.Pending {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            path: try fields.name("path"), reason: try fields.code("reason"),
            sinceMilliseconds: try fields.time("since"))
    }

    var members: JSONObject {
        JSONObject().with("path", name: path).with("reason", .string(reason.text))
            .with("since", seconds: sinceMilliseconds)
    }
}

extension StatusDocument.LeftOut {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(path: try fields.name("path"), reason: try fields.code("reason"))
    }

    var members: JSONObject { JSONObject().with("path", name: path).with("reason", .string(reason.text)) }
}

extension StatusDocument.AlertCounts {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            serious: try fields.count("serious"), warning: try fields.count("warning"), info: try fields.count("info"))
    }

    var members: JSONObject {
        ["serious": .count(serious), "warning": .count(warning), "info": .count(info)]
    }
}

extension StatusDocument.Progress {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            phase: try fields.text("phase"), done: try fields.count("done"), total: try fields.count("total"),
            bytesPerSecond: try fields.count("bytesPerSecond"))
    }

    var members: JSONObject {
        [
            "phase": .string(phase), "done": .count(done), "total": .count(total),
            "bytesPerSecond": .count(bytesPerSecond),
        ]
    }
}

extension StatusDocument.HeldDeletes {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            id: try fields.text("id"), files: try fields.count("files"), sinceMilliseconds: try fields.time("since"))
    }

    var members: JSONObject {
        JSONObject().with("id", .string(id)).with("files", .count(files)).with("since", seconds: sinceMilliseconds)
    }
}
