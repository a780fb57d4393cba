/// The texts of `--help`, made from the table of commands.
enum Help {
    static func program(_ style: Style) -> [String] {
        var lines = [
            "Usage: syncctl [--config FILE | --socket PATH] [--json] COMMAND …", "",
            "Tells what syncd does with the shared folder of this node, and tells syncd what to do.",
        ]
        for group in Command.groups {
            lines += ["", style.bold(group.title + ":")]
            for command in group.commands { lines += entry(command.name, command.summary, style) }
        }
        lines += ["", style.bold("With every command:")]
        for option in Command.Option.global { lines += entry(title(option), option.help, style) }
        return lines + [
            "", "syncctl COMMAND --help tells more of each.",
            "Exit: 0 done, 1 refused or failed, 2 timed out, 3 the daemon is not running, 64 wrong command line.",
        ]
    }

    static func command(_ command: Command, _ style: Style) -> [String] {
        var lines = ["Usage: syncctl \(command.name)" + (command.synopsis.isEmpty ? "" : " \(command.synopsis)"), ""]
        lines += style.wrapped(command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ".")
        if !command.details.isEmpty {
            lines += [""] + command.details.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        }
        if !command.options.isEmpty {
            lines += ["", style.bold("Options:")]
            for option in command.options { lines += entry(title(option), option.help, style) }
        }
        let below = Command.below(command.name)
        if !below.isEmpty {
            lines += ["", style.bold("There are also:")]
            for other in below {
                let operands = other.synopsis.isEmpty ? "" : " \(other.synopsis)"
                lines += entry(other.name + operands, other.summary, style)
            }
        }
        return lines
    }

    private static func title(_ option: Command.Option) -> String {
        let names = [option.short, option.name].compactMap(\.self).joined(separator: ", ")
        return option.value.map { "\(names) \($0)" } ?? names
    }

    /// The name in a column of its own, what it does beside it.
    private static func entry(_ name: String, _ text: String, _ style: Style) -> [String] {
        let column = 22
        let wrapped = style.wrapped(text, indent: column)
        guard name.count + 4 <= column, let first = wrapped.first else { return ["  " + name] + wrapped }
        let padding = String(repeating: " ", count: column - 2 - name.count)
        return ["  " + name + padding + first.dropFirst(column)] + wrapped.dropFirst()
    }
}
