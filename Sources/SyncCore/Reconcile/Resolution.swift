public import SyncModel

/// The state both nodes want at a path: a pure function of the revisions they know.
///
/// No clock, no "me", no order of arrival: two nodes that hold the same heads resolve them to the same entry.
/// Aspect by aspect: a value that some other head's author had seen is overtaken; among what is left, something beats
/// nothing, a directory beats a file, and the later of two writes keeps the name (see `Precedence`).
public struct Resolution: Hashable, Sendable {
    public let entry: Entry
    public let origins: Origins
    public let version: VersionVector
    /// Different contents were written at once; all but one go on under the name of a conflict copy.
    public let isConflict: Bool

    public static let nothing = Resolution(
        entry: .absent, origins: Origins(all: Origin(author: .own, position: .none, time: .zero)), version: .none,
        isConflict: false)

    private init(entry: Entry, origins: Origins, version: VersionVector, isConflict: Bool) {
        self.entry = entry
        self.origins = origins
        self.version = version
        self.isConflict = isConflict
    }

    public init(of heads: [Revision], precedence: Precedence) {
        guard let first = heads.first else {
            self = .nothing
            return
        }
        if heads.count == 1 {
            self.init(entry: first.entry, origins: first.origins, version: first.version, isConflict: false)
            return
        }
        let standing = Resolution.standing(\.content, among: heads)
        let contenders = standing.isEmpty ? heads : standing
        let winner =
            Resolution.contentWinner(of: contenders, byKind: !standing.isEmpty, precedence: precedence) ?? first
        let content = winner.entry.content
        let rivals = contenders.filter { !$0.entry.isAbsent && $0.entry.content != content }

        // The loser of a conflict takes its mode with it; a head with older content may still bring a newer mode.
        let sharers = heads.filter { head in
            head.entry.content.kind == content.kind && !rivals.contains { $0.origin == head.origin }
        }
        let equals = heads.filter { $0.entry.content == content }
        let mode = Resolution.latest(\.mode, among: sharers, precedence: precedence) ?? winner
        let time = Resolution.latest(\.time, among: equals, precedence: precedence) ?? winner

        var version = VersionVector.none
        for head in heads { version = version.joined(with: head.version) }
        self.init(
            entry: Entry(content: content, mode: mode.entry.mode, modified: time.entry.modified),
            origins: Origins(content: winner.origins.content, mode: mode.origins.mode, time: time.origins.time),
            version: version, isConflict: !content.isAbsent && !rivals.isEmpty)
    }

    /// The heads whose value of an aspect nobody has overtaken. None where each has overtaken the other's: both tell how a conflict ended,
    /// and one of them was with a value that its author had let go of by then. That is the earlier one, whatever it is.
    private static func standing(_ aspect: KeyPath<Origins, Origin>, among heads: [Revision]) -> [Revision] {
        heads.filter { head in
            let origin = head.origins[keyPath: aspect]
            return !heads.contains { other in
                other.origin != head.origin && !other.origins[keyPath: aspect].isSameEntry(as: origin)
                    && other.includes(origin)
            }
        }
    }

    private static func contentWinner(
        of contenders: [Revision], byKind: Bool, precedence: Precedence
    ) -> Revision? {
        let live = contenders.filter { !$0.entry.isAbsent }
        let directories = byKind ? live.filter { $0.entry.content.isDirectory } : []
        let field = !directories.isEmpty ? directories : !live.isEmpty ? live : contenders
        return latest(of: field, by: \.content, precedence: precedence)
    }

    private static func latest(
        _ aspect: KeyPath<Origins, Origin>, among heads: [Revision], precedence: Precedence
    ) -> Revision? {
        let standing = standing(aspect, among: heads)
        return latest(of: standing.isEmpty ? heads : standing, by: aspect, precedence: precedence)
    }

    private static func latest(
        of heads: [Revision], by aspect: KeyPath<Origins, Origin>, precedence: Precedence
    ) -> Revision? {
        var best: Revision?
        for head in heads {
            guard let current = best else {
                best = head
                continue
            }
            if precedence.isLater(head.origins[keyPath: aspect], than: current.origins[keyPath: aspect]) { best = head }
        }
        return best
    }
}
