/// What a command of `syncctl` is. Each has a file in `Commands/`, with its options, what it asks of the daemon and what
/// it prints.
struct Command: Sendable {
    /// One word, or two: `alerts show`.
    let name: String
    /// Options and operands, as `--help` shows them.
    let synopsis: String
    /// One line, for the list of commands.
    let summary: String
    /// What else should be known; lines as they are to be printed.
    let details: String
    let options: [Option]
    let operands: ClosedRange<Int>
    /// What the operands are, for the message when one is missing.
    let operandName: String
    /// What stands after `--` is another command and not operands of this one.
    let runsAnother: Bool
    let run: @Sendable (Session) throws(Failure) -> ExitCode

    init(
        _ name: String, _ synopsis: String = "", summary: String, details: String = "", options: [Option] = [],
        operands: ClosedRange<Int> = 0...0, operandName: String = "", runsAnother: Bool = false,
        run: @escaping @Sendable (Session) throws(Failure) -> ExitCode
    ) {
        self.name = name
        self.synopsis = synopsis
        self.summary = summary
        self.details = details
        self.options = options
        self.operands = operands
        self.operandName = operandName
        self.runsAnother = runsAnother
        self.run = run
    }

    struct Option: Hashable, Sendable {
        let name: String
        let short: String?
        /// What its value is called; nil for an option without one.
        let value: String?
        let help: String

        init(_ name: String, short: String? = nil, value: String? = nil, _ help: String) {
            self.name = name
            self.short = short
            self.value = value
            self.help = help
        }
    }

    /// In the order in which `--help` lists them.
    static let groups: [(title: String, commands: [Command])] = [
        ("Setting up", [.initialise, .invite, .join, .renewKey, .unpair]),
        ("How it stands", [.status, .wait, .alerts, .alertsShow, .alertsAck, .explain, .doctor]),
        (
            "Versions and conflicts",
            [
                .conflicts, .conflictsList, .conflictsShow, .conflictsTake, .conflictsDiscard, .conflictsRestore,
                .history, .restore,
                .docCheck, .docShow,
            ]
        ),
        ("What happens", [.log, .logVerify, .events, .metrics]),
        ("Working together", [.lock, .unlock, .locks]),
        (
            "Running the daemon",
            [.pause, .resume, .rescan, .reload, .logLevel, .approve, .reject, .verify, .version]
        ),
    ]

    static let all: [Command] = groups.flatMap(\.commands)

    /// For words that have only commands below them: `doc`.
    static func named(_ name: String) -> Command? { all.first { $0.name == name } }

    static func below(_ word: String) -> [Command] { all.filter { $0.name.hasPrefix(word + " ") } }
}

extension Command.Option {
    static let all = Command.Option("--all", "also those that are over")
    static let limit = Command.Option("--limit", value: "N", "no more than N")

    /// Before or after the command, with every command.
    static let global: [Command.Option] = [
        Command.Option("--config", value: "FILE", "the configuration of the node (/etc/syncd/syncd.conf)"),
        Command.Option("--socket", value: "PATH", "the control socket of the daemon, instead of a configuration"),
        Command.Option("--json", "print the documented JSON instead of text"),
        Command.Option("--help", short: "-h", "say how a command is used"),
    ]
}
