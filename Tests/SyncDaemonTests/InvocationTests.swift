import Testing

@testable import SyncDaemon

@Suite("the command line of syncd")
struct InvocationTests {
    @Test(
        "what is understood",
        arguments: [
            ([], nil, nil, false),
            (["--config", "/a.conf"], "/a.conf", nil, false),
            (["--config=/a.conf", "--check-config"], "/a.conf", nil, true),
            (["--log-level", "3"], nil, 3, false),
            (["--log-level=0", "--config", "relative.conf"], "relative.conf", 0, false),
        ] as [([String], String?, Int?, Bool)])
    func understood(words: [String], path: String?, level: Int?, onlyChecks: Bool) {
        guard case .run(let options) = Invocation.parse(words) else {
            Issue.record("\(words) was not understood")
            return
        }
        #expect(options.configurationPath == path)
        #expect(options.logLevel == level)
        #expect(options.onlyChecks == onlyChecks)
    }

    @Test(
        "what is refused, with what to write instead",
        arguments: [
            (["--config"], "--config needs"), (["--config="], "--config needs"), (["--log-level", "4"], "from 0 to 3"),
            (["--log-level", "loud"], "from 0 to 3"), (["--nonsense"], "--nonsense"), (["stray"], "stray"),
        ])
    func refused(words: [String], hint: String) {
        guard case .refuse(let text) = Invocation.parse(words) else {
            Issue.record("\(words) was accepted")
            return
        }
        #expect(text.contains(hint))
    }

    @Test("help and version go before everything else") func told() {
        for words in [["--help"], ["--version"], ["-h"], ["--config", "x", "--help"]] {
            guard case .tell(let text) = Invocation.parse(words) else {
                Issue.record("\(words) tells nothing")
                continue
            }
            #expect(text.hasSuffix("\n"))
        }
    }
}
