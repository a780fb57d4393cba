internal import CLibuv
internal import Glibc

/// What the system or the resolver answered when the loop asked for something: the request, in words that can stand in
/// a log line, and the answer as libuv numbers it.
public struct LoopError: Error, Hashable, Sendable {
    /// What was asked, with its subject: `connect beta.example:7420`.
    public let operation: String
    /// A negative errno, or one of libuv's own numbers for name resolution.
    public let code: Int32

    public init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// The symbol an administrator can search for: `ECONNREFUSED`.
    public var name: String { unsafe Self.read { unsafe uv_err_name_r(code, $0, $1) } }

    /// The answer in words: `connection refused`.
    public var text: String { unsafe Self.read { unsafe uv_strerror_r(code, $0, $1) } }

    /// libuv writes into a buffer of ours: its simpler calls leak memory for numbers they do not know.
    private static func read(_ write: (UnsafeMutablePointer<CChar>, Int) -> UnsafeMutablePointer<CChar>?) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let start = buffer.baseAddress, let text = unsafe write(start, buffer.count) else { return "" }
            return unsafe String(cString: text)
        }
    }
}

extension LoopError: CustomStringConvertible {
    public var description: String { "\(operation): \(text) (\(name))" }
}

/// The codes that callers decide by. All others are only shown.
extension LoopError {
    public static let addressInUse = UV_EADDRINUSE.rawValue
    public static let addressNotHere = UV_EADDRNOTAVAIL.rawValue
    public static let brokenPipe = UV_EPIPE.rawValue
    public static let cancelled = UV_ECANCELED.rawValue
    public static let connectionRefused = UV_ECONNREFUSED.rawValue
    public static let connectionReset = UV_ECONNRESET.rawValue
    public static let invalidArgument = UV_EINVAL.rawValue
    public static let nameTooLong = UV_ENAMETOOLONG.rawValue
    public static let noPermission = UV_EACCES.rawValue
    public static let noSuchFile = UV_ENOENT.rawValue
    public static let notASocket = UV_ENOTSOCK.rawValue
    public static let notPermitted = UV_EPERM.rawValue
    public static let timedOut = UV_ETIMEDOUT.rawValue
    public static let tryAgain = UV_EAGAIN.rawValue
    public static let unknownHost = UV_EAI_NONAME.rawValue
}

extension LoopError {
    /// Throws when a libuv call answered with an error; hands its answer through otherwise.
    @discardableResult
    static func check(_ answer: Int32, _ operation: @autoclosure () -> String) throws(LoopError) -> Int32 {
        guard answer >= 0 else { throw LoopError(operation: operation(), code: answer) }
        return answer
    }

    /// For plain system calls, which answer -1 and leave the reason in errno. Read before anything else can change it.
    @discardableResult
    static func checkErrno(_ answer: Int32, _ operation: @autoclosure () -> String) throws(LoopError) -> Int32 {
        let reason = errno
        guard answer >= 0 else { throw LoopError(operation: operation(), code: -reason) }
        return answer
    }
}
