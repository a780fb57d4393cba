/// The two ways a name changes hands.
import Glibc
import SyncModel

extension Folder {
    func rename(_ source: Place, _ target: Place, _ renaming: Descriptor.Renaming) throws(Failure) {
        let staged = [source, target].compactMap { if case .stage(let name) = $0 { name } else { nil } }
        if staged.contains(where: { pins.isPoisoned($0) }) { throw Failure(.inputOutput) }
        let from = try slot(source)
        let to = try slot(target)
        do throws(Failure) {
            try from.parent.descriptor.rename(from.name, to: to.parent.descriptor, to.name, renaming)
        } catch {
            guard error.errno == EACCES else { throw error }
            try renameReadOnly(from, to, renaming, refusal: error)
        }
        for name in staged { pins.release(name) }
        for case .tree(let path) in [source, target] { ways.forget(path) }
    }

    /// A directory that its owner may not write to can be moved into another one only by root, because its `..`
    /// changes. It is lent the permission for the moment of the rename.
    private func renameReadOnly(
        _ from: Slot, _ to: Slot, _ renaming: Descriptor.Renaming, refusal: Failure
    ) throws(Failure) {
        var lent: [LentPermission] = []
        defer { for permission in lent { permission.takeBack() } }
        if let permission = try LentPermission(to: from) { lent.append(permission) }
        if renaming == .exchange, let permission = try LentPermission(to: to) { lent.append(permission) }
        if lent.isEmpty { throw refusal }
        try from.parent.descriptor.rename(from.name, to: to.parent.descriptor, to.name, renaming)
    }
}

private struct LentPermission {
    private let directory: OpenFile

    /// Nil if nothing is lacking.
    init?(to slot: Slot) throws(Failure) {
        directory = try OpenFile(try slot.open(.handle))
        let mode = directory.status.mode
        guard directory.status.kind == .directory, mode & 0o300 != 0o300 else { return nil }
        try directory.descriptor.setModeOfHandle(mode | 0o300)
    }

    /// A moment ago we could change the mode; should that have ended, the wrong mode is there for the next look to see.
    func takeBack() {
        do throws(Failure) {
            try directory.descriptor.setModeOfHandle(directory.status.mode)
        } catch {
            return
        }
    }
}
