public import SyncModel

/// What the two nodes say to each other. The bytes are specified in `FrameCodec`.
///
/// The session is an exchange of log positions, batches and chunks: every frame stands for itself, and a transport that
/// carries frames as files between nodes that are never up together would do.
public enum Frame: Hashable, Sendable {
    case hello(Hello)
    /// Consecutive entries of the sender's log, each as `LogCodec` writes it.
    case log([[UInt8]])
    case acknowledge(Acknowledgement)
    /// The sender's own latest revisions, for a receiver that is too far behind for the log.
    case rows([RowState])
    /// All revisions have been sent; the log goes on after this position.
    case rowsEnd(LogHead)
    case want([ContentID])
    /// The same, by one who has the chunk list of an earlier content. Only for a peer that offers `Hello.changedLists`.
    case wantChanged([ChangedWish])
    case chunkList(ContentPage)
    /// A whole chunk list, told by what differs from another.
    case changedList(ChangedList)
    case wantChunks(ContentID, [UInt32])
    case chunks(ContentID, [ChunkData])
    /// Many small contents at once, each a single chunk.
    case contents([SmallContent])
    /// The sender has no such content any more.
    case gone(ContentID)
    /// The sender should have it, but cannot read it now: ask again after a pause.
    case later(ContentID)
    /// The sender lost entries of its own log after this position: the receiver takes them over.
    case rolledBack(LogPosition)
    /// The receiver of a directory move needs it path by path.
    case expand(LogPosition)
    case expansion(LogPosition, [RowState], isLast: Bool)
    case ping
    /// The sender's wall clock.
    case pong(wallMilliseconds: Int64)
    /// Which record models the sender has, and where it stands with the change sets.
    case records(RecordsHello)
    case changeSet(SetPiece)
    /// The receiver's change sets are durable up to here.
    case setsTaken(LogPosition)
    /// Which versions of which formats the sender's programs understand.
    case formats([FormatSupport])
    /// Whatever the sender still makes will have seen the receiver's change sets up to here, and all that it has made has been sent.
    case setsShown(LogPosition)
    /// What is left of the change sets that the sender has forgotten the rest of.
    case setsBase(SetsBase)
    /// To the arbiter: a program of the sender wants to hold paths still, or does.
    case claim(PeerClaim)
    /// By the arbiter: it waits with others, or it is granted.
    case claimAnswer(Claim.ID, isGranted: Bool)
    case releaseClaim(Claim.ID)
    /// To the arbiter: what of the sender's programs waits for what else of them, as long as something of them waits for the arbiter. All of
    /// it, each time. Only for a peer that offers `Hello.claimWaits`.
    case claimWaits([PeerWait])
    /// The sender sends and shows nothing new until a person says that it goes on.
    case pausing(Bool)
    /// So many files of a mass deletion wait on the sender for a person; 0 once all that came of it has been sent. Only for a
    /// peer that offers `Hello.heldDeletes`.
    case holding(files: UInt32)
    /// The sender will not go on, and why.
    case halt(MessageCode)
    /// A frame of a type this program does not know; skipped.
    case unknown(UInt8)
}

public struct Hello: Hashable, Sendable {
    public static let protocolMin: UInt16 = 1
    public static let protocolMax: UInt16 = 1
    /// The sender understands `wantChanged`.
    public static let changedLists = Array("changed-lists".utf8)
    /// The sender reads change sets that tell under which lock a file was saved.
    public static let saveLocks = Array("save-locks".utf8)
    /// The sender reads for which purpose a claim is made.
    public static let claimPurposes = Array("claim-purposes".utf8)
    /// The sender wants to know who waits for whom on the other node.
    public static let claimWaits = Array("claim-waits".utf8)
    /// The sender takes a new key of its peer (the link does; the core only carries the word).
    public static let renewsKeys = Array("key-renewal".utf8)
    /// The sender wants to be told of deletions that are held on the other node.
    public static let heldDeletes = Array("held-deletes".utf8)
    private static let nodePrefix = Array("node=".utf8)

    /// What the entries of the sender's log are chained by: not what its key says, if it has renewed that.
    public static func node(_ id: NodeID) -> [UInt8] { nodePrefix + id.digest.bytes }

    /// Nil if the sender does not say: then it is what its key says.
    public var node: NodeID? {
        let words = features.lazy.filter { $0.starts(with: Hello.nodePrefix) }
        return words.compactMap { Digest(bytes: Array($0.dropFirst(Hello.nodePrefix.count))) }.first.map { NodeID($0) }
    }

    public var versionMin: UInt16
    public var versionMax: UInt16
    public var features: [[UInt8]]
    public var name: [UInt8]
    public var program: [UInt8]
    public var wallMilliseconds: Int64
    /// The last durable entry of the sender's log.
    public var ownHead: LogHead
    /// What the sender has stored of the receiver's log: the last entry of each epoch, oldest first.
    public var known: [LogHead]

    public init(
        versionMin: UInt16, versionMax: UInt16, features: [[UInt8]], name: [UInt8], program: [UInt8],
        wallMilliseconds: Int64, ownHead: LogHead, known: [LogHead]
    ) {
        self.versionMin = versionMin
        self.versionMax = versionMax
        self.features = features
        self.name = name
        self.program = program
        self.wallMilliseconds = wallMilliseconds
        self.ownHead = ownHead
        self.known = known
    }
}

/// Before it sets that were kept for what they come to only can be told: who lacks some of them, or has not promised to see
/// them in whatever it makes, takes the sender's instead of all it has.
public struct SetsBase: Hashable, Sendable {
    public let step: Step
    /// How far the sender has forgotten: of its own sets, and of the receiver's.
    public let own: LogPosition
    public let peer: LogPosition
    /// What is told: the sender's own sets up to here, and the receiver's.
    public let ownEnd: LogPosition
    public let peerEnd: LogPosition

    public enum Step: UInt8, Hashable, Sendable {
        /// Before the sender's `records`.
        case forgotten = 0
        case wanted = 1
        case begins = 2
        case ends = 3
    }

    public init(
        _ step: Step, own: LogPosition = .none, peer: LogPosition = .none, ownEnd: LogPosition = .none,
        peerEnd: LogPosition = .none
    ) {
        self.step = step
        self.own = own
        self.peer = peer
        self.ownEnd = ownEnd
        self.peerEnd = peerEnd
    }
}

public struct RecordsHello: Hashable, Sendable {
    public var models: [Model]
    /// The last change set of the sender, and (`known`) the last that it has of the receiver.
    public var own: LogPosition
    /// The last of the sender that it had written before it was started.
    public var before: LogPosition
    public var known: LogPosition

    public struct Model: Hashable, Sendable {
        public var name: [UInt8]
        public var version: UInt32
        /// Of the model file.
        public var digest: Digest

        public init(name: [UInt8], version: UInt32, digest: Digest) {
            self.name = name
            self.version = version
            self.digest = digest
        }
    }

    public init(models: [Model], own: LogPosition, before: LogPosition, known: LogPosition) {
        self.models = models
        self.own = own
        self.before = before
        self.known = known
    }
}

/// A part of a change set, which may be larger than a frame. The author is the sender's "own" or "peer".
public struct SetPiece: Hashable, Sendable {
    public var author: Author
    public var position: LogPosition
    /// Of the whole set, in bytes.
    public var total: UInt32
    public var offset: UInt32
    public var bytes: [UInt8]

    public init(author: Author, position: LogPosition, total: UInt32, offset: UInt32, bytes: [UInt8]) {
        self.author = author
        self.position = position
        self.total = total
        self.offset = offset
        self.bytes = bytes
    }
}

/// "Your log is durable here up to this head" and, where `isSettled`, "and my folder shows all of it".
public struct Acknowledgement: Hashable, Sendable {
    public var head: LogHead
    public var isSettled: Bool

    public init(head: LogHead, isSettled: Bool) {
        self.head = head
        self.isSettled = isSettled
    }
}

/// A revision at a path, outside the log. Author and vectors are the sender's.
public struct RowState: Hashable, Sendable {
    public var path: Path
    public var revision: Revision

    public init(path: Path, revision: Revision) {
        self.path = path
        self.revision = revision
    }
}

/// A part of a content's chunk list, beginning with chunk `first`.
public struct ContentPage: Hashable, Sendable {
    public var content: ContentID
    public var first: UInt32
    public var total: UInt32
    public var chunks: [Chunk]

    public init(content: ContentID, first: UInt32, total: UInt32, chunks: [Chunk]) {
        self.content = content
        self.first = first
        self.total = total
        self.chunks = chunks
    }
}

/// A content that is wanted, and the one whose chunk list the wisher has.
public struct ChangedWish: Hashable, Sendable {
    public var content: ContentID
    public var base: ContentID

    public init(content: ContentID, base: ContentID) {
        self.content = content
        self.base = base
    }
}

public struct ChunkData: Hashable, Sendable {
    public var index: UInt32
    public var bytes: [UInt8]

    public init(index: UInt32, bytes: [UInt8]) {
        self.index = index
        self.bytes = bytes
    }
}

public struct SmallContent: Hashable, Sendable {
    public var id: ContentID
    public var bytes: [UInt8]

    public init(id: ContentID, bytes: [UInt8]) {
        self.id = id
        self.bytes = bytes
    }
}
