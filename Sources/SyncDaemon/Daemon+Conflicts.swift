import ControlProtocol
import SyncCore
import SyncModel

/// Conflicts of files: a conflict is open as long as its copy lies in the folder, whoever moves it away.
extension Daemon {
    func conflicts(all: Bool, _ page: Page, _ asker: Asker) {
        contests { [unowned self] contests in
            host.conflicts(all: all) { [unowned self] found in
                tell(of: found) { [unowned self] files in
                    let (shown, next) = Daemon.cut(
                        contests.map(document).filter { all || $0.isOpen } + files, page, id: \.id)
                    asker.finish(ConflictsDocument(conflicts: shown, next: next))
                }
            }
        }
    }

    func showConflict(_ id: String, _ asker: Asker) {
        if Daemon.isContest(id) { return showContest(id, asker) }
        find(id, asker) { [unowned self] conflict in
            tell(of: [conflict]) { documents in
                guard let document = documents.first else { return asker.refuse(ControlError(.requestNotFound)) }
                asker.finish(document)
            }
        }
    }

    private func tell(of conflicts: [NodeHost.Conflict], then: @escaping ([ConflictDocument]) -> Void) {
        let places = conflicts.flatMap { [$0.original.map { .tree($0.path) } ?? $0.place, $0.place] }
        host.digests(of: places) { [unowned self] digests in
            then(
                conflicts.indices.compactMap { index in
                    ConflictReading.document(
                        conflicts[index], isDowngrade: isDowngrade(conflicts[index].copy), current: digests[2 * index],
                        copy: digests[2 * index + 1],
                        node: record.name, peer: record.peerName)
                })
        }
    }

    private func isDowngrade(_ copy: Path) -> Bool {
        alerts.items.contains(key: AlertKey(code: .formatDowngradeHeld, subject: copy.bytes))
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
        if Daemon.isContest(id) { return settle(.discard, id, asker) }
        findOpen(id, asker) { [unowned self] in tell(.setAside($0.copy), asker) }
    }

    func takeConflict(_ id: String, _ version: String, _ asker: Asker) {
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
        guard let original = ConflictName.parts(of: conflict.copy)?.original else {
            return asker.refuse(ControlError(.requestNotFound))
        }
        host.ask(.setAside(conflict.copy)) { [unowned self] answer in
            if case .refused(let code) = answer { return asker.refuse(ControlError(code)) }
            host.ask(.history(conflict.copy)) { [unowned self] answer in
                guard case .history(let versions) = answer, let copy = versions.first else {
                    return asker.refuse(ControlError(.nodeHalted))
                }
                put(copy, to: original, asker)
            }
        }
    }

    private func put(_ copy: KeptVersion, to original: Path, _ asker: Asker) {
        host.ask(.restore(copy.id, to: original)) { [unowned self] answer in
            guard case .refused(let code) = answer else { return asker.finish(DoneDocument()) }
            // Nothing was decided: the conflict is to be seen again.
            host.ask(.restore(copy.id, to: nil)) { _ in asker.refuse(ControlError(code)) }
        }
    }

    /// A copy that was set aside goes back into the folder.
    func restoreConflict(_ id: String, _ asker: Asker) {
        if Daemon.isContest(id) { return restoreContest(id, asker) }
        find(id, asker) { [unowned self] conflict in
            switch conflict.place {
            case .version(let version), .quarantine(let version): tell(.restore(version, to: conflict.copy), asker)
            case .tree, .stage:
                asker.refuse(ControlError(.requestRefused, text: "the copy of this conflict lies in the folder"))
            }
        }
    }
}
