import ControlProtocol
import SyncCore
import SyncModel

/// Earlier versions that are kept in `.syncd`.
extension Daemon {
    func history(_ argument: PathArgument, _ page: Page, _ asker: Asker) {
        guard let path = path(of: argument) else { return asker.refuse(ControlError(.requestOutside)) }
        host.ask(.history(path)) { [unowned self] answer in
            switch answer {
            case .history(let versions): tell(of: versions, path, page, asker)
            case .refused(let code): asker.refuse(ControlError(code))
            case .done, .status, .contests, .records, .explanation, .scan, .claims, .claimRefused:
                asker.refuse(ControlError(.nodeHalted))
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
            node: name(of: version.author, at: version.id),
            size: Int(clamping: version.entry.content.size), sha256: sha256?.hex(digits: 64),
            reason: CodeText(version.reason))
    }

    private static func text(of id: VersionID) -> String { String(id.raw, radix: 16) }

    func restore(_ argument: PathArgument, _ version: String?, to target: PathArgument?, _ asker: Asker) {
        guard let path = path(of: argument), let target = target.map({ self.path(of: $0) }) ?? path else {
            return asker.refuse(ControlError(.requestOutside))
        }
        host.ask(.history(path)) { [unowned self] answer in
            guard case .history(let versions) = answer else { return asker.refuse(ControlError(.nodeHalted)) }
            let chosen = versions.first { version == nil || Daemon.text(of: $0.id) == version }
            guard let chosen else {
                let which = version.map { "version \(Path.escape(Array($0.utf8)))" } ?? "earlier version"
                return asker.refuse(
                    ControlError(
                        .requestNotFound, text: "no \(which) of \"\(path)\" is kept on this node",
                        cure:
                            "syncctl history lists what is kept; what this node has written itself the other one keeps."
                    ))
            }
            restore(chosen, to: target, asker)
        }
    }

    private func restore(_ version: KeptVersion, to target: Path, _ asker: Asker) {
        guard !target.isRoot, !target.isReserved else { return asker.refuse(ControlError(.requestOutside)) }
        let cure = "Name another place with --to; directories that are not there are made."
        whenFree(target, cure, asker) { [unowned self] in tell(.restore(version.id, to: target), asker) }
    }

    /// Where a version has no place it never will have one, and who asked is told so, and not to try again.
    func whenFree(_ target: Path, _ cure: String, _ asker: Asker, then: @escaping () -> Void) {
        host.rows(at: [target] + target.parents) { rows in
            let inTheWay = rows.first { row in
                row.disk.map { $0.entry.content.isDirectory == (row.path == target) } ?? false
            }
            guard let path = inTheWay?.path else { return then() }
            let what = path == target ? "is a directory" : "is no directory, so nothing can lie in it"
            asker.refuse(
                ControlError(.requestRefused, text: "\"\(path)\" \(what); nothing was changed", cure: cure))
        }
    }
}
