import Coordination
import SyncCore
import SyncModel
import Testing

@testable import SyncSim

@Suite("the judge of locks: each promise is shown broken and kept")
struct LockHistoryTests {
    private static let settled: Int64 = 20_000

    private static func access(_ path: String, _ kind: Access.Kind = .write(.update), all: Bool = false) -> [Access] {
        [Access(Path(path) ?? .root, kind, coversContents: all)]
    }

    /// Both nodes have been together for a while.
    private static func together() -> LockHistory {
        var history = LockHistory()
        history.connected(0, at: 0)
        history.connected(1, at: 0)
        return history
    }

    private static func grant(
        _ history: inout LockHistory, _ claim: Claim.ID, _ accesses: [Access], _ mode: Claim.Mode = .pair,
        purpose: String? = nil, fence: UInt64? = nil, on node: Int, at time: Int64
    ) -> String? {
        history.granted(claim, accesses, for: purpose, mode, fence: fence ?? claim.number, on: node, at: time)
    }

    @Test("two of one node that exclude each other, and two that do not")
    func oneNode() {
        let cases: [([Access], [Access], Bool)] = [
            (Self.access("a"), Self.access("a"), true), (Self.access("a"), Self.access("b"), false),
            (Self.access("a", .read(savesFirst: true)), Self.access("a", .read(savesFirst: false)), false),
            (Self.access("a", .read(savesFirst: true)), Self.access("a", .write(.metadata)), false),
            (Self.access("d"), Self.access("d/x"), false), (Self.access("d", all: true), Self.access("d/x"), true),
            (Self.access("d/x"), Self.access("d", .write(.deleting)), true),
        ]
        for (first, second, isWrong) in cases {
            var history = Self.together()
            #expect(Self.grant(&history, 1, first, .local, on: 0, at: Self.settled) == nil)
            let fault = Self.grant(&history, 2, second, .local, on: 0, at: Self.settled)
            #expect((fault != nil) == isWrong, "\(first) and \(second)")
        }
        var history = Self.together()
        #expect(Self.grant(&history, 1, Self.access("a"), purpose: "p", on: 0, at: Self.settled) == nil)
        #expect(Self.grant(&history, 2, Self.access("a"), purpose: "p", on: 0, at: Self.settled) == nil)
        history.ended(1, on: 0)
        #expect(Self.grant(&history, 3, Self.access("a"), on: 0, at: Self.settled) != nil)
        history.ended(2, on: 0)
        history.ended(3, on: 0)
        #expect(Self.grant(&history, 4, Self.access("a"), on: 0, at: Self.settled) == nil)
    }

    @Test("L-a: both nodes hold the same while they are together", arguments: Claim.Mode.allCases)
    func together(mode: Claim.Mode) {
        var history = Self.together()
        #expect(Self.grant(&history, 1, Self.access("a"), on: 0, at: Self.settled) == nil)
        let fault = Self.grant(&history, 2, Self.access("a"), mode, on: 1, at: Self.settled)
        #expect(fault?.hasPrefix("L-a") == (mode == .local ? nil : true))
    }

    @Test(
        "L-b: what was held when the link went is kept from the other node for as long as a lease",
        arguments: [true, false])
    func lease(isTooEarly: Bool) {
        var history = Self.together()
        #expect(Self.grant(&history, 1, Self.access("a"), on: 0, at: Self.settled) == nil)
        history.disconnected(1, at: 30_000)
        let time = 30_000 + LockHistory.leaseMilliseconds - (isTooEarly ? 1 : 0)
        let fault = Self.grant(&history, 2, Self.access("a"), on: 1, at: time)
        #expect(fault?.hasPrefix("L-b") == (isTooEarly ? true : nil))
        // The link was never lost for whoever has it.
        var other = Self.together()
        #expect(Self.grant(&other, 1, Self.access("a"), on: 0, at: Self.settled) == nil)
        other.disconnected(0, at: 30_000)
        #expect(Self.grant(&other, 2, Self.access("a"), on: 1, at: 60_000)?.contains("no link was lost") == true)
    }

    @Test("L-c: two who hold the same when they meet are told of, by both", arguments: [0, 1, 2])
    func split(count: Int) {
        var history = Self.together()
        history.disconnected(0, at: 100)
        history.disconnected(1, at: 100)
        #expect(Self.grant(&history, 1, Self.access("a"), on: 0, at: 30_000) == nil)
        #expect(Self.grant(&history, 2, Self.access("a"), on: 1, at: 30_000) == nil)
        history.connected(0, at: 40_000)
        history.connected(1, at: 40_000)
        #expect(history.silentSplit(at: 41_000) == nil)
        for node in 0..<count { history.told(ofSplitOn: node, at: 41_000) }
        let isSilent = history.silentSplit(at: 40_000 + LockHistory.settleMilliseconds) != nil
        #expect(isSilent == (count < 2))
        history.ended(1, on: 0)
        #expect(history.silentSplit(at: 40_000 + LockHistory.settleMilliseconds) == nil)
    }

    @Test("L-d: a strict lock without a link; and fences that do not rise")
    func strict() {
        var history = Self.together()
        #expect(Self.grant(&history, 5, Self.access("a"), .strict, on: 0, at: Self.settled) == nil)
        #expect(Self.grant(&history, 6, Self.access("b"), fence: 5, on: 0, at: Self.settled)?.hasPrefix("L-c") == true)
        history.disconnected(0, at: 21_000)
        #expect(Self.grant(&history, 7, Self.access("c"), .strict, on: 0, at: 22_000)?.hasPrefix("L-d") == true)
        // A process that has begun anew counts from its own beginning.
        history.turned(0, at: 23_000)
        #expect(Self.grant(&history, 8, Self.access("a"), fence: 1, on: 0, at: 60_000) == nil)
    }

    @Test("what is put where a program holds it")
    func disturbed() throws {
        var history = Self.together()
        #expect(Self.grant(&history, 1, Self.access("d/x", .read(savesFirst: false)), on: 0, at: Self.settled) == nil)
        #expect(Self.grant(&history, 2, Self.access("e", all: true), on: 0, at: Self.settled) == nil)
        #expect(Self.grant(&history, 3, Self.access("m", .write(.metadata)), on: 0, at: Self.settled) == nil)
        for (path, isDirectory, claim) in [
            ("d/x", false, 1), ("d", true, 1), ("d", false, nil), ("e/a/b", false, 2), ("e", true, 2),
            ("m", false, nil),
        ] as [(String, Bool, Claim.ID?)] {
            let place = try #require(Path(path))
            #expect(history.disturbed(by: place, isDirectory: isDirectory, on: 0) == claim, "\(path)")
            #expect(history.disturbed(by: place, isDirectory: isDirectory, on: 1) == nil)
        }
    }
}
