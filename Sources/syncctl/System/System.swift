import Glibc

/// What `syncctl` asks of Linux besides files and sockets: its arguments, the terminal, the clock.
enum System {
    enum Stream: Int32 {
        case output = 1
        case error = 2
    }

    /// Without the program's own name, as the bytes they are: paths need not be UTF-8, and `CommandLine.arguments` would
    /// repair what is not.
    static var arguments: [[UInt8]] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            // The vector and its strings live as long as the process and are written by nobody.
            unsafe CommandLine.unsafeArgv[index].map { argument in
                unsafe Array(UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
            }
        }
    }

    static func exit(_ code: ExitCode) -> Never { Glibc.exit(code.rawValue) }

    /// Unbuffered. Nobody reading any more is no error of ours: the process ends as it would by the signal. An answer that cannot be
    /// written is one: whoever goes by the exit code must not take it for given.
    static func write(_ text: String, to stream: Stream) { write(Array(text.utf8), to: stream) }

    static func write(_ bytes: [UInt8], to stream: Stream) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The pointer is used for the time of the call only.
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(stream.rawValue, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) }
            if count < 0, errno == EPIPE { Glibc.exit(128 + SIGPIPE) }
            if count < 0, errno != EINTR, errno != EAGAIN {
                guard stream == .output else { return }
                let reason = unsafe String(cString: strerror(errno))
                let told = "syncctl: The answer cannot be written: \(reason). What was asked for may have been done.\n"
                write(told, to: .error)
                exit(.refused)
            }
        }
    }

    static var style: Style {
        let isTerminal = isTerminal
        let isPlain = !(environment("NO_COLOR") ?? "").isEmpty || environment("TERM") == "dumb"
        return Style(usesColor: isTerminal && !isPlain, asciiOnly: isTerminal && !showsUTF8, width: width)
    }

    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    private static var showsUTF8: Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = names.lazy.compactMap(environment).first { !$0.isEmpty } ?? ""
        return locale.lowercased().replacing("-", with: "").contains("utf8")
    }

    private static var width: Int {
        let told = environment("COLUMNS").flatMap { Int($0) }
        return max(40, size.map { Int($0.ws_col) } ?? told ?? 80)
    }

    /// In lines; nil where there is no terminal.
    static var height: Int? { size.map { Int($0.ws_row) } }

    private static var size: winsize? {
        var size = winsize()
        // The structure is used for the time of the call only.
        return unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? size : nil
    }

    static func environment(_ name: String) -> String? {
        // Copied at once; nothing here changes the environment.
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    /// Nil where the directory has been deleted.
    static var workingDirectory: [UInt8]? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        // The buffer is used for the time of the call only; the result ends with a zero.
        guard unsafe getcwd(&buffer, buffer.count) != nil else { return nil }
        let path = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        // Linux says "(unreachable)…" of a directory outside of the process's root.
        return path.first == UInt8(ascii: "/") ? path : nil
    }

    static var wallMilliseconds: Int64 {
        var time = timespec()
        // The structure is used for the time of the call only.
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// What Linux calls it: "No such file or directory".
    static func text(of code: Int32) -> String {
        // Copied at once; there is one thread.
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }

    static var processID: Int { Int(getpid()) }

    static var userID: UInt32 { geteuid() }
}
