/// The room on the folder's file system, and how much of it is left to others.
import Glibc
import SyncModel
import Synchronization

extension Folder {
    public struct Space: Hashable, Sendable {
        /// What we may still write; less than what is free where some is kept for root.
        public let freeBytes: UInt64
        public let totalBytes: UInt64
    }

    /// In a box of its own: a bare function that is read out of a generic one comes back in one more wrapping each time.
    struct Reserve: Sendable {
        let bytes: @Sendable (_ total: UInt64) -> UInt64
    }

    public func space() throws(FolderError) -> Space {
        try step("fstatvfs", path) { () throws(Failure) in try room() }
    }

    /// From now on nothing is staged that would leave less free than `bytes` says for a file system of `total` bytes.
    /// What is made of names alone goes on: so do deletes, and people take the room they want.
    public func setReserve(_ bytes: @escaping @Sendable (_ total: UInt64) -> UInt64) {
        reserve.withLock { $0 = Reserve(bytes: bytes) }
    }

    /// Fails as a full disk does when the reserve would be touched.
    func expectRoom(for bytes: UInt64) throws(Failure) {
        guard let reserve = reserve.withLock({ $0 }) else { return }
        let room = try room()
        // Some file systems do not tell how large they are.
        guard room.totalBytes > 0 else { return }
        let kept = reserve.bytes(room.totalBytes)
        guard room.freeBytes >= kept, room.freeBytes - kept >= bytes else { throw Failure(.noSpace) }
    }

    private func room() throws(Failure) -> Space {
        var found = statvfs()
        try checked(unsafe orErrno(fstatvfs(root.raw, &found)))
        let unit = UInt64(found.f_frsize)
        return Space(
            freeBytes: UInt64(found.f_bavail).multipliedClamped(by: unit),
            totalBytes: UInt64(found.f_blocks).multipliedClamped(by: unit))
    }
}

extension UInt64 {
    fileprivate func multipliedClamped(by factor: UInt64) -> UInt64 {
        let (product, isTooMuch) = multipliedReportingOverflow(by: factor)
        return isTooMuch ? .max : product
    }
}
