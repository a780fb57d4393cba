/// The shared folder on a real disk: everything the daemon does there goes through one descriptor of its root.
///
/// Programs are run by `Folder+Programs`, single looks are in `Folder+Look`, whole files are read by `Folder+Hash`, the
/// tree is compared with the rows by `Folder+Scan`. Setting a folder up is in `Folder+SetUp`. What happens meanwhile is
/// told by `Watcher`.
import CLinux
import Glibc
public import SyncModel
import Synchronization

/// Why nothing may be concluded from what is seen, or not seen, at the path of a folder.
public enum RootTrouble: Hashable, Sendable {
    /// No directory is there.
    case absent
    /// This user may not go there, so nobody knows whether it is.
    case unreachable
    /// It is there, and this user may not look into it.
    case closed
    /// The mark is not in it.
    case unmarked
    case otherDirectory
    /// What should be the mark is none.
    case damagedMark
    /// The mark is that of another folder.
    case otherMark
}

/// Every call blocks and may be made from any thread. Nothing in here gives an opinion about what the folder should be:
/// it says what is there and does what it is told, or why not.
public final class Folder: Sendable {
    /// As it was given, to find out what it leads to now. Symlinks on the way to the root are the administrator's.
    public let path: [UInt8]
    public let id: FolderID

    let root: Descriptor
    let device: Device
    /// `.syncd`; carries the lock for as long as we live.
    private let own: Descriptor
    private let rootStatus: Status

    let pins = StagePins()
    let ways = OpenWays()
    let walks = KeptWalks()
    /// False where the file system gives no leases, or refuses them without a reason.
    let seesWriters: Bool
    /// False once a sync of the whole file system has failed.
    let mayTrustCommonSync = Mutex(true)
    /// Nil as long as nobody has seen one.
    let flushesAreCheap = Mutex<Bool?>(nil)
    /// How many bytes of so many are not ours to use.
    let reserve = Mutex<Reserve?>(nil)
    /// What was wrong with the root when it was last looked at.
    private let trouble = Mutex<RootTrouble?>(nil)
    /// Of the mark, as it was when it was last found to be ours.
    private let markStatus = Mutex<Status?>(nil)
    private let isEnding = Atomic(false)

    /// Opens a folder that `create` has set up, and locks it against a second process.
    public init(path: [UInt8], id: FolderID) throws(FolderError) {
        let root = try Folder.openRoot(path)
        let status = try step("statx", path) { () throws(Failure) in try root.status() }
        let own = try Folder.openOwn(in: root, path)
        let found = try Folder.readMarker(in: own, path)
        guard found == id else {
            throw FolderError(kind: .replaced, operation: "compare the marker", subject: Folder.markerPath(path))
        }
        try Folder.lock(own, path)
        try Folder.completeOwn(own, path)
        try Folder.probe(root: root, own: own, path)
        seesWriters = Folder.givesLeases(to: own)
        device = try step("fstatfs", path) { () throws(Failure) in try Device(of: root, status) }
        self.path = path
        self.id = id
        self.root = root
        self.own = own
        rootStatus = status
    }

    deinit {
        own.unlock()
    }

    /// Whether the path still leads to the directory that was opened, with the marker in it. A root that cannot be
    /// looked at counts as missing: either way nothing may be concluded from what is not seen in it.
    public var rootState: RootState {
        let found = lookAtRoot()
        trouble.withLock { $0 = found }
        return Folder.rootState(with: found)
    }

    /// As it was found then. Looks at nothing itself: for whoever may not wait for the disk.
    public var lastRootState: RootState { Folder.rootState(with: rootTrouble) }

    private static func rootState(with trouble: RootTrouble?) -> RootState {
        switch trouble {
        case nil: .healthy
        case .absent, .unreachable: .missing
        case .closed, .unmarked: .unmarked
        case .otherDirectory, .damagedMark, .otherMark: .replaced
        }
    }

    /// What was wrong when the root was last looked at, for people; nil if nothing was. Looks at nothing itself.
    public var rootTrouble: RootTrouble? { trouble.withLock { $0 } }

    private func lookAtRoot() -> RootTrouble? {
        do throws(Failure) {
            let there = try Folder.status(ofPath: path)
            guard there.isSameFile(as: rootStatus) else { return .otherDirectory }
        } catch {
            return error.error == .permission ? .unreachable : .absent
        }
        do throws(Failure) {
            let own = try root.openChild(Folder.ownName, .way)
            let mark = try Folder.markerBytes(in: own)
            if mark.bytes == Folder.markerText(id) {
                markStatus.withLock { $0 = mark.status }
                return nil
            }
            return Folder.isMarker(mark.bytes) ? .otherMark : .damagedMark
        } catch {
            if error.isWantOfDescriptors, isMarkUntouched() { return nil }
            return error.error == .permission ? .closed : .unmarked
        }
    }

    /// The mark is the file that was read last, as it was then. To ask for that takes no descriptor.
    private func isMarkUntouched() -> Bool {
        guard let known = markStatus.withLock({ $0 }) else { return false }
        do throws(Failure) {
            let there = try root.status(of: Folder.markerPlace)
            return there.isSameFile(as: known) && there.changed == known.changed && there.size == known.size
        } catch {
            return false
        }
    }

    /// The very directory that was opened is at its path again, with the marker in it, but its file system has come back under
    /// another device number: a disk was pulled and put back. What is open here leads to the one that is gone. (A copy of the folder is
    /// another directory.)
    public var isBackElsewhere: Bool {
        do throws(Failure) {
            guard try Folder.status(ofPath: path).isSameFile(asBefore: rootStatus) else { return false }
        } catch {
            return false
        }
        do throws(FolderError) { return try Folder.marker(at: path) == id } catch { return false }
    }

    /// Makes a directory of ours that is gone, in the `.syncd` that was opened: where that is gone as well, or has been
    /// moved away, this brings nothing back.
    func remakeOwn(_ name: CName) throws(Failure) {
        do throws(Failure) {
            try own.makeDirectory(name, mode: 0o700)
        } catch {
            if error.error != .exists { throw error }
        }
        try own.sync()
    }

    /// For an orderly end: scans, hashes and reads that are running or come later answer early, so that nobody waits
    /// hours for a large file. Programs are never cut short.
    public func interrupt() {
        isEnding.store(true, ordering: .relaxed)
    }

    /// The folder is a file system of its own, or is shown as one.
    var isMountPoint: Bool { rootStatus.isMountPoint }

    var isInterrupted: Bool { isEnding.load(ordering: .relaxed) }
}
