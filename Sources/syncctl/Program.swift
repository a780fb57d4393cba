import ControlProtocol
import SyncModel

/// From the command line to an exit code.
enum Program {
    static func run(_ arguments: [[UInt8]]) -> ExitCode {
        var output = Output(style: System.style)
        do throws(Failure) {
            let invocation = try Arguments.read(arguments)
            output.wantsJSON = invocation.wantsJSON
            return try perform(invocation, output)
        } catch {
            // What was asked for cannot always be understood; whoever wants JSON gets it all the same.
            output.wantsJSON =
                output.wantsJSON || arguments.prefix { $0 != Array("--".utf8) }.contains(Array("--json".utf8))
            output.complain(error)
            return error.exitCode
        }
    }

    private static func perform(_ invocation: Invocation, _ output: Output) throws(Failure) -> ExitCode {
        switch invocation.wish {
        case .help(let commands) where commands.isEmpty: output.say(Help.program(output.style))
        case .help(let commands):
            output.say(Array(commands.map { Help.command($0, output.style) }.joined(separator: [""])))
        case .version where output.wantsJSON: output.say(["program": .string(VersionDocument.thisProgram)])
        case .version: output.say("syncctl \(VersionDocument.thisProgram)")
        case .command(let command):
            let session = Session(invocation: invocation, output: output)
            do throws(Failure) { return try command.run(session) } catch { throw session.hinting(error) }
        }
        return .done
    }
}

/// The contract's exit codes of every command but `status`, which has its own meaning for 1 and 2, and `lock`, which
/// passes on that of the command it runs.
struct ExitCode: RawRepresentable, Hashable, Sendable {
    let rawValue: Int32

    static let done = ExitCode(rawValue: 0)
    static let refused = ExitCode(rawValue: 1)
    static let timedOut = ExitCode(rawValue: 2)
    static let notRunning = ExitCode(rawValue: 3)
    static let usage = ExitCode(rawValue: 64)
}

/// Why a command did not do what it should.
enum Failure: Error, Hashable {
    /// The command line is wrong. The text says what to write.
    case usage(String)
    case refused(ControlError)

    var exitCode: ExitCode {
        switch self {
        case .usage: .usage
        case .refused(let error): ExitCode(error)
        }
    }
}

extension ExitCode {
    init(_ error: ControlError) {
        if error.code.known == .waitTimedOut {
            self = .timedOut
        } else if error.code.known == .controlNotRunning {
            self = .notRunning
        } else {
            self = .refused
        }
    }
}
