/// Setting a folder up, and what has to be right before one is opened.
///
/// `.syncd` (mode 0700) holds `folder-id`, the marker: the folder's id as 64 hexadecimal digits and a newline; and the
/// directories `stage`, `versions` and `quarantine`.
import CLinux
import Crypto
import Glibc
public import SyncModel

extension Folder {
    static let ownName = CName(".syncd")
    static let stageName = CName("stage")
    static let markerName = CName("folder-id")
    static let markerPlace = CName(".syncd/folder-id")
    private static let draftName = CName("folder-id.new")
    private static let ownDirectories: [StaticString] = ["stage", "versions", "quarantine"]

    /// Sets up a folder and gives it its id. What a crash in the middle has left is completed by the next try: the
    /// marker comes last, and there is no folder without it.
    public static func create(at path: [UInt8]) throws(FolderError) -> FolderID {
        let root = try openRoot(path)
        try makeDirectory(ownName, in: root, subject: path + Array("/.syncd".utf8))
        let own = try openOwn(in: root, path)
        try lock(own, path)
        defer { own.unlock() }
        if try hasMarker(own, path) {
            throw FolderError(kind: .alreadySetUp, operation: "create the marker", subject: markerPath(path))
        }
        try completeOwn(own, path)
        try probe(root: root, own: own, path)
        guard let digest = Digest(bytes: Secure.random(Digest.byteCount)) else {
            preconditionFailure("a digest is as long as what was drawn for it")
        }
        let id = FolderID(digest)
        try step("create the marker", markerPath(path)) { () throws(Failure) in
            try giveAway(own, like: root)
            try writeMarker(id, in: own)
            try root.sync()
        }
        return id
    }

    /// To whom the folder belongs, where root sets it up for somebody else.
    private static func giveAway(_ own: borrowing Descriptor, like root: borrowing Descriptor) throws(Failure) {
        for name in ownDirectories { try own.openChild(CName(name), .list).inheritOwner(of: root) }
        try own.inheritOwner(of: root)
    }

    /// The id in the folder at a path.
    public static func marker(at path: [UInt8]) throws(FolderError) -> FolderID {
        try readMarker(in: openOwn(in: openRoot(path), path), path)
    }

    // MARK: Opening

    static func openRoot(_ path: [UInt8]) throws(FolderError) -> Descriptor {
        try step("openat2", path) { () throws(Failure) in
            if path.isEmpty || path.contains(0) { throw Failure(.notFound) }
            return try open(path, flags: O_RDONLY | O_DIRECTORY)
        }
    }

    /// The administrator's own path, symlinks and all. Everything below the root is opened by `Descriptor.openChild`.
    static func open(_ path: [UInt8], flags: Int32, mode: UInt16 = 0) throws(Failure) -> Descriptor {
        Descriptor(
            owning: try checked(
                unsafe CName(path).withPointer { path in
                    uninterrupted {
                        unsafe clinux_openat2(AT_FDCWD, path, UInt64(flags | O_CLOEXEC), UInt64(mode), 0)
                    }
                }))
    }

    static func status(ofPath path: [UInt8]) throws(Failure) -> Status {
        do throws(Failure) {
            return try open(path, flags: CLINUX_O_PATH | O_DIRECTORY).status()
        } catch {
            guard error.isWantOfDescriptors else { throw error }
        }
        // To ask by name takes none.
        var found = statx()
        try checked(unsafe CName(path).withPointer { unsafe clinux_statx(AT_FDCWD, $0, 0, Status.mask, &found) })
        return Status(found)
    }

    static func openOwn(in root: borrowing Descriptor, _ path: [UInt8]) throws(FolderError) -> Descriptor {
        let subject = path + Array("/.syncd".utf8)
        do throws(Failure) {
            return try root.openChild(ownName, .list)
        } catch {
            switch error.error {
            case .notFound: throw FolderError(kind: .notSetUp, operation: "openat2", subject: subject)
            case .notDirectory, .crossDevice:
                throw FolderError(kind: .damaged, operation: "openat2", subject: subject, errno: error.errno)
            case .exists, .notEmpty, .isDirectory, .noSpace, .inputOutput, .readOnly, .busy, .permission, .nameTooLong,
                .mismatch, .unsupported:
                throw FolderError(error, operation: "openat2", subject: subject)
            }
        }
    }

    static func lock(_ own: borrowing Descriptor, _ path: [UInt8]) throws(FolderError) {
        let isOurs = try step("flock", path) { () throws(Failure) in try own.lock() }
        if !isOurs { throw FolderError(kind: .inUse, operation: "flock", subject: path, errno: EWOULDBLOCK) }
    }

    /// Makes the directories of ours that are missing.
    static func completeOwn(_ own: borrowing Descriptor, _ path: [UInt8]) throws(FolderError) {
        for name in ownDirectories {
            let subject = path + Array("/.syncd/\(name)".utf8)
            try makeDirectory(CName(name), in: own, subject: subject)
            _ = try step("openat2", subject) { () throws(Failure) in try own.openChild(CName(name), .list) }
        }
        try step("fsync", path + Array("/.syncd".utf8)) { () throws(Failure) in try own.sync() }
    }

    private static func makeDirectory(
        _ name: CName, in directory: borrowing Descriptor, subject: [UInt8]
    ) throws(FolderError) {
        try step("mkdirat", subject) { () throws(Failure) in
            do throws(Failure) {
                try directory.makeDirectory(name, mode: 0o700)
            } catch {
                if error.error != .exists { throw error }
            }
        }
    }

    // MARK: The marker

    static func markerPath(_ path: [UInt8]) -> [UInt8] { path + Array("/.syncd/folder-id".utf8) }

    static func markerText(_ id: FolderID) -> [UInt8] { Array("\(id.digest.hex())\n".utf8) }

    static func markerBytes(in own: borrowing Descriptor) throws(Failure) -> (bytes: [UInt8], status: Status) {
        let status = try own.status(of: markerName)
        guard status.kind == .file else { throw Failure(.unsupported) }
        let file = try own.openChild(markerName, .read)
        // One byte more than there may be, so that a longer file is seen to be longer.
        var bytes = [UInt8](repeating: 0, count: 2 * Digest.byteCount + 2)
        let count = try file.fill(&bytes, at: 0)
        return (Array(bytes[..<count]), status)
    }

    static func readMarker(in own: borrowing Descriptor, _ path: [UInt8]) throws(FolderError) -> FolderID {
        let bytes: [UInt8]
        do throws(Failure) {
            bytes = try markerBytes(in: own).bytes
        } catch {
            let kind: FolderError.Kind? = error.error == .notFound ? .notSetUp : nil
            let told = FolderError(error, operation: "read the marker", subject: markerPath(path))
            throw FolderError(
                kind: kind ?? told.kind, operation: told.operation, subject: told.subject, errno: error.errno)
        }
        guard let id = parse(bytes) else {
            throw FolderError(kind: .damaged, operation: "read the marker", subject: markerPath(path))
        }
        return id
    }

    static func isMarker(_ text: [UInt8]) -> Bool { parse(text) != nil }

    private static func parse(_ text: [UInt8]) -> FolderID? {
        guard text.count == 2 * Digest.byteCount + 1, text.last == UInt8(ascii: "\n") else { return nil }
        var bytes: [UInt8] = []
        for index in 0..<Digest.byteCount {
            guard let high = hexValue(text[2 * index]), let low = hexValue(text[2 * index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return Digest(bytes: bytes).map { FolderID($0) }
    }

    private static func hasMarker(_ own: borrowing Descriptor, _ path: [UInt8]) throws(FolderError) -> Bool {
        try step("statx", markerPath(path)) { () throws(Failure) in
            do throws(Failure) {
                _ = try own.status(of: markerName)
                return true
            } catch {
                if error.isAbsence { return false }
                throw error
            }
        }
    }

    /// Under another name first: the marker is there whole or not at all.
    private static func writeMarker(_ id: FolderID, in own: borrowing Descriptor) throws(Failure) {
        do throws(Failure) {
            try own.removeFile(draftName)
        } catch {
            if !error.isAbsence { throw error }
        }
        let file = try own.openChild(draftName, .create)
        try file.write(markerText(id)[...], at: 0)
        try file.inheritOwner(of: own)
        try file.sync()
        try own.rename(draftName, to: own, markerName, .move)
        try own.sync()
    }

    // MARK: What we cannot do without

    /// Tries in the stage what all of apply rests on. Better a refusal now than a half-done exchange later.
    static func probe(root: borrowing Descriptor, own: borrowing Descriptor, _ path: [UInt8]) throws(FolderError) {
        let alias = root.alias()
        let (here, there) = try step("/proc/self/fd", path) { () throws(Failure) in
            (try root.status(), try statusFollowing(alias))
        }
        guard here.isSameFile(as: there) else {
            throw FolderError(kind: .unsupported, operation: "/proc/self/fd", subject: path)
        }
        let subject = path + Array("/.syncd/stage".utf8)
        let stage = try step("openat2", subject) { () throws(Failure) in try own.openChild(stageName, .list) }
        try step("renameat2", subject) { () throws(Failure) in try probeUnlessFull(stage) }
    }

    /// A full disk tells nothing about renames, and what is deleted here is to be told all the same.
    private static func probeUnlessFull(_ stage: borrowing Descriptor) throws(Failure) {
        do throws(Failure) {
            try probeRenames(in: stage)
        } catch {
            if error.error != .noSpace { throw error }
        }
    }

    private static func statusFollowing(_ path: CName) throws(Failure) -> Status {
        var found = statx()
        try checked(unsafe path.withPointer { unsafe clinux_statx(AT_FDCWD, $0, 0, Status.mask, &found) })
        return Status(found)
    }

    private static func probeRenames(in stage: borrowing Descriptor) throws(Failure) {
        let (first, second) = (CName("probe-1"), CName("probe-2"))
        try removeProbe(first, second, in: stage)
        _ = try stage.openChild(first, .create)
        _ = try stage.openChild(second, .create)
        try stage.rename(first, to: stage, second, .exchange)
        try stage.removeFile(second)
        try stage.rename(first, to: stage, second, .move)
        try stage.removeFile(second)
    }

    private static func removeProbe(
        _ first: CName, _ second: CName, in stage: borrowing Descriptor
    ) throws(Failure) {
        for name in [first, second] {
            do throws(Failure) {
                try stage.removeFile(name)
            } catch {
                if !error.isAbsence { throw error }
            }
        }
    }
}
