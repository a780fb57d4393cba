import ControlProtocol
import SyncCore
import SyncModel

/// Conflicts of files: a conflict is open as long as its copy lies in the folder, whoever moves it away.
extension Daemon {
    func conflicts(all: Bool, _ page: Page, _ asker: Asker) {
        contests(all: all) { [unowned self] contests in
            host.conflicts(all: all) { [unowned self] found in
                tell(of: found) { [unowned self] files in
                    let (shown, next) = Daemon.cut(
                        contests.map { document($0) }.filter { all || $0.isOpen } + files, page, id: \.id)
                    asker.finish(ConflictsDocument(conflicts: shown, next: next))
                }
            }
        }
    }

    func showConflict(_ id: String, _ asker: Asker) {
        let id = conflictID(id)
        if Daemon.isContest(id) { return showContest(id, asker) }
        find(id, asker) { [unowned self] conflict in
            tell(of: [conflict]) { [unowned self] documents in
                guard let document = documents.first else { return asker.refuse(ControlError(.requestNotFound)) }
                finish(document, of: conflict, asker)
            }
        }
    }

    /// With what short versions say.
    private func finish(_ document: ConflictDocument, of conflict: NodeHost.Conflict, _ asker: Asker) {
        let places = document.versions.map { version in
            version.isCurrent ? conflict.original.map { .tree($0.path) } ?? conflict.place : conflict.place
        }
        host.contents(of: places, bytesMax: Daemon.textBytesMax + 1) { outcomes in
            var document = document
            for (index, outcome) in outcomes.enumerated() {
                if case .bytes(let bytes) = outcome { document.versions[index].text = Daemon.text(of: bytes) }
            }
            asker.finish(document)
        }
    }

    private func tell(of conflicts: [NodeHost.Conflict], then: @escaping ([ConflictDocument]) -> Void) {
        let places = conflicts.flatMap { [$0.original.map { .tree($0.path) } ?? $0.place, $0.place] }
        host.digests(of: places) { [unowned self] digests in
            then(
                conflicts.indices.compactMap { index in
                    ConflictReading.document(
                        conflicts[index], isDowngrade: isDowngrade(conflicts[index]), current: digests[2 * index],
                        copy: digests[2 * index + 1],
                        node: record.name, peer: record.peerName)
                })
        }
    }

    /// Of a copy that is not in the folder any more the alert tells, as long as it is remembered. Of a document of records no row tells the version.
    private func isDowngrade(_ conflict: NodeHost.Conflict) -> Bool {
        if host.hasLostByFormat(conflict.copy) { return true }
        if let isDowngrade = conflict.isDowngrade { return isDowngrade }
        guard let path = conflict.path, let parts = ConflictName.parts(of: conflict.copy) else { return false }
        let author: Author = parts.node == ConflictName.safeName(of: record.name) ? .own : .peer
        return alerts.items.contains { item in
            item.key.code == .formatDowngradeHeld && item.key.subject == path.bytes
                && item.key.format?.node == author
        }
    }

    /// The alert about a conflict has an ID of its own, and people have seen that one first: either will do.
    private func conflictID(_ id: String) -> String {
        alerts.item(id).flatMap { AlertReading.conflictID(of: $0) } ?? id
    }

    private func find(_ id: String, _ asker: Asker, then: @escaping (NodeHost.Conflict) -> Void) {
        host.conflicts(all: true) { found in
            guard let conflict = found.first(where: { ConflictReading.id(of: $0.copy) == id }) else {
                let text = "there is no conflict \(Path.escape(Array(id.utf8)))"
                return asker.refuse(ControlError(.requestNotFound, text: text))
            }
            then(conflict)
        }
    }

    private func findOpen(_ id: String, _ asker: Asker, then: @escaping (NodeHost.Conflict) -> Void) {
        find(id, asker) { conflict in
            guard conflict.isOpen else {
                return asker.refuse(ControlError(.requestRefused, text: "this conflict is settled already"))
            }
            then(conflict)
        }
    }

    // MARK: Decisions

    /// The file stays as it is, the copy goes among the kept versions.
    func discardConflict(_ id: String, _ asker: Asker) {
        let id = conflictID(id)
        if Daemon.isContest(id) { return settle(.discard, id, asker) }
        findOpen(id, asker) { [unowned self] in tell(.setAside($0.copy), asker) }
    }

    func takeConflict(_ id: String, _ version: String, _ asker: Asker) {
        let id = conflictID(id)
        if Daemon.isContest(id) { return settle(.take, id, version: version, asker) }
        findOpen(id, asker) { [unowned self] conflict in
            switch version {
            case ConflictReading.currentID: tell(.setAside(conflict.copy), asker)
            case ConflictReading.copyID: take(conflict, asker)
            default:
                let text = "a conflict has the versions \"current\" and \"copy\", not \"\(version)\""
                asker.refuse(ControlError(.requestNotFound, text: text))
            }
        }
    }

    /// The copy goes among the versions, and from there to the name; what had the name takes its place there.
    private func take(_ conflict: NodeHost.Conflict, _ asker: Asker) {
        guard let original = conflict.path else {
            return asker.refuse(
                ControlError(
                    .requestRefused,
                    text: """
                        \(conflict.copy.quoted) has a name too long to tell which of those that begin alike it was made of, or that is gone
                        """,
                    cure: "Move the copy to the name it should have; that settles the conflict."))
        }
        let cure = "Move it out of the way and take the copy then, or leave it as it is with syncctl conflicts discard."
        whenFree(original, cure, asker) { [unowned self] in take(conflict.copy, to: original, asker) }
    }

    private func take(_ copy: Path, to original: Path, _ asker: Asker) {
        host.ask(.setAside(copy)) { [unowned self] answer in
            if case .refused(let code) = answer { return asker.refuse(Daemon.error(refusing: code)) }
            host.ask(.history(copy)) { [unowned self] answer in
                guard case .history(let versions) = answer, let kept = versions.first else {
                    return asker.refuse(Daemon.error(instead: answer))
                }
                put(kept, to: original, asker)
            }
        }
    }

    private func put(_ copy: KeptVersion, to original: Path, _ asker: Asker) {
        host.ask(.restore(copy.id, to: original)) { [unowned self] answer in
            guard case .refused(let code) = answer else { return asker.finish(DoneDocument()) }
            // Nothing was decided: the conflict is to be seen again.
            host.ask(.restore(copy.id, to: nil)) { _ in asker.refuse(Daemon.error(refusing: code)) }
        }
    }

    /// A copy that was set aside goes back into the folder.
    func restoreConflict(_ id: String, _ asker: Asker) {
        let id = conflictID(id)
        if Daemon.isContest(id) { return restoreContest(id, asker) }
        find(id, asker) { [unowned self] conflict in
            switch conflict.place {
            case .version where conflict.isTaken, .quarantine where conflict.isTaken:
                Daemon.refuseTaken(conflict, asker)
            case .version(let version), .quarantine(let version): tell(.restore(version, to: conflict.copy), asker)
            case .tree, .stage:
                asker.refuse(ControlError(.requestRefused, text: "the copy of this conflict lies in the folder"))
            }
        }
    }

    /// It stands there already. Whoever wants another decision misses what made room for it: a version of the path.
    private static func refuseTaken(_ conflict: NodeHost.Conflict, _ asker: Asker) {
        let place = conflict.path?.quoted ?? "the path"
        asker.refuse(
            ControlError(
                .requestRefused,
                text: "the copy of this conflict was not discarded but taken: it stands at \(place)",
                cure: """
                    What stood there before is among its earlier versions: syncctl history PATH lists them, and syncctl \
                    restore PATH brings the newest back.
                    """))
    }
}
