import SyncModel

/// INV-25. Nothing leaves a folder because something could not be found elsewhere.
package final class PositiveEvidence: DiskInvariant {
    package static let id = "INV-25"
    package static let sentence = """
        The daemon takes a value out of the folder only if a person who had seen it removed or replaced it at that path; absence of \
        information is no delete.
        """

    package init() {}

    package func see(_ act: DiskAct, _ court: inout Court) {
        guard act.error == nil else { return }
        switch act.operation {
        case .removeDirectory(.tree(let path)): judgeDirectory(path, act, &court)
        case .move(let source, to: .version): judge(source, act, &court)
        case .discard(let place): judge(place, act, &court)
        case .exchange, .move, .removeDirectory, .createFile, .write, .copy, .truncate, .createDirectory,
            .createSymlink, .setMode, .setModified, .syncFile, .syncParent, .expectAbsent, .expect, .expectContent,
            .expectIdentity, .expectUnheld, .inspect:
            break
        }
    }

    /// A value goes out of the tree, or out of the stage into which an exchange had put it.
    private func judge(_ place: Place, _ act: DiskAct, _ court: inout Court) {
        guard let touch = act.touched.first(where: { $0.place == place }), touch.before.isContent else { return }
        switch place {
        case .tree(let path): judge(touch.before, of: path, act, &court)
        case .stage(let name):
            guard let intent = act.store.intents[name] else { return }
            // What we have staged ourselves has not been in the tree yet.
            if case .place(let staged, _) = intent.action, staged == touch.identity { return }
            // Written by who had it open when it was out of its place already: nobody can look and move in one breath. It was never
            // in the folder, and INV-01 asks for it there.
            if court.ledger.wasOnlyWrittenAside(touch.before, at: intent.path) { return }
            judge(touch.before, of: intent.path, act, &court)
        case .version, .quarantine: break
        }
    }

    private func judge(_ value: Value, of path: Path, _ act: DiskAct, _ court: inout Court) {
        let demand = court.ledger.demand(of: value, at: path)
        guard demand > .kept, !act.holds(value, path) else { return }
        // Owed somewhere in the folder, and there it is.
        if demand == .inTree, !act.places(value).isEmpty { return }
        // A power cut that took the removal back did not take back the news of it.
        if court.ledger.wasLetGo(value, at: path, isUndone: true) { return }
        // Somebody let go of it, and the same bytes were written again where they still are: until the news of that is here,
        // nobody can tell the one from the other. Or it is a conflict copy there already, whose news is on its way.
        if act.otherHolds(value, path),
            court.ledger.wasLetGo(value, at: path, isUndone: false) || act.other(path) != value
        {
            return
        }
        // It was away for a moment, in which the daemon there looked: that it is back the next word will tell.
        if court.ledger.pages[path]?.wasAwayForAMoment == true, act.otherHolds(value, path) { return }
        // Or it went on, here or there, under another name of the family: he gave the copy the name, or the bytes, of the original.
        let family = court.ledger.originals(of: path)
        if court.ledger.wasLetGo(value, at: path, isUndone: false),
            (family.isEmpty ? [path] : family).contains(where: { act.otherHolds(value, $0) || act.holds(value, $0) })
        {
            return
        }
        court.find(self, on: act.machine, "\(value) was taken from \(path), though nobody who had seen it let go of it")
    }

    private func judgeDirectory(_ path: Path, _ act: DiskAct, _ court: inout Court) {
        // One that no person ever made is the daemon's own business.
        guard let page = court.ledger.pages[path] else { return }
        // It has just made this one, and something went wrong before it was durable.
        let isMaking = act.store.intents.contains { _, intent in
            guard intent.path == path, case .place(nil, let entry) = intent.action else { return false }
            return entry.content.isDirectory
        }
        if isMaking { return }
        let isGone =
            page.acts.contains { $0.before == .directory } || page.isReverted || page.cameRemoved
            || !page.carried.isEmpty
        if !isGone {
            court.find(self, on: act.machine, "the directory \(path) was removed, though no person removed it")
        }
    }
}
