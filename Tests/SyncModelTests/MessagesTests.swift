import Foundation
import SyncModel
import Testing

/// The registry is a contract with scripts and people: no code without a text, and no text against the text rule.
struct MessagesTests {
    @Test("every code has exactly one text, in the order of the codes") func complete() {
        let codes = MessageCode.allCases.map(\.rawValue)
        #expect(codes == codes.sorted(), "a new code goes to its alphabetical place")
        #expect(MessageRegistry.all.map(\.code) == MessageCode.allCases)
        for code in MessageCode.allCases {
            #expect(MessageRegistry.kind(of: code).code == code)
            #expect(code.severity == code.kind.severity)
            #expect(MessageCode(rawValue: "\(code)") == code)
        }
        #expect(MessageCode(rawValue: "no.such") == nil)
    }

    @Test("codes are words joined by hyphens, with one dot after the theme", arguments: MessageCode.allCases)
    func dotted(code: MessageCode) {
        let parts = code.rawValue.split(separator: ".", omittingEmptySubsequences: false)
        #expect(parts.count == 2)
        for part in parts {
            let words = part.split(separator: "-", omittingEmptySubsequences: false)
            #expect(words.allSatisfy { !$0.isEmpty && $0.allSatisfy { $0 >= "a" && $0 <= "z" } })
        }
    }

    /// The contract of the product page: scripts may already know these.
    @Test(
        "the codes that were promised are there and stay",
        arguments: """
            conflict.file conflict.slot conflict.identity conflict.deleted-while-edited format.newer format.unknown
            format.corrupt format.zero-length format.downgrade-held schema.newer log.newer log.corrupt log.missing log.forked
            wire.disjoint statedb.newer validation.required-missing repair.exhausted fuse.deletes root.missing root.replaced
            disk.full disk.error watch.limit watch.overflow clock.skew lock.held lock.split-hold peer.away peer.rejected
            path.unsupported path.busy item.poisoned state.damaged
            """.split { $0 == " " || $0 == "\n" }.map(String.init))
    func promised(code: String) {
        #expect(MessageCode(rawValue: code) != nil)
    }

    @Test("R-13: texts are whole sentences without blame or words from inside", arguments: MessageCode.allCases)
    func texts(code: MessageCode) {
        let kind = code.kind
        for text in [kind.meaning, kind.cure] {
            #expect(text.hasSuffix(".") && text.first?.isUppercase == true || text.hasPrefix("syncd "))
            #expect(!text.contains("  ") && !text.contains("\n") && text.count >= 18 && text.count <= 400)
            let words = text.lowercased().split { !($0.isLetter || $0 == "'") }.map(String.init)
            let banned = [
                "error", "fatal", "invalid", "illegal", "failed", "inode", "epoch", "fsync", "peer", "hash", "mutex",
                "errno",
                "wrongly", "oops", "sorry", "null", "nil", "hlc", "vector", "chunk",
            ].filter { words.contains($0) }
            #expect(banned.isEmpty || code == .diskError, "\(code) says \(banned)")
        }
        #expect(kind.meaning.count >= 60, "\(code): what is safe and what is paused?")
    }

    @Test("what asks for attention says what to do, and what needs nothing says so") func cures() {
        for kind in MessageRegistry.all where kind.severity > .info {
            #expect(kind.cure != "Nothing is to be done.", "\(kind.code)")
        }
        for kind in MessageRegistry.all where kind.retry != .none {
            #expect(kind.healsItself || kind.severity > .info, "\(kind.code) is tried again but never heals")
        }
        #expect(Severity.info < .warning && Severity.warning < .serious)
    }

    /// Where a test sees what the text of an alert promises.
    private static let promised: [MessageCode: (file: String, words: String)] = [
        .diskError: ("Scenarios/alert-details.txt", "disk.error: At \"seen\": it could not be read or written."),
        .diskFull: ("EndToEnd/full.story", " are free where the folder lies"),
        .formatCorrupt: ("Scenarios/alert-details.txt", "format.corrupt broken.n, at 5: At byte 5: "),
        .ignoreInvalid: ("Scenarios/alert-details.txt", "ignore.invalid .syncignore: Line 2 can never match."),
        .nodeHalted: ("SyncCoreTests/MessageTests.swift", "right says that it stands still: disk.full."),
        .validationRequiredMissing: ("EndToEnd/record-saves.story", "It is about Task/T2.list, change set"),
        .watchLimit: ("EndToEnd/unwatched.story", "fs.inotify.max_user_watches is [0-9]"),
        .wireDisjoint: ("SyncCoreTests/NodeTests.swift", "right speaks versions 2 to 3, left version 1"),
    ]

    /// These are never said without words of their own, by whoever refuses or complains.
    private static let spoken: Set<MessageCode> = [
        .configInvalid, .hookFailed, .lockCircle, .lockRefused, .pairingFailed, .programFault, .requestInvalid,
        .requestNotFound, .requestRefused, .setupExists, .setupFailed, .startFailed, .statedbNewer, .waitTimedOut,
    ]

    @Test("what a text promises of itself has a test that sees it") func promises() throws {
        let promising = MessageRegistry.all.filter { "\($0.meaning) \($0.cure)".contains("the text") }.map(\.code)
        #expect(Set(promising) == MessagesTests.spoken.union(MessagesTests.promised.keys))
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        for (code, place) in MessagesTests.promised {
            let text = try String(contentsOf: tests.appendingPathComponent(place.file), encoding: .utf8)
            #expect(text.contains(place.words), "\(code): \(place.file)")
        }
    }

    @Test("retry rules are told in words") func retries() {
        #expect(RetryRule.none.text == "never by itself")
        #expect(RetryRule.onChange.text == "as soon as it changes")
        #expect(RetryRule.onReconnect.text == "when the nodes are connected again")
        #expect(
            RetryRule.backoff(fromMilliseconds: 500, toMilliseconds: 60_000).text
                == "after 0.5 s, then at growing intervals of up to 60 s")
    }
}
