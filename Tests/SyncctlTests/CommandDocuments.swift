/// What is written about the commands of `syncctl` outside of the program, made from the one table of commands: a part of the manual
/// page docs/man/syncctl.1, and the completions for bash, zsh and fish in config/completions. `make docs` writes them anew.
@testable import syncctl

enum CommandDocuments {
    static let manualPage = "docs/man/syncctl.1"
    static let bash = "config/completions/syncctl.bash"
    static let zsh = "config/completions/_syncctl"
    static let fish = "config/completions/syncctl.fish"

    // MARK: The manual page

    private static let start = ".\\\" Commands: \(origin)\n"
    private static let end = ".\\\" End of the commands.\n"

    /// The page with these commands in the place of those it has; nil if it has no place for them.
    static func manual(_ page: String) -> String? {
        guard let opening = page.firstRange(of: start), let closing = page.firstRange(of: end),
            opening.upperBound <= closing.lowerBound
        else { return nil }
        return page[..<opening.upperBound] + commands + page[closing.lowerBound...]
    }

    private static var commands: String {
        var text = ""
        for group in Command.groups {
            text += ".SS \(roff(group.title))\n"
            for command in group.commands { text += entry(command) }
        }
        return text + ".SS \"With every command\"\n" + Command.Option.global.map(entry).joined()
    }

    private static func entry(_ command: Command) -> String {
        let synopsis = command.synopsis.isEmpty ? "" : " \\fI\(roff(command.synopsis))\\fR"
        var text = ".TP\n\\fBsyncctl \(roff(command.name))\\fR\(synopsis)\n\(sentence(command.summary))\n"
        if !command.details.isEmpty { text += roff(command.details) + "\n" }
        if !command.options.isEmpty { text += ".RS\n" + command.options.map(entry).joined() + ".RE\n" }
        return text
    }

    private static func entry(_ option: Command.Option) -> String {
        let names = [option.short, option.name].compactMap(\.self).map { "\\fB\(roff($0))\\fR" }.joined(separator: ", ")
        let value = option.value.map { " \\fI\(roff($0))\\fR" } ?? ""
        return ".TP\n\(names)\(value)\n\(sentence(option.help))\n"
    }

    private static func sentence(_ text: String) -> String {
        roff(text.prefix(1).uppercased() + text.dropFirst() + ".")
    }

    /// As roff wants it: no hyphen that becomes a dash, no line that begins as a request.
    static func roff(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let plain = line.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("…", with: "...")
            return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : String(plain)
        }.joined(separator: "\n")
    }

    // MARK: Completion

    private static let origin = "written by make docs from Sources/syncctl; changes made here are lost."

    /// First words, each once: `alerts`, not `alerts show`.
    private static var firstWords: [String] {
        Command.all.map { String($0.name.prefix { $0 != " " }) }
            .reduce(into: []) { words, word in if !words.contains(word) { words.append(word) } }
    }

    private static func secondWords(_ first: String) -> [String] {
        Command.below(first).map { String($0.name.dropFirst(first.count + 1)) }
    }

    private static func summary(_ first: String) -> String {
        Command.named(first)?.summary ?? Command.below(first).map(\.summary).joined(separator: "; ")
    }

    private static func options(_ name: String) -> [Command.Option] { Command.named(name)?.options ?? [] }

    /// What may stand for the value of an option.
    private static func choices(_ option: Command.Option, of command: String) -> [String] {
        switch (command, option.name) {
        case ("wait", "--for"): ["in-sync", "connected", "initial-import"]
        case ("lock", "--mode"): ["local", "pair", "strict"]
        default: []
        }
    }

    private static func takesPath(_ option: Command.Option) -> Bool {
        option.value.map { ["FILE", "PATH", "DIR"].contains($0) } ?? false
    }

    static var bashText: String {
        let all = Command.Option.global + Command.all.flatMap(\.options)
        let valued = Set(all.filter { $0.value != nil }.flatMap { [$0.name, $0.short].compactMap(\.self) }).sorted()
        let cases = Command.all.map { command in
            let words = secondWords(command.name).joined(separator: " ")
            let options = command.options.map { " \($0.name)" }.joined()
            return "        '\(command.name)') words='\(words)' options+='\(options)' ;;\n"
        }
        let pairs = Command.all.map(\.name).filter { $0.contains(" ") }.map { "'\($0)'" }
        let groups = firstWords.filter { Command.named($0) == nil }.map {
            "        '\($0)') words='\(secondWords($0).joined(separator: " "))' ;;\n"
        }
        let chosen = Command.all.flatMap { command in
            command.options.compactMap { option -> String? in
                let choices = choices(option, of: command.name)
                guard !choices.isEmpty else { return nil }
                return "        '\(command.name) \(option.name)') words='\(choices.joined(separator: " "))' ;;\n"
            }
        }
        return """
            # Completion of syncctl for bash: \(origin)
            # shellcheck shell=bash

            _syncctl() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' words='' i
                local options='\(Command.Option.global.map(\.name).joined(separator: " "))'
                for ((i = 1; i < COMP_CWORD; i++)); do
                    case ${COMP_WORDS[i]} in
                        \(valued.joined(separator: "|"))) i=$((i + 1)) ;;
                        --) return ;;
                        -*) ;;
                        *)
                            if [ -z "$command" ]; then
                                command=${COMP_WORDS[i]}
                            else
                                case "$command ${COMP_WORDS[i]}" in
                                    \(pairs.joined(separator: "|"))) command="$command ${COMP_WORDS[i]}" ;;
                                esac
                            fi
                            ;;
                    esac
                done
                case "$command $previous" in
            \(chosen.joined())        *' '\(valued.joined(separator: "|*' '"))) return ;;
                    *)
                        case $command in
                            '') words='\(firstWords.joined(separator: " "))' options+=' --version' ;;
            \((cases + groups).map { "        " + $0 }.joined())            esac
                        if [[ $current = -* ]]; then words=$options; fi
                        ;;
                esac
                mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
            }

            # Where nothing of these is wanted, the name of a file may be.
            complete -o default -F _syncctl syncctl

            """
    }

    static var zshText: String {
        let commands = firstWords.map { "        '\($0):\(quoted(summary($0)))'\n" }
        let cases = firstWords.map { first in
            let own = options(first).map { "\n                    \(zsh($0, of: first))" }
            let below = secondWords(first)
            let words = below.isEmpty ? "'*:file:_files'" : "'1: :(\(below.joined(separator: " ")))' '*:file:_files'"
            let lines = (own + ["\n                    " + words]).joined(separator: " \\")
            return "                \(first)) _arguments\(own.isEmpty ? " " + words : " \\" + lines) ;;\n"
        }
        return """
            #compdef syncctl
            # Completion of syncctl for zsh: \(origin)

            _syncctl() {
                local context state state_descr line
                typeset -A opt_args
                local -a commands
                commands=(
            \(commands.joined())    )
                _arguments -C \\
            \(Command.Option.global.map { "        \(zsh($0, of: "")) \\\n" }.joined())        '--version[print the version]' \\
                    '1: :->command' '*:: :->rest'
                case $state in
                    command) _describe -t commands command commands ;;
                    rest)
                        case $words[1] in
            \(cases.joined())            esac
                        ;;
                esac
            }

            _syncctl "$@"

            """
    }

    private static func zsh(_ option: Command.Option, of command: String) -> String {
        let names = [option.short, option.name].compactMap(\.self)
        let both = "'(\(names.joined(separator: " ")))'{\(names.joined(separator: ","))}'"
        let name = names.count == 1 ? "'\(names[0])" : both
        let text = quoted(option.help).replacing("[", with: "\\[").replacing("]", with: "\\]")
        guard let value = option.value else { return "\(name)[\(text)]'" }
        let choices = choices(option, of: command)
        let action = choices.isEmpty ? (takesPath(option) ? "_files" : " ") : "(\(choices.joined(separator: " ")))"
        return "\(name)[\(text)]:\(value.replacing(":", with: "\\:")):\(action)'"
    }

    static var fishText: String {
        var text = "# Completion of syncctl for fish: \(origin)\n\n"
        for option in Command.Option.global { text += fish(option, of: "", "") }
        for first in firstWords {
            text += "complete -c syncctl -f -n __fish_use_subcommand -a \(first) -d '\(quoted(summary(first)))'\n"
        }
        for first in firstWords {
            let seen = " -n '__fish_seen_subcommand_from \(first)'"
            for option in options(first) { text += fish(option, of: first, seen) }
            for word in secondWords(first) {
                let summary = Command.named("\(first) \(word)")?.summary ?? ""
                text += "complete -c syncctl\(seen) -a \(word) -d '\(quoted(summary))'\n"
            }
        }
        return text
    }

    private static func fish(_ option: Command.Option, of command: String, _ condition: String) -> String {
        let short = option.short.map { " -s \($0.dropFirst())" } ?? ""
        let choices = choices(option, of: command)
        let value: String
        if !choices.isEmpty {
            value = " -x -a '\(choices.joined(separator: " "))'"
        } else {
            value = option.value == nil ? "" : takesPath(option) ? " -r -F" : " -x"
        }
        let long = option.name.dropFirst(2)
        return "complete -c syncctl\(condition)\(short) -l \(long)\(value) -d '\(quoted(option.help))'\n"
    }

    /// Within single quotes, of shells that do not agree on how to write one there.
    private static func quoted(_ text: String) -> String { text.replacing("'", with: "’") }
}
