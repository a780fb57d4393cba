/// Every message is raised by a test, and every alert is seen to go.
import SyncModel
import Testing

@Suite("messages are raised, and alerts go")
struct MessageEvidenceTests {
    private let repository: Repository
    private var told: (raised: Set<MessageCode>, gone: Set<MessageCode>) = ([], [])

    init() throws {
        repository = try Repository()
        for file in try repository.files(under: "Tests/Scenarios") where file.hasSuffix(".txt") {
            let (raised, gone) = MessageEvidence.told(in: try repository.text(file))
            told.raised.formUnion(raised)
            told.gone.formUnion(gone)
        }
    }

    @Test("every code is raised: in what a transcript prints, or where it says here") func raised() throws {
        let excused = Set(MessageEvidence.reserved)
        let named = Set(MessageEvidence.raised.keys)
        let missing = MessageCode.allCases.filter {
            !told.raised.contains($0) && !named.contains($0) && !excused.contains($0)
        }
        #expect(missing == [], "let a transcript print it, or name the test that raises it")
        #expect(
            named.union(excused).filter { told.raised.contains($0) } == [],
            "a transcript prints it: take it off the list")
        try check(MessageEvidence.raised, isGone: false)
    }

    @Test("every alert is seen to go when its cause does: in what a transcript prints, or where it says here")
    func gone() throws {
        let named = Set(MessageEvidence.gone.keys)
        let missing = MessageEvidence.alerts.filter { !told.gone.contains($0) && !named.contains($0) }
        #expect(missing == [], "let a transcript print that it is cleared, or name the test that sees it go")
        #expect(told.gone.filter { !MessageEvidence.alerts.contains($0) } == [], "it is an alert")
        try check(MessageEvidence.gone, isGone: true)
    }

    @Test("what the program raises as an alert is on the list of alerts") func alerts() throws {
        let handed = MessageNames.handed(to: ["setAlarm(", "raise(", "AlertKey(code: "], in: try sources())
        #expect(handed.subtracting(MessageEvidence.alerts) == [])
    }

    @Test("nothing in the program raises what is reserved, and everything else has its place there") func reserved()
        throws
    {
        let unnamed = MessageNames.unnamed(MessageCode.allCases, in: try sources())
        #expect(unnamed == MessageEvidence.reserved)
    }

    private func check(_ places: [MessageCode: MessageEvidence.Place], isGone: Bool) throws {
        for (code, place) in places.sorted(by: { $0.key < $1.key }) {
            let fault = try MessageEvidence.fault(code, place, isGone: isGone, text: repository.text)
            #expect(fault == nil)
        }
    }

    private func sources() throws -> [SourceFile] {
        try repository.swiftFiles(under: "Sources").filter { file in
            !file.path.hasPrefix("Sources/SyncModel/Messages/") && !file.path.hasPrefix("Sources/SyncSim/")
        }
    }
}

@Suite("what counts as evidence for a message")
struct MessageEvidenceRulesTests {
    @Test("a transcript tells by what it prints, and by nothing else") func transcripts() {
        let told = MessageEvidence.told(
            in: """
                # log.newer is no output.
                alpha alert log.corrupt
                ----
                alpha  alert clock.skew
                beta   format.newer x, 2 found
                alpha  disk.error: At "x": it failed.
                pending a: path.busy
                refused: node.halted
                beta   cleared disk.full
                alpha  a=peer.away  b

                beta alert wire.disjoint
                """)
        #expect(told.raised == [.clockSkew, .formatNewer, .diskError, .pathBusy, .nodeHalted])
        #expect(told.gone == [.diskFull])
    }

    @Test("a story or a test that only names a code does not ask for it") func places() {
        let story = "# says log.newer\nx=log.newer\nwarns_of alpha log.newer-still\nsays log.corrupt\n"
        let test = """
                @Test("first: log.newer")
                func first() { #expect(node.alerts == [.logNewer]) }

                @Test("second") func second() { let x = MessageCode.logNewer }

                @Test("third: log.newer")
                func third() { #expect(driver.alerts.isEmpty) }
            """
        func fault(_ code: MessageCode, _ place: MessageEvidence.Place, isGone: Bool = false) -> String? {
            MessageEvidence.fault(code, place, isGone: isGone) { $0.hasSuffix("story") ? story : test }
        }
        #expect(fault(.logNewer, .story("a.story")) != nil && fault(.logCorrupt, .story("a.story")) == nil)
        #expect(fault(.logCorrupt, .story("a.story"), isGone: true) != nil)
        #expect(
            fault(.logNewer, .test("a.swift", "first")) == nil && fault(.logNewer, .test("a.swift", "second")) != nil)
        #expect(fault(.logNewer, .test("a.swift", "first"), isGone: true) != nil)
        #expect(fault(.logNewer, .test("a.swift", "third"), isGone: true) == nil)
        #expect(fault(.logNewer, .test("a.swift", "fourth")) != nil)
    }

    @Test("a code counts as named by its text or its case, and not in a comment")
    func naming() {
        let file = { (path: String, text: String) in SourceFile(path: path, text: text) }
        let cases: [(SourceFile, Bool)] = [
            (file("a.txt", "alpha  log.newer"), true), (file("a.txt", "# log.newer"), false),
            (file("a.swift", "x == .logNewer)"), true), (file("a.swift", "// .logNewer"), false),
            (file("a.swift", "x == .logNewerStill"), false), (file("a.txt", "log.newer-than"), false),
        ]
        for (file, isNamed) in cases {
            #expect(MessageNames.unnamed([.logNewer], in: [file]).isEmpty == isNamed, "\(file.lines)")
        }
    }
}
