/// Opening files for their bytes. What is no regular file is told by its kind before it could be opened: opening a
/// device can do things, and no FIFO may hold up a worker.
import SyncModel

extension Folder {
    func openForReading(_ place: Place) throws(Failure) -> OpenFile {
        let slot = try slot(place)
        try Folder.refuseUnlessFile(try slot.status())
        let file = try OpenFile(try slot.open(.read))
        try Folder.refuseUnlessFile(file.status)
        return file
    }

    /// A staged file stays open until it is synced.
    func openForWriting(_ place: Place) throws(Failure) -> OpenFile {
        let slot = try slot(place)
        let status = try slot.status()
        try Folder.refuseUnlessFile(status)
        if case .stage(let name) = place, let file = pins.file(name, status) { return file }
        let file = try OpenFile(try slot.open(.write))
        try Folder.refuseUnlessFile(file.status)
        if case .stage(let name) = place { pins.keep(file, as: name) }
        return file
    }

    private static func refuseUnlessFile(_ status: Status) throws(Failure) {
        switch status.kind {
        case .file: return
        case .directory: throw Failure(.isDirectory)
        case .symlink, .special: throw Failure(.unsupported)
        }
    }
}
