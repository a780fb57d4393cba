/// The commented file that says what a configuration says: what `syncctl init` writes, and config/syncd.conf.
extension Configuration {
    /// Reading it gives an equal value.
    public var text: [UInt8] {
        var text = lines(of: Configuration.opening)
        for section in ConfigurationKey.sections {
            text += Array("\n[\(section)]\n".utf8)
            for key in ConfigurationKey.keys(of: section) {
                text += lines(of: key.comment)
                text += line(of: key)
            }
        }
        return text
    }

    private func line(of key: ConfigurationKey) -> [UInt8] {
        guard let value = key.written(self) else { return Array(";\(key.name) = \(key.example)\n".utf8) }
        let assignment = Array("\(key.name) =".utf8)
        return assignment + (value.isEmpty ? [] : [UInt8(ascii: " ")] + value) + [UInt8(ascii: "\n")]
    }

    private func lines(of comment: String) -> [UInt8] {
        comment.split(separator: "\n").flatMap { Array("; \($0)\n".utf8) }
    }

    private static let opening = """
        The configuration of syncd on this node. `syncd --check-config` reads it and tells what is wrong;
        `syncctl reload` applies what can change while it runs and names what needs a restart.
        A semicolon begins a comment, at the start of a line or after a space.
        """

    /// What config/syncd.conf shows.
    static let sample: Configuration = {
        var sample = Configuration(name: "alpha", folder: Array("/srv/shared".utf8))
        sample.link.peer = ConfigurationKey.peer.example
        return sample
    }()
}

extension ConfigurationKey {
    /// Shown where the key is not set.
    var example: String {
        switch self {
        case .peer: "beta.example:7420"
        case .mailbox: "/mnt/both"
        case .name, .state, .control, .folder, .models, .transport, .listen, .rateLimit, .deleteFuseFiles,
            .deleteFusePercent, .keepVersionsDays, .keepVersionsSize, .reserve, .hook:
            ""
        }
    }

    /// For the person who edits the file.
    var comment: String {
        switch self {
        case .name: "What this node is called in messages and in names of conflict copies. Each node has another."
        case .state: "The log and the index of this node, and its key. Not below the shared folder."
        case .control: "The socket on which syncctl talks to syncd."
        case .folder: "The directory that is kept the same on both nodes."
        case .models: "Descriptions of the records and formats in the folder, from the applications that use it."
        case .transport: "How the nodes meet: tls, or directory (through files in a directory both can see)."
        case .listen: "Where the other node can dial this one, HOST:PORT. Empty: nowhere, this node dials."
        case .peer: "Where this node dials the other, HOST:PORT. Not set: it waits to be dialled."
        case .mailbox: "For transport = directory."
        case .rateLimit: "The most that is sent in a second, such as 10MiB. 0 is no limit."
        case .deleteFuseFiles:
            """
            More deletes than this within ten seconds, and more than this share of the folder or of a directory
            right below it, wait for `syncctl approve`.
            """
        case .deleteFusePercent: ""
        case .keepVersionsDays: "Replaced and deleted versions are kept this long, and within this size."
        case .keepVersionsSize: ""
        case .reserve: "What stays free on the file system of the folder: a share such as 1%, or a size such as 2GiB."
        case .hook:
            """
            A shell command for every alert; it gets the alert as JSON on its standard input. A command with a
            semicolon in it belongs into a script.
            """
        }
    }
}
