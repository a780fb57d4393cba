import ControlProtocol
import Testing

@testable import syncctl

/// `syncctl init` makes a node whole or not at all, and touches nothing that is there.
@Suite(.serialized) struct InitTests {
    private static let arguments = [
        "--config", "etc/a.conf", "init", "--name", "alpha", "--folder", "shared", "--state", "var/state", "--control",
        "ctl.sock", "--listen", "127.0.0.1:7420", "--peer", "beta.example:7421",
    ]

    private static let whole = [
        "755 etc/", "644 etc/a.conf", "755 shared/", "700 shared/.syncd/", "600 shared/.syncd/folder-id",
        "700 shared/.syncd/quarantine/", "700 shared/.syncd/stage/", "700 shared/.syncd/versions/", "755 var/",
        "700 var/state/", "700 var/state/identity/", "600 var/state/identity/key.pem",
    ]

    private func initialise(_ scratch: Scratch, _ more: [String] = []) throws -> Play.Outcome {
        try Play.run(InitTests.arguments + more, in: scratch)
    }

    @Test("configuration, key, state and mark are made, with their rights") func makes() throws {
        let scratch = try Scratch()
        try scratch.make("shared")
        let outcome = try initialise(scratch)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(scratch.tree == InitTests.whole)
        #expect(outcome.output.hasPrefix("Made the node alpha:\n") && outcome.errors.isEmpty)
        #expect(outcome.output.contains("\n  syncctl --config etc/a.conf invite\n"))
        let text = try #require(scratch.text("etc/a.conf"))
        for line in [
            "name = alpha", "state = \(scratch.path)/var/state", "control = \(scratch.path)/ctl.sock",
            "path = \(scratch.path)/shared", "listen = 127.0.0.1:7420", "peer = beta.example:7421",
        ] { #expect(text.contains("\n\(line)\n"), "\(line)") }
        #expect(scratch.text("var/state/identity/key.pem")?.hasPrefix("-----BEGIN PRIVATE KEY-----\n") == true)
    }

    @Test("with --json the document names all that was made") func json() throws {
        let scratch = try Scratch()
        try scratch.make("shared")
        let outcome = try initialise(scratch, ["--json"])
        let json = try JSON(parsing: Array(outcome.output.utf8))
        #expect(json["node"]?["name"] == "alpha")
        #expect(json["node"]?["id"]?.text?.hasPrefix("sha256:") == true)
        #expect(json["config"]?.text == "\(scratch.path)/etc/a.conf")
        #expect(json["folderId"]?.text.map { $0 + "\n" } == scratch.text("shared/.syncd/folder-id"))
        #expect(json["made"]?.items?.count == 11)
    }

    @Test("a directory of syncd's own is no folder to share", arguments: ["d/.syncd", "d/.syncd/stage"])
    func reserved(folder: String) throws {
        let scratch = try Scratch()
        try scratch.make("d")
        let before = scratch.tree
        let outcome = try Play.run(
            ["--config", "a.conf", "init", "--name", "alpha", "--folder", folder, "--state", "s"], in: scratch)
        #expect(outcome.code == 64 && outcome.errors.contains("Name another directory."), "\(outcome.errors)")
        #expect(scratch.tree == before)
    }

    @Test("a second init refuses, names everything that is there, and changes none of it") func again() throws {
        let scratch = try Scratch()
        try scratch.make("shared")
        _ = try initialise(scratch)
        let before = ["etc/a.conf", "var/state/identity/key.pem", "shared/.syncd/folder-id"].map(scratch.text)
        let outcome = try initialise(scratch, ["--json"])
        #expect(outcome.code == 1)
        let error = try ErrorDocument(json: JSON(parsing: Array(outcome.output.utf8))).error
        #expect(error.code.text == "setup.exists")
        for name in ["etc/a.conf", "var/state", "shared"] { #expect(error.text.contains("\(scratch.path)/\(name)\"")) }
        #expect(scratch.tree == InitTests.whole)
        #expect(["etc/a.conf", "var/state/identity/key.pem", "shared/.syncd/folder-id"].map(scratch.text) == before)
    }

    @Test(
        "each thing alone is enough to refuse, and then nothing is made",
        arguments: ["etc/a.conf", "var/state/x", "shared/.syncd/folder-id"])
    func oneThere(name: String) throws {
        let scratch = try Scratch()
        for directory in ["shared", "etc", "var", "var/state", "shared/.syncd"] { try scratch.make(directory) }
        try scratch.write(name, name.hasSuffix("folder-id") ? String(repeating: "0", count: 64) + "\n" : "mine")
        let before = scratch.tree
        let outcome = try initialise(scratch)
        #expect(outcome.code == 1 && outcome.errors.contains("(setup.exists)"), "\(outcome.errors)")
        #expect(scratch.tree == before)
    }

    @Test("a state directory that is there and empty is taken over and closed to others") func emptyState() throws {
        let scratch = try Scratch()
        for directory in ["shared", "var", "var/state"] { try scratch.make(directory) }
        #expect(try initialise(scratch).code == 0)
        #expect(scratch.tree == InitTests.whole)
    }

    @Test("when the last step fails, only what was made is taken away again") func undone() throws {
        let scratch = try Scratch()
        for directory in ["shared", "shared/.syncd", "var", "var/state"] { try scratch.make(directory) }
        try scratch.write("shared/file", "mine")
        let before = scratch.tree
        var arguments = InitTests.arguments
        // Nobody can make directories there, not even root.
        arguments[1] = "/proc/syncd-test/a.conf"
        let outcome = try Play.run(arguments, in: scratch)
        #expect(outcome.code == 1 && outcome.errors.contains("(setup.failed)"), "\(outcome.errors)")
        #expect(outcome.errors.contains("/proc/syncd-test"))
        #expect(scratch.tree == before)
    }

    @Test("a folder that is not there is made and told of, and taken away again if a later step fails") func noFolder()
        throws
    {
        let (other, scratch) = (try Scratch(), try Scratch())
        try other.write("shared", "a file")
        #expect(try initialise(other).errors.contains("is no directory"))
        var arguments = InitTests.arguments
        arguments[1] = "/proc/syncd-test/a.conf"
        #expect(try Play.run(arguments, in: scratch).code == 1)
        #expect(scratch.tree == [])
        let outcome = try initialise(scratch)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("which was not there: \(scratch.path)/shared"), "\(outcome.output)")
        #expect(scratch.tree == InitTests.whole)
    }

    @Test(
        "a wrong command line is answered with 64 and makes nothing",
        arguments: [
            (["init"], "--name N is missing"), (["init", "--name", "a"], "--folder DIR is missing"),
            (["init", "--name", "a b", "--folder", "shared"], "--name a b:"),
            (["init", "--name", "a", "--folder", "shared", "--listen", "7420"], "--listen 7420:"),
            (["init", "--name", "a", "--folder", "shared", "--state", "shared/state"], "--state "),
            (["init", "--name", "a", "--folder", "/"], "--folder /:"),
            (["init", "--name", "a", "--folder", ""], #"--folder "" is no path"#),
            (["init", "--name", "", "--folder", "shared"], #"--name "": A node needs a name."#),
            (["--socket", "x", "wait", "--timeout="], #"--timeout "" is no time: write seconds"#),
            (["--socket", "x", "log", "-n", ""], #"-n "" is no number"#),
            (["--socket", "x", ""], #"There is no command "". See syncctl --help."#),
            (["--socket", "x", "init", "--name", "a", "--folder", "shared"], "write --control PATH"),
            (["--socket", "x", "log", "-n", "-1"], "-n -1 is no number: write a whole number, such as -n 10."),
            (["--socket", "x", "log", "--count=b"], "--count b is no number: write a whole number"),
        ])
    func wrong(arguments: [String], text: String) throws {
        let scratch = try Scratch()
        try scratch.make("shared")
        let outcome = try Play.run((arguments[0] == "init" ? ["--config", "a.conf"] : []) + arguments, in: scratch)
        #expect(outcome.code == 64 && outcome.errors.contains(text), "\(outcome.errors)")
        #expect(scratch.tree == ["755 shared/"])
    }

    @Test("doctor finds a new node sound but for the daemon, and tells what is wrong with one that is not")
    func doctor() throws {
        let scratch = try Scratch()
        try scratch.make("shared")
        _ = try initialise(scratch)
        let sound = try Play.run(["--config", "etc/a.conf", "doctor", "--json"], in: scratch)
        #expect(sound.code == 1)
        let findings = try DoctorDocument(json: JSON(parsing: Array(sound.output.utf8))).findings
        #expect(findings.filter { $0.grade == .problem }.map(\.check) == ["daemon"])
        #expect(Set(findings.map(\.check)).isSuperset(of: ["configuration", "state", "key", "folder", "disk"]))
        try scratch.write("var/state/identity/key.pem", "no key")
        try scratch.write("shared/.syncd/folder-id", "no mark")
        let broken = try Play.run(["--config", "etc/a.conf", "--json", "doctor"], in: scratch)
        let problems = try DoctorDocument(json: JSON(parsing: Array(broken.output.utf8))).findings
            .filter { $0.grade == .problem }
        #expect(problems.map(\.check) == ["key", "folder", "daemon"])
        #expect(problems.allSatisfy { $0.cure?.isEmpty == false })
    }

    @Test("doctor with a daemon adds what the daemon found, and is content when nothing is wrong")
    func doctorWithDaemon() throws {
        let scratch = try Scratch()
        try scratch.make("shared")
        _ = try initialise(scratch)
        let found = DoctorDocument(findings: [.init(check: "link", grade: .warning, text: "Slow.", cure: "Wait.")])
        let outcome = try Play.run(
            ["--config", "etc/a.conf", "doctor"], in: scratch, daemon: Play.answering(found.json))
        #expect(outcome.code == 0 && outcome.requests == [.doctor], "\(outcome.errors)")
        #expect(
            outcome.output.contains("warning  link: Slow.\n")
                && outcome.output.contains("\nNo problem found, and "), "\(outcome.output)")
    }

    @Test(
        "a configuration below /etc/syncd is that of a service",
        arguments: [
            ("/etc/syncd/syncd.conf", "syncd"), ("/etc/syncd/photos.conf", "syncd@photos"),
            ("/etc/syncd/a-b_2.conf", "syncd@a-b_2"), ("/etc/syncd/a b.conf", nil), ("/etc/syncd/a/b.conf", nil),
            ("/etc/syncd/.conf", nil), ("/etc/syncd/photos", nil), ("/srv/syncd.conf", nil),
            ("/etc/syncd/\u{E9}.conf", nil),
        ] as [(String, String?)]) func units(file: String, unit: String?)
    {
        #expect(Setup.unit(of: Array(file.utf8)) == unit)
    }
}
