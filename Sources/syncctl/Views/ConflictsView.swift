import ControlProtocol
import SyncModel

/// Conflicts for people: a table of what there is, and one conflict with its versions.
struct ConflictsView {
    let style: Style
    let nowMilliseconds: Int64
    let again: (String) -> String

    func lines(_ document: ConflictsDocument) -> [String] {
        guard !document.conflicts.isEmpty else { return ["No conflicts."] }
        let rows = document.conflicts.map { conflict in
            [
                style.foreign(conflict.id), conflict.kind.rawValue, conflict.isOpen ? "open" : "settled",
                Words.duration(milliseconds: nowMilliseconds - conflict.sinceMilliseconds), style.name(conflict.path),
            ]
        }
        let more = document.next == nil ? [] : ["There are more: leave out --limit."]
        return style.table(["ID", "KIND", "STATE", "FOR", "PATH"], rows) + more
            + ["", "Nothing is lost: every version is kept. \(again("conflicts show ID")) shows them."]
    }

    func lines(_ conflict: ConflictDocument) -> [String] {
        var lines = ["\(style.bold(style.name(conflict.path)))  \(style.foreign(conflict.code.text))"]
        if conflict.subject != conflict.path { lines.append("  about \(style.name(conflict.subject))") }
        if let kind = conflict.code.known?.kind { lines += [""] + style.wrapped(kind.meaning, indent: 2) }
        lines.append("")
        lines += style.table(["VERSION", "", "WRITTEN (UTC)", "BY", "SIZE", "WHERE"], conflict.versions.map(row))
        lines += texts(of: conflict)
        guard conflict.isOpen else {
            guard !conflict.isTaken else {
                let history = again("history PATH")
                return lines
                    + ["", "This conflict is settled: the copy was taken. What stood there before:", "\(history)."]
            }
            let restore = again("conflicts restore \(style.foreign(conflict.id))")
            return lines + ["", "This conflict is settled. What was discarded comes back with", "\(restore)."]
        }
        return lines + [
            "", again("conflicts take \(style.foreign(conflict.id)) VERSION") + "  puts that version in the place;",
            again("conflicts discard \(style.foreign(conflict.id))")
                + "  leaves it as it is. The others stay in history.",
        ]
    }

    /// The version that stands there and the one that it is about beside each other, the others alone.
    private func texts(of conflict: ConflictDocument) -> [String] {
        var rest = conflict.versions.filter { $0.text != nil }
        guard !rest.isEmpty else { return [] }
        let sides = SideBySide(style: style)
        var lines: [String] = []
        let other =
            rest.firstIndex { !$0.isCurrent && $0.record.map { Array($0.utf8) } == conflict.subject }
            ?? rest.firstIndex { !$0.isCurrent }
        if let current = rest.first(where: \.isCurrent), let other {
            let lost = rest.remove(at: other)
            rest.removeAll(where: \.isCurrent)
            lines += [""] + sides.lines((title(current), current.text ?? ""), (title(lost), lost.text ?? ""))
        }
        for version in rest { lines += [""] + sides.lines(title(version), version.text ?? "") }
        return lines
    }

    private func title(_ version: ConflictDocument.Version) -> String {
        "--- \(style.foreign(version.id)), by \(style.name(version.node))"
    }

    private func row(_ version: ConflictDocument.Version) -> [String] {
        let place = version.path.map(style.name) ?? version.record.map(style.foreign) ?? "kept"
        let target = version.target.map { " -> \(style.name($0))" } ?? ""
        return [
            style.foreign(version.id), version.isCurrent ? "current" : "", Words.time(version.timeMilliseconds),
            style.name(version.node), version.size.map(Words.bytes) ?? "", place + target,
        ]
    }
}
