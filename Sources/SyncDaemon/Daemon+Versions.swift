import ControlProtocol
import SyncCore
import SyncModel

/// Versions beside the current one: conflict copies in the folder, and what is kept in `.syncd`.
extension Daemon {
    // MARK: Conflicts

    /// A file conflict is open as long as its copy lies in the folder.
    func conflicts(_ page: Page, _ asker: Asker) {
        host.conflicts { [unowned self] found in
            let (shown, next) = Daemon.cut(found, page) { ConflictReading.id(of: $0.copy.path) }
            tell(of: shown) { asker.finish(ConflictsDocument(conflicts: $0, next: next)) }
        }
    }

    func showConflict(_ id: String, _ asker: Asker) {
        host.conflicts { [unowned self] found in
            tell(of: found.filter { ConflictReading.id(of: $0.copy.path) == id }) { documents in
                guard let document = documents.first else { return asker.refuse(ControlError(.requestNotFound)) }
                asker.finish(document)
            }
        }
    }

    private func tell(of conflicts: [NodeHost.ConflictRows], then: @escaping ([ConflictDocument]) -> Void) {
        let places = conflicts.flatMap { [$0.original?.path ?? $0.copy.path, $0.copy.path] }.map(Place.tree)
        host.digests(of: places) { [unowned self] digests in
            then(
                conflicts.indices.compactMap { index in
                    ConflictReading.document(
                        conflicts[index], current: digests[2 * index], copy: digests[2 * index + 1],
                        node: record.name, peer: record.peerName)
                })
        }
    }

    // MARK: Kept versions

    func history(_ argument: PathArgument, _ page: Page, _ asker: Asker) {
        guard let path = path(of: argument) else { return asker.refuse(ControlError(.requestOutside)) }
        host.ask(.history(path)) { [unowned self] answer in
            switch answer {
            case .history(let versions): tell(of: versions, path, page, asker)
            case .refused(let code): asker.refuse(ControlError(code))
            case .done, .status: asker.refuse(ControlError(.nodeHalted))
            }
        }
    }

    private func tell(of versions: [KeptVersion], _ path: Path, _ page: Page, _ asker: Asker) {
        let (shown, next) = Daemon.cut(versions, page) { Daemon.text(of: $0.id) }
        host.digests(of: shown.map(\.place)) { [unowned self] digests in
            let documents = zip(shown, digests).map { versionDocument($0, sha256: $1) }
            asker.finish(HistoryDocument(path: path.bytes, versions: documents, next: next))
        }
    }

    private func versionDocument(_ version: KeptVersion, sha256: Digest?) -> HistoryDocument.Version {
        .init(
            id: Daemon.text(of: version.id), timeMilliseconds: version.keptMilliseconds,
            node: version.author == .own ? record.name : record.peerName,
            size: Int(clamping: version.entry.content.size), sha256: sha256?.hex(digits: 64),
            reason: CodeText(version.reason))
    }

    private static func text(of id: VersionID) -> String { String(id.raw, radix: 16) }

    func restore(_ argument: PathArgument, _ version: String?, to target: PathArgument?, _ asker: Asker) {
        let other = target.map { path(of: $0) }
        guard let path = path(of: argument), other != .some(nil) else {
            return asker.refuse(ControlError(.requestOutside))
        }
        host.ask(.history(path)) { [unowned self] answer in
            guard case .history(let versions) = answer else { return asker.refuse(ControlError(.nodeHalted)) }
            let chosen = versions.first { version == nil || Daemon.text(of: $0.id) == version }
            guard let chosen else { return asker.refuse(ControlError(.requestNotFound)) }
            tell(.restore(chosen.id, to: other ?? path), asker)
        }
    }
}
