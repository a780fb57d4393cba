import SyncModel

/// A lock that is held, for `lock --json`, and `locks --json`.
public struct LockDocument: Hashable, Sendable {
    public var id: String
    public var paths: [[UInt8]]
    public var isRead: Bool
    public var mode: LockRequest.Mode
    public var holder: String
    /// Nil for a holder on the other node.
    public var process: Int?
    public var node: [UInt8]
    public var sinceMilliseconds: Int64
    /// Higher than that of every lock this node has granted before. As text: it may be more than JavaScript can count.
    public var fence: UInt64?

    public init(
        id: String, paths: [[UInt8]], isRead: Bool, mode: LockRequest.Mode, holder: String, process: Int? = nil,
        node: [UInt8], sinceMilliseconds: Int64, fence: UInt64? = nil
    ) {
        self.id = id
        self.paths = paths
        self.isRead = isRead
        self.mode = mode
        self.holder = holder
        self.process = process
        self.node = node
        self.sinceMilliseconds = sinceMilliseconds
        self.fence = fence
    }
}

extension LockDocument: ControlDocument {
    public init(json: JSON) throws(DocumentError) { try self.init(try Fields(json)) }

    public var json: JSON { .object(members) }

    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            id: try fields.text("id"),
            paths: try fields.list("paths") { (fields) throws(DocumentError) in try fields.name("path") },
            isRead: try fields.flag("read"), mode: try fields.choice("mode"), holder: try fields.text("holder"),
            process: try fields.optionalCount("process"), node: try fields.name("node"),
            sinceMilliseconds: try fields.time("since"), fence: try fields.optionalText("fence").flatMap { UInt64($0) })
    }

    var members: JSONObject {
        JSONObject().with("id", .string(id))
            .with("paths", list: paths) { JSONObject().with("path", name: $0) }
            .with("read", .bool(isRead)).with("mode", .string(mode.rawValue)).with("holder", .string(holder))
            .with("process", process.map(JSON.count)).with("node", name: node)
            .with("since", seconds: sinceMilliseconds).with("fence", fence.map { .string(String($0)) })
    }
}

public struct LocksDocument: ControlDocument {
    public var locks: [LockDocument]

    public init(locks: [LockDocument]) {
        self.locks = locks
    }

    public init(json: JSON) throws(DocumentError) {
        self.init(locks: try Fields(json).list("locks", LockDocument.init))
    }

    public var json: JSON { .object(JSONObject().with("locks", list: locks, \.members)) }
}
