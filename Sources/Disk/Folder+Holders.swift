/// Whether a program is at a file: has it open for writing, or holds a lock on it.
import CLinux
import Glibc
import SyncModel

extension Folder {
    /// False also where it cannot be told: a file that we may not read, a file system without leases. What is written to a
    /// displaced file is found there later.
    func isHeld(_ place: Place) -> Bool {
        do throws(Failure) {
            let file = try slot(place).open(.read)
            return seesWriters && file.hasWriter() || file.isLocked()
        } catch {
            // Somebody else has a lease on it, and has been told to give it up.
            return error.errno == EAGAIN
        }
    }

    /// Nobody writes to the marker. A lease that is refused even so (NFS does that) tells nothing about other files.
    static func givesLeases(to own: borrowing Descriptor) -> Bool {
        do throws(Failure) {
            return try !own.openChild(markerName, .read).hasWriter()
        } catch {
            return false
        }
    }
}

extension Descriptor {
    /// A lease is asked for, and given back at once.
    fileprivate borrowing func hasWriter() -> Bool {
        // By default this is ignored, and what is sent for a lease otherwise would end us.
        guard clinux_set_lease_signal(raw, SIGURG) == 0 else { return false }
        let result = clinux_set_lease(raw, Int32(F_RDLCK))
        if result == 0 { _ = clinux_set_lease(raw, Int32(F_UNLCK)) }
        return result == -EAGAIN
    }

    /// By flock or by a record lock, for reading or for writing: either means that the file should stay as it is.
    fileprivate borrowing func isLocked() -> Bool {
        let result = uninterrupted { orErrno(flock(raw, LOCK_EX | LOCK_NB)) }
        if result == 0 { unlock() }
        return result == -EWOULDBLOCK || clinux_is_lockable(raw) == 0
    }
}
