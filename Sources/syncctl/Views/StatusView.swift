import ControlProtocol

/// The status for people: one line that says it all, then what belongs to it, then what to do about it.
struct StatusView {
    let status: StatusDocument
    let style: Style
    let nowMilliseconds: Int64
    /// What to type for another command to the same daemon.
    let again: (String) -> String

    private static let pendingShown = 20
    private static let leftOutShown = 3

    var lines: [String] {
        [headline, ""] + facts + pending + attention
    }

    /// On one line, for `--watch` where nothing can be redrawn.
    var line: String {
        let parts = [
            stateText + connection, toDo, status.progress.phase == "idle" ? "" : progressText,
            status.needsAttention ? "needs attention" : "",
        ]
        return Words.time(nowMilliseconds) + "  " + parts.filter { !$0.isEmpty }.joined(separator: ", ")
    }

    private var headline: String { "\(style.bold(style.name(status.node.name)))  \(coloured(stateText))\(connection)" }

    private func coloured(_ text: String) -> String {
        switch status.exitCode {
        case 0: style.green(text)
        case 1: style.red(text)
        default: style.yellow(text)
        }
    }

    private var stateText: String {
        switch status.folder.state {
        case .starting: "starting"
        case .scanning: "looking through the folder"
        case .syncing: "syncing"
        case .inSync: status.inSync ? "in sync" : "in sync as far as is known here"
        case .waiting: "waiting"
        case .paused: "paused"
        case .halted: "halted" + reason
        }
    }

    /// The code of why the node stands still, behind what it is about.
    private var reason: String { status.folder.reason.map { " (\(style.foreign($0.text)))" } ?? "" }

    private var connection: String {
        guard let peer = status.peer else {
            return ", not paired" + (status.folder.state == .halted ? "" : reason)
        }
        guard peer.isConnected else { return ", \(style.name(peer.name)) is away" }
        return ", connected with \(style.name(peer.name))" + (peer.isPaused ? ", which is paused" : "")
    }

    /// Empty if there is nothing to send and nothing to apply.
    private var toDo: String {
        let peer = status.peer
        let parts = [(peer?.toSend ?? 0, "to send"), (peer?.toApply ?? 0, "to apply")].filter { $0.0 > 0 }
        return parts.map { "\(Words.grouped($0.0)) \($0.1)" }.joined(separator: ", ")
    }

    private var facts: [String] {
        let folder = status.folder
        var rows = [
            [
                "folder",
                "\(style.name(folder.path)): \(Words.count(folder.files, "file")), "
                    + "\(Words.count(folder.directories, "directory", "directories")), \(Words.bytes(folder.bytes))",
            ]
        ]
        if let peer = status.peer { rows.append(["peer", peerText(peer)]) }
        if let peer = status.peer, peer.heldDeletes > 0 {
            let deletes = Words.count(peer.heldDeletes, "delete")
            let name = style.name(peer.name)
            rows.append(["waits", "for \(name), which holds \(deletes): syncctl approve or syncctl reject there"])
        }
        if let peer = status.peer, peer.waits {
            let name = style.name(peer.name)
            rows.append(["waits", "for \(name), which is not through with its folder: syncctl status there tells why"])
        }
        for text in renewals { rows.append(["key", text]) }
        if !toDo.isEmpty { rows.append(["changes", toDo]) }
        if status.progress.phase != "idle" { rows.append(["now", progressText]) }
        if !status.leftOut.isEmpty { rows.append(["special", leftOutText]) }
        if status.locks > 0 { rows.append(["locks", "\(Words.count(status.locks, "lock")) held: \(again("locks"))"]) }
        rows.append(["syncd", "\(style.foreign(status.node.program)), up for \(uptime)"])
        return rows.map { "  " + $0[0] + String(repeating: " ", count: 8 - $0[0].count) + $0[1] }
    }

    private var uptime: String { Words.duration(milliseconds: Int64(clamping: status.node.uptimeSeconds) &* 1_000) }

    private func peerText(_ peer: StatusDocument.Peer) -> String {
        var text = style.name(peer.name)
        if peer.isConnected {
            text += peer.address.map { " at \(style.foreign($0))" } ?? ""
            text += ", connected"
        } else {
            text += ", not connected"
            if let last = peer.lastContactMilliseconds { text += ", last heard of \(ago(last))" }
        }
        if let program = peer.program { text += ", syncd \(style.foreign(program))" }
        return text
    }

    /// Of keys that are being renewed, on either side, until both nodes use the new one and no other.
    private var renewals: [String] {
        guard let peer = status.peer else { return [] }
        let name = style.name(peer.name)
        var texts: [String] = []
        if status.node.nextKey != nil {
            texts.append("a new one is offered to \(name), which has not taken it yet")
        } else if status.node.formerKey != nil {
            texts.append("a new one is in use, and \(name) has not been seen to accept it yet")
        }
        if peer.nextKey != nil { texts.append("\(name) is about to use a new one; both are accepted until it does") }
        return texts
    }

    private var progressText: String {
        let progress = status.progress
        var text = style.foreign(progress.phase)
        if progress.total > 0 { text += " \(Words.grouped(progress.done)) of \(Words.grouped(progress.total))" }
        if progress.bytesPerSecond > 0 { text += ", \(Words.bytes(progress.bytesPerSecond))/s" }
        return text
    }

    /// Nobody has to do anything about it, so it is one line.
    private var leftOutText: String {
        let shown = status.leftOut.prefix(StatusView.leftOutShown)
        let names = shown.map { "\(style.name($0.path)) (\(style.foreign($0.reason.text)))" }.joined(separator: ", ")
        let rest = status.leftOut.count - shown.count
        return "\(Words.count(status.leftOut.count, "path")) that cannot be synced: \(names)"
            + (rest > 0 ? " and \(Words.grouped(rest)) more: \(again("--json status"))" : "")
    }

    private var pending: [String] {
        guard !status.pending.isEmpty else { return [] }
        let shown = status.pending.prefix(StatusView.pendingShown)
        let rows = shown.map { [style.foreign($0.reason.text), ago($0.sinceMilliseconds), style.name($0.path)] }
        let title = "\(Words.count(status.pendingTotal, "path")) not in sync:"
        let more = status.pendingTotal - shown.count
        let rest = more > 0 ? ["  and \(Words.grouped(more)) more; \(again("--json status")) lists what is known"] : []
        return ["", title] + style.table(["REASON", "SINCE", "PATH"], rows).map { "  " + $0 } + rest
            + ["  \(again("explain REASON")) tells what a reason means."]
    }

    private var attention: [String] {
        var lines: [String] = []
        let alerts = status.alerts
        if alerts.serious > 0 { lines.append("\(Words.count(alerts.serious, "serious alert")): \(again("alerts"))") }
        if alerts.warning > 0 { lines.append("\(Words.count(alerts.warning, "warning")): \(again("alerts"))") }
        if status.conflicts > 0 { lines.append("\(Words.count(status.conflicts, "conflict")): \(again("conflicts"))") }
        if status.quarantined > 0 {
            lines.append("\(Words.count(status.quarantined, "item")) in quarantine: \(again("conflicts"))")
        }
        if let held = status.heldDeletes {
            lines.append(
                "\(Words.count(held.files, "delete")) held for \(age(held.sinceMilliseconds)): "
                    + "\(again("approve")) or \(again("reject"))")
        } else if status.held > 0 {
            // (Its alert may have been seen, and is none that is open then.)
            let isOpen = alerts.serious + alerts.warning > 0
            let way = isOpen ? ": \(again("alerts"))" : ", whole, until this node has the model or syncd that is needed"
            lines.append("\(Words.count(status.held, "change")) held\(way)")
        }
        if status.peer == nil {
            lines.append("not paired yet: \(again("invite")) here, syncctl join TOKEN on the other")
        }
        if status.folder.state == .paused { lines.append("paused: \(again("resume")) goes on") }
        return lines.isEmpty ? [] : ["", "What needs you:"] + lines.map { "  " + $0 }
    }

    private func ago(_ milliseconds: Int64) -> String { age(milliseconds) + " ago" }

    private func age(_ milliseconds: Int64) -> String {
        Words.duration(milliseconds: nowMilliseconds - milliseconds)
    }
}
