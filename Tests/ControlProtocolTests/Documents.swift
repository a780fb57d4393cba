import ControlProtocol
import SyncModel

/// One of each document with everything in it, and its text as the contract has it.
enum Sample {
    /// 2026-01-01T00:00:00Z
    static let newYear: Int64 = 1_767_225_600_000
    static let id = NodeID(Digest(words: (0x0123_4567_89AB_CDEF, 0, 0, 1)))
    static let idText = "sha256:0123456789abcdef" + String(repeating: "0", count: 47) + "1"

    static let status = StatusDocument(
        node: .init(name: Array("alpha".utf8), id: id, program: "0.1.0", uptimeSeconds: 12),
        peer: .init(
            name: Array("beta".utf8), id: id, isConnected: true, address: "127.0.0.1:7420", program: "0.1.0",
            lastContactMilliseconds: newYear),
        folder: .init(path: Array("/srv/shared".utf8), state: .inSync, files: 3, directories: 1, bytes: 42),
        inSync: true,
        pending: [.init(path: Array("a/b".utf8), reason: CodeText(.lockHeld), sinceMilliseconds: newYear)])

    static let statusText = """
        {"schema":1,\
        "node":{"name":"alpha","id":"\(idText)","program":"0.1.0","uptimeSeconds":12},\
        "peer":{"name":"beta","id":"\(idText)","connected":true,"address":"127.0.0.1:7420","program":"0.1.0",\
        "toSend":0,"toApply":0,"paused":false,"lastContact":"2026-01-01T00:00:00Z"},\
        "folder":{"path":"/srv/shared","state":"in-sync","files":3,"directories":1,"bytes":42},\
        "inSync":true,\
        "pending":[{"path":"a/b","reason":"lock.held","since":"2026-01-01T00:00:00Z"}],"pendingTotal":1,\
        "alerts":{"serious":0,"warning":0,"info":0},\
        "conflicts":0,"quarantined":0,"held":0,"locks":0,\
        "progress":{"phase":"idle","done":0,"total":0,"bytesPerSecond":0}}
        """

    static let alert = AlertDocument(
        id: "a1", code: .formatNewer, subject: Array("x.proj.json".utf8), firstSeenMilliseconds: newYear,
        lastSeenMilliseconds: newYear, count: 2, found: .count(2), supported: .array([.count(1), .count(1)]),
        writer: "beta", text: "Newer.", cure: "Upgrade.")

    static let alertText = """
        {"id":"a1","code":"format.newer","severity":"warning","subject":"x.proj.json","state":"open",\
        "firstSeen":"2026-01-01T00:00:00Z","lastSeen":"2026-01-01T00:00:00Z","count":2,"found":2,"supported":[1,1],\
        "writer":"beta","text":"Newer.","cure":"Upgrade."}
        """

    static let conflict = ConflictDocument(
        id: "c1", code: CodeText(.conflictSlot), kind: .slot, path: Array("schedules/B2.json".utf8),
        subject: Array("ChildSchedule/B2".utf8), sinceMilliseconds: newYear, reason: "lostSlot",
        versions: [
            .init(
                id: "v1", node: Array("alpha".utf8), timeMilliseconds: newYear, sha256: "ab", isCurrent: true,
                record: "ChildSchedule/B2", path: Array("schedules/B2.json".utf8), size: 7, text: "{\"a\":1}"),
            .init(id: "v2", node: Array("beta".utf8), timeMilliseconds: newYear),
        ])

    static let conflictText = """
        {"id":"c1","code":"conflict.slot","kind":"slot","path":"schedules/B2.json","subject":"ChildSchedule/B2",\
        "since":"2026-01-01T00:00:00Z","reason":"lostSlot","open":true,"versions":[\
        {"id":"v1","node":"alpha","time":"2026-01-01T00:00:00Z","sha256":"ab","current":true,\
        "record":"ChildSchedule/B2","path":"schedules/B2.json","size":7,"text":"{\\"a\\":1}"},\
        {"id":"v2","node":"beta","time":"2026-01-01T00:00:00Z","current":false}]}
        """

    static let history = HistoryDocument(
        path: [0x61, 0xFF],
        versions: [
            .init(
                id: "9", timeMilliseconds: newYear, node: Array("beta".utf8), size: 5, sha256: "cd",
                reason: CodeText(.versionKept))
        ], next: "9")

    static let historyText = """
        {"path":"a\\\\xff","pathBytes":"Yf8=","versions":[{"id":"9","time":"2026-01-01T00:00:00Z","node":"beta",\
        "size":5,"sha256":"cd","reason":"version.kept"}],"next":"9"}
        """

    static let log = LogLine(
        node: Array("alpha".utf8), epoch: .max, seq: 3, timeMilliseconds: newYear + 7, kind: "move",
        path: Array("b".utf8), ops: 2, from: Array("a".utf8),
        changeSet: .init(epoch: 5, seq: 6, records: ["Note/A1"], recordCount: 2, id: "5/6"))

    static let logText = """
        {"node":"alpha","epoch":18446744073709551615,"seq":3,"time":"2026-01-01T00:00:00.007Z","kind":"move",\
        "path":"b","ops":2,"from":"a","changeSet":{"epoch":5,"seq":6,"records":["Note/A1"],"recordCount":2,\
        "id":"5/6"}}
        """

    static let event = EventLine.importFinished(
        at: newYear, from: Array("beta".utf8), firstSeq: 1, lastSeq: 4, applied: 4, held: 0, repaired: 0,
        quarantined: 0, milliseconds: 12)

    static let eventText = """
        {"event":"import.finished","time":"2026-01-01T00:00:00.000Z","from":"beta","firstSeq":1,"lastSeq":4,\
        "applied":4,"held":0,"repaired":0,"quarantined":0,"milliseconds":12}
        """

    static let checks = DocumentChecks(files: [
        .init(path: Array("/srv/shared/a.json".utf8), outcome: .success, model: "org.example.app"),
        .init(
            path: Array("/srv/shared/b.json".utf8), outcome: .newerVersion, model: "org.example.app", found: .count(2),
            supported: .array([.count(1), .count(1)])),
        .init(path: Array("/srv/shared/c.json".utf8), outcome: .corrupt, offset: 17, detail: "a comma is expected"),
    ])

    static let checksText = """
        {"files":[{"path":"/srv/shared/a.json","outcome":"success","model":"org.example.app"},\
        {"path":"/srv/shared/b.json","outcome":"newerVersion","model":"org.example.app","found":2,"supported":[1,1]},\
        {"path":"/srv/shared/c.json","outcome":"corrupt","offset":17,"detail":"a comma is expected"}]}
        """

    static let lock = LockDocument(
        id: "l1", paths: [Array("a".utf8), [0xFF]], isRead: false, mode: .pair, holder: "make", process: 42,
        node: Array("alpha".utf8), sinceMilliseconds: newYear)

    static let lockText = """
        {"id":"l1","paths":[{"path":"a"},{"path":"\\\\xff","pathBytes":"/w=="}],"read":false,"mode":"pair",\
        "holder":"make","process":42,"node":"alpha","since":"2026-01-01T00:00:00Z"}
        """

    static let version = VersionDocument(
        program: "0.1.0", wire: 1...2, libraries: [.init(name: "SQLite", version: "3.40.1", floor: "3.40.0")])
}
