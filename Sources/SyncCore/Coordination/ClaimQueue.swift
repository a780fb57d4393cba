import SyncModel

/// Who holds which paths still, and who waits for them: one queue in order of arrival, so that nobody is passed by somebody he
/// excludes. All paths of a claim are granted together or not at all, so claims of one node cannot wait for each other in a circle.
///
/// For claims of both nodes the one with the smaller key is the arbiter: the other asks it first, and only then itself. In this order
/// the two nodes cannot wait for each other either. Nothing that syncd does to keep files safe depends on any of this.
struct ClaimQueue: Sendable {
    struct Entry: Sendable {
        var claim: Claim
        /// To be answered when it is granted.
        var command: CommandID?
        /// Monotonic milliseconds: given up then.
        var deadline: UInt64?
        var arbiter = Arbiter.notNeeded
        /// Of the peer, held when the link was lost: it ends then at the latest.
        var leaseEnds: UInt64?

        /// What the arbiter on the other node has said.
        enum Arbiter: Sendable {
            case notNeeded
            case toAsk
            /// Not heard of it yet; since when.
            case asked(UInt64)
            case waits
            case granted
            /// Without a link nobody can be asked. With the next one it is told of, or asked for.
            case alone

            var isOver: Bool {
                switch self {
                case .notNeeded, .granted, .alone: true
                case .toAsk, .asked, .waits: false
                }
            }
        }
    }

    var entries: [Entry] = []
    /// When the last link of this process was lost (monotonic milliseconds).
    var lostLinkAt: UInt64?

    var isEmpty: Bool { entries.isEmpty }

    /// Longer than a peer that has heard nothing holds on to what it was granted.
    static let leaseMilliseconds: UInt64 = 16_500
    /// A program that knows of no claims says nothing. By then a link that is dead has been seen to be.
    static let silenceMilliseconds: UInt64 = 9_000
    static let entriesMax = 4_096

    /// Nobody who holds, and nobody who came before, excludes it.
    func isFree(_ index: Int) -> Bool {
        let claim = entries[index].claim
        return !entries.indices.contains { other in
            guard other != index, entries[other].claim.excludes(claim) else { return false }
            return entries[other].claim.isHeld || other < index && entries[other].arbiter.isOver
        }
    }

    /// A program of this node holds the path still: nothing is put there meanwhile.
    func holds(_ path: Path) -> Bool {
        entries.contains { $0.claim.isHeld && $0.claim.node == .own && $0.claim.covers(path) }
    }

    func isWrittenUnderClaim(_ path: Path) -> Bool {
        entries.contains { $0.claim.isHeld && $0.claim.node == .own && !$0.claim.isRead && $0.claim.covers(path) }
    }

    /// The next time at which something is to be done without anybody's doing.
    func nextDue(isConnected: Bool) -> UInt64? {
        var due: UInt64?
        func consider(_ time: UInt64?) { if let time { due = min(due ?? time, time) } }
        for entry in entries {
            consider(entry.leaseEnds)
            guard !entry.claim.isHeld else { continue }
            consider(entry.deadline)
            switch entry.arbiter {
            case .asked(let since): consider(since + ClaimQueue.silenceMilliseconds)
            case .toAsk: if !isConnected { consider(lostLinkAt.map { $0 + ClaimQueue.leaseMilliseconds }) }
            case .notNeeded, .waits, .granted, .alone: break
            }
        }
        return due
    }
}
