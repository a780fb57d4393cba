/// What programs that share files ask of the daemon: locks, and to be asked and told about what they show.

/// A lock on paths in the folder, all of them or none.
public struct LockRequest: Hashable, Sendable {
    public enum Mode: String, CaseIterable, Hashable, Sendable {
        /// Programs on this node only.
        case local
        /// Both nodes while they are connected.
        case pair
        /// Both nodes, or not at all.
        case strict
    }

    /// What is to be done with one path; without it the path is held still with all that is below it.
    public enum Access: String, CaseIterable, Hashable, Sendable {
        /// Whoever shows it saves it first.
        case read
        case readAsIs = "read-as-is"
        case update, deleting, moving, replacing, merging, metadata
    }

    public struct Item: Hashable, Sendable {
        public var path: PathArgument
        public var access: Access?
        /// With all that is below it, as it always is without an access.
        public var coversContents: Bool

        public init(_ path: PathArgument, _ access: Access? = nil, coversContents: Bool = false) {
            self.path = path
            self.access = access
            self.coversContents = coversContents
        }
    }

    public var items: [Item]
    /// Others may read at the same time; nobody may write. For paths without an access of their own.
    public var isRead: Bool
    public var mode: Mode
    public var timeoutMilliseconds: UInt64?
    /// Taken away after so long if somebody waits for it.
    public var holdMilliseconds: UInt64?
    /// Held until `unlock` instead of until the connection ends.
    public var outlivesConnection: Bool
    /// Locks of one purpose never wait for each other.
    public var purpose: String?
    /// Who asks, for `syncctl locks` and for messages.
    public var holder: String
    public var process: Int

    public init(
        items: [Item], isRead: Bool, mode: Mode, timeoutMilliseconds: UInt64?, holdMilliseconds: UInt64? = nil,
        outlivesConnection: Bool, purpose: String? = nil, holder: String, process: Int
    ) {
        self.items = items
        self.isRead = isRead
        self.mode = mode
        self.timeoutMilliseconds = timeoutMilliseconds
        self.holdMilliseconds = holdMilliseconds
        self.outlivesConnection = outlivesConnection
        self.purpose = purpose
        self.holder = holder
        self.process = process
    }
}

/// A program shows a path, and wants to be asked before others touch it and told after.
public struct PresentRequest: Hashable, Sendable {
    public var path: PathArgument
    /// With all that is below it.
    public var coversContents: Bool
    /// Whose locks do not concern it.
    public var purpose: String?

    public init(path: PathArgument, coversContents: Bool, purpose: String?) {
        self.path = path
        self.coversContents = coversContents
        self.purpose = purpose
    }
}

/// What was done under a lock that others are to be told of.
public enum DoneDeed: Hashable, Sendable {
    case changed(PathArgument)
    case deleted(PathArgument)
    case moved(PathArgument, to: PathArgument)
}

public enum PresenterReply: Hashable, Sendable {
    case ready
    /// Wants the same time once more.
    case busy
    case failed(String)
}

extension LockRequest {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            items: try fields.list("paths", Item.init), isRead: try fields.flag("read"),
            mode: try fields.choice("mode"), timeoutMilliseconds: try fields.optionalUnsigned("timeoutMilliseconds"),
            holdMilliseconds: try fields.optionalUnsigned("holdMilliseconds"),
            outlivesConnection: try fields.flag("outlivesConnection"), purpose: try fields.optionalText("purpose"),
            holder: try fields.text("holder"), process: try fields.count("process"))
        if items.isEmpty { throw fields.failure("paths", "at least one path") }
    }

    var members: JSONObject {
        let object: JSONObject = [
            "paths": .array(items.map { .object($0.members) }), "read": .bool(isRead), "mode": .string(mode.rawValue),
            "outlivesConnection": .bool(outlivesConnection), "holder": .string(holder), "process": .count(process),
        ]
        return object.with("timeoutMilliseconds", timeoutMilliseconds.map(JSON.unsigned))
            .with("holdMilliseconds", holdMilliseconds.map(JSON.unsigned)).with("purpose", purpose.map(JSON.string))
    }
}

extension LockRequest.Item {
    fileprivate init(_ fields: Fields) throws(DocumentError) {
        self.init(
            try PathArgument(fields), fields.has("access") ? try fields.choice("access") : nil,
            coversContents: fields.has("contents") ? try fields.flag("contents") : false)
    }

    fileprivate var members: JSONObject {
        path.members.with("access", access.map { .string($0.rawValue) })
            .with("contents", coversContents ? .bool(true) : nil)
    }
}

extension PresentRequest {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            path: try PathArgument(fields), coversContents: try fields.flag("contents"),
            purpose: try fields.optionalText("purpose"))
    }

    var members: JSONObject {
        path.members.with("contents", .bool(coversContents)).with("purpose", purpose.map(JSON.string))
    }
}

extension DoneDeed {
    private enum Kind: String, CaseIterable {
        case changed, deleted, moved
    }

    init(_ fields: Fields) throws(DocumentError) {
        let path = try PathArgument(fields)
        let kind: Kind = try fields.choice("deed")
        switch kind {
        case .changed: self = .changed(path)
        case .deleted: self = .deleted(path)
        case .moved: self = .moved(path, to: try fields.one("to", PathArgument.init))
        }
    }

    var members: JSONObject {
        let (kind, path, target): (Kind, PathArgument, PathArgument?) =
            switch self {
            case .changed(let path): (.changed, path, nil)
            case .deleted(let path): (.deleted, path, nil)
            case .moved(let path, let target): (.moved, path, target)
            }
        return path.members.with("deed", .string(kind.rawValue)).with("to", target.map(\.json))
    }
}

extension PresenterReply {
    private enum Kind: String, CaseIterable {
        case ready, busy, failed
    }

    init(_ fields: Fields) throws(DocumentError) {
        let kind: Kind = try fields.choice("answer")
        switch kind {
        case .ready: self = .ready
        case .busy: self = .busy
        case .failed: self = .failed(try fields.text("reason"))
        }
    }

    func added(to object: JSONObject) -> JSONObject {
        switch self {
        case .ready: object.with("answer", .string(Kind.ready.rawValue))
        case .busy: object.with("answer", .string(Kind.busy.rawValue))
        case .failed(let reason): object.with("answer", .string(Kind.failed.rawValue)).with("reason", .string(reason))
        }
    }
}
