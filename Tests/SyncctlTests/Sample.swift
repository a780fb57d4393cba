import ControlProtocol
import SyncModel

/// Documents to show.
enum Sample {
    /// 2026-01-01T00:00:00Z
    static let newYear: Int64 = 1_767_225_600_000
    static let id = NodeID(Digest(words: (1, 2, 3, 4)))
    static let escape = Array("bad\u{1B}[31mname".utf8)

    static let inSync = StatusDocument(
        node: .init(name: Array("alpha".utf8), id: id, program: "0.1.0", uptimeSeconds: 90),
        peer: .init(
            name: Array("beta".utf8), id: id, isConnected: true, address: "127.0.0.1:7420", program: "0.1.0",
            lastContactMilliseconds: newYear),
        folder: .init(path: Array("/srv/shared".utf8), state: .inSync, files: 1_203, directories: 1, bytes: 4_404_019),
        inSync: true)

    static var working: StatusDocument {
        var status = inSync
        status.inSync = false
        status.folder.state = .syncing
        status.peer?.toSend = 12
        status.peer?.toApply = 1_000
        status.progress = .init(phase: "receiving", done: 5, total: 1_000, bytesPerSecond: 2 << 20)
        status.pending = [
            .init(path: Array("docs/plan.odt".utf8), reason: CodeText(.pathBusy), sinceMilliseconds: newYear - 5_000),
            .init(path: escape, reason: CodeText(.waitingContent), sinceMilliseconds: newYear - 3_600_000),
        ]
        status.pendingTotal = 30
        return status
    }

    static var needy: StatusDocument {
        var status = inSync
        status.peer?.isConnected = false
        status.peer?.lastContactMilliseconds = newYear - 7_200_000
        status.alerts = .init(serious: 1, warning: 2)
        status.conflicts = 3
        status.quarantined = 1
        status.held = 1
        status.heldDeletes = .init(id: "1", files: 60, sinceMilliseconds: newYear - 60_000)
        status.locks = 2
        return status
    }

    static var unpaired: StatusDocument {
        var status = inSync
        status.peer = nil
        status.inSync = false
        status.folder.state = .waiting
        status.folder.reason = CodeText(.pairingNone)
        return status
    }

    static let alert = AlertDocument(
        id: "a1", code: .formatNewer, subject: Array("x.proj.json".utf8), firstSeenMilliseconds: newYear - 120_000,
        lastSeenMilliseconds: newYear, count: 3, found: .count(2), supported: .array([.count(1), .count(1)]),
        writer: "beta")

    static let conflict = ConflictDocument(
        id: "c1", code: CodeText(.conflictFile), kind: .file, path: Array("plan.odt".utf8),
        subject: Array("plan.odt".utf8), sinceMilliseconds: newYear - 60_000, reason: "concurrent-edit",
        versions: [
            .init(
                id: "1", node: Array("alpha".utf8), timeMilliseconds: newYear, isCurrent: true,
                path: Array("plan.odt".utf8), size: 42),
            .init(id: "2", node: Array("beta".utf8), timeMilliseconds: newYear, path: escape, size: 41),
        ])

    static let history = HistoryDocument(
        path: Array("plan.odt".utf8),
        versions: [
            .init(
                id: "7", timeMilliseconds: newYear, node: Array("beta".utf8), size: 42, reason: CodeText(.versionKept)),
            .init(
                id: "12", timeMilliseconds: newYear - 1_000, node: Array("alpha".utf8), size: 1_048_576,
                reason: CodeText(.itemLateWrite)),
        ])

    static let historyBelow = HistoryDocument(
        path: Array("d".utf8),
        versions: [
            .init(
                id: "9", timeMilliseconds: newYear, node: Array("beta".utf8), size: 42, reason: CodeText(.versionKept),
                path: Array("d/gone".utf8), isThere: false),
            .init(
                id: "8", timeMilliseconds: newYear - 1_000, node: Array("beta".utf8), size: 7,
                reason: CodeText(.versionKept), path: Array("d/e/file".utf8), isThere: true),
            .init(
                id: "3", timeMilliseconds: newYear - 2_000, node: Array("alpha".utf8), size: 6,
                reason: CodeText(.versionKept), path: Array("d/gone".utf8), isThere: false),
        ])
}
