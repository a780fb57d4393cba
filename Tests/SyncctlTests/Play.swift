import ControlProtocol
import Glibc
import Testing

/// Plays the daemon for the real `syncctl`: one loop that takes its requests, answers by a script and gathers what it
/// prints. No threads and no waiting but for the program itself.
struct Play {
    enum Action {
        case reply(ControlReply)
        case raw([UInt8])
        /// Closes the connection.
        case hangUp
        /// What Ctrl-C does.
        case interrupt
    }

    struct Outcome {
        /// As a shell tells it: 128 and the number of the signal, if there was one.
        var code: Int32 = -1
        var output = ""
        var errors = ""
        var requests: [ControlRequest] = []
    }

    struct Broken: Error {
        let step: String
        let code: Int32
    }

    /// Nobody listens without a script.
    static func run(
        _ arguments: [String], in directory: Scratch, environment: [String] = [], secondsMax: Int = 60,
        daemon: ((ControlCall) -> [Action])? = nil
    ) throws -> Outcome {
        var play = Play(directory: directory, script: daemon)
        defer { play.close() }
        if daemon != nil { try play.listen() }
        try play.start(arguments, environment)
        try play.perform(secondsMax: secondsMax)
        return play.outcome
    }

    /// A socket that takes connections and never says a word; whoever asks for it closes it.
    static func silence(in directory: Scratch) throws -> Int32 {
        var play = Play(directory: directory, script: nil)
        try play.listen()
        return play.listener
    }

    /// Answers every request with one document.
    static func answering(_ json: JSON) -> (ControlCall) -> [Action] {
        { [.reply(.result($0.id, json))] }
    }

    static func refusing(_ error: ControlError) -> (ControlCall) -> [Action] {
        { [.reply(.refusal(ControlRefusal(id: $0.id, error: error)))] }
    }

    private let directory: Scratch
    private let script: ((ControlCall) -> [Action])?
    private var outcome = Outcome()
    private var listener: Int32 = -1
    private var client: Int32 = -1
    private var lines = LineBuffer()
    private var output: Int32 = -1
    private var errors: Int32 = -1
    private var child: pid_t = -1
    private var bytes: (output: [UInt8], errors: [UInt8]) = ([], [])

    private init(directory: Scratch, script: ((ControlCall) -> [Action])?) {
        self.directory = directory
        self.script = script
    }

    private func close() {
        for descriptor in [listener, client, output, errors] where descriptor >= 0 { Glibc.close(descriptor) }
        guard child > 0 else { return }
        _ = kill(child, SIGKILL)
        // A dead child that nobody takes away hides every later one from the test library, which would wait for ever.
        _ = waitpid(child, nil, 0)
    }

    private mutating func listen() throws {
        listener = try check("socket", socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array(directory.socket.utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let listener = listener
        let result = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        _ = try check("bind", result)
        _ = try check("listen", Glibc.listen(listener, 8))
    }

    private mutating func start(_ arguments: [String], _ environment: [String]) throws {
        let (readOutput, writeOutput) = try pipe()
        let (readErrors, writeErrors) = try pipe()
        (output, errors) = (readOutput, readErrors)
        defer {
            Glibc.close(writeOutput)
            Glibc.close(writeErrors)
        }
        var actions = unsafe posix_spawn_file_actions_t()
        _ = unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe _ = posix_spawn_file_actions_destroy(&actions) }
        _ = unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        _ = unsafe posix_spawn_file_actions_adddup2(&actions, writeOutput, 1)
        _ = unsafe posix_spawn_file_actions_adddup2(&actions, writeErrors, 2)
        // Whoever runs the tests in the background of a shell ignores Ctrl-C, and the threads of the test library block it;
        // the program must not inherit that.
        var attributes = posix_spawnattr_t()
        var defaults = sigset_t()
        _ = unsafe posix_spawnattr_init(&attributes)
        defer { unsafe _ = posix_spawnattr_destroy(&attributes) }
        _ = unsafe sigemptyset(&defaults)
        for number in [SIGINT, SIGQUIT, SIGPIPE] { _ = unsafe sigaddset(&defaults, number) }
        _ = unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        var none = sigset_t()
        _ = unsafe sigemptyset(&none)
        _ = unsafe posix_spawnattr_setsigmask(&attributes, &none)
        _ = unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        let program = try Play.program()
        // env goes to the directory and becomes the program: posix_spawn cannot be told to from Swift.
        var words = unsafe Play.copies(["env", "-C", directory.path, program] + arguments)
        var variables = unsafe Play.copies(["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"] + environment)
        defer {
            for index in unsafe words.indices { unsafe free(words[index]) }
            for index in unsafe variables.indices { unsafe free(variables[index]) }
        }
        _ = try check("spawn", -(unsafe posix_spawn(&child, "/usr/bin/env", &actions, &attributes, &words, &variables)))
    }

    private static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        var copies: [UnsafeMutablePointer<CChar>?] = unsafe []
        for text in texts { unsafe copies.append(strdup(text)) }
        unsafe copies.append(nil)
        return unsafe copies
    }

    /// Beside the tests, wherever they were built.
    static func program() throws -> String {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") }
        var places = [bundle, CommandLine.arguments.first].compactMap { $0 }.map { path in
            path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        }
        places.append(".build/debug")
        guard let place = places.first(where: { unsafe access("\($0)/syncctl", X_OK) == 0 }) else {
            throw Broken(step: "find syncctl in \(places)", code: ENOENT)
        }
        // Its working directory is another one than ours.
        guard let whole = unsafe realpath("\(place)/syncctl", nil) else {
            throw Broken(step: "find syncctl in \(place)", code: errno)
        }
        defer { unsafe free(whole) }
        return unsafe String(cString: whole)
    }

    private mutating func perform(secondsMax: Int) throws {
        let end = Play.now + Int64(secondsMax) * 1_000
        while output >= 0 || errors >= 0 {
            guard Play.now < end else { throw Broken(step: "end within \(secondsMax) s", code: ETIMEDOUT) }
            let watched = [output, errors, client >= 0 ? client : listener].filter { $0 >= 0 }
            var polls = watched.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            unsafe poll(&polls, nfds_t(polls.count), 100)
            for ready in polls where ready.revents != 0 { try handle(ready.fd) }
        }
        var status: Int32 = 0
        _ = try check("waitpid", unsafe waitpid(child, &status, 0))
        child = -1
        outcome.code = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
        outcome.output = String(decoding: bytes.output, as: UTF8.self)
        outcome.errors = String(decoding: bytes.errors, as: UTF8.self)
    }

    private mutating func handle(_ descriptor: Int32) throws {
        if descriptor == listener {
            client = Play.closingOnExec(try check("accept", accept(listener, nil, nil)))
            lines = LineBuffer()
            return
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        if count <= 0 { return drop(descriptor) }
        switch descriptor {
        case output: bytes.output += buffer[..<count]
        case errors: bytes.errors += buffer[..<count]
        default:
            lines.append(buffer[..<count])
            while case .line(let line) = lines.next() { try answer(ControlCall(line: line)) }
        }
    }

    private mutating func drop(_ descriptor: Int32) {
        Glibc.close(descriptor)
        if descriptor == output { output = -1 }
        if descriptor == errors { errors = -1 }
        if descriptor == client { client = -1 }
    }

    private mutating func answer(_ call: ControlCall) throws {
        outcome.requests.append(call.request)
        for action in script?(call) ?? [] where client >= 0 {
            switch action {
            case .reply(let reply): send(reply.bytes)
            case .raw(let bytes): send(bytes)
            case .hangUp: drop(client)
            case .interrupt: _ = kill(child, SIGINT)
            }
        }
    }

    /// Whether the program still listens is its own affair.
    private func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    private func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        _ = try check("pipe", unsafe Glibc.pipe(&ends))
        return (Play.closingOnExec(ends[0]), Play.closingOnExec(ends[1]))
    }

    private static func closingOnExec(_ descriptor: Int32) -> Int32 {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    private func check(_ step: String, _ result: Int32) throws -> Int32 {
        guard result >= 0 else { throw Broken(step: step, code: errno) }
        return result
    }

    private static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// A directory for one test, gone with it.
final class Scratch {
    let path: String

    var socket: String { path + "/ctl.sock" }

    init() throws {
        var template = Array("/tmp/syncd-test-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw Play.Broken(step: "mkdtemp", code: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Scratch.remove(path) }

    /// So that another daemon can be played here.
    func removeSocket() throws {
        guard unsafe unlink(socket) == 0 else { throw Play.Broken(step: "remove the socket", code: errno) }
    }

    func make(_ name: String, mode: UInt32 = 0o755) throws {
        guard unsafe mkdir("\(path)/\(name)", mode) == 0 else { throw Play.Broken(step: "mkdir \(name)", code: errno) }
        _ = unsafe chmod("\(path)/\(name)", mode)
    }

    func write(_ name: String, _ text: String) throws {
        let descriptor = unsafe open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Play.Broken(step: "write \(name)", code: errno) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw Play.Broken(step: "write \(name)", code: errno)
        }
    }

    func text(_ name: String) -> String? {
        let descriptor = unsafe open("\(path)/\(name)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Everything below, with its rights: `700 state/`, `600 state/identity/key.pem`.
    var tree: [String] { Scratch.list(path, "") }

    private static func list(_ path: String, _ prefix: String) -> [String] {
        names(path).flatMap { name -> [String] in
            var status = stat()
            unsafe lstat("\(path)/\(name)", &status)
            let isDirectory = status.st_mode & S_IFMT == S_IFDIR
            let line = "\(String(status.st_mode & 0o777, radix: 8)) \(prefix)\(name)\(isDirectory ? "/" : "")"
            return [line] + (isDirectory ? list("\(path)/\(name)", "\(prefix)\(name)/") : [])
        }
    }

    private static func names(_ path: String) -> [String] {
        guard let stream = unsafe opendir(path) else { return [] }
        defer { unsafe _ = closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private static func remove(_ path: String) {
        for name in names(path) {
            if unsafe unlink("\(path)/\(name)") != 0 { remove("\(path)/\(name)") }
        }
        _ = unsafe rmdir(path)
    }
}
