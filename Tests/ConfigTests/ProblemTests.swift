import Glibc
import SyncModel
import Testing

/// What is told of a bad syncd.conf: all of it, where it stands, and what to write instead.
@testable import Config

@Suite("configuration problems")
struct ProblemTests {
    private static let good = "[node]\nname = a\n[folder]\npath = /srv/a\n"

    private func problems(_ text: String) -> [ConfigurationError.Problem] {
        problems(Array(text.utf8))
    }

    private func problems(_ text: [UInt8]) -> [ConfigurationError.Problem] {
        do throws(ConfigurationError) {
            _ = try Configuration.parse(text, file: "f")
            return []
        } catch {
            return error.problems
        }
    }

    @Test("everything that is wrong is told at once, line by line") func all() {
        let told = problems(
            "[node]\nname = a b\ncolour = red\n[folder]\npath = srv\n[nodes]\nx = 1\n[safety]\nreserve = 5")
        #expect(told.map(\.line) == [2, 3, 5, 6])
        #expect(told.map(\.key) == ["node.name", nil, "folder.path", nil])
        #expect(told.map(\.found) == ["a b", "colour", "srv", "nodes"])
    }

    @Test("a message names file, line, key, what was read and what is allowed") func golden() {
        #expect(
            problems("[node]\nname = a\n[folder]\npath = /srv\n[link]\nlisten = 7420\n").map(\.description) == [
                "f:6: link.listen = \"7420\": The port is missing. Write HOST:PORT, such as [::]:7420."
            ])
        #expect(
            problems("[node]\nnane = a\n").map(\.description) == [
                "f:2: \"nane\": There is no such key in [node]. The keys here are name, state, control.",
                "f: node.name: This key is missing. Write it into the section [node].",
                "f: folder.path: This key is missing. Write it into the section [folder].",
            ])
        #expect(
            problems(Self.good + "[safety]\nkeep-versions-size = 10GB\n").map(\.description) == [
                "f:6: safety.keep-versions-size = \"10GB\": This is no size. Write a whole number with B, KiB, MiB, "
                    + "GiB or TiB, such as 10GiB."
            ])
    }

    @Test("an unknown section is told once, with those there are") func unknownSection() {
        let told = problems(Self.good + "[lnk]\nlisten = x\npeer = y\n")
        #expect(told.map(\.line) == [5])
        #expect(told.first?.text.contains("[node] [folder] [link] [safety] [alerts]") == true)
    }

    @Test("a key in the wrong section is sent to its own") func misplaced() {
        #expect(problems(Self.good + "[link]\nstate = /x\n").first?.text == "This key belongs into the section [node].")
        #expect(problems("name = a\n" + Self.good).first?.text == "This key belongs into the section [node].")
        #expect(problems("foo = a\n" + Self.good).first?.text.contains("before the first section") == true)
    }

    @Test("a key that is there twice is refused, with both lines", arguments: ["name = b", " name = a", "name : x"])
    func duplicate(line: String) {
        let told = problems("[node]\nname = a\n\(line)\n[folder]\npath = /srv\n")
        #expect(told.map(\.line) == [3])
        #expect(told.first?.text.contains("line 2") == true)
    }

    @Test("keys and sections are told apart by their case") func cases() {
        #expect(problems(Self.good + "[Link]\n").count == 1)
        #expect(problems(Self.good + "[link]\nPeer = a:1\n").count == 1)
    }

    static let badValues: [(String, String)] = [
        ("node", "name ="), ("node", "name = a/b"), ("node", "name = \u{e4}"), ("node", "name = a\tb"),
        ("node", "name = a;b"), ("node", "name = $(id)"), ("node", "name = a*"), ("node", "name = a:b"),
        ("node", "name = \(String(repeating: "n", count: 65))"), ("node", "state = rel/ative"), ("node", "state ="),
        ("node", "state = /a/../b"), ("node", "state = ~/x"), ("node", "control = run.sock"),
        ("node", "control = /\(String(repeating: "c", count: 107))"),
        ("folder", "path ="), ("folder", "path = /"), ("folder", "path = //"), ("folder", "path = srv"),
        ("folder", "path = /\(String(repeating: "c", count: 256))"), ("folder", "path = /a\u{1b}[2J"),
        ("folder", "models = models.d"),
        ("link", "transport = TLS"), ("link", "transport = ssh"), ("link", "transport ="),
        ("link", "transport = directory"), ("link", "mailbox = both"),
        ("link", "listen = 7420"), ("link", "listen = :7420"), ("link", "listen = ::1:7420"),
        ("link", "listen = a.example:1,b.example:2"),
        ("link", "listen = [::1]"), ("link", "listen = [::1]:"), ("link", "listen = [::1]:65536"),
        ("link", "listen = [::1]:-1"), ("link", "listen = [::1]:+1"), ("link", "listen = [xyz]:1"),
        ("link", "listen = [1:2:3:4:5:6:7:8:9]:1"), ("link", "listen = [1::2::3]:1"), ("link", "listen = [:1]:1"),
        ("link", "listen = [1.2.3.4]:1"), ("link", "listen = [::1.2.3.256]:1"), ("link", "listen = [12345::]:1"),
        ("link", "listen = [::1%]:1"), ("link", "listen = []:1"), ("link", "listen = a b:1"),
        ("link", "listen = tcp://a:1"), ("link", "listen = *:7420"), ("link", "listen = a:b"),
        ("link", "peer = a:0"), ("link", "peer = b\u{fc}ro:1"), ("link", "peer = beta"),
        ("link", "listen ="), ("link", "rate-limit = fast"), ("link", "rate-limit = -1"),
        ("link", "rate-limit = 1.5MiB"),
        ("link", "rate-limit ="), ("link", "rate-limit = 10MB"), ("link", "rate-limit = MiB"),
        ("link", "rate-limit = 99999999999999999999"), ("link", "rate-limit = 18446744073709551615KiB"),
        ("safety", "delete-fuse-files = -1"), ("safety", "delete-fuse-files = 5%"), ("safety", "delete-fuse-files ="),
        ("safety", "delete-fuse-percent = 101"), ("safety", "delete-fuse-percent = 25%"),
        ("safety", "keep-versions-days = 0"), ("safety", "keep-versions-days = 30d"),
        ("safety", "keep-versions-size = 0"), ("safety", "keep-versions-size = 1KiB"),
        ("safety", "reserve = 91%"), ("safety", "reserve = %"), ("safety", "reserve = 1.5%"), ("safety", "reserve ="),
        ("safety", "reserve = -1%"), ("alerts", "hook = a\u{1}b"), ("alerts", "hook = mail root ; echo done"),
    ]

    @Test("a bad value is told with its key and a remedy", arguments: badValues)
    func badValue(section: String, line: String) {
        let key = line.prefix { $0 != " " }
        var text = Self.good.replacing("[\(section)]\n\(key) =", with: "[\(section)]\n;\(key) =")
        text += "[\(section)]\n\(line)\n"
        let told = problems(text)
        #expect(told.count == 1)
        #expect(told.first?.line == 6 || line == "transport = directory")
        #expect(told.first?.text.hasSuffix(".") == true)
        #expect(told.first?.key?.hasPrefix("\(section).") == true)
        let shown = told.map(\.description).joined().utf8
        #expect(shown.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "no control character reaches a terminal")
    }

    @Test(
        "places that would sync themselves are refused",
        arguments: [
            "[node]\nstate = /srv/a/state", "[node]\nstate = /srv/a", "[node]\nstate = /srv", "[node]\nstate = /",
            "[node]\ncontrol = /srv/a/c.sock", "[link]\nmailbox = /srv/a/box", "[link]\nmailbox = /srv",
        ]) func overlapping(lines: String)
    {
        #expect(problems(Self.good + lines).count == 1)
    }

    @Test("places that only look alike are not refused") func alike() {
        #expect(problems(Self.good + "[node]\nstate = /srv/ab\ncontrol = /srv/a.sock\n").isEmpty)
    }

    @Test("what is typed for a new node is checked as if it had been read") func newNode() throws {
        let made = try Configuration.new(
            name: "alpha", folder: Array("/srv/x".utf8), peer: "b:1", state: Array("/s".utf8), control: nil)
        #expect(try Configuration.parse(made.text, file: "f") == made)
        #expect(made.link.listen == "[::]:7420" && made.link.peer == "b:1" && made.node.state == Array("/s".utf8))
        #expect(try Configuration.new(name: "a", folder: [0x2F, 0x61], listen: "", peer: "b:1").link.listen == nil)
        let error = #expect(throws: ConfigurationError.self) {
            _ = try Configuration.new(name: "a b", folder: Array("rel".utf8), peer: "x", state: Array("/rel".utf8))
        }
        #expect(error?.problems.map(\.key) == ["node.name", "folder.path", "link.peer"])
        #expect(
            error?.problems.first?.description == """
                node.name = "a b": Spaces, letters outside of ASCII and other signs are not allowed. \
                Write 1 to 64 letters, digits, dots, dashes or underscores, such as alpha.
                """)
    }

    @Test(
        "what no line of the file could hold is refused for a new node",
        arguments: [
            "/srv/a ; b", "/srv/a ", "/srv/a\nname = b", "/srv/a\r", "/srv/\0", "/srv/a\t; b",
        ]) func unwritable(folder: String)
    {
        let error = #expect(throws: ConfigurationError.self) {
            _ = try Configuration.new(name: "a", folder: Array(folder.utf8))
        }
        #expect(error?.problems.map(\.key) == ["folder.path"])
    }

    @Test("a file that is something else is not told line by line to its end") func foreign() {
        let told = problems(String(repeating: "no configuration at all\n", count: 10_000))
        #expect(told.count == ConfigurationReader.problemsMax + 1)
        #expect(told.last?.text == "There are 9952 more problems. Mend these first.")
    }

    @Test("whatever the bytes, there is a value or a problem") func mangled() {
        var random = SeededRandom(seed: 77)
        let sample = Configuration.sample.text
        for _ in 0..<2_000 {
            var text = sample
            for _ in 0..<random.range(1...6) {
                let at = random.below(text.count)
                switch random.below(4) {
                case 0: text[at] = UInt8(random.below(256))
                case 1: text.remove(at: at)
                case 2: text.insert(UInt8(random.below(256)), at: at)
                default: text.replaceSubrange(at..<min(text.count, at + random.below(30)), with: random.bytes(5))
                }
            }
            for problem in problems(text) { #expect(!problem.text.isEmpty && problem.file == "f") }
        }
    }
}

@Suite("configuration file")
struct ConfigurationFileTests {
    private func problem(_ path: String) -> ConfigurationError? {
        #expect(throws: ConfigurationError.self) { _ = try Configuration.read(path: path) }
    }

    @Test("a file that is not there is told with the way to make one") func missing() {
        let error = problem("/tmp/syncd-test-none/syncd.conf")
        #expect(error?.isUnreadable == true && error?.isForbidden == false)
        #expect(error?.description.contains("/tmp/syncd-test-none/syncd.conf: There is no such file.") == true)
        #expect(error?.description.contains("syncctl init") == true)
    }

    @Test("a directory is told to be one") func directory() {
        #expect(problem("/tmp")?.description == "/tmp: This is a directory. Name the file in it.")
    }

    @Test("an endless file is not read to its end") func endless() {
        #expect(problem("/dev/zero")?.description.contains("larger than 1 MiB") == true)
    }

    @Test("a file without permission is told, not taken for a missing one", .enabled(if: geteuid() != 0, "root may"))
    func forbidden() {
        #expect(problem("/etc/shadow")?.description.contains("may not read") == true)
        #expect(problem("/etc/shadow")?.isForbidden == true)
    }

    @Test("what is not built yet is told with its line, and does not look as if it worked") func unbuilt() throws {
        let file = "/tmp/syncd-test-unbuilt-\(getpid()).conf"
        defer { unsafe unlink(file) }
        var made = try Configuration.new(name: "a", folder: Array("/srv/a".utf8))
        made.link.transport = .directory
        made.link.mailbox = Array("/mnt/both".utf8)
        try write(made.text, to: file)
        let error = problem(file)
        #expect(error?.problems.map(\.key) == ["link.transport"])
        #expect(error?.problems.first?.line != nil)
        #expect(error?.description.hasSuffix("= \"directory\": This is not built yet. Write transport = tls.") == true)
    }

    @Test("directories that cannot be used are told with their lines, if that is asked for") func places() throws {
        var template = Array("/tmp/syncd-test-config-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        let root = template.dropLast().map { UInt8(bitPattern: $0) }
        let path = { (name: String) in root + Array("/\(name)".utf8) }
        let file = String(decoding: path("syncd.conf"), as: UTF8.self)
        let isMade = unsafe mkdir(String(decoding: path("state"), as: UTF8.self), 0o700)
        defer {
            unsafe unlink(file)
            unsafe rmdir(String(decoding: path("state"), as: UTF8.self))
            unsafe rmdir(&template)
        }
        try #require(isMade == 0)
        var made = try Configuration.new(
            name: "a", folder: path("folder"), state: path("state"), control: path("c.sock"))
        made.folder.models = path("syncd.conf/models")
        try write(made.text, to: file)

        #expect(try Configuration.read(path: file) == made, "without being asked, nothing is looked at")
        let error = #expect(throws: ConfigurationError.self) {
            _ = try Configuration.read(path: file, checking: .everything)
        }
        #expect(error?.problems.map(\.key) == ["folder.path", "folder.models"])
        #expect(error?.problems.allSatisfy { $0.line != nil } == true)
        let models = #expect(throws: ConfigurationError.self, "a node that starts does not ask for its folder") {
            _ = try Configuration.read(path: file, checking: .needsOfStart)
        }
        #expect(models?.problems.map(\.key) == ["folder.models"])
        made.folder.models = path("folder/models")
        try write(made.text, to: file)
        let started = try Configuration.read(path: file, checking: .needsOfStart)
        #expect(started == made, "models in the folder come with it")
        #expect(throws: ConfigurationError.self, "and are asked for then") { try made.checkModels(file: file) }
        made.folder.models = path("syncd.conf/models")
        for state in ["gone/state", "syncd.conf/state", "syncd.conf"] {
            made.node.state = path(state)
            try write(made.text, to: file)
            let needed = #expect(throws: ConfigurationError.self, "but for its state") {
                _ = try Configuration.read(path: file, checking: .needsOfStart)
            }
            #expect(needed?.problems.map(\.key) == ["node.state", "folder.models"], "\(state)")
            #expect(needed?.problems.allSatisfy { $0.line != nil } == true)
            #expect(needed?.isForbidden == false)
        }
        made.node.state = path("state")
        #expect(error?.isUnreadable == false)
        #expect(error?.description.contains("There is no such directory. Mount what belongs there") == true)

        made.folder.path = Array("/srv".utf8)
        made.folder.models = path("models")
        try write(made.text, to: file)
        let isThere = unsafe access("/srv", R_OK | W_OK | X_OK) == 0
        let missing = #expect(throws: ConfigurationError.self, "who names a place means that there are models") {
            _ = try Configuration.read(path: file, checking: .everything)
        }
        if isThere { #expect(missing?.problems.map(\.key) == ["folder.models"]) }

        made.folder.models = Configuration.Folder.usualModels
        try write(made.text, to: file)
        if isThere { #expect(try Configuration.read(path: file, checking: .everything) == made) }
    }

    @Test(
        "a hook whose program cannot be run is told; what only a shell can tell is left to the shell",
        arguments: [
            ("/nowhere/hook", "There is no program \"/nowhere/hook\"."),
            ("/nowhere/hook --to root", "There is no program"), ("/etc/passwd/hook a", "There is no program"),
            ("/tmp", "\"/tmp\" is no program."), ("/etc/passwd\troot", "This user may not run \"/etc/passwd\"."),
            ("/bin/sh -c 'exit 0'", nil), ("nowhere", nil), ("exec /nowhere/hook", nil), ("/nowhere/$HOME", nil),
            ("'/nowhere/hook'", nil), ("/nowhere/hook;true", nil),
        ] as [(String, String?)])
    func hook(command: String, problem: String?) {
        let found = Configuration.Alerts(hook: Array(command.utf8)).hookProblem
        guard let problem else { return #expect(found == nil) }
        #expect(found?.contains(problem) == true, "\(found ?? "nothing")")
    }

    private struct WriteFailed: Error {}

    private func write(_ bytes: [UInt8], to file: String) throws {
        let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw WriteFailed() }
    }

    @Test("a path through a file is told in the system's words") func through() {
        let error = problem("/etc/passwd/syncd.conf")
        #expect(error?.isUnreadable == true)
        #expect(error?.description.contains("Not a directory") == true)
    }
}
