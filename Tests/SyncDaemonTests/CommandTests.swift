import Glibc
import Testing

@testable import SyncDaemon

@Suite("commands of the administrator") struct CommandTests {
    private func end(of command: String, milliseconds: Int = 60_000, isAbandoned: Bool = false) -> System.CommandEnd {
        System.run(
            shell: Array(command.utf8), input: Array("the alert\n".utf8), milliseconds: milliseconds,
            isAbandoned: { isAbandoned })
    }

    private func run(_ command: String, milliseconds: Int = 60_000) -> String {
        "\(end(of: command, milliseconds: milliseconds))"
    }

    @Test("a command gets its input, and its end is told") func ends() {
        #expect(run("read line && test \"$line\" = 'the alert'") == "exited(0)")
        #expect(run("exit 3") == "exited(3)")
        #expect(run("kill -9 $$") == "signalled(9)")
        #expect(run("/nowhere/at/all 2>/dev/null") == "exited(127)")
    }

    @Test("a command that does not end is ended with its children, or left alone when nobody waits") func endless() {
        #expect(run("sleep 60 & sleep 60", milliseconds: 200) == "tooSlow")
        guard case .abandoned(let process) = end(of: "sleep 1; exit 5", isAbandoned: true) else {
            Issue.record("the command was waited for")
            return
        }
        // Nobody else takes the dead child away, and as long as one lies there, the test library sees no other end.
        var status: Int32 = 0
        #expect(unsafe waitpid(process, &status, 0) == process && status == 5 << 8)
    }

    @Test("a command has no signal blocked and none ignored") func signals() {
        #expect(run("kill -TERM $$; sleep 5") == "signalled(15)")
        // Two that glibc keeps to itself are ignored between fork and exec, and stay so.
        #expect(run("grep -Eq '^SigIgn:\\s*0*(180000000)?$' /proc/self/status") == "exited(0)")
    }
}
