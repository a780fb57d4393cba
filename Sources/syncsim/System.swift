import Glibc

/// The few things `syncsim` asks of Linux: output, files, the number of processors. The simulated world asks for none of it.
enum System {
    struct Failure: Error {
        let text: String
    }

    static func say(_ text: String, terminator: String = "\n") { write(text + terminator, to: STDOUT_FILENO) }

    /// For progress and complaints.
    static func note(_ text: String) { write(text + "\n", to: STDERR_FILENO) }

    static func exit(_ code: Int32) -> Never { Glibc.exit(code) }

    static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    private static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            // The pointer is used for the time of the call only.
            let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                bytes = bytes.dropFirst(written)
            } else if errno != EINTR {
                return
            }
        }
    }

    static func read(_ path: String) throws(Failure) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot open", path) }
        defer { _ = Glibc.close(descriptor) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { break }
            if count > 0 {
                text.append(contentsOf: buffer[..<count])
            } else if errno != EINTR {
                throw failure("cannot read", path)
            }
        }
        guard let valid = String(validating: text, as: UTF8.self) else {
            throw Failure(text: "\(path) is not UTF-8: save it as UTF-8")
        }
        return valid
    }

    static func write(_ text: String, toFile path: String) throws(Failure) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure("cannot write", path) }
        write(text, to: descriptor)
        guard Glibc.close(descriptor) == 0 else { throw failure("cannot write", path) }
    }

    /// Names in a directory, in byte order.
    static func names(in directory: String) throws(Failure) -> [String] {
        guard let stream = unsafe opendir(directory) else { throw failure("cannot list", directory) }
        defer { unsafe _ = closedir(stream) }
        var names: [String] = []
        // The entry stays valid until the next call; its name is copied at once.
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private static func failure(_ what: String, _ path: String) -> Failure {
        Failure(text: unsafe "\(what) \(path): \(String(cString: strerror(errno)))")
    }
}

extension System {
    /// What this thread has worked, for figures only: machines are shared, and waiting for them costs nobody's core anything.
    static var workedNanoseconds: Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
    }

    /// Memory of this process that is in use.
    static var residentBytes: Int {
        let pages = (try? read("/proc/self/statm"))?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
