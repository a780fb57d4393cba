/// A disk that fails at a chosen write or sync, for the thread that asks for it only, so that tests run side by side.
/// It is SQLite's own file system layer with two functions replaced, and the sync of the journal, which is our own.
import CSQLite
import Glibc
import Synchronization

enum FaultyDisk {
    enum Fault: Sendable, CaseIterable {
        case writeError, noSpace, syncError

        var code: Int32 {
            switch self {
            case .writeError: SQLITE_IOERR | 3 << 8
            case .noSpace: SQLITE_FULL
            case .syncError: SQLITE_IOERR | 4 << 8
            }
        }
    }

    private struct Plan {
        let fault: Fault
        /// So many more go well.
        var remaining: Int
        var hasFailed = false
    }

    /// By thread. A fault lasts until the plan ends, as on a disk that is full or dying.
    private static let plans = Mutex<[pthread_t: Plan]>([:])

    /// Runs `body` on this thread's own failing disk; true if the fault was reached.
    static func failing<Result>(
        _ fault: Fault, after count: Int, _ body: () throws -> Result
    ) rethrows -> (result: Result, wasReached: Bool) {
        prepare()
        plans.withLock { $0[pthread_self()] = Plan(fault: fault, remaining: count) }
        defer { plans.withLock { $0[pthread_self()] = nil } }
        let result = try body()
        return (result, plans.withLock { $0[pthread_self()]?.hasFailed ?? false })
    }

    /// From now on every file is opened through the layer. It lets everything pass for threads without a plan.
    static func prepare() { install }

    /// In the place of `fdatasync` (`Store.open`).
    static func sync(_ descriptor: Int32) -> Int32 {
        guard code(ofSync: true) != SQLITE_OK else { return fdatasync(descriptor) }
        errno = EIO
        return -1
    }

    fileprivate static func code(ofSync isSync: Bool) -> Int32 {
        plans.withLock { plans in
            guard var plan = plans[pthread_self()], isSync == (plan.fault == .syncError) else { return SQLITE_OK }
            plan.remaining -= 1
            if plan.remaining < 0 { plan.hasFailed = true }
            plans[pthread_self()] = plan
            return plan.remaining < 0 ? plan.fault.code : SQLITE_OK
        }
    }

    // MARK: The layer. Made once, never changed or freed afterwards, and read by SQLite from any thread.

    nonisolated(unsafe) private static var original: UnsafeMutablePointer<sqlite3_vfs>?
    /// What the layer below does for a file; it writes and syncs every kind of file with the same functions.
    nonisolated(unsafe) fileprivate static var methods: UnsafePointer<sqlite3_io_methods>?
    /// Our copy of each table of functions below: a journal has another one than a database.
    private static let copies = Mutex<[UInt: UInt]>([:])

    private static let install: Void = {
        guard let found = unsafe sqlite3_vfs_find(nil) else { return }
        unsafe original = found
        let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        unsafe layer.initialize(to: found.pointee)
        unsafe layer.pointee.pNext = nil
        unsafe layer.pointee.zName = UnsafePointer(strdup("faulty"))
        unsafe layer.pointee.xOpen = { _, name, file, flags, outFlags in
            unsafe FaultyDisk.open(name, file, flags, outFlags)
        }
        unsafe sqlite3_vfs_register(layer, 1)
    }()

    private static func open(
        _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let code = unsafe original?.pointee.xOpen(original, name, file, flags, outFlags) ?? SQLITE_ERROR
        guard code == SQLITE_OK, let opened = unsafe file?.pointee.pMethods else { return code }
        let copy = copies.withLock { copies in
            let key = UInt(bitPattern: opened)
            let known = unsafe copies[key] ?? UInt(bitPattern: FaultyDisk.copy(of: opened))
            copies[key] = known
            return known
        }
        unsafe file?.pointee.pMethods = UnsafePointer(bitPattern: copy)
        return code
    }

    /// Called under the lock of `copies`.
    private static func copy(
        of opened: UnsafePointer<sqlite3_io_methods>
    ) -> UnsafeMutablePointer<sqlite3_io_methods> {
        unsafe methods = opened
        let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        unsafe copy.initialize(to: opened.pointee)
        unsafe copy.pointee.xWrite = { file, bytes, count, offset in
            let code = FaultyDisk.code(ofSync: false)
            if code != SQLITE_OK { return code }
            return unsafe FaultyDisk.methods?.pointee.xWrite(file, bytes, count, offset) ?? SQLITE_ERROR
        }
        unsafe copy.pointee.xSync = { file, flags in
            let code = FaultyDisk.code(ofSync: true)
            if code != SQLITE_OK { return code }
            return unsafe FaultyDisk.methods?.pointee.xSync(file, flags) ?? SQLITE_ERROR
        }
        return unsafe copy
    }
}
