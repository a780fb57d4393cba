/// Another process of this program, that holds or shows a file until it is ended: `kitbench hold`, `kitbench show`.
import Glibc

struct Helper {
    let process: pid_t

    /// Returns when it says that it is there.
    init(_ words: [String]) throws {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw BenchFailure(text: "no pipe") }
        defer { for end in ends { close(end) } }
        // All zeros until it is initialised.
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var process: pid_t = 0
        // The words are ours until they are given back; posix_spawn copies them.
        var arguments = unsafe (["/proc/self/exe"] + words).map { unsafe strdup($0) } + [nil]
        let result = unsafe posix_spawn(&process, "/proc/self/exe", &actions, nil, &arguments, environ)
        unsafe arguments.forEach { unsafe free($0) }
        unsafe posix_spawn_file_actions_destroy(&actions)
        guard result == 0 else { throw BenchFailure(text: "no process: \(result)") }
        self.process = process
        var byte: UInt8 = 0
        // The byte is used for the time of the call only.
        guard unsafe read(ends[0], &byte, 1) == 1 else { throw BenchFailure(text: "\(words) ended") }
    }

    func stop() { kill(process, SIGSTOP) }
    func kill9() { kill(process, SIGKILL) }

    /// So that no process is left behind.
    func wait() {
        var status: Int32 = 0
        _ = unsafe waitpid(process, &status, 0)
    }

    /// In the helper itself.
    static func isThere() {
        var byte: UInt8 = 1
        // The byte is used for the time of the call only.
        _ = unsafe write(1, &byte, 1)
    }
}

struct BenchFailure: Error, CustomStringConvertible {
    let text: String

    var description: String { text }
}
