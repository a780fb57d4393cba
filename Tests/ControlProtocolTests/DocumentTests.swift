import ControlProtocol
import SyncModel
import Testing

/// The documents are a contract with scripts: their text is compared letter by letter, and each is read back.
struct DocumentTests {
    /// Written as expected, and read back as it was.
    private func expect<Document: ControlDocument>(
        _ document: Document, _ text: String, at place: SourceLocation = #_sourceLocation
    ) throws {
        let written = String(decoding: document.json.bytes, as: UTF8.self)
        #expect(written == text, sourceLocation: place)
        #expect(try Document(json: JSON(parsing: Array(text.utf8))) == document, sourceLocation: place)
    }

    @Test("status is the document of the contract") func status() throws {
        try expect(Sample.status, Sample.statusText)
    }

    @Test("before pairing the peer is null, and what is not known of a peer is null") func unpaired() throws {
        var status = Sample.status
        status.peer = nil
        #expect(status.json["peer"] == .null)
        #expect(try StatusDocument(json: status.json) == status)
        status.peer = .init(name: [0xFF], id: Sample.id, isConnected: false)
        let peer = status.json["peer"]
        for key in ["address", "program", "lastContact"] { #expect(peer?[key] == .null) }
        #expect(peer?["name"] == .string(#"\xff"#) && peer?["nameBytes"] == "/w==")
        #expect(try StatusDocument(json: status.json) == status)
    }

    @Test("why a node stands still is told of, and only then") func standstill() throws {
        var status = Sample.status
        #expect(status.json["folder"]?["reason"] == nil)
        (status.folder.state, status.folder.reason) = (.halted, CodeText(.rootMissing))
        #expect(status.json["folder"]?["reason"] == "root.missing")
        #expect(try StatusDocument(json: status.json) == status)
    }

    @Test("what waits for a person on the other node is told of, and only then") func heldThere() throws {
        var status = Sample.status
        #expect(status.json["peer"]?["heldDeletes"] == nil)
        status.peer?.heldDeletes = 80
        #expect(status.json["peer"]?["heldDeletes"] == .count(80))
        #expect(try StatusDocument(json: status.json) == status)
        #expect(status.json["peer"]?["waits"] == nil)
        status.peer?.waits = true
        #expect(status.json["peer"]?["waits"] == .bool(true))
        #expect(try StatusDocument(json: status.json) == status)
    }

    @Test("what cannot be synced is told of, and only where there is some; it is no reason to be anything but content")
    func leftOut() throws {
        var status = Sample.status
        #expect(status.json["leftOut"] == nil)
        status.leftOut = [.init(path: Array("fifo".utf8), reason: CodeText(.pathSpecial))]
        #expect(status.json["leftOut"] == .array([["path": "fifo", "reason": "path.special"]]))
        #expect(try StatusDocument(json: status.json) == status)
        #expect(status.exitCode == 0 && status.inSync && status.pending == Sample.status.pending)
    }

    @Test("keys that are being renewed are told of, and only then") func renewals() throws {
        var status = Sample.status
        #expect(status.json["node"]?["nextKey"] == nil && status.json["peer"]?["nextKey"] == nil)
        (status.node.nextKey, status.node.formerKey) = ("sha256:aa", "sha256:bb")
        status.peer?.nextKey = "sha256:cc"
        #expect(status.json["node"]?["nextKey"] == "sha256:aa" && status.json["node"]?["formerKey"] == "sha256:bb")
        #expect(status.json["peer"]?["nextKey"] == "sha256:cc")
        #expect(try StatusDocument(json: status.json) == status)
    }

    @Test("held deletes and a longer list of pending paths are told") func heldDeletes() throws {
        var status = Sample.status
        status.pendingTotal = 1_000
        status.heldDeletes = .init(id: "3", files: 60, sinceMilliseconds: Sample.newYear)
        #expect(try StatusDocument(json: status.json) == status)
        #expect(
            status.json["heldDeletes"]
                == ["id": "3", "files": .count(60), "since": "2026-01-01T00:00:00Z"])
    }

    @Test("the exit code is 1 where a person is needed, else 2 until it is in sync, else 0") func exitCodes() {
        var status = Sample.status
        #expect(status.exitCode == 0)
        status.alerts.info = 5
        #expect(status.exitCode == 0, "nothing to do about an info")
        status.inSync = false
        #expect(status.exitCode == 2)
        let needs: [(inout StatusDocument) -> Void] = [
            { $0.alerts.warning = 1 }, { $0.alerts.serious = 1 }, { $0.conflicts = 1 }, { $0.quarantined = 1 },
            { $0.held = 1 },
        ]
        for need in needs {
            var needy = status
            need(&needy)
            #expect(needy.exitCode == 1 && needy.needsAttention)
            needy.inSync = true
            #expect(needy.exitCode == 1)
        }
    }

    @Test("alerts are as the contract has them") func alerts() throws {
        try expect(Sample.alert, Sample.alertText)
        try expect(AlertsDocument(alerts: [Sample.alert]), #"{"alerts":[\#(Sample.alertText)]}"#)
        try expect(AlertsDocument(alerts: [], next: "x"), #"{"alerts":[],"next":"x"}"#)
    }

    @Test("an alert takes its texts from the registry, and leaves out what does not apply") func alertDefaults() {
        let alert = AlertDocument(id: "1", code: .diskFull, firstSeenMilliseconds: 0, lastSeenMilliseconds: 0)
        #expect(alert.text == MessageCode.diskFull.kind.meaning && alert.cure == MessageCode.diskFull.kind.cure)
        #expect(alert.severity == MessageCode.diskFull.severity)
        for key in ["found", "supported", "offset", "writer", "entity", "property", "record", "changeSet"] {
            #expect(alert.json[key] == nil)
        }
    }

    @Test("an alert about a format says what stands in the place of a version, and at which byte a file is broken")
    func alertFindings() throws {
        var alert = AlertDocument(
            id: "1", code: .formatUnknown, firstSeenMilliseconds: 0, lastSeenMilliseconds: 0, found: .string("-1"))
        #expect(try AlertDocument(json: alert.json) == alert && alert.json["found"]?.text == "-1")
        alert.found = nil
        alert.offset = 5
        #expect(try AlertDocument(json: alert.json) == alert && alert.json["offset"] == .count(5))
    }

    @Test("I11: an alert about a missing value names entity, property, record and change set") func alertFault() throws
    {
        var alert = AlertDocument(
            id: "1", code: .validationRequiredMissing, firstSeenMilliseconds: 0, lastSeenMilliseconds: 0)
        alert.fault = .init(entity: "ChildSchedule", property: "note", record: "ChildSchedule/B2", changeSet: "7/3")
        let read = try AlertDocument(json: alert.json)
        #expect(read == alert)
        #expect(alert.json["entity"]?.text == "ChildSchedule" && alert.json["property"]?.text == "note")
        #expect(alert.json["record"]?.text == "ChildSchedule/B2" && alert.json["changeSet"]?.text == "7/3")
        alert.fault?.property = nil
        #expect(try AlertDocument(json: alert.json) == alert)
    }

    @Test("conflicts are as the contract has them") func conflicts() throws {
        try expect(Sample.conflict, Sample.conflictText)
        try expect(ConflictsDocument(conflicts: [Sample.conflict]), #"{"conflicts":[\#(Sample.conflictText)]}"#)
        var taken = Sample.conflict
        (taken.isOpen, taken.isTaken) = (false, true)
        try expect(taken, Sample.conflictText.replacing(#""open":true"#, with: #""open":false,"taken":true"#))
        let link = ConflictDocument.Version(id: "copy", node: [0x61], timeMilliseconds: Sample.newYear, target: [0xFF])
        let conflict = ConflictDocument(
            id: "c2", code: CodeText(.conflictFile), kind: .file, path: [0x6C], subject: [0x6C],
            sinceMilliseconds: Sample.newYear, reason: "editedOnBoth", versions: [link])
        try expect(
            conflict,
            """
            {"id":"c2","code":"conflict.file","kind":"file","path":"l","subject":"l","since":"2026-01-01T00:00:00Z",\
            "reason":"editedOnBoth","open":true,"versions":[{"id":"copy","node":"a","time":"2026-01-01T00:00:00Z",\
            "current":false,"target":"\\\\xff","targetBytes":"/w=="}]}
            """)
    }

    @Test("history is as the contract has it, with a path that is not UTF-8") func history() throws {
        try expect(Sample.history, Sample.historyText)
        var below = HistoryDocument(path: [0x64], versions: Sample.history.versions)
        below.versions[0].path = [0x64, 0x2F, 0xFF]
        below.versions[0].isThere = false
        try expect(
            below,
            """
            {"path":"d","versions":[{"id":"9","time":"2026-01-01T00:00:00Z","node":"beta","size":5,"sha256":"cd",\
            "reason":"version.kept","path":"d/\\\\xff","pathBytes":"ZC//","exists":false}]}
            """)
        below.versions[0].target = Array("../to".utf8)
        #expect(below.json["versions"]?.items?.first?["target"]?.text == "../to")
        #expect(try HistoryDocument(json: below.json) == below)
    }

    @Test("lines of log and events are as the contract has them") func lines() throws {
        try expect(Sample.log, Sample.logText)
        try expect(Sample.event, Sample.eventText)
        let events: [EventLine] = [
            .alertRaised(at: 1, code: .diskFull, subject: [0xFF]), .alertCleared(at: 2, code: .diskFull, subject: []),
            .note(at: 3, code: .versionKept, subject: [0x61]), .peerConnected(at: 5, name: [0x62], address: "[::1]:1"),
            .peerDisconnected(at: 6, name: [0x62], reason: .peerAway),
        ]
        for event in events { #expect(try EventLine(json: event.json) == event) }
    }

    @Test("doc check is as the contract has it") func checks() throws {
        try expect(Sample.checks, Sample.checksText)
        #expect(!Sample.checks.isSuccess)
        #expect(
            DocumentChecks.Outcome.allCases.map(\.rawValue).joined(separator: "|")
                == "success|noSuchFile|zeroLength|corrupt|olderVersion|newerVersion|unknownVersion|accessDenied|"
                + "changedDuringRead|unguarded")
    }

    @Test("pairing is as the contract has it") func pairing() throws {
        try expect(
            InviteDocument(token: "T-1", expiresMilliseconds: Sample.newYear),
            #"{"token":"T-1","expires":"2026-01-01T00:00:00Z"}"#)
        try expect(
            PairedDocument(words: ["a", "b"], peer: Array("beta".utf8)), #"{"words":["a","b"],"peer":"beta"}"#)
        let digits = String(repeating: "01", count: 32)
        let others = String(repeating: "ff", count: 32)
        try expect(
            RenewedKeyDocument(
                key: [UInt8](repeating: 1, count: 32), former: [UInt8](repeating: 0xFF, count: 32)),
            #"{"key":"sha256:\#(digits)","former":"sha256:\#(others)"}"#)
    }

    @Test("an error is as the contract has it") func errors() throws {
        try expect(
            ErrorDocument(ControlError(.pathBusy, text: "Busy.", cure: "Wait.")),
            #"{"error":{"code":"path.busy","text":"Busy.","cure":"Wait."}}"#)
    }

    @Test("the other documents come back as they were") func others() throws {
        try expect(Sample.lock, Sample.lockText)
        try expect(LocksDocument(locks: [Sample.lock]), #"{"locks":[\#(Sample.lockText)]}"#)
        try expect(DoneDocument(), #"{"done":true}"#)
        try expect(DoneDocument(text: "Ok.", notes: ["n"]), #"{"done":true,"text":"Ok.","notes":["n"]}"#)
        try expect(MetricsDocument(text: "a 1\n"), #"{"metrics":"a 1\n"}"#)
        try expect(
            VerifyDocument(
                checked: 2, bytes: 9, damaged: 1, repaired: 1, milliseconds: 3, isComplete: false, young: 4, unread: 1,
                unreadFirst: [0x61, 0xFF]),
            #"{"checked":2,"bytes":9,"damaged":1,"repaired":1,"milliseconds":3,"complete":false,"young":4,"unread":1,"unreadFirst":"a\\xff","unreadFirstBytes":"Yf8="}"#
        )
        try expect(
            LogVerifyDocument(logs: [.init(node: [0x61], records: 3, changeSets: 2, isIntact: true, text: "whole")]),
            #"{"intact":true,"logs":[{"node":"a","records":3,"changeSets":2,"intact":true,"text":"whole"}]}"#)
        try expect(
            DoctorDocument(findings: [.init(check: "folder", grade: .problem, text: "t", cure: "c")]),
            #"{"healthy":false,"findings":[{"check":"folder","grade":"problem","text":"t","cure":"c"}]}"#)
        try expect(
            Sample.version,
            #"{"program":"0.1.0","wire":[1,2],"libraries":[{"name":"SQLite","version":"3.40.1","floor":"3.40.0"}]}"#)
    }

    @Test("explain tells all that the registry knows", arguments: MessageCode.allCases)
    func explain(code: MessageCode) throws {
        let document = ExplainDocument(code: code)
        #expect(document.meaning == code.kind.meaning && document.cure == code.kind.cure)
        #expect(document.severity == code.severity && document.retry == code.kind.retry.text)
        #expect(try ExplainDocument(json: document.json) == document)
        let path = ExplainDocument(subject: [0xFF], kind: .path, meaning: "m", facts: ["f"])
        #expect(try ExplainDocument(json: path.json) == path)
    }

    @Test("a code that is newer than this program is kept as it is") func unknownCode() throws {
        var json = try JSON(parsing: Array(Sample.alertText.utf8))
        if case .object(var object) = json {
            object["code"] = "future.thing"
            json = .object(object)
        }
        let alert = try AlertDocument(json: json)
        #expect(alert.code.text == "future.thing" && alert.code.known == nil)
    }

    @Test(
        "ids of nodes are whole digests",
        arguments: ["", "sha256:", "sha256:zz", "md5:00", "sha256:" + String(repeating: "0", count: 63)])
    func badNode(text: String) {
        #expect(NodeID(text: text) == nil)
        #expect(NodeID(text: Sample.idText) == Sample.id && Sample.id.text == Sample.idText)
    }

    @Test("wherever a document is broken, the error names the place or it is understood all the same")
    func brokenStatus() throws {
        let whole = try JSON(parsing: Array(Sample.statusText.utf8))
        for (place, broken) in Breakage.all(of: whole) {
            do throws(DocumentError) {
                _ = try StatusDocument(json: broken)
            } catch {
                let isNamed = place.hasPrefix(error.place) || error.place.hasPrefix(place)
                #expect(isNamed && !error.place.isEmpty, "\(place): \(error.text)")
            }
        }
        #expect(throws: DocumentError(place: "schema", expected: "1, the only one this program understands")) {
            try StatusDocument(json: ["schema": .count(2)])
        }
        #expect(throws: DocumentError(place: "", expected: "an object")) { try StatusDocument(json: .array([])) }
    }

    @Test("a version range is two numbers in order", arguments: ["[2,1]", "[1]", "[1,2,3]", "3", "[1,\"2\"]"])
    func badWire(text: String) throws {
        let json: JSON = ["program": "x", "wire": try JSON(parsing: Array(text.utf8))]
        #expect(throws: DocumentError(place: "wire", expected: "[lowest, highest]")) { try VersionDocument(json: json) }
    }
}

/// A value with one of its parts, each in turn, replaced by something else.
enum Breakage {
    static func all(of json: JSON, at place: String = "") -> [(place: String, json: JSON)] {
        var broken: [(place: String, json: JSON)] = place.isEmpty ? [] : [(place, .array([.bool(true)]))]
        switch json {
        case .object(let object):
            for member in object.members {
                let inner = place.isEmpty ? member.key : "\(place).\(member.key)"
                for (place, value) in all(of: member.value, at: inner) {
                    var changed = object
                    changed[member.key] = value
                    broken.append((place, .object(changed)))
                }
            }
        case .array(let items):
            for (index, item) in items.enumerated() {
                for (place, value) in all(of: item, at: "\(place)[\(index)]") {
                    var changed = items
                    changed[index] = value
                    broken.append((place, .array(changed)))
                }
            }
        default: break
        }
        return broken
    }
}
