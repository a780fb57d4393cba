import Coordination
import SyncCore
import SyncModel

/// Who held what when, on both nodes, and which promises of docs/locks.md that breaks. It decides by itself what excludes what, and knows
/// of the link only what the nodes have seen of it.
struct LockHistory: Sendable {
    struct Hold: Sendable {
        let accesses: [Access]
        let purpose: String?
        let mode: Claim.Mode
        let since: Int64
        /// The nodes had been together for long enough to know of each other's.
        let isShared: Bool
    }

    private struct Overlap: Sendable {
        /// By node.
        let claims: [Claim.ID]
        let since: Int64
    }

    /// By node, and the claim there.
    private(set) var holds: [SortedMap<Claim.ID, Hold>] = [[:], [:]]
    private var isConnected = [false, false]
    /// When a node saw its link come or go, or began.
    private var changes: [[Int64]] = [[], []]
    private var losses: [[Int64]] = [[], []]
    private var fences: [UInt64] = [0, 0]
    private var overlaps: [Overlap] = []
    private var toldOfSplit: [Int64] = [.min, .min]

    /// Until then a new link has told each node what the other holds, however slow it is.
    static let settleMilliseconds: Int64 = 15_000
    /// So long the other keeps away from what was held when the link went.
    static let leaseMilliseconds: Int64 = 15_000

    // MARK: What happens

    /// What is wrong with that, if anything is.
    mutating func granted(
        _ claim: Claim.ID, _ accesses: [Access], for purpose: String?, _ mode: Claim.Mode, fence: UInt64, on node: Int,
        at time: Int64
    ) -> String? {
        defer {
            holds[node][claim] = Hold(
                accesses: accesses, purpose: purpose, mode: mode, since: time, isShared: isSettled(at: time))
        }
        if fence <= fences[node] { return "L-c: claim \(claim) has fence \(fence), an earlier one had \(fences[node])" }
        fences[node] = fence
        if mode == .strict, !isConnected[node] { return "L-d: strict claim \(claim) was granted without a link" }
        for (other, hold) in holds[node]
        where LockHistory.exclude(accesses, hold.accesses) && (purpose == nil || purpose != hold.purpose) {
            return "claims \(other) and \(claim) of one node exclude each other"
        }
        guard mode != .local else { return nil }
        for (other, hold) in holds[1 - node] where hold.mode != .local {
            guard LockHistory.exclude(accesses, hold.accesses) else { continue }
            let pair = node == 0 ? [claim, other] : [other, claim]
            overlaps.append(Overlap(claims: pair, since: time))
            if isSettled(at: time) { return "L-a: claim \(claim) was granted while the other node held \(other)" }
            guard hold.isShared else { continue }
            guard let loss = losses[node].first(where: { $0 >= hold.since }) else {
                return "L-b: claim \(claim) was granted, the other node held \(other) and no link was lost"
            }
            if time < loss + LockHistory.leaseMilliseconds {
                return "L-b: claim \(claim) was granted \(time - loss) ms after the link went; the other held \(other)"
            }
        }
        return nil
    }

    mutating func ended(_ claim: Claim.ID, on node: Int) {
        holds[node][claim] = nil
        overlaps.removeAll { $0.claims[node] == claim }
    }

    mutating func connected(_ node: Int, at time: Int64) {
        if isConnected[node] { losses[node].append(time) }
        isConnected[node] = true
        changes[node].append(time)
    }

    mutating func disconnected(_ node: Int, at time: Int64) {
        isConnected[node] = false
        changes[node].append(time)
        losses[node].append(time)
    }

    /// A process has begun or ended: all that was held over it is given back.
    mutating func turned(_ node: Int, at time: Int64) {
        for claim in holds[node].keys { ended(claim, on: node) }
        fences[node] = 0
        disconnected(node, at: time)
    }

    mutating func told(ofSplitOn node: Int, at time: Int64) { toldOfSplit[node] = time }

    /// Two who have held the same for long after they met, without a word of it.
    func silentSplit(at time: Int64) -> String? {
        guard isSettled(at: time) else { return nil }
        let met = changes.compactMap(\.last).max() ?? .min
        for overlap in overlaps where toldOfSplit.contains(where: { $0 < max(overlap.since, met) }) {
            return
                "L-c: claims \(overlap.claims[0]) and \(overlap.claims[1]) are held on both nodes, and not both say so"
        }
        return nil
    }

    /// Something is about to be put at the path, or taken from it.
    func disturbed(by path: Path, isDirectory: Bool, on node: Int) -> Claim.ID? {
        holds[node].first { _, hold in
            hold.accesses.contains { access in
                if case .write(.metadata) = access.kind { return false }
                return access.path == path || access.coversContents && path.isBelow(access.path)
                    || isDirectory && access.path.isBelow(path)
            }
        }?.key
    }

    // MARK: What excludes what

    private func isSettled(at time: Int64) -> Bool {
        isConnected == [true, true]
            && changes.allSatisfy { ($0.last ?? .min) <= time - LockHistory.settleMilliseconds }
    }

    private static func exclude(_ mine: [Access], _ others: [Access]) -> Bool {
        mine.contains { one in
            others.contains { two in
                let meet =
                    one.path == two.path || one.coversContents && two.path.isBelow(one.path)
                    || two.coversContents && one.path.isBelow(two.path)
                return meet && !(one.isRead && two.isRead) && !isHarmless(one, two) && !isHarmless(two, one)
            }
        }
    }

    /// A reader of the content, and who changes nothing of it.
    private static func isHarmless(_ reader: Access, _ writer: Access) -> Bool {
        reader.isRead && writer.kind == .write(.metadata)
    }
}
