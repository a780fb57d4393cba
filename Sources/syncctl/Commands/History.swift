import ControlProtocol

/// `history`: earlier versions of a file.
extension Command {
    static let history = Command(
        "history", "PATH [--limit N]", summary: "earlier versions of a file that this node keeps, newest first",
        details: "Of a directory: which files below it have any, those among them that are deleted.",
        options: [.limit], operands: 1...1, operandName: "The path of a file in the folder"
    ) { (session) throws(Failure) in
        let path = try session.path(session.invocation.operands[0])
        let list = try session.askForAll("versions") { .history(path: path, page: $0) }
        let history = try session.show(list, as: HistoryDocument.self) {
            historyLines($0, style: session.style, again: session.again)
        }
        if history.versions.isEmpty, !session.wantsJSON, let hint = session.hintOnName {
            session.output.say(session.style.foreign(hint))
        }
        return .done
    }

    static func historyLines(
        _ history: HistoryDocument, style: Style, again: (String) -> String
    ) -> [String] {
        let path = style.path(history.path)
        guard !history.versions.isEmpty else {
            return [
                "No earlier versions of \(path) are kept here.",
                "What is replaced or deleted on one node is kept by the other: run syncctl history there too.",
            ]
        }
        if history.versions.contains(where: { $0.path != nil }) {
            return linesBelow(history, style: style, again: again)
        }
        let rows = history.versions.map { version in
            [
                style.foreign(version.id), Words.time(version.timeMilliseconds), style.name(version.node),
                size(version), style.foreign(version.reason.text) + target(version, "  -> ", style),
            ]
        }
        let more = history.next == nil ? [] : ["There are more: leave out --limit."]
        return ["Earlier versions of \(style.bold(path)):"]
            + style.table(["VERSION", "REPLACED (UTC)", "WRITTEN BY", "SIZE", "WHY IT WAS REPLACED"], rows) + more
            + ["", "\(again("restore PATH --version VERSION")) brings one back.", "What is there now is kept in turn."]
    }

    /// A symbolic link has none to speak of.
    private static func size(_ version: HistoryDocument.Version) -> String {
        version.target == nil ? Words.bytes(version.size) : ""
    }

    private static func target(_ version: HistoryDocument.Version, _ arrow: String, _ style: Style) -> String {
        version.target.map { arrow + style.name($0) } ?? ""
    }

    /// One line for each file, in the order of their paths.
    private static func linesBelow(
        _ history: HistoryDocument, style: Style, again: (String) -> String
    ) -> [String] {
        let files = Dictionary(grouping: history.versions) { $0.path ?? history.path }
        let rows = files.sorted { $0.key.lexicographicallyPrecedes($1.key) }.compactMap { path, versions in
            versions.first.map { newest in
                [
                    newest.isThere == true ? "there" : "deleted", Words.grouped(versions.count),
                    Words.time(newest.timeMilliseconds), style.name(newest.node), size(newest),
                    style.name(path) + target(newest, " -> ", style),
                ]
            }
        }
        let more = history.next == nil ? [] : ["There are more: leave out --limit."]
        let place = history.path.isEmpty ? "in the folder" : "below \(style.bold(style.path(history.path)))"
        return ["Files \(place) of which this node keeps earlier versions:"]
            + style.table(["NOW", "VERSIONS", "NEWEST REPLACED (UTC)", "WRITTEN BY", "SIZE", "FILE"], rows) + more
            + [
                "", "\(again("restore FILE")) brings the newest back, with the directories it was in.",
                "What was deleted on this node the other one keeps: run syncctl history there.",
            ]
    }
}
