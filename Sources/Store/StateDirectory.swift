/// The state directory and the names in it: whose it is, what lies there, and how a new or a damaged state gets its name.
/// Everything happens relative to one descriptor; SQLite alone is given paths.
import Glibc

final class StateDirectory {
    static let state = "state.db"
    static let newState = "state.db.new"
    /// A copy that is not whole yet.
    static let copy = "state.db.copy"
    private static let journals = ["-wal", "-journal"]

    enum Findings {
        case nothing
        case state
        /// What is left cannot be opened; a sentence about it.
        case remains(String)
    }

    private let path: [UInt8]
    /// Open until `close`; the lock of the directory hangs on it.
    private var descriptor: Int32 = -1

    init(_ path: [UInt8]) throws(StoreError) {
        if path.contains(0) { throw StateDirectory.error("open the state directory", number: EINVAL) }
        self.path = try StateDirectory.resolved(path)
        descriptor = unsafe Glibc.open(StateDirectory.text(self.path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try StateDirectory.check(descriptor, "open the state directory")
    }

    deinit { close() }

    func close() {
        if descriptor < 0 { return }
        // A process that is being forked off holds the descriptor for a moment longer; it must not hold the lock.
        flock(descriptor, LOCK_UN)
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// Absolute and without links. SQLite could take another path for a URI, and since it must not follow a state.db that
    /// is a link, it would refuse a link on the way there too.
    private static func resolved(_ path: [UInt8]) throws(StoreError) -> [UInt8] {
        let found = unsafe realpath(text(path), nil)
        try check(unsafe found == nil ? -1 : 0, "open the state directory")
        defer { unsafe free(found) }
        guard let found = unsafe found else { return path }
        return unsafe Array(UnsafeRawBufferPointer(start: found, count: strlen(found)))
    }

    private static func text(_ path: [UInt8]) -> [CChar] { path.map { CChar(bitPattern: $0) } + [0] }

    func path(of name: String) -> [UInt8] { path + [0x2F] + Array(name.utf8) }

    /// The kernel drops the lock with the process, however that ends. Unlike SQLite's own it also keeps out a second
    /// open in the same process, and it is held before anything is looked at.
    func lock() throws(StoreError) {
        let result = flock(descriptor, LOCK_EX | LOCK_NB)
        if result != 0, errno == EWOULDBLOCK { throw .busy }
        try StateDirectory.check(result, "lock the state directory")
    }
}

// MARK: What is there

extension StateDirectory {
    func hasState() throws(StoreError) -> Bool {
        if case .nothing = try findings() { return false }
        return true
    }

    func findings() throws(StoreError) -> Findings {
        guard let size = try size(of: StateDirectory.state) else {
            for journal in StateDirectory.journals where try size(of: StateDirectory.state + journal) != nil {
                return .remains("it is gone, but its journal is there")
            }
            return .nothing
        }
        return size == 0 ? .remains("it is empty") : .state
    }

    /// True if the last process left one that is not empty: it did not end in order.
    func hasJournal() throws(StoreError) -> Bool {
        for journal in StateDirectory.journals where try size(of: StateDirectory.state + journal) ?? 0 > 0 {
            return true
        }
        return false
    }

    /// The journal of state.db, which is there while that is open.
    func openJournal() throws(StoreError) -> Int32 {
        let name = StateDirectory.state + StateDirectory.journals[0]
        let file = unsafe openat(descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        try StateDirectory.check(file, "open \(name)")
        return file
    }

    /// Nil if there is no such name.
    private func size(of name: String) throws(StoreError) -> Int? {
        var status = stat()
        let result = unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW)
        if result != 0, errno == ENOENT { return nil }
        try StateDirectory.check(result, "look for \(name)")
        return status.st_size
    }
}

// MARK: New and damaged states

extension StateDirectory {
    /// Takes the place of what a crash left under the name. Only the owner may read it; SQLite gives its journal the same
    /// mode.
    func makeEmptyFile(_ name: String) throws(StoreError) {
        let result = unsafe unlinkat(descriptor, name, 0)
        if result != 0, errno != ENOENT { try StateDirectory.check(result, "remove \(name)") }
        let file = unsafe openat(descriptor, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
        try StateDirectory.check(file, "make \(name)")
        Glibc.close(file)
    }

    /// SQLite has synced the file; now its name is.
    func nameNewState() throws(StoreError) {
        try rename(StateDirectory.newState, to: StateDirectory.state)
        try sync()
    }

    /// What it holds reaches the disk before it gets its name.
    func nameCopy() throws(StoreError) -> [UInt8] {
        let file = unsafe openat(descriptor, StateDirectory.copy, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        try StateDirectory.check(file, "open \(StateDirectory.copy)")
        defer { Glibc.close(file) }
        try StateDirectory.check(fsync(file), "sync \(StateDirectory.copy)")
        let name = try freeName("before-forgetting")
        try rename(StateDirectory.copy, to: name)
        try sync()
        return Array(name.utf8)
    }

    /// What cannot be removed is replaced by the next copy.
    func dropCopy() { _ = unsafe unlinkat(descriptor, StateDirectory.copy, 0) }

    /// The database goes before its journal: alone in its place it would be taken for an older state, while a journal
    /// without a database is known for what it is.
    func setAside() throws(StoreError) -> [UInt8] {
        let name = try freeName("damaged")
        for suffix in [""] + StateDirectory.journals where try size(of: StateDirectory.state + suffix) != nil {
            try rename(StateDirectory.state + suffix, to: name + suffix)
        }
        try sync()
        return Array(name.utf8)
    }

    /// A name under which nothing lies yet. The directory is locked, so nobody takes it meanwhile.
    private func freeName(_ kind: String) throws(StoreError) -> String {
        let dated = "\(StateDirectory.state).\(kind)-\(StateDirectory.date())"
        for number in 1...1_000 {
            let name = number == 1 ? dated : "\(dated)-\(number)"
            var isFree = true
            for suffix in [""] + StateDirectory.journals where try size(of: name + suffix) != nil { isFree = false }
            if isFree { return name }
        }
        throw StateDirectory.error("find a free name beside state.db", number: EEXIST)
    }

    private func rename(_ name: String, to other: String) throws(StoreError) {
        try StateDirectory.check(unsafe renameat(descriptor, name, descriptor, other), "rename \(name) to \(other)")
    }

    /// The names in it.
    func sync() throws(StoreError) {
        try StateDirectory.check(fsync(descriptor), "sync the state directory")
    }

    /// Now, in UTC.
    private static func date() -> String {
        var now = time(nil)
        var fields = unsafe tm()
        unsafe gmtime_r(&now, &fields)
        var text = [CChar](repeating: 0, count: 32)
        let count = unsafe strftime(&text, text.count, "%Y%m%d-%H%M%S", &fields)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The result of a system call. The text is made afterwards, so that nothing comes between the call and `errno`.
    private static func check(_ result: Int32, _ operation: @autoclosure () -> String) throws(StoreError) {
        if result >= 0 { return }
        let number = errno
        throw error(operation(), number: number)
    }

    private static func error(_ operation: String, number: Int32) -> StoreError {
        let text = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "no text"
        let fault = StoreFault(operation, text, errno: number)
        switch number {
        case ENOSPC, EDQUOT: return .full(fault)
        case EIO: return .inputOutput(fault)
        default: return .failed(fault)
        }
    }
}
