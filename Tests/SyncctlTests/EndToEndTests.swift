import ControlProtocol
import Glibc
import SyncModel
import Testing

@testable import syncctl

/// The real program against a daemon that is played: what it asks, what it prints, and how it exits.
@Suite(.serialized) struct EndToEndTests {
    private func play(
        _ line: String, environment: [String] = [], daemon: ((ControlCall) -> [Play.Action])? = nil
    ) throws -> Play.Outcome {
        let scratch = try Scratch()
        return try Play.run(
            ["--socket", scratch.socket] + line.split(separator: " ").map(String.init), in: scratch,
            environment: environment, daemon: daemon)
    }

    private func json(_ outcome: Play.Outcome) throws -> JSON { try JSON(parsing: Array(outcome.output.utf8)) }

    // MARK: Exit codes

    @Test("status exits with 0, 1 or 2 as the folder stands") func statusCodes() throws {
        for (document, code) in [(Sample.inSync, 0), (Sample.needy, 1), (Sample.working, 2), (Sample.unpaired, 2)] {
            let outcome = try play("status", daemon: Play.answering(document.json))
            #expect(outcome.code == code && outcome.requests == [.status(watch: false)], "\(outcome.errors)")
            #expect(outcome.output.hasPrefix("alpha  "))
            #expect(try play("status --json", daemon: Play.answering(document.json)).code == code)
        }
    }

    @Test(
        "without a daemon every command that needs one exits with 3 and says so",
        arguments: [
            "status", "wait", "invite", "join T", "unpair", "renew-key", "alerts", "conflicts", "history a",
            "restore a",
            "doc check a",
            "doc show a", "explain a/b", "log", "log verify", "events", "lock a -- true", "unlock", "locks", "pause",
            "resume",
            "rescan", "reload", "log-level 1", "approve", "reject", "verify", "metrics",
        ])
    func notRunning(line: String) throws {
        let outcome = try play(line)
        #expect(outcome.code == 3 && outcome.output.isEmpty)
        #expect(
            outcome.errors.contains("The daemon is not running") && outcome.errors.contains("(control.not-running)"))
        let asJSON = try play(line.hasPrefix("lock") ? "--json \(line)" : "\(line) --json")
        #expect(asJSON.code == 3 && asJSON.errors.isEmpty)
        #expect(try json(asJSON)["error"]?["code"] == "control.not-running")
    }

    @Test("a socket that nobody listens at any more is a daemon that is not running") func stale() throws {
        let scratch = try Scratch()
        try scratch.write("ctl.sock", "")
        #expect(try Play.run(["--socket", scratch.socket, "status"], in: scratch).code == 3)
    }

    @Test("a refusal exits with 1 and shows text, cure and code; with --json on standard output") func refused() throws
    {
        let error = ControlError(.requestUnsupported, text: "Not in this version.", cure: "Upgrade.")
        let outcome = try play("verify", daemon: Play.refusing(error))
        #expect(outcome.code == 1 && outcome.output.isEmpty)
        #expect(outcome.errors == "syncctl: Not in this version.\n  Upgrade.\n  (request.unsupported)\n")
        let asJSON = try play("verify --json", daemon: Play.refusing(error))
        #expect(asJSON.code == 1 && asJSON.errors.isEmpty)
        #expect(try json(asJSON) == ErrorDocument(error).json)
    }

    @Test("who types a name as it is shown hears how to type it, and nothing is guessed") func shownNames() throws {
        let error = ControlError(.requestNotFound, text: "Nothing is there.", cure: "Look again.")
        let hint = #"If this is a name as it is shown, write it for the shell as $'inv\xff'."#
        for line in [#"explain inv\xff"#, #"restore inv\xff"#, #"rescan inv\xff"#] {
            let outcome = try play(line, daemon: Play.refusing(error))
            #expect(outcome.code == 1 && outcome.requests.count == 1, "\(outcome.errors)")
            #expect(outcome.errors.contains("Look again."), "\(outcome.errors)")
            #expect(outcome.errors.contains(#"$'inv\xff'."#), "\(outcome.errors)")
            let asJSON = try play("--json \(line)", daemon: Play.refusing(error))
            #expect(try json(asJSON)["error"]?["cure"]?.text == "Look again. \(hint)")
        }
        #expect(try !play("explain invalid", daemon: Play.refusing(error)).errors.contains("$'"))
        let none = HistoryDocument(path: Array(#"inv\xff"#.utf8), versions: [])
        #expect(try play(#"history inv\xff"#, daemon: Play.answering(none.json)).output.hasSuffix("\(hint)\n"))
        let asJSON = try play(#"--json history inv\xff"#, daemon: Play.answering(none.json))
        #expect(try json(asJSON) == none.json)
    }

    @Test("a time-out exits with 2 and the reason", arguments: ["wait --timeout 5", "lock a --timeout 5 -- true"])
    func timedOut(line: String) throws {
        let error = ControlError(.waitTimedOut, text: "2 files are still to be sent.")
        let outcome = try play(line, daemon: Play.refusing(error))
        #expect(outcome.code == 2 && outcome.errors.contains("2 files are still to be sent."))
        guard case .wait(.inSync, 5_000)? = outcome.requests.first else {
            if case .lock(let request)? = outcome.requests.first { #expect(request.timeoutMilliseconds == 5_000) }
            return
        }
    }

    @Test(
        "a wrong command line exits with 64",
        arguments: [
            "", "frob", "log -n x", "log-level 4", "wait --for ever", "wait --timeout -1", "alerts --limit 1.5",
            "lock a --mode mine", "lock a --", "alerts --limit 0", "conflicts --limit 0", "history a --limit 0",
        ])
    func usage(line: String) throws {
        let outcome = try play(line, daemon: Play.answering(.null))
        #expect(outcome.code == 64 && outcome.output.isEmpty && outcome.requests.isEmpty)
        #expect(outcome.errors.hasPrefix("syncctl: "))
        let asJSON = try play("--json \(line)", daemon: Play.answering(.null))
        #expect(try asJSON.code == 64 && json(asJSON)["error"]?["code"] == "request.invalid")
    }

    @Test("a daemon that hangs up, talks nonsense or sends another document is told as that, with 1") func strange()
        throws
    {
        let cases: [(([Play.Action]), String)] = [
            ([.hangUp], "control.lost"), ([.raw(Array("hello\n".utf8))], "control.unreadable"),
            ([.raw([0xFF, 0x0A])], "control.unreadable"), ([.raw(Array("{\"a\":".utf8)), .hangUp], "control.lost"),
            ([.reply(.result(.number(1), ["schema": .count(1)]))], "control.unreadable"),
        ]
        for (actions, code) in cases {
            let outcome = try play("conflicts --json", daemon: { _ in actions })
            #expect(outcome.code == 1)
            #expect(try json(outcome)["error"]?["code"] == .string(code))
        }
    }

    @Test("whoever looks on while the daemon stops ends with 3; of status 1 would say that the folder needs somebody")
    func stopping() throws {
        let lost = try play("status --json", daemon: { _ in [.hangUp] })
        #expect(try lost.code == 3 && json(lost)["error"]?["code"] == "control.lost")
        #expect(try play("status", daemon: { _ in [.hangUp] }).errors.contains("(control.lost)"))
        for line in ["wait", "wait --timeout 5", "log", "log -f", "events -f", "status --watch"] {
            let lost = try play("--json \(line)", daemon: { _ in [.hangUp] })
            #expect(try lost.code == 3 && json(lost)["error"]?["code"] == "control.lost", "\(line)")
        }
        let other = try play("status --json", daemon: { _ in [.raw(Array("hello\n".utf8))] })
        #expect(try other.code == 1 && json(other)["error"]?["code"] == "control.unreadable")
    }

    @Test("a daemon that takes the question and says nothing is told as that, in time") func silent() throws {
        let scratch = try Scratch()
        let listener = try Play.silence(in: scratch)
        defer { close(listener) }
        let client = try ControlClient(socket: Array(scratch.socket.utf8))
        let error = #expect(throws: ControlError.self) {
            try client.ask(.status(watch: false), patienceMilliseconds: 50)
        }
        #expect(error?.code.known == .controlSilent)
    }

    @Test("an answer to another request is passed over") func otherAnswer() throws {
        let outcome = try play("locks --json") { call in
            [
                .reply(.result(.number(99), .null)), .reply(.item(.number(99), method: "events", .null)),
                .reply(.result(call.id, LocksDocument(locks: []).json)),
            ]
        }
        #expect(outcome.code == 0 && outcome.output == "{\"locks\":[]}\n")
    }

    // MARK: What is asked and printed

    @Test("with --json the document is printed as it came, with keys that are newer than this program") func raw()
        throws
    {
        var json = Sample.inSync.json
        if case .object(var object) = json {
            object["later"] = ["than": "this"]
            json = .object(object)
        }
        let outcome = try play("--json status", daemon: Play.answering(json))
        #expect(outcome.output == String(decoding: json.bytes, as: UTF8.self) + "\n")
    }

    @Test("commands ask for what they are called after") func requests() throws {
        let scratch = try Scratch()
        let here = Array(scratch.path.utf8)
        func path(_ typed: String) -> PathArgument { PathArgument(typed: Array(typed.utf8), directory: here) }
        let cases: [(String, ControlRequest, JSON)] = [
            ("unpair", .unpair, DoneDocument().json), ("unpair --forget", .forgetPeer, DoneDocument().json),
            ("pause", .pause, DoneDocument().json),
            (
                "renew-key", .renewKey,
                RenewedKeyDocument(
                    key: [UInt8](repeating: 1, count: 32), former: [UInt8](repeating: 2, count: 32)
                ).json
            ),
            ("resume", .resume, DoneDocument().json), ("rescan", .rescan(nil), DoneDocument().json),
            ("rescan a/b", .rescan(path("a/b")), DoneDocument().json), ("reload", .reload, DoneDocument().json),
            ("log-level 3 --for 1min", .logLevel(3, forMilliseconds: 60_000), DoneDocument().json),
            ("approve", .approve(id: nil), DoneDocument().json), ("reject 7", .reject(id: "7"), DoneDocument().json),
            ("conflicts take c1 2", .conflictTake(id: "c1", version: "2"), DoneDocument().json),
            ("conflicts discard c1", .conflictDiscard(id: "c1"), DoneDocument().json),
            ("conflicts restore c1", .conflictRestore(id: "c1"), DoneDocument().json),
            ("conflicts show c1", .conflictShow(id: "c1"), Sample.conflict.json),
            ("alerts show a1", .alertShow(id: "a1"), Sample.alert.json),
            ("alerts ack a1", .alertAcknowledge(id: "a1"), Sample.alert.json),
            (
                "restore a --version 3 --to b", .restore(path: path("a"), version: "3", to: path("b")),
                DoneDocument().json
            ),
            ("history ../a", .history(path: path("../a"), page: .all), Sample.history.json),
            ("explain Note/1", .explain(path("Note/1")), ExplainDocument(subject: [], kind: .path, meaning: "m").json),
            ("unlock a", .unlock([path("a")]), DoneDocument().json),
            (
                "wait --for connected --timeout 1.5", .wait(for: .connected, timeoutMilliseconds: 1_500),
                Sample.inSync.json
            ),
            ("join T-1", .join(token: "T-1"), PairedDocument(words: [], peer: []).json),
            (
                "verify --budget 1min", .verify(budget: "1min"),
                VerifyDocument(checked: 1, bytes: 1, milliseconds: 1).json
            ),
            ("doc show a", .documentShow(path("a")), .array([])),
        ]
        for (line, request, answer) in cases {
            let words = ["--socket", "ctl.sock"] + line.split(separator: " ").map(String.init)
            let outcome = try Play.run(words, in: scratch, daemon: Play.answering(answer))
            #expect(outcome.code == 0 && outcome.requests == [request], "\(line): \(outcome.errors)")
            #expect(!outcome.output.isEmpty)
            try scratch.removeSocket()
        }
    }

    @Test("the socket is that of the configuration") func configuration() throws {
        let scratch = try Scratch()
        try scratch.make("shared")
        let made = try Play.run(
            [
                "--config", "a.conf", "init", "--name", "a", "--folder", "shared", "--state", "state", "--control",
                "ctl.sock",
            ],
            in: scratch)
        #expect(made.code == 0, "\(made.errors)")
        let outcome = try Play.run(
            ["status", "--config", "a.conf"], in: scratch, daemon: Play.answering(Sample.inSync.json))
        #expect(outcome.code == 0, "\(outcome.errors)")
        let gone = try Play.run(["status", "--config", "none.conf"], in: scratch)
        #expect(gone.code == 1 && gone.errors.contains("none.conf") && gone.errors.contains("(config.invalid)"))
    }

    @Test("a list that comes in pages is put together, and --limit takes no more than it says") func pages() throws {
        let alerts = (0..<5).map { index in
            var alert = Sample.alert
            alert.id = "a\(index)"
            return alert
        }
        let daemon: (ControlCall) -> [Play.Action] = { call in
            guard case .alerts(_, let page) = call.request else { return [.hangUp] }
            let start = page.after.flatMap { Int($0) } ?? 0
            let end = min(start + min(2, page.limit ?? 2), alerts.count)
            let next = end < alerts.count ? "\(end)" : nil
            return [.reply(.result(call.id, AlertsDocument(alerts: Array(alerts[start..<end]), next: next).json))]
        }
        let whole = try AlertsDocument(json: json(try play("alerts --json", daemon: daemon)))
        #expect(whole == AlertsDocument(alerts: alerts))
        let some = try AlertsDocument(json: json(try play("alerts --json --limit 3", daemon: daemon)))
        #expect(some.alerts.map(\.id) == ["a0", "a1", "a2"] && some.next == "3")
        let stuck = try play("alerts --json", daemon: Play.answering(AlertsDocument(alerts: alerts, next: "1").json))
        #expect(try stuck.code == 1 && json(stuck)["error"]?["code"] == "control.unreadable")
    }

    @Test("codes are explained without a daemon") func explain() throws {
        let outcome = try play("explain disk.full")
        #expect(outcome.code == 0 && outcome.output.contains(MessageCode.diskFull.rawValue))
        let asJSON = try play("--json explain disk.full")
        #expect(try ExplainDocument(json: json(asJSON)) == ExplainDocument(code: .diskFull))
        #expect(try play("explain disk.ful").errors.contains("of disk there are disk.error, disk.full"))
    }

    @Test("versions are told with and without a daemon") func version() throws {
        let without = try play("version --json")
        #expect(
            try without.code == 0
                && json(without) == ["program": .string(VersionDocument.thisProgram), "daemon": .null])
        let with = try play("version --json", daemon: Play.answering(VersionDocument(program: "0.2.0").json))
        #expect(try json(with)["daemon"]?["program"] == "0.2.0")
        #expect(try play("--version").output == "syncctl \(VersionDocument.thisProgram)\n")
        #expect(try play("--json --version").output == "{\"program\":\"\(VersionDocument.thisProgram)\"}\n")
    }

    @Test("invite prints the token alone on its first line, then waits and shows the words") func invite() throws {
        let paired = PairedDocument(words: ["ash", "bee", "cat", "dog", "elm", "fox"], peer: Array("beta".utf8))
        let daemon: (ControlCall) -> [Play.Action] = { call in
            let document =
                call.request == .invite
                ? InviteDocument(token: "T-1", expiresMilliseconds: Sample.newYear).json : paired.json
            return [.reply(.result(call.id, document))]
        }
        let outcome = try play("invite", daemon: daemon)
        #expect(outcome.requests == [.invite, .inviteWait] && outcome.code == 0)
        #expect(outcome.output.hasPrefix("T-1\n") && outcome.output.contains("ash bee cat dog elm fox"))
        let asJSON = try play("invite --json", daemon: daemon)
        #expect(
            asJSON.output == """
                {"token":"T-1","expires":"2026-01-01T00:00:00Z"}
                {"words":["ash","bee","cat","dog","elm","fox"],"peer":"beta"}\n
                """)
        let short = try play("invite --no-wait", daemon: daemon)
        #expect(short.requests == [.invite] && short.output == "T-1\n")
    }

    @Test("exit codes of checks tell whether all is well") func checks() throws {
        let bad = DocumentChecks(files: [.init(path: [0x61], outcome: .zeroLength)])
        #expect(try play("doc check a", daemon: Play.answering(bad.json)).code == 1)
        let good = DocumentChecks(files: [.init(path: [0x61], outcome: .success)])
        #expect(try play("doc check a", daemon: Play.answering(good.json)).code == 0)
        var graph = DocumentChecks(files: [])
        graph.graph = .init(
            live: 2, deleted: 1, strays: ["B/2 wants the place at A/1 by A.b, which B/3 has"], faults: [])
        let scanned = try play("doc check --all", daemon: Play.answering(graph.json))
        for line in ["doc check", "doc check --all a"] { #expect(try play(line).code == 64) }
        #expect(scanned.code == 0 && scanned.requests == [.documentCheck([])])
        #expect(
            scanned.output == """
                out: B/2 wants the place at A/1 by A.b, which B/3 has
                2 live records, 1 deleted, 1 out of the graph: no rule is broken

                """)
        graph.graph?.faults = ["A/1 has no b"]
        #expect(try play("doc check --all", daemon: Play.answering(graph.json)).code == 1, "I14: a broken rule is told")
        #expect(try DocumentChecks(json: graph.json) == graph)
        let damaged = LogVerifyDocument(logs: [.init(node: [0x61], records: 3, isIntact: false, text: "at 2")])
        #expect(try play("log verify", daemon: Play.answering(damaged.json)).code == 1)
        let left = VerifyDocument(checked: 1, bytes: 1, damaged: 2, repaired: 1, milliseconds: 1)
        #expect(try play("verify", daemon: Play.answering(left.json)).code == 1)
    }

    @Test("files that could not be read are told, and no success") func unread() throws {
        let found = VerifyDocument(checked: 1, bytes: 1, milliseconds: 1, unread: 2, unreadFirst: Array("d/a\n".utf8))
        let outcome = try play("verify", daemon: Play.answering(found.json))
        #expect(outcome.code == 1 && !outcome.output.contains("all as it should be"))
        #expect(outcome.output.contains(#"Could not be read: 2 files, d/a\x0a the first."#), "\(outcome.output)")
    }

    @Test(
        "what is no budget is a wrong command line, and nobody is asked", arguments: ["x", "10", "-1", "5 min", "0s"])
    func budgets(budget: String) throws {
        for line in [["verify", "--budget", budget], ["--json", "verify", "--budget=\(budget)"]] {
            let outcome = try Play.run(line, in: Scratch())
            #expect(outcome.code == 64, "\(outcome)")
        }
        #expect(VerifyBudget("20MiB/s")?.bytesPerSecond == 20 << 20 && VerifyBudget("2h")?.milliseconds == 7_200_000)
    }

    @Test("help of a word with commands below it is that of all of them") func groupHelp() throws {
        let outcome = try play("doc --help")
        #expect(outcome.code == 0 && outcome.output.contains("Usage: syncctl doc check FILE"))
        #expect(outcome.output.contains("\nUsage: syncctl doc show FILE"))
        #expect(try play("help doc").output == outcome.output && play("doc -h").output == outcome.output)
    }

    @Test("the folder itself is named with a dot") func folderChecked() throws {
        let checks = DocumentChecks(files: [.init(path: [], outcome: .unguarded)])
        #expect(try play("doc check .", daemon: Play.answering(checks.json)).output == ".: unguarded\n")
    }

    // MARK: Streams

    private func stream(_ documents: [JSON], then: [Play.Action]) -> (ControlCall) -> [Play.Action] {
        { call in documents.map { .reply(.item(call.id, method: call.request.method, $0)) } + then }
    }

    @Test("a stream is printed line by line until the daemon ends it") func log() throws {
        let line = LogLine(
            node: Array("beta".utf8), epoch: 1, seq: 1, timeMilliseconds: Sample.newYear, kind: "put", path: [0xFF])
        let end: [Play.Action] = [.reply(.result(.number(1), DoneDocument().json))]
        let outcome = try play("log -n 2", daemon: stream([line.json, line.json], then: end))
        #expect(outcome.code == 0 && outcome.requests == [.log(count: 2, follow: false, node: nil)])
        #expect(outcome.output == String(repeating: #"2026-01-01 00:00:00  beta/1  put  \xff"# + "\n", count: 2))
        let asJSON = try play("log --json --node beta", daemon: stream([line.json], then: end))
        #expect(asJSON.output == String(decoding: line.json.bytes, as: UTF8.self) + "\n")
        #expect(asJSON.requests == [.log(count: nil, follow: false, node: "beta")])
    }

    @Test("watching prints a line for each change where nothing can be redrawn, and Ctrl-C ends it") func watch() throws
    {
        let documents = [Sample.working.json, Sample.inSync.json]
        let outcome = try play("status --watch", daemon: stream(documents, then: [.interrupt]))
        #expect(outcome.code == 130 && outcome.requests == [.status(watch: true)])
        #expect(!outcome.output.contains("\u{1B}"))
        let asJSON = try play("status --watch --json", daemon: stream(documents, then: [.hangUp]))
        #expect(asJSON.code == 3)
        #expect(asJSON.output.split(separator: "\n").count == 3)
        #expect(asJSON.output.contains(#""code":"control.lost""#))
    }

    @Test("following events asks for them without end") func events() throws {
        let event = EventLine(
            event: "state.changed", timeMilliseconds: Sample.newYear, details: ["state": .string("in-sync")])
        let outcome = try play("events -f", daemon: stream([event.json], then: [.hangUp]))
        #expect(outcome.requests == [.events(follow: true)] && outcome.code == 3)
        #expect(outcome.output == "2026-01-01 00:00:00  state.changed state=in-sync\n")
    }

    // MARK: Locks

    private static let lock = LockDocument(
        id: "l1", paths: [], isRead: false, mode: .pair, holder: "x", node: [], sinceMilliseconds: 0)

    @Test(
        "lock runs the command and passes its exit code on",
        arguments: [
            ("true", 0), ("false", 1), ("exit 7", 7), ("kill -9 $$", 137), ("kill -2 $$", 130),
        ])
    func lock(script: String, code: Int32) throws {
        let scratch = try Scratch()
        let outcome = try Play.run(
            ["--socket", "ctl.sock", "lock", "a", "--read", "--mode", "strict", "--", "sh", "-c", script], in: scratch,
            daemon: Play.answering(EndToEndTests.lock.json))
        #expect(outcome.code == code && outcome.errors.isEmpty && outcome.output.isEmpty)
        guard case .lock(let request)? = outcome.requests.first else {
            Issue.record("no lock was asked for")
            return
        }
        #expect(request.isRead && request.mode == .strict && !request.outlivesConnection && request.holder == "sh")
    }

    @Test("a command that cannot be run, and a lock that went away, are told") func lockTrouble() throws {
        let none = try play("lock a -- /no/such/program", daemon: Play.answering(EndToEndTests.lock.json))
        #expect(none.code == 127 && none.errors.contains("/no/such/program could not be run"))
        // (A command that outlasts the time a busy machine takes to hang up.)
        let lost = try play("lock a -- sleep 2") { [.reply(.result($0.id, EndToEndTests.lock.json)), .hangUp] }
        #expect(lost.code == 0 && lost.errors.contains("The lock ended before the command did"))
        let refused = try play("lock a -- touch made", daemon: Play.refusing(ControlError(.requestOutside)))
        #expect(refused.code == 1)
    }

    @Test("without a command the lock outlives the connection") func longLock() throws {
        let outcome = try play("lock a", daemon: Play.answering(EndToEndTests.lock.json))
        guard case .lock(let request)? = outcome.requests.first else {
            Issue.record("no lock was asked for")
            return
        }
        #expect(request.outlivesConnection && outcome.output.hasPrefix("Locked (l1) until syncctl --socket "))
    }

    // MARK: Looks

    @Test("no colour where nobody looks, and no file name can steer a terminal") func harmless() throws {
        let outcome = try play("status", environment: ["TERM=xterm"], daemon: Play.answering(Sample.working.json))
        #expect(!outcome.output.utf8.contains(0x1B) && outcome.output.contains(#"bad\x1b[31mname"#))
        let asJSON = try play("status --json", daemon: Play.answering(Sample.working.json))
        #expect(!asJSON.output.utf8.contains(0x1B) && asJSON.output.contains(#"bad\u001b[31mname"#))
    }
}
