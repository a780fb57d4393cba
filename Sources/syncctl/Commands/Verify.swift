import ControlProtocol

/// `verify` and `metrics`: what is on the disk, and figures about it.
extension Command {
    static let verify = Command(
        "verify", "[--budget B]", summary: "read every file again and compare it with what is known",
        options: [Option("--budget", value: "B", "a time such as 10min or a rate such as 20MiB/s, as syncd allows")]
    ) { (session) throws(Failure) in
        let budget = try session.text("--budget")
        if let budget, VerifyBudget(budget) == nil { throw .usage("--budget: \(VerifyBudget.refusal(of: budget)).") }
        let found = try session.show(.verify(budget: budget), as: VerifyDocument.self, patience: nil) {
            verifyLines($0, session)
        }
        return found.damaged == found.repaired && found.unread == 0 ? .done : .refused
    }

    static func verifyLines(_ found: VerifyDocument, _ session: Session) -> [String] {
        let read = "\(Words.count(found.checked, "file")), \(Words.bytes(found.bytes))"
        let time = Words.duration(milliseconds: Int64(clamping: found.milliseconds))
        let rest = found.isComplete ? "" : " The budget was used up before the end; the next run goes on from there."
        let young =
            found.young == 0
            ? [] : ["Left out, because they were changed in the last ten minutes: \(Words.count(found.young, "file"))."]
        let unread =
            found.unread == 0
            ? []
            : [
                session.style.red("Could not be read: \(Words.count(found.unread, "file"))")
                    + (found.unreadFirst.map { ", \(session.style.name($0)) the first." } ?? ".")
            ]
        guard found.damaged > 0 else {
            let verdict = found.unread == 0 ? "all as it should be" : "what was read is as it should be"
            return ["Read \(read) in \(time): \(verdict).\(rest)"] + unread + young
        }
        return [
            "Read \(read) in \(time): \(session.style.red(Words.count(found.damaged, "damaged file"))), "
                + "\(Words.grouped(found.repaired)) repaired.\(rest)",
            "What was found is kept in quarantine: \(session.again("alerts")) and \(session.again("conflicts")).",
        ] + unread + young
    }

    static let metrics = Command("metrics", summary: "figures as Prometheus text") { (session) throws(Failure) in
        let document = try session.ask(.metrics)
        let metrics = try session.read(document, as: MetricsDocument.self)
        if session.wantsJSON {
            session.output.say(document)
        } else if System.isTerminal {
            session.output.say(metrics.text.split(separator: "\n").map { session.style.foreign(String($0)) })
        } else {
            // Read by a program: as it is.
            System.write(metrics.text, to: .output)
        }
        return .done
    }
}
