import Config
import ControlProtocol
import SyncModel

/// `init`: from the options to a configuration. The node itself is made by `Setup`.
extension Command {
    static let initialise = Command(
        "init", "--name N --folder DIR [--listen ADDR:PORT] [--peer ADDR:PORT] [--state DIR] [--control PATH]",
        summary: "make a node: its configuration, its key, its state and the mark of the folder",
        details: """
            Works without the daemon. The configuration goes to the file named by --config, /etc/syncd/syncd.conf
            unless given; that of the service syncd@NAME is /etc/syncd/NAME.conf, and its state and socket have
            the same name. Nothing that is there already is overwritten. What root makes belongs to whoever the
            directory belongs to in which it is made; a folder that is made below a directory of root's
            belongs to the owner of the state.
            """,
        options: [
            Option("--name", value: "N", "what this node is called; another name than the other node's"),
            Option("--folder", value: "DIR", "the directory to share; it is made if it is not there"),
            Option("--listen", value: "ADDR:PORT", "where the other node can dial this one ([::]:7420)"),
            Option("--peer", value: "ADDR:PORT", "where this node dials the other"),
            Option("--state", value: "DIR", "where log, index and key are kept (/var/lib/syncd/default)"),
            Option("--control", value: "PATH", "the socket for syncctl (/run/syncd/default.sock)"),
        ]
    ) { (session) throws(Failure) in
        if session.has("--socket") {
            throw .usage("--socket is of a running daemon: write --control PATH for a new node.")
        }
        let file = try session.absolute(session.configurationFile, "--config")
        let setup = Setup(file: file, configuration: try configuration(session))
        let node: Setup.Node
        do throws(ControlError) {
            node = try setup.perform()
        } catch {
            throw .refused(error)
        }
        if session.wantsJSON {
            session.output.say(setup.json(of: node))
        } else {
            session.output.say(setup.lines(of: node, style: session.style, again: session.again))
        }
        return .done
    }

    /// What was typed, checked as if it stood in the file.
    private static func configuration(_ session: Session) throws(Failure) -> Configuration {
        guard let name = try session.text("--name") else { throw .usage(missing("--name N", "name the node")) }
        guard let folder = try session.absolute("--folder") else {
            throw .usage(missing("--folder DIR", "name the directory to share"))
        }
        guard !folder.split(separator: 0x2F).contains(where: { $0.elementsEqual(".syncd".utf8) }) else {
            throw .usage(
                "--folder \(session.style.name(folder)): .syncd is where a node keeps what is its own, and is never synced. "
                    + "Name another directory.")
        }
        let listen = try session.text("--listen")
        let peer = try session.text("--peer")
        // Of /etc/syncd/photos.conf, the service syncd@photos has places of its own.
        let own = Setup.instance(of: try session.absolute(session.configurationFile, "--config"))
        let usual = own.flatMap { $0 == "syncd" ? nil : $0 }
        let state = try session.absolute("--state") ?? usual.map { Array("/var/lib/syncd/\($0)".utf8) }
        let control = try session.absolute("--control") ?? usual.map { Array("/run/syncd/\($0).sock".utf8) }
        do throws(ConfigurationError) {
            return try Configuration.new(
                name: name, folder: folder, listen: listen, peer: peer, state: state, control: control)
        } catch {
            throw .usage(error.problems.map(option).joined(separator: "\n"))
        }
    }

    private static func missing(_ option: String, _ what: String) -> String {
        "\(option) is missing: \(what), as in syncctl init --name alpha --folder /srv/shared"
    }

    /// The same keys as in the file, by the options they were typed as.
    private static func option(_ problem: ConfigurationError.Problem) -> String {
        let names = [
            "node.name": "--name", "folder.path": "--folder", "link.listen": "--listen", "link.peer": "--peer",
            "node.state": "--state", "node.control": "--control",
        ]
        guard let name = problem.key.flatMap({ names[$0] }) else { return problem.description }
        let found = problem.found.map { $0.isEmpty ? " \"\"" : " \($0)" } ?? ""
        return "\(name)\(found): \(problem.text)"
    }
}

extension Session {
    /// Relative paths count from where the person stands; the daemon will stand elsewhere.
    fileprivate func absolute(_ option: String) throws(Failure) -> [UInt8]? {
        guard let typed = bytes(option) else { return nil }
        return try absolute(typed, option)
    }

    fileprivate func absolute(_ typed: [UInt8], _ option: String) throws(Failure) -> [UInt8] {
        guard !typed.isEmpty, let absolute = try path(typed).absolute else {
            let shown = NameText.typed(typed, asciiOnly: style.asciiOnly)
            throw .usage("\(option) \(shown) is no path: write one such as /srv/shared.")
        }
        return absolute
    }
}
