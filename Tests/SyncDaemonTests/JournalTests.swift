import SyncModel
import Testing

@testable import SyncDaemon

@Suite("what syncd says on stderr")
struct JournalTests {
    private final class Paper {
        var text = ""
    }

    private func journal(_ level: Journal.Level, hasPriorities: Bool = false) -> (Journal, Paper) {
        let paper = Paper()
        return (Journal(level: level, hasPriorities: hasPriorities) { paper.text += $0 }, paper)
    }

    @Test("a message is one line with its code, whatever the name of the file") func oneLine() {
        let (journal, paper) = journal(.decisions)
        journal.tell(.conflictFile, Array("a\n<3>forged\u{1B}[31m".utf8))
        #expect(paper.text.split(separator: "\n").count == 1)
        #expect(paper.text.hasPrefix("syncd: conflict.file \"a\\x0a<3>forged\\x1b[31m\": "))
        journal.tellOver(.conflictFile, Array("a\": over".utf8))
        #expect(paper.text.hasSuffix("syncd: conflict.file \"a\\x22: over\": over\n"))
    }

    @Test("problems are told at every level, decisions from level 1 on") func levels() {
        let (quiet, paper) = journal(.problems)
        quiet.tell(.versionKept, [97])
        quiet.say(.nodeStarted, "ready")
        #expect(paper.text.isEmpty)
        quiet.tell(.diskFull)
        #expect(paper.text.contains("disk.full"))
    }

    @Test("every line but those for looking into something has a code") func codes() {
        let (journal, paper) = journal(.operations, hasPriorities: true)
        journal.say(.nodeStarted, "ready")
        journal.trace("a frame of 3 bytes", at: .operations)
        #expect(paper.text == "<6>node.started: ready\n<7>a frame of 3 bytes\n")
    }

    @Test("the service manager gets priorities") func priorities() {
        let (journal, paper) = journal(.decisions, hasPriorities: true)
        journal.tell(.diskFull)
        journal.tell(.versionKept)
        journal.problem(.diskError, "no")
        let first = paper.text.split(separator: "\n").map { $0.prefix(3) }
        #expect(first == ["<\(MessageCode.diskFull.severity == .serious ? 3 : 4)>", "<6>", "<3>"])
        journal.problem(.configInvalid, "one\ntwo")
        #expect(paper.text.hasSuffix("<3>config.invalid: one\n<3>config.invalid: two\n"))
        journal.say(.nodeStarted, "a\n<3>b")
        #expect(paper.text.hasSuffix("<6>node.started: a\n<6><3>b\n"))
    }
}
