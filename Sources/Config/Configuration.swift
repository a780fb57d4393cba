/// What stands in syncd.conf, section by section: every key has a value here, its own or the default.
/// The keys are listed in `ConfigurationKey`, read in `ConfigurationReader` and written in `Configuration+Text`.
public import SyncModel

/// Paths are bytes, absolute, without `//`, `.`, `..` or a slash at the end.
public struct Configuration: Hashable, Sendable {
    public var node: Node
    public var folder: Folder
    public var link = Link()
    public var safety = Safety()
    public var alerts = Alerts()

    public static let defaultFile = "/etc/syncd/syncd.conf"

    public struct Node: Hashable, Sendable {
        public var name: String
        public var state: [UInt8] = Array("/var/lib/syncd/default".utf8)
        public var control: [UInt8] = Array("/run/syncd/default.sock".utf8)
    }

    public struct Folder: Hashable, Sendable {
        public var path: [UInt8]
        public var models: [UInt8] = Folder.usualModels

        public static let usualModels = Array("/etc/syncd/models.d".utf8)
    }

    public enum Transport: String, CaseIterable, Hashable, Sendable {
        case tls
        /// Through files in a directory that both nodes can see, at different times.
        case directory
    }

    public struct Link: Hashable, Sendable {
        public var transport = Transport.tls
        /// `HOST:PORT`. Nil: this node only dials.
        public var listen: String? = "[::]:7420"
        /// `HOST:PORT`. Nil: this node only waits to be dialled.
        public var peer: String?
        /// There with `transport = directory`.
        public var mailbox: [UInt8]?
        /// 0 is no limit.
        public var rateLimitBytesPerSecond: UInt64 = 0
    }

    public struct Safety: Hashable, Sendable {
        public var settings = Settings()
        public var reserve = Reserve.percent(1)
    }

    /// What stays free on the file system of the folder, whatever the peer sends.
    public enum Reserve: Hashable, Sendable {
        case percent(Int)
        case bytes(UInt64)

        public func bytes(of total: UInt64) -> UInt64 {
            switch self {
            case .percent(let percent): total / 100 * UInt64(percent) + total % 100 * UInt64(percent) / 100
            case .bytes(let bytes): bytes
            }
        }
    }

    public struct Alerts: Hashable, Sendable {
        /// A shell command that gets each alert as JSON on its standard input.
        public var hook: [UInt8]?
    }

    /// Two nodes that everything else is left at its default for.
    init(name: String, folder: [UInt8]) {
        node = Node(name: name)
        self.folder = Folder(path: folder)
    }
}
