import SyncModel

/// How requests are written: method and parameters. One switch each way, in the order of the cases; the round-trip test
/// keeps them together. Unknown parameters are passed over, so that a newer client can say more.
extension ControlRequest {
    public var method: String {
        switch self {
        case .status: "status"
        case .wait: "wait"
        case .invite: "invite"
        case .inviteWait: "invite.wait"
        case .join: "join"
        case .unpair: "unpair"
        case .forgetPeer: "unpair.forget"
        case .renewKey: "renew-key"
        case .alerts: "alerts"
        case .alertShow: "alerts.show"
        case .alertAcknowledge: "alerts.ack"
        case .conflicts: "conflicts"
        case .conflictShow: "conflicts.show"
        case .conflictTake: "conflicts.take"
        case .conflictDiscard: "conflicts.discard"
        case .conflictRestore: "conflicts.restore"
        case .history: "history"
        case .restore: "restore"
        case .documentCheck: "doc.check"
        case .documentShow: "doc.show"
        case .explain: "explain"
        case .log: "log"
        case .logVerify: "log.verify"
        case .events: "events"
        case .lock: "lock"
        case .release: "release"
        case .present: "present"
        case .answer: "answer"
        case .withdraw: "withdraw"
        case .unlock: "unlock"
        case .locks: "locks"
        case .pause: "pause"
        case .resume: "resume"
        case .rescan: "rescan"
        case .reload: "reload"
        case .logLevel: "log-level"
        case .approve: "approve"
        case .reject: "reject"
        case .verify: "verify"
        case .doctor: "doctor"
        case .metrics: "metrics"
        case .version: "version"
        }
    }

    public var params: JSONObject {
        switch self {
        case .status(let watch): ["watch": .bool(watch)]
        case .wait(let condition, let timeout):
            JSONObject().with("for", .string(condition.rawValue)).with(
                "timeoutMilliseconds", timeout.map(JSON.unsigned))
        case .join(let token): ["token": .string(token)]
        case .alerts(let all, let page), .conflicts(let all, let page): page.added(to: ["all": .bool(all)])
        case .alertShow(let id), .alertAcknowledge(let id), .conflictShow(let id), .conflictDiscard(let id),
            .conflictRestore(let id):
            ["id": .string(id)]
        case .conflictTake(let id, let version): ["id": .string(id), "version": .string(version)]
        case .history(let path, let page): page.added(to: path.members)
        case .restore(let path, let version, let target):
            path.members.with("version", version.map(JSON.string)).with("to", target?.json)
        case .documentCheck(let files): ["files": .array(files.map(\.json))]
        case .documentShow(let path), .explain(let path): path.members
        case .log(let count, let follow, let node):
            JSONObject().with("follow", .bool(follow)).with("count", count.map(JSON.count))
                .with("node", node.map(JSON.string))
        case .events(let follow): ["follow": .bool(follow)]
        case .lock(let request): request.members
        case .release(let lock, let deeds, let isQuiet):
            JSONObject().with("lock", .string(lock)).with("deeds", list: deeds, \.members)
                .with("quiet", isQuiet ? .bool(true) : nil)
        case .present(let request): request.members
        case .answer(let question, let reply): reply.added(to: ["question": .string(question)])
        case .withdraw(let presenter): ["presenter": .string(presenter)]
        case .unlock(let paths): ["paths": .array(paths.map(\.json))]
        case .rescan(let path): path?.members ?? [:]
        case .logLevel(let level, let duration):
            JSONObject().with("level", .count(level)).with("forMilliseconds", duration.map(JSON.unsigned))
        case .approve(let id), .reject(let id): JSONObject().with("id", id.map(JSON.string))
        case .verify(let budget): JSONObject().with("budget", budget.map(JSON.string))
        case .invite, .inviteWait, .unpair, .forgetPeer, .renewKey, .logVerify, .locks, .pause, .resume, .reload,
            .doctor, .metrics, .version:
            [:]
        }
    }

    /// Throws what to answer: there is no such method, or a parameter is not what it must be.
    public init(method: String, params: JSON) throws(ControlError) {
        let read: ControlRequest?
        do throws(DocumentError) {
            let fields = try Fields(params == .null ? [:] : params) { "params" }
            read = try ControlRequest(method, fields)
        } catch {
            throw .invalid(ControlError.numberBadParameters, "In \(method), \(error.text).")
        }
        guard let read else {
            throw ControlError(
                number: ControlError.numberNoSuchMethod, code: CodeText(.requestUnsupported),
                text: "This version of syncd knows no request called \(NameText.printable(method)).",
                cure: "Use a syncctl of the same version as syncd.")
        }
        self = read
    }

    /// Nil if there is no such method.
    private init?(_ method: String, _ fields: Fields) throws(DocumentError) {
        switch method {
        case "status": self = .status(watch: try fields.flag("watch"))
        case "wait":
            self = .wait(
                for: try fields.choice("for"), timeoutMilliseconds: try fields.optionalUnsigned("timeoutMilliseconds"))
        case "invite": self = .invite
        case "invite.wait": self = .inviteWait
        case "join": self = .join(token: try fields.text("token"))
        case "unpair": self = .unpair
        case "unpair.forget": self = .forgetPeer
        case "renew-key": self = .renewKey
        case "alerts": self = .alerts(all: try fields.flag("all"), page: try Page(fields))
        case "alerts.show": self = .alertShow(id: try fields.text("id"))
        case "alerts.ack": self = .alertAcknowledge(id: try fields.text("id"))
        case "conflicts": self = .conflicts(all: try fields.flag("all"), page: try Page(fields))
        case "conflicts.show": self = .conflictShow(id: try fields.text("id"))
        case "conflicts.take":
            self = .conflictTake(id: try fields.text("id"), version: try fields.text("version"))
        case "conflicts.discard": self = .conflictDiscard(id: try fields.text("id"))
        case "conflicts.restore": self = .conflictRestore(id: try fields.text("id"))
        case "history": self = .history(path: try PathArgument(fields), page: try Page(fields))
        case "restore":
            self = .restore(
                path: try PathArgument(fields), version: try fields.optionalText("version"),
                to: try fields.optional("to", PathArgument.init))
        case "doc.check": self = .documentCheck(try fields.list("files", PathArgument.init))
        case "doc.show": self = .documentShow(try PathArgument(fields))
        case "explain": self = .explain(try PathArgument(fields))
        case "log":
            self = .log(
                count: try fields.optionalCount("count"), follow: try fields.flag("follow"),
                node: try fields.optionalText("node"))
        case "log.verify": self = .logVerify
        case "events": self = .events(follow: try fields.flag("follow"))
        case "lock": self = .lock(try LockRequest(fields))
        case "release":
            let deeds = fields.has("deeds") ? try fields.list("deeds", DoneDeed.init) : []
            self = .release(lock: try fields.text("lock"), deeds: deeds, isQuiet: try fields.flag("quiet"))
        case "present": self = .present(try PresentRequest(fields))
        case "answer": self = .answer(question: try fields.text("question"), try PresenterReply(fields))
        case "withdraw": self = .withdraw(presenter: try fields.text("presenter"))
        case "unlock": self = .unlock(try fields.list("paths", PathArgument.init))
        case "locks": self = .locks
        case "pause": self = .pause
        case "resume": self = .resume
        case "rescan": self = .rescan(fields.has("path") ? try PathArgument(fields) : nil)
        case "reload": self = .reload
        case "log-level":
            let level = try fields.count("level")
            guard level <= 3 else { throw fields.failure("level", "a level from 0 to 3") }
            self = .logLevel(level, forMilliseconds: try fields.optionalUnsigned("forMilliseconds"))
        case "approve": self = .approve(id: try fields.optionalText("id"))
        case "reject": self = .reject(id: try fields.optionalText("id"))
        case "verify": self = .verify(budget: try fields.optionalText("budget"))
        case "doctor": self = .doctor
        case "metrics": self = .metrics
        case "version": self = .version
        default: return nil
        }
    }
}

extension Page {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(limit: try fields.optionalCount("limit"), after: try fields.optionalText("after"))
    }

    func added(to object: JSONObject) -> JSONObject {
        object.with("limit", limit.map(JSON.count)).with("after", after.map(JSON.string))
    }
}

extension PathArgument {
    init(_ fields: Fields) throws(DocumentError) {
        let directory = try fields.optionalName("directory") ?? [0x2F]
        guard directory.first == 0x2F else { throw fields.failure("directory", "an absolute path") }
        self.init(typed: try fields.name("path"), directory: directory)
    }

    var members: JSONObject { JSONObject().with("path", name: typed).with("directory", name: directory) }

    var json: JSON { .object(members) }
}
