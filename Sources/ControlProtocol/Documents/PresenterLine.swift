import SyncModel

/// The items that answer `present`: first the name of the presenter, then what it is asked and told, with paths in the folder.
public enum PresenterLine: Hashable, Sendable {
    case registered(presenter: String)
    case question(Question)
    case news(News)

    /// Others are about to do this. They wait for `answer`, for ten seconds.
    public struct Question: Hashable, Sendable {
        public enum Kind: String, CaseIterable, Hashable, Sendable {
            case read, write, delete
        }

        public var id: String
        public var path: [UInt8]
        public var kind: Kind
        /// What is not saved yet is to be saved before the answer.
        public var savesFirst: Bool

        public init(id: String, path: [UInt8], kind: Kind, savesFirst: Bool) {
            self.id = id
            self.path = path
            self.kind = kind
            self.savesFirst = savesFirst
        }
    }

    public enum News: Hashable, Sendable {
        /// Who asked for it is done.
        case reacquired
        case changed([UInt8])
        case deleted([UInt8])
        case moved([UInt8], to: [UInt8])
        /// There was no answer in time, and others went on.
        case skipped
        /// Something about the path that lasts has begun or is over; `about` is it, or another version of it.
        case warned([UInt8], about: [UInt8], code: CodeText, isOpen: Bool)
    }
}

extension PresenterLine: ControlDocument {
    fileprivate enum Kind: String, CaseIterable {
        case reacquired, changed, deleted, moved, skipped, warned
    }

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(json)
        if fields.has("presenter") {
            self = .registered(presenter: try fields.text("presenter"))
        } else if fields.has("question") {
            self = .question(
                Question(
                    id: try fields.text("question"), path: try fields.name("path"), kind: try fields.choice("kind"),
                    savesFirst: try fields.flag("save")))
        } else {
            self = .news(try News(fields, try fields.choice("news")))
        }
    }

    public var json: JSON {
        switch self {
        case .registered(let presenter): ["presenter": .string(presenter)]
        case .question(let question):
            .object(
                JSONObject().with("question", .string(question.id)).with("path", name: question.path)
                    .with("kind", .string(question.kind.rawValue)).with("save", .bool(question.savesFirst)))
        case .news(let news): .object(news.members)
        }
    }
}

extension PresenterLine.News {
    fileprivate init(_ fields: Fields, _ kind: PresenterLine.Kind) throws(DocumentError) {
        switch kind {
        case .reacquired: self = .reacquired
        case .skipped: self = .skipped
        case .changed: self = .changed(try fields.name("path"))
        case .deleted: self = .deleted(try fields.name("path"))
        case .moved: self = .moved(try fields.name("path"), to: try fields.name("to"))
        case .warned:
            self = .warned(
                try fields.name("path"), about: try fields.name("about"), code: try fields.code("code"),
                isOpen: try fields.flag("open"))
        }
    }

    fileprivate var members: JSONObject {
        func object(_ kind: PresenterLine.Kind) -> JSONObject { JSONObject().with("news", .string(kind.rawValue)) }
        switch self {
        case .reacquired: return object(.reacquired)
        case .skipped: return object(.skipped)
        case .changed(let path): return object(.changed).with("path", name: path)
        case .deleted(let path): return object(.deleted).with("path", name: path)
        case .moved(let path, let target): return object(.moved).with("path", name: path).with("to", name: target)
        case .warned(let path, let about, let code, let isOpen):
            return object(.warned).with("path", name: path).with("about", name: about)
                .with("code", .string(code.text)).with("open", .bool(isOpen))
        }
    }
}

/// An item of `lock` after it was granted: it was held for longer than was agreed, and somebody else has it now.
public struct RevokedDocument: ControlDocument {
    public var lock: String

    public init(lock: String) {
        self.lock = lock
    }

    public init(json: JSON) throws(DocumentError) { lock = try Fields(json).text("revoked") }

    public var json: JSON { ["revoked": .string(lock)] }
}
