/// What must be true of every history of `Histories.swift`, whatever its acts. Expectations come from sets of causes,
/// never from the version vectors under test.
import SyncCore
import SyncModel

enum Promises {
    /// The promises that this history breaks, by name.
    static func broken(in history: History) -> [String] {
        var met = history
        met.exchange()
        var settled = met
        settled.converge()
        return agreement(met) + order(met) + content(met) + metadata(met) + settlement(settled)
            + copies(settled)
    }

    /// Two nodes that know the same revisions hold the same heads and want the same.
    private static func agreement(_ met: History) -> [String] {
        let (left, right) = (met[.left], met[.right])
        var broken: [String] = []
        if left.row.heads != byAuthor(right.row.heads.map(\.flipped)) { broken.append("INV-17 the heads differ") }
        let (here, there) = (left.resolution, right.resolution)
        if here.entry != there.entry || here.isConflict != there.isConflict
            || here.origins != there.origins.flipped || here.version != there.version.flipped
        {
            broken.append("INV-17 the resolutions differ")
        }
        let authors = left.row.heads.map(\.origin.author)
        if authors.isEmpty || authors.count > 2 || authors == [.own, .own] || authors == [.peer, .peer] {
            broken.append("there is more than one head of an author, or none")
        }
        return broken
    }

    /// Neither the order in which revisions come in nor their repetition matters.
    private static func order(_ met: History) -> [String] {
        let all = met.facts.map(\.revision)
        let own = all.filter { $0.origin.author == .own }
        let peer = all.filter { $0.origin.author == .peer }
        let orders = [all.reversed(), own.reversed() + peer + all]
        let heads = met[.left].row.heads
        let isSame = orders.allSatisfy { order in
            var row = Row(path: met[.left].row.path)
            for revision in order { row.join(revision) }
            return row.heads == heads
        }
        return isSame ? [] : ["INV-12 the order of arrival matters"]
    }

    /// Something beats nothing, a directory beats a file, the later of the rest; other contents that live are a conflict. Of last decisions
    /// the earlier is with what its author had let go of, be it a directory.
    private static func content(_ met: History) -> [String] {
        let isDecided = met.living(\.content).isEmpty
        let living = isDecided ? met.lastClaims : met.living(\.content)
        let present = living.filter { !$0.revision.entry.isAbsent }
        let directories = isDecided ? [] : present.filter { $0.revision.entry.content.isDirectory }
        guard let winner = met.latest(!directories.isEmpty ? directories : !present.isEmpty ? present : living) else {
            return ["no content is alive"]
        }
        let wanted = met[.left].resolution
        var broken: [String] = []
        if wanted.entry.content != winner.revision.entry.content { broken.append("another content should have won") }
        if !wanted.origins.content.isSameEntry(as: winner.revision.origin) {
            broken.append("the content is said to come from elsewhere")
        }
        let isConflict = present.contains { $0.revision.entry.content != winner.revision.entry.content }
        if wanted.isConflict && !isConflict { broken.append("INV-14 a conflict is invented") }
        if !wanted.isConflict && isConflict { broken.append("INV-04 a conflict is missed") }
        return broken
    }

    /// Where no content had to give way, the latest permission bits and the latest time win, each by itself; the loser of a
    /// conflict takes its own with it.
    private static func metadata(_ met: History) -> [String] {
        let wanted = met[.left].resolution
        let heads = met[.left].row.heads
        if wanted.isConflict {
            return heads.contains { $0.entry == wanted.entry } ? [] : ["a loser left its mode or time behind"]
        }
        guard !wanted.entry.isAbsent,
            heads.allSatisfy({ $0.entry.content.kind == wanted.entry.content.kind })
        else { return [] }
        var broken: [String] = []
        if let latest = met.latest(met.living(\.mode)), latest.revision.entry.mode != wanted.entry.mode {
            broken.append("another mode should have won")
        }
        if heads.allSatisfy({ $0.entry.content == wanted.entry.content }),
            let latest = met.latest(met.living(\.time)), latest.revision.entry.modified != wanted.entry.modified
        {
            broken.append("another time should have won")
        }
        return broken
    }

    /// What happens to one side would have happened to the other in its place.
    static func mirror(_ history: History) -> [String] {
        var met = history
        met.exchange()
        var mirror = history.mirrored
        mirror.exchange()
        let isMirrored = Side.allCases.allSatisfy { side in
            mirror[side.other].resolution == met[side].resolution && mirror[side.other].row == met[side].row
                && mirror[side.other].copies == met[side].copies
        }
        return isMirrored ? [] : ["INV-19 the sides are not treated alike"]
    }

    /// Once applied, both folders show the same, and nothing is left to do or to say.
    private static func settlement(_ settled: History) -> [String] {
        let (left, right) = (settled[.left], settled[.right])
        var broken: [String] = []
        if left.row.disk?.entry != right.row.disk?.entry { broken.append("INV-06 the folders differ") }
        if left.row.needsApply || right.row.needsApply { broken.append("INV-06 something is left to apply") }
        if left.reconciler.step(from: left.row, to: left.resolution) != .agree {
            broken.append("INV-07 what was just applied is to be applied again")
        }
        return broken
    }

    /// A conflict copy is made only of what was written while the other side wrote something else.
    private static func copies(_ settled: History) -> [String] {
        let claims = settled.facts.filter { $0.revision.origins.content.isSameEntry(as: $0.revision.origin) }
        let areNeeded = (settled[.left].copies + settled[.right].copies).allSatisfy { copy in
            claims.contains { claim in
                claim.revision.entry.content == copy
                    && claims.contains { other in
                        !other.past.contains(claim.id) && !claim.past.contains(other.id)
                            && other.revision.entry.content != copy
                    }
            }
        }
        return areNeeded ? [] : ["INV-14 a conflict copy is made of what nobody contested"]
    }

    /// Every file and link that was written is there, has become a conflict copy, or was replaced by who looked at it.
    static func nothingLost(_ history: History) -> [String] {
        var settled = history
        settled.converge()
        let there = settled[.left].resolution.entry.content
        let copies = settled[.left].copies + settled[.right].copies
        let isLost = settled.facts.contains { fact in
            let content = fact.revision.entry.content
            guard content.kind == .file || content.kind == .symlink else { return false }
            return content != there && !copies.contains(content) && !settled.overwritten.contains(content)
        }
        return isLost ? ["INV-01 a version is lost"] : []
    }

    private static func byAuthor(_ heads: [Revision]) -> [Revision] {
        heads.sorted { $0.origin.author.rawValue < $1.origin.author.rawValue }
    }
}

extension History {
    /// For the message of a failure: who did what, on how much of the other's log.
    var sketch: String {
        let acts = moves.map { move in
            "\(move.side) \(move.act)\(move.taken == 0 ? "" : " after \(move.taken)\(move.applied ? "" : " unapplied")")"
        }
        return acts.joined(separator: ", ")
            + "; left key \(leftOrder.ownKeyIsSmaller ? "smaller" : "larger")"
            + "; clocks \(self[.left].wallMilliseconds) \(self[.right].wallMilliseconds)"
    }
}
