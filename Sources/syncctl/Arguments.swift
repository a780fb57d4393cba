import ControlProtocol

/// What was asked for on the command line.
struct Invocation: Sendable {
    enum Wish: Sendable {
        /// Of all commands if there is none.
        case help([Command])
        case version
        case command(Command)
    }

    var wish: Wish
    /// By the long name of the option; empty for those without a value.
    var values: [String: [UInt8]] = [:]
    /// How the options were typed, by their long names.
    var typed: [String: String] = [:]
    var operands: [[UInt8]] = []
    /// What follows `--` of a command that runs another; nil without `--`.
    var other: [[UInt8]]?

    var wantsJSON: Bool { has("--json") }

    func has(_ option: String) -> Bool { values[option] != nil }
}

/// Reads a command line. Options may stand anywhere up to `--`; a command of two words is written together.
struct Arguments {
    private var rest: ArraySlice<[UInt8]>
    private var command: Command?
    /// A first word that has commands below it: the next word may be one of them.
    private var group: String?
    private var values: [String: [UInt8]] = [:]
    private var typed: [String: String] = [:]
    private var operands: [[UInt8]] = []
    private var other: [[UInt8]]?
    private var wantsVersion = false

    static func read(_ arguments: [[UInt8]]) throws(Failure) -> Invocation {
        var reader = Arguments(rest: arguments[...])
        while let word = reader.rest.popFirst() { try reader.take(word) }
        return try reader.invocation()
    }

    private init(rest: ArraySlice<[UInt8]>) {
        self.rest = rest
    }

    private mutating func take(_ word: [UInt8]) throws(Failure) {
        if word == Array("--".utf8) {
            takeRest()
        } else if word.first == UInt8(ascii: "-"), word.count > 1 {
            try takeOption(word)
        } else if command == nil && group == nil {
            try takeCommand(word)
        } else if let found = group.flatMap({ Command.named("\($0) \(NameText.text(of: word))") }) {
            command = found
            group = nil
        } else if command == nil {
            throw .usage(missingCommand)
        } else {
            group = nil
            operands.append(word)
        }
    }

    private mutating func takeRest() {
        if command?.runsAnother == true { other = Array(rest) } else { operands += rest }
        rest = []
    }

    private mutating func takeCommand(_ word: [UInt8]) throws(Failure) {
        let text = NameText.text(of: word)
        if text == "help" { return try set("--help", []) }
        command = Command.named(text)
        if !Command.below(text).isEmpty { group = text }
        guard command != nil || group != nil else {
            throw .usage("There is no command \(NameText.typed(word)). \(Arguments.proposal(for: text))")
        }
    }

    private mutating func takeOption(_ word: [UInt8]) throws(Failure) {
        let parts = word.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let isLong = word.starts(with: Array("--".utf8))
        let name = NameText.text(of: isLong ? Array(parts[0]) : Array(word.prefix(2)))
        var attached =
            isLong ? (parts.count > 1 ? Array(parts[1]) : nil) : (word.count > 2 ? Array(word.dropFirst(2)) : nil)
        if name == "--version", command == nil, attached == nil {
            wantsVersion = true
            return
        }
        let known = Command.Option.global + (command?.options ?? [])
        guard let option = known.first(where: { $0.name == name || $0.short == name }) else {
            throw .usage(unknown(NameText.printable(isLong ? Array(parts[0]) : word)))
        }
        typed[option.name] = name
        if let value = option.value {
            if attached == nil { attached = rest.popFirst() }
            guard let attached else { throw .usage("\(name) needs a value: write \(name) \(value).") }
            try set(option.name, attached)
        } else {
            guard attached == nil else { throw .usage("\(name) takes no value: write \(name) alone.") }
            try set(option.name, [])
        }
    }

    private mutating func set(_ name: String, _ value: [UInt8]) throws(Failure) {
        // A repeated switch says the same; of two values it is not clear which is meant.
        guard values[name] == nil || values[name] == value else {
            throw .usage("\(typed[name] ?? name) is given twice with different values: give it once.")
        }
        values[name] = value
    }

    private func unknown(_ option: String) -> String {
        guard let command else {
            return "There is no option \(option) before the command. See syncctl --help."
        }
        return "syncctl \(command.name) has no option \(option). See syncctl \(command.name) --help."
    }

    private func invocation() throws(Failure) -> Invocation {
        if wantsVersion { return Invocation(wish: .version, values: values) }
        if values["--help"] != nil {
            let meant = command.map { [$0] } ?? group.map(Command.below) ?? []
            return Invocation(wish: .help(meant), values: values)
        }
        guard let command else { throw .usage(missingCommand) }
        if values["--config"] != nil, values["--socket"] != nil {
            throw .usage("--config and --socket do not go together: one of them says which daemon is meant.")
        }
        try checkOperands(of: command)
        return Invocation(wish: .command(command), values: values, typed: typed, operands: operands, other: other)
    }

    private func checkOperands(of command: Command) throws(Failure) {
        let line = "syncctl \(command.name) \(command.synopsis)"
        if operands.count < command.operands.lowerBound {
            throw .usage("\(command.operandName) is missing: write \(line)")
        }
        if operands.count > command.operands.upperBound {
            let extra = NameText.printable(operands[command.operands.upperBound])
            let below = Command.below(command.name).map(\.name)
            let more = below.isEmpty ? "" : " There are also: \(below.joined(separator: ", "))."
            throw .usage("\(extra) is too much: write \(line).\(more)".replacing(" .", with: "."))
        }
        if let empty = operands.first(where: \.isEmpty) {
            throw .usage("\(command.operandName)\(empty.isEmpty ? "" : " ") is empty: write \(line)")
        }
    }

    private var missingCommand: String {
        guard let group else { return "A command is missing, such as syncctl status. See syncctl --help." }
        let names = Command.below(group).map { "syncctl \($0.name)" }
        return "What of \(group)? Write \(names.joined(separator: " or "))."
    }

    /// What might have been meant.
    private static func proposal(for word: String) -> String {
        let firstWords = Command.all.map { $0.name.split(separator: " ")[0] }.map(String.init)
        let close = firstWords.min { distance($0, word) < distance($1, word) }
        guard let close, distance(close, word) <= 2 else { return "See syncctl --help." }
        return "Did you mean syncctl \(close)?"
    }

    /// How many letters have to be changed, added or taken away.
    private static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right.prefix(32))
        var row = Array(0...right.count)
        for (i, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for j in right.indices {
                let changed = diagonal + (letter == right[j] ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(changed, row[j] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
