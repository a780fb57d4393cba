import ControlProtocol
import SyncModel
import Testing

@testable import syncctl

/// What people see, letter by letter.
struct ViewTests {
    static func again(_ command: String) -> String { "syncctl \(command)" }

    private func status(_ status: StatusDocument, _ style: Style = .plain) -> StatusView {
        StatusView(status: status, style: style, nowMilliseconds: Sample.newYear, again: ViewTests.again)
    }

    private func expect(_ lines: [String], _ text: String, at place: SourceLocation = #_sourceLocation) {
        #expect(lines.joined(separator: "\n") == text, sourceLocation: place)
        for line in lines { #expect(Style.columns(line) <= 80, "\(line)", sourceLocation: place) }
    }

    @Test("in sync") func inSync() {
        expect(
            status(Sample.inSync).lines,
            """
            alpha  in sync, connected with beta

              folder  /srv/shared: 1,203 files, 1 directory, 4.1 MiB
              peer    beta at 127.0.0.1:7420, connected, syncd 0.1.0
              syncd   0.1.0, up for 1 min
            """)
    }

    @Test("working") func working() {
        expect(
            status(Sample.working).lines,
            #"""
            alpha  syncing, connected with beta

              folder  /srv/shared: 1,203 files, 1 directory, 4.1 MiB
              peer    beta at 127.0.0.1:7420, connected, syncd 0.1.0
              changes 12 to send, 1,000 to apply
              now     receiving 5 of 1,000, 2.0 MiB/s
              syncd   0.1.0, up for 1 min

            30 paths not in sync:
              REASON           SINCE    PATH
              path.busy        5 s ago  docs/plan.odt
              waiting.content  1 h ago  bad\x1b[31mname
              and 28 more; syncctl --json status lists what is known
              syncctl explain REASON tells what a reason means.
            """#)
        #expect(
            status(Sample.working).line == """
                2026-01-01 00:00:00  syncing, connected with beta, 12 to send, 1,000 to apply, \
                receiving 5 of 1,000, 2.0 MiB/s
                """)
    }

    @Test("what needs somebody is told with the command that helps") func needy() {
        expect(
            status(Sample.needy).lines,
            """
            alpha  in sync, beta is away

              folder  /srv/shared: 1,203 files, 1 directory, 4.1 MiB
              peer    beta, not connected, last heard of 2 h ago, syncd 0.1.0
              locks   2 locks held: syncctl locks
              syncd   0.1.0, up for 1 min

            What needs you:
              1 serious alert: syncctl alerts
              2 warnings: syncctl alerts
              3 conflicts: syncctl conflicts
              1 item in quarantine: syncctl conflicts
              60 deletes held for 1 min: syncctl approve or syncctl reject
            """)
    }

    @Test("a change that is held points to the alerts only where one is open") func held() {
        var document = Sample.inSync
        document.held = 1
        #expect(
            status(document).lines.last
                == "  1 change held, whole, until this node has the model or syncd that is needed")
        document.alerts.warning = 1
        #expect(status(document).lines.suffix(2) == ["  1 warning: syncctl alerts", "  1 change held: syncctl alerts"])
    }

    @Test("before pairing") func unpaired() {
        expect(
            status(Sample.unpaired).lines,
            """
            alpha  waiting, not paired (pairing.none)

              folder  /srv/shared: 1,203 files, 1 directory, 4.1 MiB
              syncd   0.1.0, up for 1 min

            What needs you:
              not paired yet: syncctl invite here, syncctl join TOKEN on the other
            """)
    }

    @Test("what cannot be synced has a line, and needs nobody") func leftOut() {
        var document = Sample.inSync
        document.leftOut = ["a", "b\u{1B}", "c", "d"].map {
            .init(path: Array($0.utf8), reason: CodeText(.pathSpecial))
        }
        let line =
            #"  special 4 paths that cannot be synced: a (path.special), b\x1b (path.special), c (path.special) and 1 more: "#
            + "syncctl --json status"
        let lines = status(document).lines
        #expect(lines.contains(line), "\(lines)")
        #expect(!lines.contains("What needs you:"))
    }

    @Test("deletes that wait for a person on the other node are told of") func heldThere() {
        var document = Sample.inSync
        #expect(!status(document).lines.contains { $0.hasPrefix("  waits ") })
        (document.inSync, document.folder.state) = (false, .waiting)
        document.peer?.heldDeletes = 80
        let lines = status(document).lines
        #expect(lines[0] == "alpha  waiting, connected with beta")
        #expect(lines.contains("  waits   for beta, which holds 80 deletes: syncctl approve or syncctl reject there"))
        #expect(document.exitCode == 2)
    }

    @Test("a node that is through itself says for whom it waits, and where to look") func waitsThere() {
        var document = Sample.inSync
        (document.inSync, document.folder.state) = (false, .waiting)
        document.peer?.waits = true
        let lines = status(document).lines
        #expect(
            lines.contains(
                "  waits   for beta, which is not through with its folder: syncctl status there tells why"), "\(lines)")
    }

    @Test("a key that is being renewed is told of, on both sides, until it is through") func renewals() {
        func told(_ change: (inout StatusDocument) -> Void) -> [String] {
            var document = Sample.inSync
            change(&document)
            return status(document).lines.filter { $0.hasPrefix("  key ") }
        }
        #expect(told { _ in } == [])
        #expect(
            told { $0.node.nextKey = "sha256:aa" } == [
                "  key     a new one is offered to beta, which has not taken it yet"
            ])
        #expect(
            told { $0.node.formerKey = "sha256:aa" } == [
                "  key     a new one is in use, and beta has not been seen to accept it yet"
            ])
        #expect(
            told { $0.peer?.nextKey = "sha256:aa" } == [
                "  key     beta is about to use a new one; both are accepted until it does"
            ])
    }

    @Test("a node that stands still says why and how it goes on") func states() {
        var paused = Sample.inSync
        paused.inSync = false
        paused.folder.state = .paused
        #expect(status(paused).lines.last == "  paused: syncctl resume goes on")
        for state in StatusDocument.FolderState.allCases {
            paused.folder.state = state
            #expect(status(paused).lines[0].hasPrefix("alpha  "))
        }
        (paused.folder.state, paused.folder.reason) = (.halted, CodeText(.rootMissing))
        #expect(status(paused).lines[0] == "alpha  halted (root.missing), connected with beta")
        #expect(status(paused).line.hasPrefix("2026-01-01 00:00:00  halted (root.missing), connected with beta"))
        paused.peer = nil
        #expect(status(paused).lines[0] == "alpha  halted (root.missing), not paired")
        #expect(status(Sample.needy, Style(usesColor: true)).lines[0].contains("\u{1B}[31min sync"))
    }

    @Test("history") func history() {
        expect(
            Command.historyLines(Sample.history, style: .plain, again: ViewTests.again),
            """
            Earlier versions of plan.odt:
            VERSION  REPLACED (UTC)       WRITTEN BY  SIZE     WHY IT WAS REPLACED
            7        2026-01-01 00:00:00  beta        42 B     version.kept
            12       2025-12-31 23:59:59  alpha       1.0 MiB  item.late-write

            syncctl restore PATH --version VERSION brings one back.
            What is there now is kept in turn.
            """)
        let none = HistoryDocument(path: [0x61, 0xFF], versions: [])
        #expect(
            Command.historyLines(none, style: .plain, again: ViewTests.again)
                == [
                    #"No earlier versions of a\xff are kept here."#,
                    "What is replaced or deleted on one node is kept by the other: run syncctl history there too.",
                ])
    }

    @Test("history of a directory says which files it has versions of, and which are deleted") func historyBelow() {
        expect(
            Command.historyLines(Sample.historyBelow, style: .plain, again: ViewTests.again),
            """
            Files below d of which this node keeps earlier versions:
            NOW      VERSIONS  NEWEST REPLACED (UTC)  WRITTEN BY  SIZE  FILE
            there    1         2025-12-31 23:59:59    beta        7 B   d/e/file
            deleted  2         2026-01-01 00:00:00    beta        42 B  d/gone

            syncctl restore FILE brings the newest back, with the directories it was in.
            What was deleted on this node the other one keeps: run syncctl history there.
            """)
    }

    @Test("lines of log and events hold what other lines cannot forge") func lines() {
        let line = LogLine(
            node: Array("beta".utf8), epoch: 1, seq: 7, timeMilliseconds: Sample.newYear, kind: "move",
            path: Array("a\nb".utf8), ops: 2, from: Array("old".utf8))
        #expect(
            Command.logText(line, .plain)
                == #"2026-01-01 00:00:00  beta/7  move  old -> a\x0ab (2 operations)"#)
        let save = LogLine(
            node: Array("beta".utf8), epoch: 1, seq: 8, timeMilliseconds: Sample.newYear, kind: "file",
            path: Array("n.json".utf8), ops: 1200,
            changeSet: .init(epoch: 1, seq: 3, records: ["Note/A1"], recordCount: 1))
        #expect(
            Command.logText(save, .plain)
                == #"2026-01-01 00:00:00  beta/8  file  n.json (1,200 operations on 1 record, set 3)"#)
        let event = EventLine.note(at: Sample.newYear, code: .versionKept, subject: Array("x\u{1B}y".utf8))
        #expect(
            Command.eventText(event, .plain)
                == #"2026-01-01 00:00:00  note code=version.kept severity=info subject=x\x1by"#)
    }

    @Test("pairing shows the six words") func pairing() {
        let paired = PairedDocument(words: ["ash", "bee", "cat", "dog", "elm", "fox"], peer: Array("beta".utf8))
        #expect(Command.pairedLines(paired, .plain)[..<3] == ["Paired with beta.", "", "  ash bee cat dog elm fox"])
    }

    @Test("locks, checks, versions and findings") func others() {
        let lock = LockDocument(
            id: "l1", paths: [Array("a".utf8), Array("b c".utf8)], isRead: false, mode: .pair, holder: "make",
            process: 42, node: Array("alpha".utf8), sinceMilliseconds: Sample.newYear - 5_000)
        expect(
            Command.locksLines(LocksDocument(locks: [lock]), .plain, Sample.newYear),
            """
            ID  FOR    MODE  NODE   HOLDER     SINCE  PATHS
            l1  write  pair  alpha  make (42)  5 s    a b c
            """)
        let corrupt = DocumentChecks.File(
            path: Array("/x".utf8), outcome: .corrupt, model: "m", offset: 7, detail: "a comma is expected")
        #expect(Command.checkText(corrupt, .plain) == "/x: corrupt, model m, at byte 7: a comma is expected")
        let version = VersionDocument(
            program: "0.1.0", wire: 1...2, libraries: [.init(name: "SQLite", version: "3.40.1", floor: "3.40.0")])
        expect(
            Command.versionLines(version, .plain),
            """
            syncctl \(VersionDocument.thisProgram)
            syncd 0.1.0, exchange format 1 to 2
            WITH    VERSION  AT LEAST
            SQLite  3.40.1   3.40.0
            """)
        let findings = DoctorDocument(findings: [
            .init(check: "folder", grade: .ok, text: "There."),
            .init(check: "state", grade: .problem, text: "Open.\nVery.", cure: "Run: chmod 700 /x"),
        ])
        expect(
            Command.doctorLines(findings, .plain),
            """
            ok       folder: There.
            problem  state: Open.
                     Very.
                     Run: chmod 700 /x

            1 problem found.
            """)
    }

    @Test("a folder that is away is one problem, told by the daemon where there is one") func oneFolder() {
        typealias Finding = DoctorDocument.Finding
        let state = Finding(check: "state", grade: .problem, text: "Open.")
        let seen = Finding(check: "folder", grade: .problem, text: "It is not there.")
        let sound = Finding(check: "folder", grade: .ok, text: "It is there.")
        let told = Finding(check: "folder", grade: .problem, text: "Nothing is deleted.")
        let space = Finding(check: "space", grade: .ok, text: "Much.")
        #expect(Command.joined([state, seen], [told, space]) == [state, told, space])
        #expect(Command.joined([state, sound], [told]) == [state, sound, told])
        #expect(Command.joined([state, seen], []) == [state, seen])
        #expect(Command.joined([state, seen], [sound]) == [state, seen, sound])
    }

    @Test("an error tells what happened, what to do, and its code") func errors() {
        let error = ControlError(.pathBusy, text: "\"a\u{1B}b\\xff\" is busy.\nSo is c.", cure: "Wait a little.")
        expect(
            Output.lines(error, .plain),
            #"""
            syncctl: "a\x1bb\xff" is busy.
              So is c.
              Wait a little.
              (path.busy)
            """#)
    }

    @Test("what is explained of a path names the code of its reason, which can be explained in turn")
    func explained() {
        let path = ExplainDocument(subject: Array("fifo".utf8), kind: .path, code: .pathSpecial, meaning: "A pipe.")
        #expect(Command.explainLines(path, .plain).first == "fifo  path.special  info, goes away by itself")
        let code = ExplainDocument(code: .pathSpecial)
        #expect(Command.explainLines(code, .plain).first == "path.special  info, goes away by itself")
    }

    @Test("alerts") func alerts() {
        let view = AlertsView(style: .plain, nowMilliseconds: Sample.newYear, again: ViewTests.again)
        var node = Sample.alert
        node.subject = []
        node.state = .acknowledged
        expect(
            view.lines(AlertsDocument(alerts: [Sample.alert, node])),
            """
            ID  SEVERITY      CODE          FOR    ABOUT
            a1  warning       format.newer  2 min  x.proj.json
            a1  acknowledged  format.newer  2 min  the node

            syncctl alerts show ID tells what is safe and what to do.
            """)
        expect(
            view.lines(Sample.alert),
            """
            warning  format.newer: "x.proj.json"

              This file is in a newer format than this node understands. It is stored and
              passed on byte for byte, and this node never changes, merges, moves or deletes
              it; other files go on.

              version found: 2, understood: 1, written by beta

            What to do:
              Upgrade the program or the models on this node; the message goes by itself
              once the format is understood.

            First seen 2025-12-31 23:58:00 UTC, last 2026-01-01 00:00:00 UTC, 3 times.
            """)
        node.state = .cleared
        #expect(view.lines(node).contains("This is over; nothing is to be done."))
        #expect(!view.lines(node).contains("What to do:"), "nobody is asked to mend what is over")
        #expect(view.lines(AlertsDocument(alerts: [])) == ["No alerts."])
    }

    @Test("conflicts") func conflicts() {
        let view = ConflictsView(style: .plain, nowMilliseconds: Sample.newYear, again: ViewTests.again)
        expect(
            view.lines(ConflictsDocument(conflicts: [Sample.conflict])),
            """
            ID  KIND  STATE  FOR    PATH
            c1  file  open   1 min  plan.odt

            Nothing is lost: every version is kept. syncctl conflicts show ID shows them.
            """)
        expect(
            view.lines(Sample.conflict),
            #"""
            plan.odt  conflict.file

              Both nodes changed this file before they heard of each other. The later
              version keeps the name and the other is beside it as a conflict copy; both are
              on both nodes and nothing is paused.

            VERSION           WRITTEN (UTC)        BY     SIZE  WHERE
            1        current  2026-01-01 00:00:00  alpha  42 B  plan.odt
            2                 2026-01-01 00:00:00  beta   41 B  bad\x1b[31mname

            syncctl conflicts take c1 VERSION  puts that version in the place;
            syncctl conflicts discard c1  leaves it as it is. The others stay in history.
            """#)
        #expect(view.lines(ConflictsDocument(conflicts: [])) == ["No conflicts."])
        var settled = Sample.conflict
        settled.isOpen = false
        #expect(view.lines(settled).last == "syncctl conflicts restore c1.")
        settled.isTaken = true
        #expect(view.lines(settled).last == "syncctl history PATH.")
    }

    @Test("of symbolic links it is told where they point to: nothing else tells one from the other") func links() {
        let view = ConflictsView(style: .plain, nowMilliseconds: Sample.newYear, again: ViewTests.again)
        var conflict = Sample.conflict
        for (index, target) in ["new/place", "../a\u{1B}b"].enumerated() {
            conflict.versions[index].size = nil
            conflict.versions[index].target = Array(target.utf8)
        }
        let text = view.lines(conflict).joined(separator: "\n")
        #expect(text.contains("  alpha        plan.odt -> new/place\n"), "\(text)")
        #expect(text.contains(#"  beta         bad\x1b[31mname -> ../a\x1bb"#), "\(text)")
        conflict.isOpen = false
        #expect(view.lines(conflict).last == "syncctl conflicts restore c1.")
        conflict.isTaken = true
        #expect(view.lines(conflict).last == "syncctl history PATH.")

        var history = Sample.history
        history.versions[0].size = 0
        history.versions[0].target = Array("old".utf8)
        let lines = Command.historyLines(history, style: .plain, again: ViewTests.again)
        #expect(lines.contains("7        2026-01-01 00:00:00  beta                 version.kept  -> old"), "\(lines)")
        var below = Sample.historyBelow
        below.versions[1].target = Array("old".utf8)
        let files = Command.historyLines(below, style: .plain, again: ViewTests.again)
        #expect(files.contains { $0.hasSuffix("  d/e/file -> old") && !$0.contains(" B ") }, "\(files)")
    }

    @Test("what two short versions say stands side by side, within the terminal and harmless") func sides() {
        let sides = SideBySide(style: Style(width: 40))
        expect(
            sides.lines(
                ("--- current", "{\n  \"at\": \"11:00\",\n  \"only\": 1\n}\n"),
                ("--- other", "{\n  \"at\": \"\u{1B}[31m10:00 and much longer\"\n}\n")),
            #"""
            --- current          --- other
            {                    {
              "at": "11:00",   |   "at": "\x1b[31m1
                               | 0:00 and much long
                               | er"
              "only": 1        <
            }                    }
            """#)
        #expect(SideBySide(style: Style(width: 80)).lines(("a", ""), ("b", "x")).allSatisfy { Style.columns($0) <= 80 })
        let wide = sides.lines("alone", String(repeating: "日", count: 30))
        #expect(wide == ["alone", String(repeating: "日", count: 20), String(repeating: "日", count: 10)])
    }

    @Test("a conflict with texts shows the two it is about beside each other, and others alone") func conflictTexts() {
        var conflict = Sample.conflict
        conflict.versions[0].text = "one"
        conflict.versions[1].text = "two"
        conflict.versions.append(conflict.versions[1])
        conflict.versions[2].id = "3"
        conflict.versions[2].text = "three"
        let view = ConflictsView(style: .plain, nowMilliseconds: Sample.newYear, again: ViewTests.again)
        let text = view.lines(conflict).joined(separator: "\n")
        #expect(
            text.contains(
                """
                --- 1, by alpha                          --- 2, by beta
                one                                    | two

                --- 3, by beta
                three

                """))
    }
}
