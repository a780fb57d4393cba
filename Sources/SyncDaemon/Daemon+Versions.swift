import ControlProtocol
import RecordMerge
import SyncCore
import SyncModel

/// Earlier versions that are kept in `.syncd`.
extension Daemon {
    func history(_ argument: PathArgument, _ page: Page, _ asker: Asker) {
        guard let path = path(of: argument) else { return asker.refuse(outside([argument])) }
        host.ask(.history(path)) { [unowned self] answer in
            guard case .history(let versions) = answer else { return asker.refuse(Daemon.error(instead: answer)) }
            host.row(at: path) { [unowned self] row in
                let isDirectory = row?.disk?.entry.content.isDirectory ?? false
                guard isDirectory || versions.isEmpty else { return tell(of: versions, path, page, asker) }
                tellBelow(path, versions, page, asker)
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

    /// A directory has no versions but those of a file that had its name, and of the files in it some may be kept. Those
    /// are not read for such a list.
    private func tellBelow(_ directory: Path, _ own: [KeptVersion], _ page: Page, _ asker: Asker) {
        host.versions(below: directory) { [unowned self] below in
            let versions = own.isEmpty ? below : (own + below).sorted { $0.id > $1.id }
            let (shown, next) = Daemon.cut(versions, page) { Daemon.text(of: $0.id) }
            let named = shown.filter { $0.path == directory }
            host.rows(at: Set(shown.map(\.path)).sorted()) { [unowned self] rows in
                let there = Set(rows.filter { $0.disk != nil }.map(\.path))
                host.digests(of: named.map(\.place)) { [unowned self] digests in
                    var rest = digests[...]
                    let documents = shown.map { version in
                        let sha256: Digest? = version.path == directory ? rest.removeFirst() : nil
                        var document = versionDocument(version, sha256: sha256)
                        document.path = version.path.bytes
                        document.isThere = there.contains(version.path)
                        return document
                    }
                    asker.finish(HistoryDocument(path: directory.bytes, versions: documents, next: next))
                }
            }
        }
    }

    private func versionDocument(_ version: KeptVersion, sha256: Digest?) -> HistoryDocument.Version {
        .init(
            id: Daemon.text(of: version.id), timeMilliseconds: version.keptMilliseconds,
            node: name(of: version.author, at: version.id),
            size: Int(clamping: version.entry.content.size), sha256: sha256?.hex(digits: 64),
            target: version.entry.content.target,
            reason: CodeText(version.reason))
    }

    private static func text(of id: VersionID) -> String { String(id.raw, radix: 16) }

    func restore(_ argument: PathArgument, _ version: String?, to place: PathArgument?, _ asker: Asker) {
        guard let path = path(of: argument), let target = place.map({ self.path(of: $0) }) ?? path else {
            return asker.refuse(outside([argument, place].compactMap(\.self)))
        }
        host.ask(.history(path)) { [unowned self] answer in
            guard case .history(let versions) = answer else { return asker.refuse(Daemon.error(instead: answer)) }
            let chosen = versions.first { version == nil || Daemon.text(of: $0.id) == version }
            guard let chosen else { return refuse(version, of: path, asker) }
            restore(chosen, to: target, asker)
        }
    }

    /// Nothing of it is kept; perhaps of what is in it.
    private func refuse(_ version: String?, of path: Path, _ asker: Asker) {
        host.versions(below: path) { below in
            let which = version.map { "version \(Path.escape(Array($0.utf8)))" } ?? "earlier version"
            let text = "no \(which) of \(path.quoted) is kept on this node"
            let count = Set(below.map(\.path)).count
            guard count > 0 else {
                return asker.refuse(
                    ControlError(
                        .requestNotFound, text: text,
                        cure:
                            "syncctl history lists what is kept; what this node has written itself the other one keeps."
                    ))
            }
            asker.refuse(
                ControlError(
                    .requestNotFound,
                    text: "\(text); of \(count == 1 ? "a file" : "\(count) files") below it there are some",
                    cure: """
                        syncctl history of the directory lists these files; syncctl restore brings one back, with the \
                        directories it was in.
                        """))
        }
    }

    private func restore(_ version: KeptVersion, to target: Path, _ asker: Asker) {
        guard !target.isRoot, !target.isReserved else { return asker.refuse(ControlError(.requestOutside)) }
        let cure = "Name another place with --to; directories that are not there are made."
        whenNotLost(target, asker) { [unowned self] in
            whenFree(target, cure, asker) { [unowned self] in
                host.ask(.restore(version.id, to: target)) { [unowned self] answer in
                    guard case .refused(let code) = answer else { return asker.finish(DoneDocument()) }
                    refuse(code, restoring: version, to: target, asker)
                }
            }
        }
    }

    /// The file of a record that another has taken the place of would leave the folder at once.
    private func whenNotLost(_ target: Path, _ asker: Asker, then: @escaping () -> Void) {
        contests(all: false) { [unowned self] contests in
            for contest in contests {
                guard case .lostSlot(_, let holder, let winner)? = contest.reason,
                    let lost = contest.versions.first(where: { $0.path == target && !$0.isCurrent })?.record,
                    isFile(lost)
                else { continue }
                let id = Daemon.contestID(of: contest.group)
                return asker.refuse(
                    ControlError(
                        .requestRefused,
                        text: """
                            \(target.quoted) is the file of \(lost), which is in quarantine because \(winner) has its place at \
                            \(holder); it would go back there at once, so nothing was changed
                            """,
                        cure: """
                            Give it the place with syncctl conflicts take \(id) \(contest.group), or bring the version back \
                            under another name with --to.
                            """))
            }
            then()
        }
    }

    /// A file of its own, and no document of many.
    private func isFile(_ record: RecordID) -> Bool {
        models.models.lazy.compactMap { $0.model.entity(record.entity) }.first.map { $0.at == nil } ?? false
    }

    /// What the code says of a path that waits for its directory, or for a program, would be untrue of a version that is asked for once.
    private func refuse(_ code: MessageCode, restoring version: KeptVersion, to target: Path, _ asker: Asker) {
        let what = "version \(Daemon.text(of: version.id)) of \(version.path.quoted)"
        let cure = "syncctl history PATH lists the versions here; the other node keeps others: run it there, too."
        guard code != .requestNotFound else {
            let text = "\(what) is not kept on this node any more; nothing was changed"
            return asker.refuse(ControlError(code, text: text, cure: cure))
        }
        if code == .pathBusy {
            let text = """
                a program has \(target.quoted) open for writing, or what stands there has just changed; nothing was changed \
                by the command
                """
            let cure = "Ask again when the file has been saved and closed, or name another place with --to."
            return asker.refuse(ControlError(code, text: text, cure: cure))
        }
        guard code == .waitingParent else { return asker.refuse(Daemon.error(refusing: code)) }
        host.contents(of: [version.place], bytesMax: 1) { outcomes in
            guard outcomes.first == .failed(.notFound) else {
                let text = "the directory that \(what) was to lie in went away in that very moment"
                return asker.refuse(ControlError(code, text: text, cure: "Ask again, or name another place with --to."))
            }
            let text = "the bytes of \(what) are not in .syncd on this node any more; nothing was changed"
            asker.refuse(ControlError(.requestNotFound, text: text, cure: cure))
        }
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
                ControlError(.requestRefused, text: "\(path.quoted) \(what); nothing was changed", cure: cure))
        }
    }
}
