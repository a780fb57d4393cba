/// The command line of `syncd`.
public enum Invocation: Sendable {
    case run(SyncDaemon.Options)
    /// Help or version: to be printed, and done.
    case tell(String)
    /// It cannot be understood; the text says what to write instead.
    case refuse(String)

    static let help = """
        syncd: keeps one folder the same on two machines, in both directions, and never loses a version of anything.

        syncd [--config FILE] [--log-level 0..3] [--check-config]
            Runs in the foreground until SIGTERM or SIGINT; SIGHUP reads the configuration again.
              --config FILE     the configuration (/etc/syncd/syncd.conf unless given)
              --log-level N     0 problems, 1 decisions (unless given), 2 every change set, 3 every operation
              --check-config    only reads the configuration and says what is wrong with it
        syncd --version | --help

        Exit: 0 stopped cleanly or the configuration is right, 64 the command line is wrong, 65 data of a newer program
        (nothing was touched), 74 storage error, 75 another syncd owns this folder or state, 77 no permission,
        78 the configuration is wrong.

        """

    public static func parse(_ arguments: [String]) -> Invocation {
        var options = SyncDaemon.Options()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            var (name, attached): (String, String?) = (argument, nil)
            if argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") {
                (name, attached) = (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
            }
            switch name {
            case "--help", "-h": return .tell(help)
            case "--version": return .tell("syncd \(Program.version)\n")
            case "--check-config": options.onlyChecks = true
            case "--config":
                guard let path = attached ?? rest.popFirst(), !path.isEmpty else {
                    return .refuse("--config needs the path of a file: write it after the option")
                }
                options.configurationPath = path
            case "--log-level":
                guard let text = attached ?? rest.popFirst(), let level = Int(text), (0...3).contains(level) else {
                    return .refuse("--log-level needs a number from 0 to 3: write it after the option")
                }
                options.logLevel = level
            default:
                return .refuse("there is no option or argument \"\(name)\": see syncd --help")
            }
        }
        return .run(options)
    }
}
