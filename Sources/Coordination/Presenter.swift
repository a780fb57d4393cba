public import SyncModel

/// A program that shows an item, or a directory and what is in it, and wants to be heard before others touch it.
public struct Presenter: Hashable, Sendable {
    public let id: PresenterID
    public let client: ClientID
    /// Claims of the same purpose do not concern it.
    public let purpose: String?
    public internal(set) var path: Path
    public let coversContents: Bool

    public init(id: PresenterID, client: ClientID, purpose: String? = nil, path: Path, coversContents: Bool = false) {
        self.id = id
        self.client = client
        self.purpose = purpose
        self.path = path
        self.coversContents = coversContents
    }

    var agent: Agent { purpose.map { .purpose($0, of: .own) } ?? .presenter(id) }

    /// Shown there itself, or within what it shows.
    public func shows(_ item: Path) -> Bool { path == item || coversContents && item.isBelow(path) }

    func isConcerned(by access: Access) -> Bool { shows(access.path) || access.meets(path) }
}

/// What a presenter is asked before a claim is granted, to be answered within the time it is given.
public struct Question: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case letRead
        case letWrite
        /// It is about to be deleted, or to be replaced.
        case letDelete
    }

    public let id: QuestionID
    public let presenter: PresenterID
    public let path: Path
    public let kind: Kind
    /// Unsaved changes are to be written before the answer. A claim for that is granted ahead of the one that asks.
    public let savesFirst: Bool
}

public enum PresenterAnswer: Hashable, Sendable {
    case ready
    /// Works on it and wants the same time once more; heard once.
    case busy
    case failed(String)
}

/// What a presenter is told.
public enum News: Hashable, Sendable {
    /// The claim it was asked for is over.
    case reacquired
    case changed(Path)
    case moved(Path, to: Path)
    case deleted(Path)
    /// It did not answer in time, and others went on without it. What it writes without a new claim may meet theirs.
    case skipped(fence: UInt64)
    case warned(Warning)
}

/// Something about an item that lasts has begun or is over: another version of it lies beside it, its format is newer than what is understood.
public struct Warning: Hashable, Sendable {
    public let path: Path
    /// Itself, or the other version.
    public let about: Path
    public let code: MessageCode
    public let isOpen: Bool

    public init(path: Path, about: Path, code: MessageCode, isOpen: Bool) {
        self.path = path
        self.about = about
        self.code = code
        self.isOpen = isOpen
    }
}
