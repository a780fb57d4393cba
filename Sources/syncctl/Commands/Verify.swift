import ControlProtocol

/// `verify` and `metrics`: what is on the disk, and figures about it.
extension Command {
    static let verify = Command(
        "verify", "[--budget B]", summary: "read every file again and compare it with what is known",
        options: [Option("--budget", value: "B", "a time such as 10min or a rate such as 20MiB/s, as syncd allows")]
    ) { (session) throws(Failure) in
        let found = try session.show(
            .verify(budget: try session.text("--budget")), as: VerifyDocument.self, patience: nil
        ) { verifyLines($0, session) }
        return found.damaged == found.repaired ? .done : .refused
    }

    static func verifyLines(_ found: VerifyDocument, _ session: Session) -> [String] {
        let read = "\(Words.count(found.checked, "file")), \(Words.bytes(found.bytes))"
        let time = Words.duration(milliseconds: Int64(clamping: found.milliseconds))
        let rest = found.isComplete ? "" : " The budget was used up before the end; the next run goes on from there."
        let young =
            found.young == 0
            ? [] : ["Left out, because they were changed in the last ten minutes: \(Words.count(found.young, "file"))."]
        guard found.damaged > 0 else { return ["Read \(read) in \(time): all as it should be.\(rest)"] + young }
        return [
            "Read \(read) in \(time): \(session.style.red(Words.count(found.damaged, "damaged file"))), "
                + "\(Words.grouped(found.repaired)) repaired.\(rest)",
            "What was found is kept in quarantine: \(session.again("alerts")) and \(session.again("conflicts")).",
        ] + young
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
