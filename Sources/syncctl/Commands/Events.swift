import ControlProtocol

/// `events`: what happens, as it happens.
extension Command {
    static let events = Command(
        "events", "[--follow]", summary: "what happens, as it happens",
        options: [Option("--follow", short: "-f", "go on with what happens from now on, until Ctrl-C")]
    ) { (session) throws(Failure) in
        try session.whileItRuns { () throws(Failure) -> ExitCode in
            try session.stream(.events(follow: session.has("--follow")), as: EventLine.self) { json, event in
                if session.wantsJSON {
                    session.output.say(json)
                } else {
                    session.output.say(eventText(event, session.style))
                }
            }
            return .done
        }
    }

    static func eventText(_ event: EventLine, _ style: Style) -> String {
        let members = event.details.members.filter { !$0.key.hasSuffix("Bytes") }
        let details = members.map { member in
            let value = member.value.text ?? String(decoding: member.value.bytes, as: UTF8.self)
            return "\(style.foreign(member.key))=\(style.foreign(value))"
        }
        return ([Words.time(event.timeMilliseconds), "", style.foreign(event.event)] + details).joined(separator: " ")
    }
}
