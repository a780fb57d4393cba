/// A directory that the configuration names, held against this machine.
import Glibc

struct Place {
    let key: ConfigurationKey
    let path: [UInt8]
    /// Nil: it need not be there yet.
    let remedyIfMissing: String?
    let isWritten: Bool
    var isModels: Bool { key == .models }
    var isState: Bool { key == .state }

    /// Those that a node with this configuration uses.
    static func of(_ configuration: Configuration) -> [Place] {
        // Nobody has to make the usual place of models. Who names another one means that there are some.
        let models = configuration.folder.models
        let isUsual = models == Configuration.Folder.usualModels
        let remedy = "Mount what belongs there, or make it."
        var places = [
            Place(
                key: .state, path: configuration.node.state,
                remedyIfMissing: "`syncctl init` makes it; if it was there before, mount or restore it.",
                isWritten: true),
            Place(
                key: .folder, path: configuration.folder.path,
                remedyIfMissing: remedy, isWritten: true),
            Place(key: .models, path: models, remedyIfMissing: isUsual ? nil : remedy, isWritten: false),
        ]
        if configuration.link.transport == .directory, let mailbox = configuration.link.mailbox {
            places.append(Place(key: .mailbox, path: mailbox, remedyIfMissing: remedy, isWritten: true))
        }
        return places
    }

    /// What keeps this process from using it.
    struct Problem {
        /// With what to do.
        let text: String
        /// No directory has the name.
        let isMissing: Bool
    }

    /// Nil if nothing does.
    var problem: Problem? {
        let name = path.map { CChar(bitPattern: $0) } + [0]
        let directory = unsafe open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return translated(errno) }
        defer { close(directory) }
        let wanted = R_OK | X_OK | (isWritten ? W_OK : 0)
        return unsafe faccessat(directory, ".", wanted, AT_EACCESS) == 0 ? nil : translated(errno)
    }

    private func translated(_ code: Int32) -> Problem? {
        text(of: code).map { Problem(text: $0, isMissing: code == ENOENT || code == ENOTDIR) }
    }

    private func text(of code: Int32) -> String? {
        switch code {
        case ENOENT: remedyIfMissing.map { "There is no such directory. \($0)" }
        case ENOTDIR: "This is no directory, or leads through something that is none. Name a directory."
        case EACCES, EPERM:
            "This user may not \(isWritten ? "read and write" : "read") there. Give it the right, or run as another user."
        case EROFS: "The file system is mounted read-only. Mount it for writing."
        default:
            "It cannot be opened: \(unsafe String(cString: strerror(code))). Mend that, then start again."
        }
    }
}
