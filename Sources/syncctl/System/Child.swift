import Glibc

/// Running another command in our place of the terminal, for `lock … -- CMD`.
extension System {
    /// Runs it to its end and gives its exit code as a shell would: 127 if it is not there, 126 if it cannot be run, 128
    /// and the number of the signal that ended it.
    static func run(_ command: [[UInt8]]) -> ExitCode {
        // Ctrl-C is for the command; we stay to give the lock back when it has ended. What was ignored already, as in the
        // background of a shell, the command ignores, too.
        let heeded = [SIGINT, SIGQUIT].filter { !isIgnored($0) }
        for number in heeded { _ = signal(number, SIG_IGN) }
        defer { for number in heeded { _ = signal(number, SIG_DFL) } }
        // Who asks us to end asks the command: the lock is not to end before it does. (What waits for us is taken as it comes, so that
        // none is lost between the start of the command and the wait.)
        let passedOn = [SIGTERM, SIGHUP].filter { !isIgnored($0) }
        _ = signal(SIGCHLD, SIG_DFL)
        let (awaited, before) = (set(of: passedOn + [SIGCHLD]), mask(set(of: passedOn + [SIGCHLD]), SIG_BLOCK))
        defer { _ = mask(before, SIG_SETMASK) }
        var child: pid_t = 0
        let result = spawn(command, heeding: heeded, masked: before, &child)
        guard result == 0 else { return ExitCode(rawValue: result == ENOENT ? 127 : 126) }
        return wait(for: child, passingOn: awaited)
    }

    private static func set(of numbers: [Int32]) -> sigset_t {
        var set = sigset_t()
        // The set is used for the time of the calls only.
        _ = unsafe sigemptyset(&set)
        for number in numbers { _ = unsafe sigaddset(&set, number) }
        return set
    }

    /// What was blocked before.
    private static func mask(_ wanted: sigset_t, _ how: Int32) -> sigset_t {
        var (wanted, before) = (wanted, sigset_t())
        // The sets are used for the time of the call only.
        _ = unsafe sigprocmask(how, &wanted, &before)
        return before
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        // The structure is used for the time of the call only.
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        // SIG_IGN is the number 1 in the place of a function.
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    /// 0, or what went wrong.
    private static func spawn(
        _ command: [[UInt8]], heeding heeded: [Int32], masked mask: sigset_t, _ child: inout pid_t
    ) -> Int32 {
        var attributes = posix_spawnattr_t()
        var (defaults, mask) = (set(of: heeded), mask)
        // Each word is a copy of ours until it is freed here, after the call that reads them; attributes and the set of
        // signals are set up before they are read and destroyed after.
        var words: [UnsafeMutablePointer<CChar>?] = unsafe []
        for word in command { unsafe words.append(strdup(word.map { CChar(bitPattern: $0) } + [0])) }
        unsafe words.append(nil)
        defer {
            for index in unsafe words.indices { unsafe free(words[index]) }
            _ = unsafe posix_spawnattr_destroy(&attributes)
        }
        guard unsafe posix_spawnattr_init(&attributes) == 0, let program = unsafe words[0] else { return ENOMEM }
        _ = unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        _ = unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        _ = unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        return unsafe posix_spawnp(&child, program, nil, &attributes, &words, environ)
    }

    private static func wait(for child: pid_t, passingOn awaited: sigset_t) -> ExitCode {
        var (status, awaited): (Int32, sigset_t) = (0, awaited)
        while true {
            // The number is used for the time of the call only.
            let ended = unsafe waitpid(child, &status, WNOHANG)
            if ended == child { break }
            if ended < 0, errno != EINTR { return .refused }
            var number: Int32 = 0
            // The set and the number are used for the time of the call only.
            guard unsafe sigwait(&awaited, &number) == 0, number != SIGCHLD else { continue }
            kill(child, number)
        }
        let signal = status & 0x7F
        return ExitCode(rawValue: signal == 0 ? status >> 8 & 0xFF : 128 + signal)
    }
}
