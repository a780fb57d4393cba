import Config
import ControlProtocol
import Crypto
import Disk
import SyncModel

/// Makes a node: looks at everything first, then makes it, and takes away again what it has made if a step fails. The
/// configuration comes last: a node that has one is whole. See `Making` for the steps back.
struct Setup {
    let file: [UInt8]
    let configuration: Configuration

    struct Node: Hashable {
        let id: NodeID
        let folder: FolderID
        /// In the order in which it was made.
        let made: [[UInt8]]
    }

    private var state: [UInt8] { configuration.node.state }
    private var identity: [UInt8] { state + Array("/identity".utf8) }
    private var key: [UInt8] { identity + Array("/key.pem".utf8) }
    private var folder: [UInt8] { configuration.folder.path }

    func perform() throws(ControlError) -> Node {
        try check()
        var making = Making()
        do throws(ControlError) {
            return try make(&making)
        } catch {
            let left = making.undo()
            guard !left.isEmpty else { throw error }
            let names = left.map { NameText.printable($0) }.joined(separator: ", ")
            throw ControlError(.setupFailed, text: "\(error.text) Could not be taken away again: \(names).")
        }
    }

    // MARK: Looking

    /// Everything that stands in the way, not only the first thing.
    private func check() throws(ControlError) {
        var there: [String] = []
        if try status(file) != nil { there.append("The configuration \(quoted(file)) is there already.") }
        if let status = try status(state) {
            if status.kind != .directory {
                there.append("\(quoted(state)) is there already and is no directory.")
            } else if try !isEmpty(state) {
                there.append("The state directory \(quoted(state)) is there already and not empty.")
            }
        }
        if let outer = folderAround() {
            there.append("\(quoted(folder)) lies in \(quoted(outer)), which is the folder of a node already.")
        }
        do throws(FolderError) {
            _ = try Folder.marker(at: folder)
            there.append("\(quoted(folder)) is the folder of a node already.")
        } catch {
            if let text = try obstacle(error) { there.append(text) }
        }
        if !there.isEmpty { throw ControlError(.setupExists, text: there.joined(separator: "\n")) }
    }

    /// A folder that another one has in it would be synced as a part of that: its mark, its kept versions and what is on its way.
    private func folderAround() -> [UInt8]? {
        var path = Item.withoutLinks(folder) ?? Item.resolved(folder) ?? folder
        while let slash = path.lastIndex(of: 0x2F), slash > 0 {
            path = Array(path[..<slash])
            do throws(FolderError) {
                _ = try Folder.marker(at: path)
                return path
            } catch {
                // No mark, or none that can be read: no node has it.
            }
        }
        return nil
    }

    /// Nil for a folder without a mark, as it should be, and for one that is not there: it is made.
    private func obstacle(_ error: FolderError) throws(ControlError) -> String? {
        switch error.kind {
        case .notSetUp, .missing: return nil
        case .damaged, .alreadySetUp, .replaced, .inUse:
            return "\(quoted(folder + Array("/.syncd".utf8))) is there already, and its mark cannot be read."
        case .notDirectory:
            throw ControlError(
                .setupFailed, text: "\(quoted(folder)) is no directory.", cure: "Name a directory with --folder.")
        case .permission, .noSpace, .readOnly, .unsupported, .tooMany, .failed:
            throw Setup.failure("look at the folder", folder, error)
        }
    }

    private func status(_ path: [UInt8]) throws(ControlError) -> System.FileStatus? {
        do throws(System.FileError) {
            return try System.status(of: path)
        } catch {
            throw Setup.failure("look at", path, error)
        }
    }

    private func isEmpty(_ path: [UInt8]) throws(ControlError) -> Bool {
        do throws(System.FileError) {
            return try System.isEmpty(path)
        } catch {
            throw Setup.failure("list", path, error)
        }
    }

    // MARK: Making

    private func make(_ making: inout Making) throws(ControlError) -> Node {
        let identityKey = try newKey()
        try making.directory(state, mode: 0o700)
        try making.directory(identity, mode: 0o700)
        try making.file(key, identityKey.pem, mode: 0o600)
        try making.folder(folder, ownedLike: state)
        let id = try making.marker(of: folder)
        try making.parents(of: file)
        try making.file(file, configuration.text, mode: 0o644)
        try making.sync()
        guard let digest = Digest(bytes: identityKey.fingerprint) else {
            throw ControlError(.setupFailed, text: "The key that was drawn has no fingerprint of 32 bytes.")
        }
        return Node(id: NodeID(digest), folder: id, made: making.made)
    }

    private func newKey() throws(ControlError) -> IdentityKey {
        do throws(CryptoError) {
            return try IdentityKey.generate()
        } catch {
            throw ControlError(.setupFailed, text: "The key of the node could not be drawn: \(error.reason).")
        }
    }

    // MARK: Telling

    func lines(of node: Node, style: Style, again: (String) -> String) -> [String] {
        var rows = [
            ("configuration", file), ("state and key", state), ("mark of the folder", folder + Array("/.syncd".utf8)),
        ]
        if node.made.contains(folder) { rows.append(("the folder itself, which was not there", folder)) }
        return ["Made the node \(style.bold(style.foreign(configuration.node.name))):"]
            + rows.map { "  \($0.0): \(style.name($0.1))" }
            + ["  its id is \(node.id.text)", ""] + warnings(style) + next(style, again)
    }

    /// What is to be done before the daemon is started.
    private func warnings(_ style: Style) -> [String] {
        guard let state = owner(of: state), let folder = owner(of: folder) else { return [] }
        guard state != 0, state != folder else { return [] }
        return [
            "The folder belongs to another user than the state, so the daemon may not get at it. To give it away:",
            "  chown -R --reference=\(style.argument(self.state)) \(style.argument(self.folder))", "",
        ]
    }

    private func owner(of path: [UInt8]) -> UInt32? {
        do throws(System.FileError) { return try System.status(of: path)?.owner } catch { return nil }
    }

    private func next(_ style: Style, _ again: (String) -> String) -> [String] {
        guard let unit = Setup.unit(of: file) else {
            return [
                "Next: start it with", "  syncd --config \(style.argument(file))", "and pair it: run",
                "  \(again("invite"))", "here and syncctl join TOKEN on the other node, or the other way round.",
            ]
        }
        let start = "systemctl enable --now \(style.argument(Array(unit.utf8)))"
        return elsewhere(unit, style) + [
            "Next: start it, and invite the other node:", "  \(start) && \(again("invite"))",
            "or, with the token that invite has printed there:", "  \(start) && \(again("join TOKEN"))",
        ]
    }

    /// The service may write below /srv only, unless it is told.
    private func elsewhere(_ unit: String, _ style: Style) -> [String] {
        guard !folder.starts(with: Array("/srv/".utf8)) else { return [] }
        let isHome = ["/home/", "/root/", "/run/user/"].contains { folder.starts(with: $0.utf8) }
        let lines = ["ReadWritePaths"] + (isHome ? ["BindPaths"] : [])
        let text = "[Service]\\n" + lines.map { "\($0)=%s\\n" }.joined()
        let place = "/etc/systemd/system/\(unit).service.d"
        let paths = lines.map { _ in style.argument(folder) }.joined(separator: " ")
        return [
            "The service may write below /srv only. To let it write to this folder:",
            "  mkdir -p \(place) && printf '\(text)' \(paths) >\(place)/folder.conf && systemctl daemon-reload", "",
        ]
    }

    /// The service that reads this configuration: `syncd` or `syncd@NAME`. Nil if there is none.
    static func unit(of file: [UInt8]) -> String? {
        guard let name = instance(of: file) else { return nil }
        return name == "syncd" ? name : "syncd@\(name)"
    }

    /// The NAME of /etc/syncd/NAME.conf, if it is one that systemd takes as it is.
    static func instance(of file: [UInt8]) -> String? {
        let (directory, ending) = (Array("/etc/syncd/".utf8), Array(".conf".utf8))
        guard file.starts(with: directory), file.suffix(ending.count).elementsEqual(ending) else { return nil }
        let name = String(decoding: file.dropFirst(directory.count).dropLast(ending.count), as: UTF8.self)
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isPlain && !name.isEmpty ? name : nil
    }

    func json(of node: Node) -> JSON {
        JSON.object([
            "node": ["name": .string(configuration.node.name), "id": .string(node.id.text)],
            "config": .string(NameText.text(of: file)),
            "state": .string(NameText.text(of: state)),
            "key": .string(NameText.text(of: key)),
            "control": .string(NameText.text(of: configuration.node.control)),
            "folder": .string(NameText.text(of: folder)),
            "folderId": .string(node.folder.digest.hex()),
            "made": .array(node.made.map { .string(NameText.text(of: $0)) }),
        ])
    }

    private func quoted(_ path: [UInt8]) -> String { NameText.quoted(path) }

    static func failure(_ what: String, _ path: [UInt8], _ error: System.FileError) -> ControlError {
        let cure =
            error.isRefused
            ? "Run it with sudo, or choose places of your own with --config, --state and --control." : nil
        return ControlError(
            .setupFailed, text: "Could not \(what) \(NameText.quoted(path)): \(error.text).", cure: cure)
    }

    static func failure(_ what: String, _ path: [UInt8], _ error: FolderError) -> ControlError {
        let place = NameText.quoted(error.subject.isEmpty ? path : error.subject)
        let cause = error.errno == 0 ? "\(error.kind)" : System.text(of: error.errno)
        return ControlError(.setupFailed, text: "Could not \(what) (\(error.operation) of \(place)): \(cause).")
    }
}
