/// Why the store could not do what it was asked, by what the caller has to do about it. SQLite's codes become these in one
/// place, `Connection.error`.

public enum StoreError: Error, Hashable, Sendable {
    /// The state was written by a newer program; nothing was touched.
    case newer(found: Int, supported: Int)
    /// There is a healthy database, but of some other program; nothing was touched.
    case notOurs
    /// Another syncd works in this state directory.
    case busy
    /// What was read cannot be what was written. `Store.setAside` makes room for a fresh state.
    case damaged(StoreFault)
    /// There is no space for it. The batch was taken back and the store goes on: the same may be tried again.
    case full(StoreFault)
    /// The disk reported an error. After one in a write the store refuses all further writes, because only what is read
    /// anew from the disk can tell what reached it: open it again.
    case inputOutput(StoreFault)
    /// Anything else the machine may refuse: permission, a read-only file system, memory, a closed store.
    case failed(StoreFault)

    public var fault: StoreFault? {
        switch self {
        case .newer, .notOurs, .busy: nil
        case .damaged(let fault), .full(let fault), .inputOutput(let fault), .failed(let fault): fault
        }
    }
}

/// What went wrong, for the log and for people who ask.
public struct StoreFault: Hashable, Sendable {
    /// What was being done: "open state.db", "commit".
    public let operation: String
    /// What was found, in SQLite's words or ours.
    public let detail: String
    /// SQLite's extended result code; 0 if it was not SQLite that complained.
    public let code: Int32
    /// The number of the system call's error; 0 if none failed.
    public let errno: Int32

    init(_ operation: String, _ detail: String, code: Int32 = 0, errno: Int32 = 0) {
        self.operation = operation
        self.detail = detail
        self.code = code
        self.errno = errno
    }
}

extension StoreFault: CustomStringConvertible {
    public var description: String {
        let numbers = (code == 0 ? "" : ", SQLite \(code)") + (errno == 0 ? "" : ", errno \(errno)")
        return "\(operation): \(detail)\(numbers)"
    }
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .newer(let found, let supported):
            "the state was written by a newer version of syncd (format \(found); this version knows up to \(supported))"
        case .notOurs: "state.db belongs to another program"
        case .busy: "another syncd is running with this state directory"
        case .damaged(let fault): "the state is damaged: \(fault)"
        case .full(let fault): "there is no space for the state: \(fault)"
        case .inputOutput(let fault): "the disk that holds the state reported an error: \(fault)"
        case .failed(let fault): "the state could not be used: \(fault)"
        }
    }
}
