import ControlProtocol
import Disk
import SyncModel

/// What has been made so far, and how to take it away again.
struct Making {
    private enum Step {
        case file([UInt8])
        case directory([UInt8])
        /// It was there and empty, with these rights.
        case mode([UInt8], UInt32)
    }

    private var steps: [Step] = []

    var made: [[UInt8]] {
        steps.compactMap { step in
            switch step {
            case .file(let path), .directory(let path): path
            case .mode: nil
            }
        }
    }

    /// With the directories above it. One that is there already is taken over; that it is empty has been looked at.
    mutating func directory(_ path: [UInt8], mode: UInt32) throws(ControlError) {
        try parents(of: path)
        do throws(System.FileError) {
            if let status = try System.status(of: path), status.kind == .directory {
                steps.append(.mode(path, status.mode))
                try System.setMode(path, mode)
            } else {
                try System.makeDirectory(path, mode: mode)
                steps.append(.directory(path))
            }
        } catch {
            throw Setup.failure("make the directory", path, error)
        }
    }

    mutating func parents(of path: [UInt8]) throws(ControlError) {
        guard let parent = Making.parent(of: path), !System.exists(parent) else { return }
        try parents(of: parent)
        do throws(System.FileError) {
            try System.makeDirectory(parent, mode: 0o755)
        } catch {
            throw Setup.failure("make the directory", parent, error)
        }
        steps.append(.directory(parent))
    }

    mutating func file(_ path: [UInt8], _ contents: [UInt8], mode: UInt32) throws(ControlError) {
        do throws(System.FileError) {
            try System.makeFile(path, contents, mode: mode)
        } catch {
            // Whatever else went wrong, it was ours by then.
            if !error.isThere, System.exists(path) { steps.append(.file(path)) }
            throw Setup.failure("write", path, error)
        }
        steps.append(.file(path))
    }

    /// The folder to share, if it is not there. Below a directory of root's it belongs to whoever owns the state, as whom the
    /// daemon runs.
    mutating func folder(_ path: [UInt8], ownedLike other: [UInt8]) throws(ControlError) {
        guard !System.exists(path) else { return }
        try directory(path, mode: 0o755)
        do throws(System.FileError) {
            try System.giveAway(path, like: other)
        } catch {
            throw Setup.failure("give away", path, error)
        }
    }

    /// `Folder.create` makes several things, and may fail between them.
    mutating func marker(of folder: [UInt8]) throws(ControlError) -> FolderID {
        let own = folder + Array("/.syncd".utf8)
        let directories = [own] + ["stage", "versions", "quarantine"].map { own + Array("/\($0)".utf8) }
        let marker = own + Array("/folder-id".utf8)
        let missing = directories.filter { !System.exists($0) }
        defer {
            steps += missing.filter(System.exists).map { .directory($0) }
            if System.exists(marker) { steps.append(.file(marker)) }
        }
        do throws(FolderError) {
            return try Folder.create(at: folder)
        } catch {
            throw Setup.failure("mark the folder", folder, error)
        }
    }

    /// The names of what was made are durable after this.
    func sync() throws(ControlError) {
        for directory in Set(made.compactMap(Making.parent)) {
            do throws(System.FileError) {
                try System.syncDirectory(directory)
            } catch {
                throw Setup.failure("write down", directory, error)
            }
        }
    }

    /// In the opposite order; what could not be taken away is told.
    func undo() -> [[UInt8]] {
        var left: [[UInt8]] = []
        for step in steps.reversed() {
            do throws(System.FileError) {
                switch step {
                case .file(let path): try System.remove(path)
                case .directory(let path): try System.removeDirectory(path)
                case .mode(let path, let mode): try System.setMode(path, mode)
                }
            } catch {
                if case .file(let path) = step { left.append(path) }
                if case .directory(let path) = step { left.append(path) }
            }
        }
        return left
    }

    private static func parent(of path: [UInt8]) -> [UInt8]? {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return nil }
        return Array(path[..<slash])
    }
}
