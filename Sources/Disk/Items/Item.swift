/// Whole documents of an application, by the paths it knows them by: a file, or a directory that counts as one thing (a package).
///
/// Nothing here takes part in synchronising; `SyncKit` is built on it. An item is never seen half written: it is made under another name
/// in the same directory, brought to stable storage, and then put in place by one rename that takes the place of nothing (`create`) or
/// exchanges both and looks at what came out (`replace`).
import Crypto
import Glibc
public import SyncModel

public struct Item: Sendable {
    /// What an item holds.
    public enum Contents: Hashable, Sendable {
        case file([UInt8])
        /// The regular files of a directory and of those within it, by where they are in it. A directory with nothing in it is no part, nor
        /// is what marks it as a package.
        case package([Path: [UInt8]])

        fileprivate var kind: FileKind {
            switch self {
            case .file: .file
            case .package: .directory
            }
        }
    }

    /// Why nothing was done.
    public struct Failure: Error, Hashable, Sendable {
        public let error: DiskError
        /// 0 if the kernel had no part in it.
        public let errno: Int32

        public init(error: DiskError, errno: Int32) {
            self.error = error
            self.errno = errno
        }
    }

    public enum Reading: Hashable, Sendable {
        case contents(Contents)
        /// Somebody wrote to it meanwhile, each of the times it was tried.
        case unsteady
        case tooLarge
    }

    public enum Replacement: Hashable, Sendable {
        case done
        /// What stands there is not what was expected; nothing was changed.
        case raced
    }

    private let directory: [UInt8]
    private let name: Name

    /// Nil if the last part of the path is no name.
    public init?(path: [UInt8]) {
        let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true)
        guard let last = parts.last, let name = Name(Array(last)), !path.contains(0) else { return nil }
        let parent = path[..<last.startIndex]
        directory = parent.isEmpty ? [UInt8(ascii: ".")] : Array(parent)
        self.name = name
    }

    /// The one spelling of a path, whatever links and dots led to it, as far as its directory exists; absolute.
    public static func resolved(_ path: [UInt8]) -> [UInt8]? {
        guard let item = Item(path: path) else { return nil }
        guard let directory = withoutLinks(item.directory) else { return nil }
        return (directory == [UInt8(ascii: "/")] ? [] : directory) + [UInt8(ascii: "/")] + item.name.bytes
    }

    /// All links on the way are followed, the last one too; nil if they lead nowhere.
    public static func withoutLinks(_ path: [UInt8]) -> [UInt8]? {
        guard let start = unsafe CName(path).withPointer({ unsafe realpath($0, nil) }) else { return nil }
        // What realpath returns is ours to free, and ends with a zero byte.
        defer { unsafe free(start) }
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: strlen(start)))
    }

    public static let bytesMax = 256 << 20
    /// How deep the directories of a package may lie in each other: each takes a descriptor while it is read or written.
    public static let levelsMax = 16
    private static let triesMax = 3

    // MARK: Reading

    public func read(bytesMax: Int = Item.bytesMax) throws(Failure) -> Reading {
        try Item.translated { () throws(CallFailure) in
            let parent = try parent()
            var reading = Reading.unsteady
            for _ in 0..<Item.triesMax where reading == .unsteady {
                reading = try Item.read(name, in: parent, bytesMax)
            }
            return reading
        }
    }

    /// Names of the regular files in a directory that are no temporary files, in byte order. Nothing hidden is among them.
    public static func regularFiles(in directory: [UInt8]) throws(Failure) -> [Name] {
        try translated { () throws(CallFailure) in
            let opened = try Folder.open(directory, flags: O_RDONLY | O_DIRECTORY)
            return try Entries(of: opened).files.filter { $0.bytes.first != UInt8(ascii: ".") }
        }
    }

    private func parent() throws(CallFailure) -> Descriptor {
        try Folder.open(directory, flags: O_RDONLY | O_DIRECTORY)
    }

    private static func read(
        _ name: Name, in parent: borrowing Descriptor, _ bytesMax: Int
    ) throws(CallFailure) -> Reading {
        let name = CName(name.bytes)
        switch try parent.status(of: name).kind {
        case .file:
            switch try readFile(name, in: parent, bytesMax) {
            case .bytes(let bytes): return .contents(.file(bytes))
            case .unsteady: return .unsteady
            case .tooLarge: return .tooLarge
            }
        case .directory: return try readPackage(try parent.openChild(name, .list), bytesMax)
        case .symlink, .special: throw CallFailure(.unsupported)
        }
    }

    private enum FileReading {
        case bytes([UInt8])
        case unsteady
        case tooLarge
    }

    private static func readFile(
        _ name: CName, in parent: borrowing Descriptor, _ bytesMax: Int
    ) throws(CallFailure) -> FileReading {
        let file = try parent.openChild(name, .read)
        let before = try file.status()
        guard before.kind == .file else { throw CallFailure(.unsupported) }
        guard before.size <= UInt64(bytesMax) else { return .tooLarge }
        var bytes = [UInt8](repeating: 0, count: Int(before.size))
        let filled = try file.fill(&bytes, at: 0)
        let after = try file.status()
        let isSteady = filled == bytes.count && after.size == before.size && after.modified == before.modified
        return isSteady ? .bytes(bytes) : .unsteady
    }

    private static func readPackage(
        _ directory: consuming Descriptor, _ bytesMax: Int
    ) throws(CallFailure) -> Reading {
        var files: [Path: [UInt8]] = [:]
        var room = bytesMax
        switch try readAll(of: directory, as: .root, levels: levelsMax, &files, &room) {
        case .bytes: return .contents(.package(files))
        case .unsteady: return .unsteady
        case .tooLarge: return .tooLarge
        }
    }

    /// What could not be written back is not read: neither a link nor a directory with nothing in it.
    private static func readAll(
        of directory: borrowing Descriptor, as place: Path, levels: Int, _ files: inout [Path: [UInt8]],
        _ room: inout Int
    ) throws(CallFailure) -> FileReading {
        let entries = try Entries(of: directory)
        guard entries.others == 0, place.isRoot || !entries.isEmpty, levels > 0 else { throw CallFailure(.unsupported) }
        for name in entries.files where !place.isRoot || name.bytes != packageMark {
            let reading = try readFile(CName(name.bytes), in: directory, room)
            guard case .bytes(let bytes) = reading else { return reading }
            files[place.appending(name)] = bytes
            room -= bytes.count
        }
        for name in entries.directories {
            let child = try directory.openChild(CName(name.bytes), .list)
            let reading = try readAll(of: child, as: place.appending(name), levels: levels - 1, &files, &room)
            guard case .bytes = reading else { return reading }
        }
        return .bytes([])
    }

    // MARK: Writing

    /// Durable when this returns. Fails with `exists` if anything has the name.
    public func create(_ contents: Contents) throws(Failure) {
        try Item.translated { () throws(CallFailure) in
            let parent = try parent()
            let temporary = try make(contents, isPrivate: false, in: parent)
            do throws(CallFailure) {
                try parent.rename(CName(temporary.bytes), to: parent, CName(name.bytes), .move)
            } catch {
                Item.discard(temporary, in: parent)
                throw error
            }
            try parent.sync()
        }
    }

    /// Durable when this returns `done`. What was expected is compared with what came out of the exchange, so that no change of somebody
    /// else between a look and a rename can be lost.
    public func replace(_ expected: Contents, with contents: Contents) throws(Failure) -> Replacement {
        try Item.translated { () throws(CallFailure) in
            let parent = try parent()
            let kind = try parent.status(of: CName(name.bytes)).kind
            let isLike = kind == contents.kind
            // Nobody else may read it before it is known who may.
            let temporary = try make(contents, isPrivate: isLike, in: parent)
            do throws(CallFailure) {
                if isLike {
                    if kind == .directory { try takeMark(temporary, in: parent) }
                    try takeAttributes(temporary, in: parent)
                }
            } catch {
                Item.discard(temporary, in: parent)
                throw error
            }
            guard try exchange(temporary, expected, contents, in: parent) == .done else { return .raced }
            try parent.sync()
            Item.discard(temporary, in: parent)
            return .done
        }
    }

    /// What counts as one thing goes on to.
    private func takeMark(_ temporary: Name, in parent: borrowing Descriptor) throws(CallFailure) {
        let mark = CName(Item.packageMark)
        let reading: FileReading
        do throws(CallFailure) {
            reading = try Item.readFile(mark, in: try parent.openChild(CName(name.bytes), .list), Item.bytesMax)
        } catch {
            if error.error == .notFound { return }
            throw error
        }
        guard case .bytes(let bytes) = reading else { throw CallFailure(.busy) }
        let new = try parent.openChild(CName(temporary.bytes), .list)
        try Item.write(bytes, mark, mode: 0o644, in: new)
    }

    /// Owner, mode, access lists and the like are those of what it takes the place of.
    private func takeAttributes(_ temporary: Name, in parent: borrowing Descriptor) throws(CallFailure) {
        let isDirectory = try parent.status(of: CName(temporary.bytes)).kind == .directory
        let old = try parent.openChild(CName(name.bytes), isDirectory ? .list : .read)
        let new = try parent.openChild(CName(temporary.bytes), isDirectory ? .list : .read)
        try new.takeAttributes(of: old)
        // Last, because it may take from us the right to change anything.
        try new.setMode(try old.status().mode)
        try new.sync()
    }

    /// What bears the temporary name is ours to throw away before the first exchange. After it, that may be all
    /// there is of somebody else's work: it goes only if it is what was expected, or turns out to be ours again.
    private func exchange(
        _ temporary: Name, _ expected: Contents, _ contents: Contents, in parent: borrowing Descriptor
    ) throws(CallFailure) -> Replacement {
        do throws(CallFailure) {
            try parent.rename(CName(temporary.bytes), to: parent, CName(name.bytes), .exchange)
        } catch {
            Item.discard(temporary, in: parent)
            throw error
        }
        if Item.holds(expected, temporary, in: parent) { return .done }
        do throws(CallFailure) {
            try parent.rename(CName(temporary.bytes), to: parent, CName(name.bytes), .exchange)
        } catch {
            // Somebody has taken ours away meanwhile.
            try putBack(temporary, in: parent)
            return .raced
        }
        // Somebody may have saved over ours meanwhile, and that has come out.
        if Item.holds(contents, temporary, in: parent) {
            Item.discard(temporary, in: parent)
        } else {
            try putBack(temporary, in: parent)
        }
        return .raced
    }

    /// What was displaced, and is to go for good, is what was expected. What cannot be read is not.
    private static func holds(_ expected: Contents, _ displaced: Name, in parent: borrowing Descriptor) -> Bool {
        do throws(CallFailure) {
            return try read(displaced, in: parent, bytesMax) == .contents(expected)
        } catch {
            return false
        }
    }

    /// Nothing is under this name when this returns `done`. What was expected is compared with what was moved aside, as in `replace`.
    /// Fails with `notFound` if nothing was there.
    public func remove(_ expected: Contents) throws(Failure) -> Replacement {
        try Item.translated { () throws(CallFailure) in
            let parent = try parent()
            let temporary = try temporaryName()
            try parent.rename(CName(name.bytes), to: parent, CName(temporary.bytes), .move)
            guard Item.holds(expected, temporary, in: parent) else {
                try putBack(temporary, in: parent)
                return .raced
            }
            try parent.sync()
            Item.discard(temporary, in: parent)
            return .done
        }
    }

    /// Where it was, or, if somebody has taken the name meanwhile, beside it, where people see it.
    private func putBack(_ temporary: Name, in parent: borrowing Descriptor) throws(CallFailure) {
        do throws(CallFailure) {
            try parent.rename(CName(temporary.bytes), to: parent, CName(name.bytes), .move)
        } catch {
            guard error.error == .exists else { throw error }
            let visible = temporary.bytes.dropFirst().dropLast(Item.temporaryEnding.count)
            try parent.rename(
                CName(temporary.bytes), to: parent, CName(Array(visible) + Item.displacedEnding), .move)
        }
    }

    /// Complete and on stable storage, under the name that is returned.
    private func make(
        _ contents: Contents, isPrivate: Bool, in parent: borrowing Descriptor
    ) throws(CallFailure) -> Name {
        let temporary = try temporaryName()
        do throws(CallFailure) {
            switch contents {
            case .file(let bytes):
                try Item.write(bytes, CName(temporary.bytes), mode: isPrivate ? 0o600 : 0o644, in: parent)
            case .package(let files):
                try parent.makeDirectory(CName(temporary.bytes), mode: isPrivate ? 0o700 : 0o755)
                let directory = try parent.openChild(CName(temporary.bytes), .list)
                let parts = files.sorted { $0.key < $1.key }.map { (names: $0.key.names[...], bytes: $0.value) }
                try Item.write(parts[...], in: directory, levels: Item.levelsMax)
            }
        } catch {
            Item.discard(temporary, in: parent)
            throw error
        }
        return temporary
    }

    /// In the order of their paths, so that what is in one directory comes together.
    private static func write(
        _ files: ArraySlice<(names: ArraySlice<Name>, bytes: [UInt8])>, in directory: borrowing Descriptor, levels: Int
    ) throws(CallFailure) {
        guard levels > 0 else { throw CallFailure(.unsupported) }
        var rest = files
        while let (names, bytes) = rest.first, let name = names.first {
            if names.count == 1 {
                try write(bytes, CName(name.bytes), mode: 0o644, in: directory)
                rest = rest.dropFirst()
            } else {
                let inside = rest.prefix { $0.names.first == name }
                rest = rest.dropFirst(inside.count)
                try directory.makeDirectory(CName(name.bytes), mode: 0o755)
                let child = try directory.openChild(CName(name.bytes), .list)
                let parts = inside.map { (names: $0.names.dropFirst(), bytes: $0.bytes) }
                try write(parts[...], in: child, levels: levels - 1)
            }
        }
        try directory.sync()
    }

    private static func write(
        _ bytes: [UInt8], _ name: CName, mode: UInt16, in directory: borrowing Descriptor
    ) throws(CallFailure) {
        let file = try directory.openChild(name, .create)
        try file.write(bytes[...], at: 0)
        try file.setMode(mode)
        try file.sync()
    }

    private static var temporaryEnding: [UInt8] { Array(".tmp".utf8) }
    private static var displacedEnding: [UInt8] { Array(".displaced".utf8) }

    /// Hidden, so that nobody takes it for a document, and named after the item as far as that fits.
    private func temporaryName() throws(CallFailure) -> Name {
        let chance = Secure.random(6).flatMap { byte in Array(String(byte, radix: 36).utf8) }
        let bytes = [UInt8(ascii: ".")] + name.bytes.prefix(200) + [UInt8(ascii: ".")] + chance + Item.temporaryEnding
        guard let name = Name(bytes) else { throw CallFailure(.nameTooLong) }
        return name
    }

    /// What is ours alone, or was displaced and compared. What cannot be taken away stays under its hidden name.
    private static func discard(_ name: Name, in parent: borrowing Descriptor) {
        do throws(CallFailure) {
            guard try parent.status(of: CName(name.bytes)).kind == .directory else {
                return try parent.removeFile(CName(name.bytes))
            }
            do {
                let directory = try parent.openChild(CName(name.bytes), .list)
                let entries = try Entries(of: directory)
                for file in entries.files { try directory.removeFile(CName(file.bytes)) }
                for child in entries.directories { discard(child, in: directory) }
            }
            try parent.removeDirectory(CName(name.bytes))
        } catch {
            return
        }
    }

    private static func translated<Result>(
        _ body: () throws(CallFailure) -> Result
    ) throws(Failure) -> Result {
        do throws(CallFailure) {
            return try body()
        } catch {
            throw Failure(error: error.error, errno: error.errno)
        }
    }
}

/// The target's own, within a type that has another of this name.
private typealias CallFailure = Failure

/// What is in a directory that has not been listed yet, in byte order.
private struct Entries {
    var files: [Name] = []
    var directories: [Name] = []
    /// Neither the one nor the other.
    var others = 0

    init(of directory: borrowing Descriptor) throws(Failure) {
        let listing = try Listing(of: directory)
        for index in listing.indices {
            switch try Entries.kind(of: listing, at: index, in: directory) {
            case .file: if let name = Name(Array(listing.name(at: index))) { files.append(name) }
            case .directory: if let name = Name(Array(listing.name(at: index))) { directories.append(name) }
            case .symlink, .special: others += 1
            }
        }
    }

    var isEmpty: Bool { files.isEmpty && directories.isEmpty }

    private static func kind(
        of listing: borrowing Listing, at index: Int, in directory: borrowing Descriptor
    ) throws(Failure) -> FileKind {
        if listing.isDirectory(at: index) == true { return .directory }
        return try listing.status(at: index, in: directory).kind
    }
}

extension Path {
    fileprivate var names: [Name] { (parents.filter { !$0.isRoot } + [self]).compactMap(\.name) }
}
