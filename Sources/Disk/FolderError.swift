/// Why a folder could not be set up, opened or watched.
import Glibc
import SyncModel

/// For people: `kind` chooses the message, the rest goes into its details.
public struct FolderError: Error, Hashable, Sendable {
    public enum Kind: UInt8, Hashable, Sendable {
        /// Nothing is at the path.
        case missing
        case notDirectory
        case permission
        /// There is a marker already.
        case alreadySetUp
        /// There is no marker.
        case notSetUp
        /// The marker is not one of ours, or `.syncd` is not what we made.
        case damaged
        /// The marker is that of another folder.
        case replaced
        /// Another process works on this folder.
        case inUse
        case noSpace
        case readOnly
        /// The kernel or the file system lacks something we cannot do without.
        case unsupported
        /// Out of file descriptors or inotify instances (fs.inotify.max_user_instances).
        case tooMany
        case failed
    }

    public let kind: Kind
    /// The system call, or the step that did not succeed.
    public let operation: String
    /// The folder's path, or the one inside it.
    public let subject: [UInt8]
    /// 0 if the kernel had no part in it.
    public let errno: Int32

    public init(kind: Kind, operation: String, subject: [UInt8], errno: Int32 = 0) {
        self.kind = kind
        self.operation = operation
        self.subject = subject
        self.errno = errno
    }

    init(_ failure: Failure, operation: String, subject: [UInt8]) {
        self.init(
            kind: FolderError.kind(of: failure), operation: operation, subject: subject, errno: failure.errno)
    }

    private static func kind(of failure: Failure) -> Kind {
        if failure.isWantOfDescriptors { return .tooMany }
        switch failure.error {
        case .notFound: return .missing
        case .notDirectory: return .notDirectory
        case .permission: return .permission
        case .noSpace: return .noSpace
        case .readOnly: return .readOnly
        case .unsupported: return .unsupported
        case .exists, .notEmpty, .isDirectory, .inputOutput, .busy, .nameTooLong, .crossDevice, .mismatch:
            return .failed
        }
    }
}

extension FolderError: CustomStringConvertible {
    /// `renameat2 of "/srv/shared/.syncd/stage": Read-only file system`.
    public var description: String {
        "\(operation) of \(Path.quote(subject)): \(reason)"
    }

    private var reason: String {
        if errno != 0, let text = unsafe strerror(errno) { return unsafe String(cString: text) }
        return switch kind {
        case .missing: "it is not there"
        case .notDirectory: "it is no directory"
        case .permission: "this user may not do that"
        case .alreadySetUp: "it is set up already"
        case .notSetUp: "it is not set up"
        case .damaged: "it is not what syncd made"
        case .replaced: "it belongs to another folder"
        case .inUse: "another syncd works there"
        case .noSpace: "there is no space"
        case .readOnly: "it can only be read"
        case .unsupported: "the file system cannot do that"
        case .tooMany: "too much is open already"
        case .failed: "it is not as it was a moment ago"
        }
    }
}

/// Runs a step whose failure is told with its name and its subject.
func step<Value: ~Copyable>(
    _ operation: String, _ subject: [UInt8], _ body: () throws(Failure) -> Value
) throws(FolderError) -> Value {
    do throws(Failure) {
        return try body()
    } catch {
        throw FolderError(error, operation: operation, subject: subject)
    }
}
