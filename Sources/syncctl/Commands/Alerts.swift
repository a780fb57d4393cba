import ControlProtocol

/// `alerts`, `alerts show`, `alerts ack`. How they look is in `AlertsView`.
extension Command {
    static let alerts = Command(
        "alerts", "[--all] [--limit N]", summary: "what stands in the way, or should be looked at",
        options: [.all, .limit]
    ) { (session) throws(Failure) in
        let all = session.has("--all")
        let list = try session.askForAll("alerts") { .alerts(all: all, page: $0) }
        try session.show(list, as: AlertsDocument.self) { view(session).lines($0) }
        return .done
    }

    static let alertsShow = Command(
        "alerts show", "ID", summary: "one alert: what happened, what is safe, what to do", operands: 1...1,
        operandName: "The ID of an alert"
    ) { (session) throws(Failure) in
        try session.show(.alertShow(id: try session.operand(0)), as: AlertDocument.self) { view(session).lines($0) }
        return .done
    }

    static let alertsAck = Command(
        "alerts ack", "ID", summary: "say that you have seen it; it is told again if it grows",
        operands: 1...1, operandName: "The ID of an alert"
    ) { (session) throws(Failure) in
        try session.show(.alertAcknowledge(id: try session.operand(0)), as: AlertDocument.self) { alert in
            ["Acknowledged: \(session.style.foreign(alert.code.text)). It is told again if it grows."]
        }
        return .done
    }

    private static func view(_ session: Session) -> AlertsView {
        AlertsView(style: session.style, nowMilliseconds: System.wallMilliseconds, again: session.again)
    }
}
