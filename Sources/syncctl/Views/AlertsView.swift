import ControlProtocol
import SyncModel

/// Alerts for people: a table of what there is, and one alert in full.
struct AlertsView {
    let style: Style
    let nowMilliseconds: Int64
    let again: (String) -> String

    func lines(_ document: AlertsDocument) -> [String] {
        guard !document.alerts.isEmpty else { return ["No alerts."] }
        let rows = document.alerts.map { alert in
            [
                style.foreign(alert.id), coloured(alert), style.foreign(alert.code.text), age(alert),
                alert.subject.isEmpty ? "the node" : style.name(alert.subject),
            ]
        }
        let more = document.next == nil ? [] : ["There are more: leave out --limit."]
        return style.table(["ID", "SEVERITY", "CODE", "FOR", "ABOUT"], rows) + more
            + ["", "\(again("alerts show ID")) tells what is safe and what to do."]
    }

    func lines(_ alert: AlertDocument) -> [String] {
        let subject = alert.subject.isEmpty ? "" : ": \(NameText.quoted(alert.subject, asciiOnly: style.asciiOnly))"
        var lines = ["\(coloured(alert))  \(style.bold(style.foreign(alert.code.text)))\(subject)", ""]
        lines += style.wrapped(style.foreign(alert.text), indent: 2)
        lines += versions(alert)
        if alert.state == .cleared {
            lines += ["", "This is over; nothing is to be done."]
        } else if !alert.cure.isEmpty {
            lines += ["", "What to do:"] + style.wrapped(style.foreign(alert.cure), indent: 2)
        }
        let times = alert.count == 1 ? "once" : "\(Words.grouped(alert.count)) times"
        return lines + [
            "",
            style.dim(
                "First seen \(Words.time(alert.firstSeenMilliseconds)) UTC, last \(Words.time(alert.lastSeenMilliseconds))"
                    + " UTC, \(times)."),
        ]
    }

    private func versions(_ alert: AlertDocument) -> [String] {
        var facts: [String] = []
        if let found = alert.found { facts.append("\(found.text == nil ? "version found" : "found"): \(text(found))") }
        if let supported = alert.supported { facts.append("understood: \(text(supported))") }
        if let kept = alert.kept { facts.append("kept: \(text(kept))") }
        if let writer = alert.writer { facts.append("written by \(style.foreign(writer))") }
        if let fault = alert.fault {
            let what = fault.property.map { "\(fault.record).\($0)" } ?? fault.record
            facts.append("\(style.foreign(what)), change set \(style.foreign(fault.changeSet))")
        }
        return facts.isEmpty ? [] : ["", "  " + facts.joined(separator: ", ")]
    }

    /// `2`, or `1 to 3`.
    private func text(_ versions: JSON) -> String {
        if let ends = versions.items?.compactMap(\.int), ends.count == 2 {
            return ends[0] == ends[1] ? "\(ends[0])" : "\(ends[0]) to \(ends[1])"
        }
        return style.foreign(versions.text ?? String(decoding: versions.bytes, as: UTF8.self))
    }

    private func coloured(_ alert: AlertDocument) -> String {
        let text = alert.state == .open ? alert.severity.rawValue : alert.state.rawValue
        guard alert.state == .open else { return style.dim(text) }
        switch alert.severity {
        case .info: return text
        case .warning: return style.yellow(text)
        case .serious: return style.red(text)
        }
    }

    private func age(_ alert: AlertDocument) -> String {
        Words.duration(milliseconds: nowMilliseconds - alert.firstSeenMilliseconds)
    }
}
