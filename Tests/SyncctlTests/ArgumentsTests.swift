import ControlProtocol
import Testing

@testable import syncctl

/// Command lines, good and bad: what is understood, and what people are told to write instead.
struct ArgumentsTests {
    static func read(_ line: String) throws(Failure) -> Invocation {
        try Arguments.read(line.split(separator: " ").map { Array($0.utf8) })
    }

    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(
        "commands are found by one word or two",
        arguments: [
            ("status", "status"), ("alerts", "alerts"), ("alerts show x", "alerts show"), ("alerts --all", "alerts"),
            ("conflicts take 1 a", "conflicts take"), ("log", "log"), ("log verify", "log verify"),
            ("doc check a b", "doc check"), ("--json doc show a", "doc show"), ("log-level 3", "log-level"),
            ("unlock", "unlock"), ("explain alerts", "explain"), ("history alerts", "history"),
        ])
    func commands(line: String, name: String) throws {
        #expect(try ArgumentsTests.read(line).commandName == name)
    }

    @Test("the help of a word names the commands below it") func helpBelow() {
        let help = Help.command(.alerts, .plain)
        #expect(help.contains("There are also:"))
        for name in ["alerts show ID", "alerts ack ID"] { #expect(help.contains { $0.contains(name) }, "\(help)") }
        #expect(!Help.command(.status, .plain).contains("There are also:"))
    }

    @Test("every command of the contract is there, and every one has a help text") func complete() {
        let names = Command.all.map(\.name)
        #expect(
            names.sorted()
                == """
                alerts|alerts ack|alerts show|approve|conflicts|conflicts discard|conflicts list|conflicts restore|conflicts show|\
                conflicts take|doc check|doc show|doctor|events|explain|history|init|invite|join|lock|locks|log|\
                log verify|log-level|metrics|pause|reject|reload|renew-key|rescan|restore|resume|status|unlock|unpair|verify|\
                version|wait
                """.split(separator: "|").map(String.init))
        for command in Command.all {
            let help = Help.command(command, .plain)
            #expect(
                help.first == "Usage: syncctl "
                    + [command.name, command.synopsis].filter { !$0.isEmpty }.joined(separator: " "))
            #expect(help.count >= 3 && !command.summary.hasSuffix("."))
            for option in command.options { #expect(command.synopsis.contains(option.short ?? option.name)) }
            for line in help.dropFirst() { #expect(Style.columns(line) <= 105, "\(line)") }
        }
    }

    @Test("global options stand before the command or after it, and with = or a space") func globals() throws {
        for line in [
            "--config a.conf --json status --watch", "status --watch --json --config=a.conf",
            "--json status --config a.conf --watch",
        ] {
            let invocation = try ArgumentsTests.read(line)
            #expect(invocation.wantsJSON && invocation.has("--watch"))
            #expect(invocation.values["--config"] == ArgumentsTests.bytes("a.conf"))
        }
    }

    @Test("values are taken as they are, also those that look like options or hold a =") func values() throws {
        #expect(try ArgumentsTests.read("--socket=a=b status").values["--socket"] == ArgumentsTests.bytes("a=b"))
        #expect(try ArgumentsTests.read("join --socket -x T").values["--socket"] == ArgumentsTests.bytes("-x"))
        for line in ["log -n 5", "log -n5", "log --count 5", "log --count=5"] {
            #expect(try ArgumentsTests.read(line).values["--count"] == ArgumentsTests.bytes("5"))
        }
        #expect(try ArgumentsTests.read("log -f").has("--follow"))
    }

    @Test("after -- there are only operands, also of names that begin with a dash") func operands() throws {
        let invocation = try ArgumentsTests.read("history -- --all")
        #expect(invocation.operands == [ArgumentsTests.bytes("--all")] && invocation.other == nil)
        #expect(try ArgumentsTests.read("history -").operands == [ArgumentsTests.bytes("-")])
    }

    @Test("paths need not be UTF-8") func bytes() throws {
        let invocation = try Arguments.read([ArgumentsTests.bytes("history"), [0x61, 0xFF]])
        #expect(invocation.operands == [[0x61, 0xFF]])
    }

    @Test("the command of lock stands after --, with its own options") func lock() throws {
        let invocation = try ArgumentsTests.read("lock a b --read -- make --json -n 3")
        #expect(invocation.operands == ["a", "b"].map(ArgumentsTests.bytes) && invocation.has("--read"))
        #expect(invocation.other == ["make", "--json", "-n", "3"].map(ArgumentsTests.bytes) && !invocation.wantsJSON)
        #expect(try ArgumentsTests.read("lock a").other == nil)
        #expect(try ArgumentsTests.read("lock a --").other == [])
    }

    @Test(
        "help and version come before anything that is missing",
        arguments: [
            "--help", "-h", "status --help", "restore -h", "doc --help", "alerts show --help", "--version",
            "--json --help", "help", "help status", "help alerts show", "--json help",
        ])
    func help(line: String) throws {
        switch try ArgumentsTests.read(line).wish {
        case .command: Issue.record("\(line) was taken for a command")
        case .help, .version: break
        }
    }

    @Test(
        "a wrong line is answered with what to write",
        arguments: [
            ("", "A command is missing, such as syncctl status. See syncctl --help."),
            ("staus", "There is no command staus. Did you mean syncctl status?"),
            ("frobnicate", "There is no command frobnicate. See syncctl --help."),
            ("doc", "What of doc? Write syncctl doc check or syncctl doc show."),
            ("doc chek a", "What of doc? Write syncctl doc check or syncctl doc show."),
            ("status x", "x is too much: write syncctl status [--watch]."),
            (
                "alerts foo",
                "foo is too much: write syncctl alerts [--all] [--limit N]. There are also: alerts show, alerts ack."
            ),
            ("alerts show", "The ID of an alert is missing: write syncctl alerts show ID"),
            (
                "conflicts take 1",
                "The ID of a conflict and of a version of it is missing: write syncctl conflicts take ID VERSION"
            ),
            ("status --all", "syncctl status has no option --all. See syncctl status --help."),
            ("--all status", "There is no option --all before the command. See syncctl --help."),
            ("status --watch=1", "--watch takes no value: write --watch alone."),
            ("wait --timeout", "--timeout needs a value: write --timeout S."),
            ("log -n", "-n needs a value: write -n N."),
            ("--config a --config b status", "--config is given twice with different values: give it once."),
            (
                "--config a --socket b status",
                "--config and --socket do not go together: one of them says which daemon is meant."
            ),
            ("log -x", "syncctl log has no option -x. See syncctl log --help."),
            ("sta\u{1B}[2Jtus", #"There is no command sta\x1b[2Jtus. See syncctl --help."#),
        ])
    func wrong(line: String, text: String) {
        #expect(throws: Failure.usage(text)) { try ArgumentsTests.read(line) }
    }

    @Test("an empty operand is no path") func empty() {
        #expect(
            throws: Failure.usage("The path of a file in the folder is empty: write syncctl history PATH [--limit N]")
        ) {
            try Arguments.read([ArgumentsTests.bytes("history"), []])
        }
    }

    @Test("no line makes it stop", arguments: 0..<300) func anything(seed: Int) {
        let words = [
            "status", "alerts", "show", "--", "--json", "-n", "=", "--config", "", "-", "lock", "log", "verify",
            "--x=1",
        ]
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        var line: [[UInt8]] = []
        for _ in 0..<(seed % 7) {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            line.append(ArgumentsTests.bytes(words[Int(state >> 33) % words.count]))
        }
        do throws(Failure) {
            _ = try Arguments.read(line)
        } catch {
            #expect(error.exitCode == .usage)
        }
    }
}
