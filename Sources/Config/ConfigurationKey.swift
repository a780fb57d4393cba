/// Every key of syncd.conf: what it is called, what it says to whoever edits the file, and how its value is read and
/// written. A new key is one more case, and the compiler asks for the rest.

import SyncModel

/// In the order of the file. The raw value is the section, a dot and the key.
public enum ConfigurationKey: String, CaseIterable, Hashable, Sendable {
    case name = "node.name"
    case state = "node.state"
    case control = "node.control"
    case folder = "folder.path"
    case models = "folder.models"
    case transport = "link.transport"
    case listen = "link.listen"
    case peer = "link.peer"
    case mailbox = "link.mailbox"
    case rateLimit = "link.rate-limit"
    case deleteFuseFiles = "safety.delete-fuse-files"
    case deleteFusePercent = "safety.delete-fuse-percent"
    case keepVersionsDays = "safety.keep-versions-days"
    case keepVersionsSize = "safety.keep-versions-size"
    case reserve = "safety.reserve"
    case hook = "alerts.hook"

    public var section: String { String(rawValue.prefix { $0 != "." }) }
    public var name: String { String(rawValue.drop { $0 != "." }.dropFirst()) }

    /// Without these there is nothing to do.
    var isRequired: Bool { self == .name || self == .folder }

    static let sections = allCases.map(\.section).reduce(into: [String]()) { known, section in
        if known.last != section { known.append(section) }
    }

    static func keys(of section: String) -> [ConfigurationKey] {
        allCases.filter { $0.section == section }
    }
}

extension ConfigurationKey {
    private static let millisecondsPerDay: Int64 = 86_400_000

    /// Reads `value` into `configuration`, or says what may stand here instead.
    func read(_ value: [UInt8], into configuration: inout Configuration) throws(ValueProblem) {
        switch self {
        case .name: configuration.node.name = try Value.nodeName(value)
        case .state: configuration.node.state = try Value.path(value, example: "/var/lib/syncd/default")
        case .control: configuration.node.control = try Value.socket(value, example: "/run/syncd/default.sock")
        case .folder: configuration.folder.path = try Value.path(value, example: "/srv/shared")
        case .models: configuration.folder.models = try Value.path(value, example: "/etc/syncd/models.d")
        case .transport: configuration.link.transport = try Value.word(value)
        case .listen: configuration.link.listen = try Value.address(value, example: "[::]:7420", isToListen: true)
        case .peer: configuration.link.peer = try Value.address(value, example: "beta.example:7420", isToListen: false)
        case .mailbox:
            configuration.link.mailbox = value.isEmpty ? nil : try Value.path(value, example: "/mnt/both")
        case .rateLimit:
            configuration.link.rateLimitBytesPerSecond = try Value.size(value, in: 0...1 << 50, example: "10MiB")
        case .deleteFuseFiles:
            configuration.safety.settings.deleteFuseFiles = try Value.number(
                value, in: 0...1_000_000_000, example: "50")
        case .deleteFusePercent:
            configuration.safety.settings.deleteFusePercent = try Value.number(value, in: 0...100, example: "25")
        case .keepVersionsDays:
            let days = try Value.number(value, in: 1...36_500, example: "30")
            configuration.safety.settings.keepVersionsMilliseconds = Int64(days) * Self.millisecondsPerDay
        case .keepVersionsSize:
            configuration.safety.settings.keepVersionsBytes = try Value.size(
                value, in: 1 << 20...1 << 60, example: "10GiB")
        case .reserve: configuration.safety.reserve = try Value.reserve(value)
        case .hook: configuration.alerts.hook = try Value.command(value)
        }
    }

    /// The value as it is written; nil if the key is not set.
    func written(_ configuration: Configuration) -> [UInt8]? {
        switch self {
        case .name: Array(configuration.node.name.utf8)
        case .state: configuration.node.state
        case .control: configuration.node.control
        case .folder: configuration.folder.path
        case .models: configuration.folder.models
        case .transport: Array(configuration.link.transport.rawValue.utf8)
        // Empty is not the same as absent: the default is to listen.
        case .listen: Array((configuration.link.listen ?? "").utf8)
        case .peer: configuration.link.peer.map { Array($0.utf8) }
        case .mailbox: configuration.link.mailbox
        case .rateLimit: Value.text(ofSize: configuration.link.rateLimitBytesPerSecond)
        case .deleteFuseFiles: Array(String(configuration.safety.settings.deleteFuseFiles).utf8)
        case .deleteFusePercent: Array(String(configuration.safety.settings.deleteFusePercent).utf8)
        case .keepVersionsDays:
            Array(String(configuration.safety.settings.keepVersionsMilliseconds / Self.millisecondsPerDay).utf8)
        case .keepVersionsSize: Value.text(ofSize: configuration.safety.settings.keepVersionsBytes)
        case .reserve: Value.text(of: configuration.safety.reserve)
        case .hook: configuration.alerts.hook ?? []
        }
    }
}

extension Configuration {
    /// Keys whose value is not the same in `other`, in the order of the file: what a reload has to apply or to refuse.
    public func keysThatDiffer(from other: Configuration) -> [ConfigurationKey] {
        ConfigurationKey.allCases.filter { $0.written(self) != $0.written(other) }
    }
}
