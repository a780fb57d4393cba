import ControlProtocol
import Disk
import SyncCore
import SyncModel
import Testing

@testable import SyncDaemon

@Suite("documents made of what is known")
struct ReadingTests {
    @Test(
        "a copy names its path and its node, also where the node has dashes",
        arguments: [
            ("d/n.conflict-alpha-20250615-150736-333d5a.txt", "d/n.txt", "alpha"),
            ("n.conflict-node-2-20250615-150736-333d5a", "n", "node-2"),
            (
                "a.conflict-x-20250615-150736-333d5a.conflict-y-20250616-000000-abcdef",
                "a.conflict-x-20250615-150736-333d5a", "y"
            ),
            ("plain.txt", nil, nil), ("n.conflict-alpha-2025-150736-333d5a", nil, nil),
        ] as [(String, String?, String?)])
    func conflictNames(copy: String, original: String?, node: String?) throws {
        let parts = ConflictName.parts(of: try #require(Path(copy)))
        #expect(parts?.original == original.flatMap { Path($0) })
        #expect(parts?.node == node.map { Array($0.utf8) })
    }

    @Test("a conflict tells when each version was written, and not when the copy of the losing one was made")
    func conflictTimes() throws {
        let copy = try #require(Path("d/n.conflict-beta-20250615-150736-333d5a.txt"))
        #expect(ConflictName.parts(of: copy)?.milliseconds == 1_750_000_056_000)
        let lost = Entry(content: .file(ContentID(.zero), size: 3), mode: 0o644, modified: .zero)
        let conflict = NodeHost.Conflict(
            copy: copy, lost: lost, milliseconds: 1_750_000_059_000, place: .tree(copy), path: Path("d/n.txt"),
            original: nil,
            isDowngrade: nil)
        let document = ConflictReading.document(
            conflict, isDowngrade: false, current: nil, copy: nil, node: Array("alpha".utf8), peer: Array("beta".utf8))
        #expect(document?.versions.map(\.timeMilliseconds) == [1_750_000_056_000])
        #expect(document?.sinceMilliseconds == 1_750_000_059_000)
        let impossible = try #require(Path("n.conflict-beta-20251315-150736-333d5a"))
        #expect(ConflictName.parts(of: impossible)?.milliseconds == .some(nil))
    }

    @Test("why a path is as it is: a rule, a pipe, syncd's own, or nothing at all")
    func pathReadings() throws {
        let path = try #require(Path("d/n.log"))
        func read(_ path: Path, _ found: Inspection.Result?, _ rule: IgnoreReason? = nil) -> ExplainDocument? {
            PathReading(
                path: path, row: nil, original: nil, found: found, rule: rule, format: nil, peerFormats: [], alerts: [],
                node: [], peer: []
            ).document(code: nil)
        }
        func stat(_ kind: FileKind) -> Inspection.Result {
            .found(
                Stat(
                    identity: FileIdentity(device: 1, inode: 2, birth: .zero), kind: kind, mode: 0o644, size: 0,
                    modified: .zero,
                    changed: .zero))
        }
        var rules = IgnoreRules()
        rules.setFile(directory: Array("d".utf8), contents: Array("# logs\n*.log\n!keep.log\n".utf8))
        let rule = try #require(rules.reason(toIgnore: path.bytes, isDirectory: false))
        #expect(read(path, stat(.file), rule)?.facts == ["the rule is line 2 of \"d/.syncignore\""])
        #expect(rules.reason(toIgnore: Array("d/keep.log".utf8), isDirectory: false) == nil)
        #expect(read(path, stat(.special))?.code?.known == .pathSpecial)
        #expect(read(path, .absent) == nil && read(path, nil) == nil)
        let folder = read(.root, stat(.directory))
        #expect(folder?.subject == Array(".".utf8))
        #expect(folder?.meaning.contains("the folder that is kept the same") == true)
        #expect(read(path, stat(.file))?.meaning.contains("only just come") == true)
        // What waits is in the folder all the same.
        let waiting = PathReading(
            path: path, row: Row(path: path), original: nil, found: stat(.file), rule: nil, format: nil,
            peerFormats: [], alerts: [], node: [], peer: []
        ).document(code: .validationRequiredMissing)
        #expect(waiting?.facts == ["in the folder here: a file of 0 bytes that was not taken in yet"])
        let own = try #require(Path(".syncd/stage"))
        #expect(read(own, .failed(.unsupported))?.meaning.contains("syncd itself") == true)
    }

    @Test(
        "what is wrong with the folder is said of its path, quoted and escaped",
        arguments: [
            (nil, #"The folder is "/srv/a\x1bb"."#), (.absent, #"No directory is at "/srv/a\x1bb"."#),
            (.unreachable, "Permission denied"), (.closed, #""/srv/a\x1bb" is there, and "#),
            (.unmarked, #""/srv/a\x1bb/.syncd/folder-id" is not."#), (.otherDirectory, "is another directory"),
            (.damagedMark, #""/srv/a\x1bb/.syncd/folder-id" is damaged"#), (.otherMark, "of another folder"),
        ] as [(RootTrouble?, String)])
    func roots(trouble: RootTrouble?, part: String) {
        let sentence = RootWords.sentence(Array("/srv/a\u{1B}b".utf8), trouble)
        #expect(sentence.contains(part) && sentence.hasSuffix("."), "\(sentence)")
        #expect(sentence.contains(#"/srv/a\x1bb"#))
    }

    private func alert(_ key: AlertKey, _ facts: AlertFacts) -> AlertDocument {
        var book = AlertBook()
        _ = book.raise(key, since: 1, now: 1, facts)
        return AlertReading.document(
            book.open[0], id: book.id(of: key), node: Array("alpha".utf8), peer: Array("beta".utf8))
    }

    @Test("an alert about a format says which version is on which node, and its journal line is the same")
    func formatAlerts() throws {
        let newer = FormatFinding(found: 2, supported: 1...1, node: .peer)
        let subject = Array("memo.note".utf8)
        let behind = alert(AlertKey(code: .formatNewer, subject: subject, format: newer), AlertFacts(writer: .own))
        #expect(behind.text.contains("beta understands version 1") && behind.writer == "alpha")
        #expect(behind.cure.hasPrefix("Upgrade the program and its format rules on beta"))

        let neither = FormatFinding(found: 2, supportedOnBoth: 1...1)
        let apart = alert(AlertKey(code: .formatNewer, subject: subject, format: neither), AlertFacts(writer: .own))
        #expect(apart.text.contains("both nodes understand version 1") && apart.supported == behind.supported)
        #expect(apart.cure.hasPrefix("Upgrade the program and its format rules on both nodes") && apart.id != behind.id)

        let copy = try #require(Path("memo.conflict-beta-20250615-150736-333d5a.note"))
        let older = FormatFinding(found: 1, kept: 2, node: .peer)
        let held = AlertKey(code: .formatDowngradeHeld, subject: subject, format: older)
        let facts = AlertFacts(writer: .peer, size: 3, copy: copy)
        let downgrade = alert(held, facts)
        #expect(
            downgrade.text.contains(
                "A program on beta saved this file in version 1 of its format, where version 2 stands"))
        #expect(downgrade.text.contains("beside it as 3 conflict copies"))
        #expect(downgrade.cure.contains("syncctl conflicts take \(ConflictReading.id(of: copy)) copy."))
        #expect(downgrade.conflict == ConflictReading.id(of: copy))
        #expect((downgrade.found, downgrade.kept) == (.count(1), .count(2)) && downgrade.supported == nil)

        var lines: [String] = []
        let journal = Journal(level: .problems, hasPriorities: false) { lines.append($0) }
        journal.tell(downgrade)
        #expect(lines == ["syncd: format.downgrade-held \"memo.note\": \(downgrade.text) \(downgrade.cure)\n"])
        let explained = AlertReading.explanation(downgrade, .formatDowngradeHeld)
        #expect(explained.meaning == downgrade.text && explained.cure == downgrade.cure && explained.kind == .alert)
        #expect(explained.facts.prefix(3) == ["version found: 1", "version kept: 2", "written by beta"])
        var over = downgrade
        over.state = .cleared
        let explainedOver = AlertReading.explanation(over, .formatDowngradeHeld)
        #expect(explainedOver.cure == "Nothing is to be done: this is over.")
    }

    @Test("an alert about a conflict names it as the list of conflicts does, and says what to type")
    func conflictAlerts() throws {
        let copy = try #require(Path("d/n.conflict-beta-20250615-150736-333d5a.txt"))
        let file = alert(AlertKey(code: .conflictFile, subject: copy.bytes), AlertFacts())
        let id = ConflictReading.id(of: copy)
        #expect(file.conflict == id && file.id != id)
        #expect(file.cure.hasSuffix("syncctl conflicts take \(id) VERSION."))
        let slot = alert(AlertKey(code: .conflictSlot, subject: Array("Note/1".utf8)), AlertFacts())
        let record = Daemon.contestID(ofRecordNamed: Array("Note/1".utf8))
        #expect(slot.conflict == record && slot.cure.contains("conflicts take \(record) VERSION"))
        #expect(slot.cure.hasSuffix("conflicts discard \(record)."))
        // A record that lies in no folder can be brought back or let go, and not deleted.
        let edited = alert(AlertKey(code: .conflictDeletedWhileEdited, subject: Array("Note/1".utf8)), AlertFacts())
        #expect(edited.text.contains("in quarantine on both nodes") && edited.conflict == record)
        #expect(edited.cure.contains("conflicts take \(record) VERSION"))
        #expect(edited.cure.hasSuffix("conflicts discard \(record)."))
        #expect(alert(AlertKey(code: .diskError), AlertFacts()).conflict == nil)
        #expect(try AlertDocument(json: file.json).conflict == id && file.json["conflict"]?.text == id)
    }

    @Test("an alert about a file of records names its version and those its model reads, and says where it stands")
    func recordAlerts() {
        let subject = Array("d/n/1".utf8)
        let newer = FormatFinding(found: 3, reads: 1...2, node: .own)
        let held = alert(AlertKey(code: .formatNewer, subject: subject, format: newer), AlertFacts(writer: .own))
        #expect(held.text.hasPrefix("This file of records is in version 3; the model on alpha reads versions 1 to 2."))
        #expect(held.text.contains("It stands on both nodes as it was saved, and nothing is merged into it."))
        #expect(held.cure.hasPrefix("Install a model on alpha that reads version 3"))
        #expect((held.found, held.supported) == (.count(3), .array([.count(1), .count(2)])) && held.writer == "alpha")
        let none = FormatFinding(found: nil, reads: 1...2, node: .own)
        let unknown = alert(
            AlertKey(code: .formatUnknown, subject: subject, format: none),
            AlertFacts(detail: "There is x.", found: "x"))
        #expect(unknown.text.hasPrefix("No usable version stands in this file of records."))
        #expect(unknown.found == .string("x"))
        let explained = AlertReading.explanation(unknown, .formatUnknown)
        #expect(explained.facts.prefix(2) == ["found: x", "versions understood: 1 to 2"])
        #expect(unknown.text.contains("is sent once it can be read"))
        #expect(unknown.text.hasSuffix(" There is x.") && unknown.cure.contains("syncctl restore PATH"))
        #expect(held.id != unknown.id)
    }

    @Test("an alert about a broken file has the byte at which it is") func brokenFile() {
        let key = AlertKey(code: .formatCorrupt, subject: Array("a.json".utf8))
        let document = alert(key, AlertFacts(detail: "At byte 5: a value is expected.", offset: 5))
        #expect(document.offset == 5 && document.json["offset"] == .count(5) && document.found == nil)
        #expect(document.text.hasSuffix(" At byte 5: a value is expected."))
    }

    @Test("what is known beyond the registry stands at the end of the text") func details() {
        let document = alert(AlertKey(code: .diskError), AlertFacts(detail: "At \"a\": it could not be read."))
        #expect(document.text == "\(MessageCode.diskError.kind.meaning) At \"a\": it could not be read.")
    }

    @Test("a path tells its alerts, and a conflict copy why it lost") func alertsOfPaths() throws {
        let copy = try #require(Path("memo.conflict-beta-20250615-150736-333d5a.note"))
        let path = try #require(Path("memo.note"))
        func row(_ path: Path, _ version: UInt32) -> Row {
            var row = Row(path: path)
            let id = ContentID(SHA256.digest(of: path.bytes))
            let stat = Stat(
                identity: FileIdentity(device: 1, inode: 2, birth: .zero), kind: .file, mode: 0o644, size: 3,
                modified: .zero, changed: .zero)
            let origin = Origin(author: .peer, position: .none, time: .zero)
            row.disk = Row.DiskState(
                entry: Entry(content: .file(id, size: 3), mode: 0o644, modified: .zero), stat: stat,
                origins: Origins(all: origin), isRacy: false)
            row.format = FormatMark(content: id, rule: 7, reading: .version(version))
            return row
        }
        func read(_ path: Path, _ row: Row, _ original: Row, _ alerts: [(MessageCode, AlertDocument)])
            -> ExplainDocument?
        {
            PathReading(
                path: path, row: row, original: original, found: nil, rule: nil, format: nil, peerFormats: [],
                alerts: alerts, node: Array("alpha".utf8), peer: Array("beta".utf8)
            ).document(code: nil)
        }
        let original = row(path, 2)
        let older = read(copy, row(copy, 1), original, [])
        #expect(
            older?.facts.last == "a copy of \"memo.note\": the version of beta lost because it is older in its format")
        let earlier = read(copy, row(copy, 2), original, [])
        #expect(
            earlier?.facts.last == "a copy of \"memo.note\": the version of beta lost because it is the earlier one")
        // A save that waits is told of as what lies there, and not what lay there before.
        var stat = original.disk?.stat
        stat?.size = 5
        let saved = PathReading(
            path: path, row: original, original: original, found: stat.map { .found($0) }, rule: nil, format: nil,
            peerFormats: [], alerts: [], node: [], peer: []
        ).document(code: nil)
        #expect(saved?.facts.contains("in the folder here: a file of 5 bytes that was not taken in yet") == true)
        // Nor is a file that was deleted there, while the delete waits.
        let deleted = PathReading(
            path: path, row: original, original: original, found: .absent, rule: nil, format: nil,
            peerFormats: [], alerts: [], node: [], peer: []
        ).document(code: .validationRequiredMissing)
        #expect(deleted?.facts.contains("in the folder here: nothing") == true)
        let finding = FormatFinding(found: 2, supported: 1...1, node: .own)
        let alert = alert(AlertKey(code: .formatNewer, subject: path.bytes, format: finding), AlertFacts())
        let held = read(path, original, original, [(.formatNewer, alert)])
        #expect(held?.code?.known == .formatNewer && held?.meaning == alert.text && held?.cure == alert.cure)
        #expect(held?.facts.last == "alert \(alert.id), format.newer: \(alert.text)")
    }

    @Test("a path names who wrote its content, whoever settled the conflict about it") func authors() throws {
        let path = try #require(Path("report.txt"))
        let copy = try #require(Path("report.conflict-alpha-20250615-150736-333d5a.txt"))
        let lost = try #require(ConflictName.parts(of: copy)?.milliseconds)
        func origin(_ author: Author, _ seq: UInt64, seconds: Int64) -> Origin {
            Origin(
                author: author, position: LogPosition(epoch: Epoch(number: 1, nonce: 2), seq: seq),
                time: HybridTime(wallMilliseconds: lost + seconds * 1_000))
        }
        let entry = Entry(content: .file(ContentID(.zero), size: 16), mode: 0o644, modified: .zero)
        let origins = Origins(all: origin(.peer, 4, seconds: 1))
        func facts(_ origin: Origin, _ origins: Origins, _ copies: [Path] = []) -> [String] {
            var row = Row(path: path)
            row.heads = [Revision(origin: origin, seen: .none, entry: entry, origins: origins)]
            let stat = Stat(
                identity: FileIdentity(device: 1, inode: 2, birth: .zero), kind: .file, mode: 0o644, size: 16,
                modified: .zero, changed: .zero)
            row.disk = Row.DiskState(entry: entry, stat: stat, origins: origins)
            let reading = PathReading(
                path: path, row: row, original: row, copies: copies, found: nil, rule: nil, format: nil,
                peerFormats: [], alerts: [], node: Array("alpha".utf8), peer: Array("beta".utf8))
            return reading.document(code: nil)?.facts ?? []
        }
        let wrote = "beta wrote a file of 16 bytes (000000000000) at 2025-06-15T15:07:37Z"
        let alone = facts(origins.content, origins)
        #expect(alone.first == wrote && alone.dropFirst().first?.hasPrefix("in the folder here: a file of 16") == true)
        let settled = facts(origin(.own, 9, seconds: 3), origins, [copy])
        #expect(
            settled.prefix(2) == [wrote, "alpha settled it with what both nodes had there at 2025-06-15T15:07:39Z"])
        #expect(settled.last?.contains("\"\(copy)\", which lost the name to the later save: syncctl") == true)
        var touched = origins
        touched.mode = origin(.own, 9, seconds: 3)
        let deed = "alpha gave it another mode or time at 2025-06-15T15:07:39Z"
        #expect(facts(touched.mode, touched).prefix(2) == [wrote, deed])
    }

    @Test("progress begins with work, grows with it and ends with it") func progress() {
        var tracker = ProgressTracker()
        var status = Status()
        status.state = .syncing
        status.isConnected = true
        status.toApply = 4
        #expect(tracker.take(status, bytesPerSecond: 0).total == 4)
        status.toApply = 1
        status.toSend = 2
        let middle = tracker.take(status, bytesPerSecond: 7)
        #expect(middle.done == 1 && middle.total == 4 && middle.phase == "applying" && middle.bytesPerSecond == 7)
        // What waits for its author is not on its way anywhere.
        status.state = .waiting
        #expect(tracker.take(status, bytesPerSecond: 0).phase == "waiting")
        (status.toApply, status.toSend, status.state) = (0, 0, .inSync)
        let end = tracker.take(status, bytesPerSecond: 0)
        #expect(end.done == 0 && end.total == 0 && end.phase == "idle")
    }

    @Test("the rate is that of the last seconds") func traffic() {
        var traffic = Traffic()
        traffic.sent(5_000, at: 10_000)
        traffic.received(5_000, at: 11_500)
        #expect(traffic.bytesPerSecond(at: 12_000) == 2_000)
        #expect(traffic.bytesPerSecond(at: 15_500) == 1_000)
        #expect(traffic.bytesPerSecond(at: 60_000) == 0)
        #expect(traffic.bytesSent == 5_000 && traffic.bytesReceived == 5_000)
    }

    @Test("version names what is built on, and each is as new as it has to be") func libraries() {
        func numbers(_ text: String) -> [Int] { text.split(separator: ".").compactMap { Int($0) } }
        let libraries = Daemon.versionDocument.libraries
        #expect(libraries.map(\.name) == ["libuv", "SQLite", "OpenSSL", "zstd"])
        for library in libraries {
            let isOlder = numbers(library.version).lexicographicallyPrecedes(numbers(library.floor))
            #expect(numbers(library.version).count == 3 && !isOlder, "\(library)")
        }
    }
}
