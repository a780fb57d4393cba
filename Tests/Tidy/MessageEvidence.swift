/// Where each message is seen to be raised, and where its alert is seen to go. Most are in transcripts: what those print is what the
/// nodes have said, and is read here. For the rest a story or a test is named, and whether it still asks for the code is checked.
import SyncModel

enum MessageEvidence {
    enum Place: Hashable {
        /// A file of Tests/EndToEnd with a line that fails unless the code is (or is no longer) told.
        case story(String)
        /// A file of Tests, and how the title of a test in it begins.
        case test(String, String)
    }

    /// What the registry says that nothing raises.
    static let reserved = MessageRegistry.all.filter(\.isReserved).map(\.code)

    /// Of the codes that no transcript prints.
    static let raised: [MessageCode: Place] = [
        .callerRefused: .story("third.story"),
        .configInvalid: .story("refusals.story"),
        .configReloaded: .story("hook.story"),
        .contentStalled: .test("SyncCoreTests/MessageTests.swift", "I24, content.stalled: a file"),
        .contentUnavailable: .test("SyncCoreTests/MessageTests.swift", "content.changing"),
        .controlLost: .test("SyncctlTests/EndToEndTests.swift", "a daemon that hangs up"),
        .controlNotRunning: .story("refusals.story"),
        .controlPermission: .story("refusals.story"),
        .controlSilent: .test("SyncctlTests/EndToEndTests.swift", "a daemon that takes the question"),
        .controlUnreadable: .test("SyncctlTests/EndToEndTests.swift", "a daemon that hangs up"),
        .hookFailed: .story("hook.story"),
        .itemPoisoned: .story("poisoned.story"),
        .keyOffered: .story("renewal.story"),
        .keyRenewed: .story("renewal.story"),
        .lockCircle: .test("SyncDaemonTests/LockAnswerTests.swift", "lock.circle"),
        .lockRefused: .test("SyncDaemonTests/LockAnswerTests.swift", "lock.circle"),
        .logCorrupt: .test("SyncCoreTests/MessageTests.swift", "log.corrupt"),
        .logForked: .test("SyncCoreTests/MessageTests.swift", "log.forked"),
        .logMissing: .test("SyncCoreTests/MessageTests.swift", "log.missing"),
        .logNewer: .test("SyncCoreTests/MessageTests.swift", "log.newer"),
        .logRolledBack: .test("SyncCoreTests/MessageTests.swift", "log.rolled-back"),
        .nodeStarted: .story("confined.story"),
        .nodeStopped: .story("refusals.story"),
        .pairingDone: .story("refusals.story"),
        .pairingExists: .story("refusals.story"),
        .pairingFailed: .story("refusals.story"),
        .pairingNone: .story("refusals.story"),
        .pathPermission: .test("SyncCoreTests/MessageTests.swift", "path.permission"),
        .pathSpecial: .story("odd.story"),
        .peerConnected: .story("refusals.story"),
        .peerIncompatible: .test("SyncCoreTests/MessageTests.swift", "peer.incompatible"),
        .peerPaused: .test("SyncCoreTests/MessageTests.swift", "waiting.peer"),
        .peerProtocolViolation: .test("SyncCoreTests/NodeTests.swift", "the alert goes when the peer behaves again"),
        .peerRejected: .story("third.story"),
        .programFault: .test("SyncDaemonTests/ProgramTests.swift", "program.fault: a loop that cannot be closed"),
        .requestInvalid: .test("SyncctlTests/EndToEndTests.swift", "a wrong command line exits with 64"),
        .requestOutside: .story("refusals.story"),
        .requestRefused: .test("ControlProtocolTests/ControlLineTests.swift", "an answer that does not fit a line"),
        .requestUnsupported: .test("ControlProtocolTests/ControlLineTests.swift", "request.unsupported"),
        .rootMissing: .test("SyncCoreTests/NodeTests.swift", "INV-24 INV-25: a root that goes away"),
        .setupExists: .story("refusals.story"),
        .setupFailed: .test("SyncctlTests/InitTests.swift", "when the last step fails"),
        .startFailed: .story("refusals.story"),
        .startInUse: .story("refusals.story"),
        .stateDamaged: .story("refusals.story"),
        .stateExposed: .story("refusals.story"),
        .stateForeign: .story("refusals.story"),
        .statedbNewer: .story("refusals.story"),
        .waitTimedOut: .story("refusals.story"),
        .waitingContent: .test("SyncCoreTests/MessageTests.swift", "waiting.content"),
        .waitingFirstImport: .story("record-first.story"),
        .waitingParent: .test("SyncCoreTests/MessageTests.swift", "waiting.parent"),
        .watchLimit: .story("unwatched.story"),
        .watchOverflow: .story("overflow.story"),
        .wireDisjoint: .test("SyncCoreTests/NodeTests.swift", "peers of other versions"),
    ]

    /// Of the codes that may stand as alerts, and of which no transcript prints that they are cleared.
    static let gone: [MessageCode: Place] = [
        .conflictIdentity: .story("record-identity.story"),
        .conflictSlot: .story("records.story"),
        .contentOverdue: .test("SyncCoreTests/MessageTests.swift", "I24, content.overdue: what the peer refuses"),
        .contentStalled: .test("SyncCoreTests/MessageTests.swift", "I24, content.stalled: a file"),
        .itemPoisoned: .story("poisoned.story"),
        .logCorrupt: .test("SyncCoreTests/MessageTests.swift", "log.corrupt"),
        .logForked: .test("SyncCoreTests/MessageTests.swift", "log.forked: a fork stays one"),
        .logNewer: .test("SyncCoreTests/MessageTests.swift", "log.newer"),
        .nodeHalted: .test("SyncCoreTests/MessageTests.swift", "node.halted: a peer"),
        .pathPermission: .test("SyncCoreTests/MessageTests.swift", "path.permission"),
        .pathUnsupported: .story("odd.story"),
        .peerProtocolViolation: .test("SyncCoreTests/NodeTests.swift", "the alert goes when the peer behaves again"),
        .peerRejected: .story("third.story"),
        .rootMissing: .story("absent.story"),
        .schemaInvalid: .story("record-models.story"),
        .schemaNewer: .story("record-models.story"),
        .stateDamaged: .story("refusals.story"),
        .validationRequiredMissing: .story("record-saves.story"),
        .waitingFirstImport: .story("record-first.story"),
        .watchLimit: .story("unwatched.story"),
        .wireDisjoint: .test("SyncCoreTests/NodeTests.swift", "peers of other versions"),
    ]

    /// What may stand as an alert.
    static var alerts: [MessageCode] {
        let printed: [MessageCode] = [
            .clockSkew, .conflictDeletedWhileEdited, .conflictFile, .diskError, .diskFull, .formatCorrupt,
            .formatDowngradeHeld,
            .formatNewer, .formatUnknown, .formatZeroLength, .fuseDeletes, .ignoreInvalid, .peerAway, .rootEmptied,
            .rootReplaced,
        ]
        return (printed + gone.keys).sorted()
    }

    // MARK: Transcripts

    /// What the nodes of a transcript have said, code by code, and of which alerts they have said that they are over.
    static func told(in transcript: String) -> (raised: Set<MessageCode>, gone: Set<MessageCode>) {
        var raised: Set<MessageCode> = []
        var gone: Set<MessageCode> = []
        var isOutput = false
        for line in transcript.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "----" || line.isEmpty { isOutput = line == "----" }
            let words = line.split(separator: " ")
            guard isOutput, let first = words.first, let last = words.last else { continue }
            if first == "pending" || first == "refused:" {
                if let code = MessageCode(rawValue: String(last)) { raised.insert(code) }
            } else if first == "alpha" || first == "beta", words.count > 1 {
                let isReport = ["alert", "again", "note", "cleared"].contains(words[1])
                let word = isReport && words.count > 2 ? words[2] : words[1]
                guard let code = MessageCode(rawValue: String(word.prefix { $0 != "," && $0 != ":" })) else { continue }
                if words[1] == "cleared" { gone.insert(code) } else { raised.insert(code) }
            }
        }
        return (raised, gone)
    }

    // MARK: Stories and tests

    /// What is wrong with a place that is to show that a code is raised, or gone; nil if it does.
    static func fault(_ code: MessageCode, _ place: Place, isGone: Bool, text: (String) throws -> String) rethrows
        -> String?
    {
        switch place {
        case .story(let file):
            let asks = isGone ? goneWords : raisedWords
            let lines = try text("Tests/EndToEnd/\(file)").split(separator: "\n").filter { line in
                !line.drop { $0 == " " }.hasPrefix("#") && asks.contains { line.contains($0) }
            }
            return lines.contains { MessageNames.holds(String($0), code) } ? nil : "\(file) does not ask for \(code)"
        case .test(let file, let title):
            guard let body = test(title, in: try text("Tests/\(file)")) else {
                return "\(file) has no test \"\(title)\""
            }
            guard body.contains("#expect("), MessageNames.holds(body, code) else {
                return "\"\(title)\" in \(file) does not ask for \(code)"
            }
            let isOver = body.contains("alerts.isEmpty") || body.contains("!driver.alerts.contains(")
            return !isGone || isOver ? nil : "\"\(title)\" in \(file) does not see \(code) go"
        }
    }

    private static let raisedWords = ["says ", "warns_of ", "waits_for ", "tells ", "grep -q"]
    private static let goneWords = ["warns_no_more_of ", "&& fail \"the alert stands"]

    /// The test with this beginning of a title, its arguments and body, without comments.
    private static func test(_ title: String, in text: String) -> String? {
        guard let start = text.firstRange(of: "\"\(title)") else { return nil }
        let rest = text[start.lowerBound...]
        let end = rest.firstRange(of: "\n    @Test(")?.lowerBound ?? rest.endIndex
        let lines = rest[..<end].split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
        return lines.joined(separator: "\n")
    }
}

/// Codes as they stand in text: `format.zero-length`, or `.formatZeroLength`.
enum MessageNames {
    static func holds(_ text: String, _ code: MessageCode) -> Bool {
        holds(text, word: code.rawValue) || holds(text, word: ".\(caseName(of: code))")
    }

    /// The codes that none of these files names. A comment names nothing.
    static func unnamed(_ codes: [MessageCode], in files: [SourceFile]) -> [MessageCode] {
        let texts = files.map { file in
            let comment = file.path.hasSuffix(".swift") ? "//" : "#"
            return file.lines.filter { !$0.drop { $0 == " " }.hasPrefix(comment) }.joined(separator: "\n")
        }
        return codes.filter { code in !texts.contains { holds($0, code) } }
    }

    /// Those that one of these files hands to a function: `raise(.formatNewer`.
    static func handed(to openings: [String], in files: [SourceFile]) -> Set<MessageCode> {
        let texts = files.map { $0.lines.joined(separator: "\n") }
        return Set(
            MessageCode.allCases.filter { code in
                openings.contains { opening in texts.contains { holds($0, word: "\(opening).\(caseName(of: code))") } }
            })
    }

    private static func caseName(of code: MessageCode) -> String {
        let words = code.rawValue.split { $0 == "." || $0 == "-" }
        return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }

    /// As a word of its own: `.logNew` is not in `.logNewer`.
    private static func holds(_ text: String, word: String) -> Bool {
        text.ranges(of: word).contains { range in
            guard range.upperBound < text.endIndex else { return true }
            let next = text[range.upperBound]
            return !next.isLetter && next != "-"
        }
    }
}
