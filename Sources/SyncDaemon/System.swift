import Glibc

/// The few things the shell asks of Linux that belong to no adapter. The only file here that speaks to Glibc.
enum System {
    /// Writes as far as it can be written: a closed stderr is no reason to stop syncing.
    static func tell(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }

    static func environment(_ name: String) -> String? {
        // The value belongs to the environment, which nobody changes after the start.
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    static var userID: UInt32 { geteuid() }

    /// Names the run of the machine: another one means that it went down in between.
    static func bootID() -> [UInt8]? { contents(of: Array("/proc/sys/kernel/random/boot_id".utf8), limit: 128) }

    /// A small file whole; nil if it cannot be read or is larger than `limit`.
    static func contents(of path: [UInt8], limit: Int) -> [UInt8]? {
        let descriptor = unsafe open(terminated(path), O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var filled = 0
        while filled < bytes.count {
            let room = bytes.count - filled
            let count = unsafe bytes.withUnsafeMutableBytes { space in
                unsafe Glibc.read(
                    descriptor, UnsafeMutableRawBufferPointer(rebasing: space[filled...]).baseAddress, room)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return Array(bytes[..<filled]) }
            filled += count
        }
        return nil
    }

    /// What lies in a directory, in no order; nothing if it cannot be read.
    static func names(in directory: [UInt8]) -> [[UInt8]] {
        guard let stream = unsafe opendir(terminated(directory)) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [[UInt8]] = []
        // The entry belongs to the stream and is good until the next is read.
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            if name != [UInt8(ascii: ".")], name != Array("..".utf8) { names.append(name) }
        }
        return names
    }

    /// True if it is there and this user may not read it, or may not even see whether it is.
    static func isForbidden(_ path: [UInt8]) -> Bool {
        unsafe access(terminated(path), R_OK) != 0 && errno == EACCES
    }

    /// Whose it is; nil if it is not there, or this user may not see that.
    static func owner(of path: [UInt8]) -> String? {
        var status = stat()
        guard unsafe stat(terminated(path), &status) == 0 else { return nil }
        return name(ofUser: status.st_uid)
    }

    /// Others than its owner may do something with it.
    static func isOpenToOthers(_ path: [UInt8]) -> Bool {
        var status = stat()
        return unsafe stat(terminated(path), &status) == 0 && status.st_mode & 0o077 != 0
    }

    /// Who this process runs as.
    static var ownName: String { name(ofUser: userID) }

    private static func name(ofUser number: UInt32) -> String {
        // The entry belongs to the library and is good until the next is looked up.
        guard let entry = unsafe getpwuid(number) else { return "user \(number)" }
        return unsafe "user " + String(cString: entry.pointee.pw_name)
    }

    /// Makes one directory; whether it was there already or cannot be made shows when it is used.
    static func makeDirectory(_ path: [UInt8], mode: UInt32) {
        _ = unsafe mkdir(terminated(path), mode)
    }

    /// What Linux said to a change of a file.
    struct FileError: Error, CustomStringConvertible {
        let operation: String
        let number: Int32

        var description: String { "\(operation): \(System.describe(number))" }
    }

    /// A small file with these bytes in the place of whatever is there, and on the disk when this returns.
    static func replace(_ path: [UInt8], by bytes: [UInt8], mode: UInt32) throws(FileError) {
        let draft = draft(of: path)
        try remove(draft)
        let descriptor = unsafe open(terminated(draft), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw FileError(operation: "making a file", number: errno) }
        let problem = fill(descriptor, with: bytes)
        close(descriptor)
        if let problem { throw problem }
        try move(draft, to: path)
    }

    /// What `replace` writes first. It stays behind only if the process ends there.
    static func draft(of path: [UInt8]) -> [UInt8] { path + Array(".new".utf8) }

    private static func fill(_ descriptor: Int32, with bytes: [UInt8]) -> FileError? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return FileError(operation: "writing a file", number: errno) }
            rest = rest.dropFirst(count)
        }
        return fsync(descriptor) == 0 ? nil : FileError(operation: "syncing a file", number: errno)
    }

    /// Within one directory, and durable when this returns.
    static func move(_ path: [UInt8], to other: [UInt8]) throws(FileError) {
        guard unsafe rename(terminated(path), terminated(other)) == 0 else {
            throw FileError(operation: "renaming a file", number: errno)
        }
        try syncDirectory(of: other)
    }

    /// Nothing happens if it is not there.
    static func remove(_ path: [UInt8]) throws(FileError) {
        guard unsafe unlink(terminated(path)) == 0 else {
            if errno == ENOENT { return }
            throw FileError(operation: "removing a file", number: errno)
        }
        try syncDirectory(of: path)
    }

    private static func syncDirectory(of path: [UInt8]) throws(FileError) {
        let directory = path[..<(path.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)]
        let descriptor = unsafe open(terminated(Array(directory)), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(operation: "opening a directory", number: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileError(operation: "syncing a directory", number: errno) }
    }

    /// The number of a group in the system's database of groups.
    static func group(_ name: String) -> UInt32? {
        guard let group = unsafe getgrnam(name) else { return nil }
        return unsafe group.pointee.gr_gid
    }

    private static func terminated(_ path: [UInt8]) -> [CChar] { path.map(CChar.init(bitPattern:)) + [0] }
}

extension System {
    static var groupID: UInt32 { getegid() }
    static var terminate: Int32 { SIGTERM }
    static var interrupt: Int32 { SIGINT }
    static var hangUp: Int32 { SIGHUP }
}

// MARK: Commands

extension System {
    enum CommandEnd: Sendable {
        case exited(Int32)
        case signalled(Int32)
        case tooSlow
        /// Whoever waited has something better to do; it goes on by itself, and is whose child it was.
        case abandoned(process: pid_t)
        case failed(String)
    }

    /// Runs a shell command that gets `input` on its standard input, and waits for its end. Blocks; not for the loop.
    static func run(
        shell command: [UInt8], input: [UInt8], milliseconds: Int, isAbandoned: () -> Bool
    ) -> CommandEnd {
        // A socket, because writing to it raises no signal when the command does not read.
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { return .failed(describe(errno)) }
        let (ours, theirs) = (ends[0], ends[1])
        var process: pid_t = 0
        let problem = spawn(command, input: theirs, &process)
        close(theirs)
        defer { close(ours) }
        guard problem == 0 else { return .failed(describe(problem)) }
        let sent = unsafe input.withUnsafeBytes {
            unsafe send(ours, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        shutdown(ours, Int32(SHUT_WR))
        let end = wait(for: process, milliseconds, isAbandoned)
        if case .exited = end, sent >= 0, sent < input.count { return .failed("the alert is too long for it") }
        return end
    }

    /// With the signals of a fresh process, and as a group of its own, so that it can be ended with its children.
    private static func spawn(_ command: [UInt8], input: Int32, _ process: inout pid_t) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        let words = [Array("/bin/sh".utf8), Array("-c".utf8), command].map(terminated)
        let arguments = unsafe words.map { unsafe strdup($0) }
        defer { unsafe arguments.forEach { unsafe free($0) } }
        return unsafe posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments + [nil], environ)
    }

    private static func wait(for process: pid_t, _ milliseconds: Int, _ isAbandoned: () -> Bool) -> CommandEnd {
        let pause = 10
        for _ in 0..<(milliseconds / pause) {
            var status: Int32 = 0
            let answer = unsafe waitpid(process, &status, WNOHANG)
            if answer == process { return end(status) }
            if answer < 0 && errno != EINTR { return .failed(describe(errno)) }
            if isAbandoned() { return .abandoned(process: process) }
            usleep(UInt32(pause) * 1_000)
        }
        kill(-process, SIGKILL)
        var status: Int32 = 0
        unsafe waitpid(process, &status, 0)
        return .tooSlow
    }

    /// The macros of <sys/wait.h>.
    private static func end(_ status: Int32) -> CommandEnd {
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
    }

    private static func describe(_ number: Int32) -> String {
        guard let text = unsafe strerror(number) else { return "error \(number)" }
        return unsafe String(cString: text)
    }
}

extension System {
    #if DEBUG
        /// As a fault of the program would.
        static func die() -> Never { abort() }
        static func hang() -> Never { while true { _ = getpid() } }
    #endif
}

/// A small file that is written in place, with no sync: for what has to outlive the process, not the machine.
final class MarkFile: Sendable {
    private let descriptor: Int32

    /// Nil if it cannot be opened for writing.
    init?(_ path: [UInt8]) {
        let name = path.map(CChar.init(bitPattern:)) + [0]
        descriptor = unsafe open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    func read(limit: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, limit, 0) }
        return Array(bytes.prefix(max(0, count)))
    }

    /// What cannot be written is not remembered.
    func write(_ bytes: [UInt8], at offset: Int) {
        _ = unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
    }

    func cut(at length: Int) { _ = ftruncate(descriptor, off_t(length)) }
}
