/// The one registry of everything the program tells people: each message has a stable code, and what it means is
/// written here once. `syncctl explain`, the manual page and the README's table are generated from it. The codes are
/// listed in `Messages/MessageCode.swift`, the texts by theme beside it.
///
/// Text rule: say what happened and why in words anyone running a server knows, what is safe, what is paused, and what
/// to do. No blame, no words from inside the program. What it happened to is added where the message is shown, quoted
/// and escaped.

/// How much it matters. `syncctl status` asks for attention at `warning` and `serious`.
public enum Severity: String, CaseIterable, Comparable, Sendable {
    /// Worth knowing; nothing to do.
    case info
    /// Something waits or was decided that a person should look at; everything else goes on.
    case warning
    /// Syncing of the folder or of a file stands still, or data needs a person.
    case serious

    public static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .info: 0
        case .warning: 1
        case .serious: 2
        }
    }
}

/// When what failed or waits is tried again without anybody's help.
public enum RetryRule: Hashable, Sendable {
    /// Never: it is over, or it waits for a person.
    case none
    /// As soon as the thing it waits for changes.
    case onChange
    /// When the other node is connected again.
    case onReconnect
    /// After a pause that doubles from the first to the last.
    case backoff(fromMilliseconds: UInt64, toMilliseconds: UInt64)

    /// The pauses of `Limits`.
    static let patiently = RetryRule.backoff(
        fromMilliseconds: Limits().retryFirstMilliseconds, toMilliseconds: Limits().retryLastMilliseconds)

    /// For `syncctl explain`: what follows "Tried again".
    public var text: String {
        switch self {
        case .none: "never by itself"
        case .onChange: "as soon as it changes"
        case .onReconnect: "when the nodes are connected again"
        case .backoff(let first, let last):
            "after \(RetryRule.seconds(first)) s, then at growing intervals of up to \(RetryRule.seconds(last)) s"
        }
    }

    private static func seconds(_ milliseconds: UInt64) -> String {
        let tenths = milliseconds % 1000 / 100
        return tenths == 0 ? "\(milliseconds / 1000)" : "\(milliseconds / 1000).\(tenths)"
    }
}

/// What there is to say about one code.
public struct MessageKind: Hashable, Sendable {
    public let code: MessageCode
    public let severity: Severity
    /// It goes away without anybody's help once its cause does.
    public let healsItself: Bool
    public let retry: RetryRule
    /// What happened and why, what is safe and what is paused. Whole sentences.
    public let meaning: String
    /// What to do, or why there is nothing to do. Whole sentences.
    public let cure: String
    /// It has its name and its text, and nothing in this version raises it.
    public let isReserved: Bool

    init(
        _ code: MessageCode, _ severity: Severity, healsItself: Bool, retry: RetryRule = .none,
        isReserved: Bool = false, meaning: String, cure: String
    ) {
        self.isReserved = isReserved
        self.code = code
        self.severity = severity
        self.healsItself = healsItself
        self.retry = retry
        self.meaning = meaning
        self.cure = cure
    }
}

public enum MessageRegistry {
    /// Every kind of message, in the order of their codes.
    public static let all: [MessageKind] = Array(byCode.values)

    public static func kind(of code: MessageCode) -> MessageKind {
        guard let kind = byCode[code] else { preconditionFailure("no text was written for \(code.rawValue)") }
        return kind
    }

    private static let byCode: SortedMap<MessageCode, MessageKind> = {
        let themes = [conflicts, formats, records, link, folder, paths, storage, waiting, versions, running, requests]
        return SortedMap(themes.joined().map { ($0.code, $0) })
    }()
}

extension MessageCode {
    public var kind: MessageKind { MessageRegistry.kind(of: self) }
    public var severity: Severity { kind.severity }
}
