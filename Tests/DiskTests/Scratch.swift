/// A real folder for one test, below /tmp, with the hands of a user in it. It is removed when the test lets go of it.
import Glibc
import SyncModel
import Testing

@testable import Disk

final class Scratch: Sendable {
    /// The shared folder.
    let path: String
    /// What holds the folder and whatever a test needs beside it.
    let above: String
    let id: FolderID
    let folder: Folder
    /// Its watcher is told of everything on its file system, which is its own.
    let isWhole: Bool
    private let mount: Mount?

    init(in directory: String = "/tmp", isWhole: Bool = false) throws {
        above = try Scratch.makeTemporary(in: directory)
        mount = isWhole ? try Mount(at: above, options: "size=100m") : nil
        self.isWhole = isWhole
        path = above + "/folder"
        try unsafe Scratch.check(mkdir(path, 0o755))
        id = try Folder.create(at: Array(path.utf8))
        folder = try Folder(path: Array(path.utf8), id: id)
    }

    deinit {
        mount?.remove()
        Scratch.remove(above)
    }

    /// Both ways to watch, as far as this machine allows.
    static let watchings: [Bool] = isWholePossible ? [false, true] : [false]

    private static let isWholePossible: Bool = {
        guard Mount.isPossible, let scratch = try? Scratch(isWhole: true) else { return false }
        return (try? Fanotify(root: scratch.folder.root)) != nil
    }()

    func makeWatcher() throws -> Watcher { try Watcher(folder: folder, isWhole: isWhole) }

    static func makeTemporary(in directory: String = "/tmp") throws -> String {
        var template = Array("\(directory)/syncd-test-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func remove(_ path: String) {
        remove(bytes: Array(path.utf8))
    }

    /// Where an fsync costs nothing, if there is such a place.
    static let fastDirectory = unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"

    struct CallFailed: Error, CustomStringConvertible {
        let errno: Int32
        var description: String { unsafe String(cString: strerror(errno)) }
    }

    @discardableResult
    static func check<Result: SignedInteger>(_ result: Result) throws -> Result {
        if result == -1 { throw CallFailed(errno: errno) }
        return result
    }
}

// What people and programs do, by path as they do it. Paths are relative to the folder.
extension Scratch {
    func bytes(_ relative: [UInt8]) -> [UInt8] { Array(path.utf8) + [0x2F] + relative }

    func write(_ relative: String, _ content: [UInt8] = [], mode: mode_t = 0o644) throws {
        try write(bytes: Array(relative.utf8), content, mode: mode)
    }

    func write(bytes relative: [UInt8], _ content: [UInt8] = [], mode: mode_t = 0o644) throws {
        let file = try unsafe Self.check(
            with(relative) { unsafe open($0, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, mode) })
        defer { close(file) }
        var done = 0
        while done < content.count {
            unsafe done += try Self.check(
                content[done...].withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) })
        }
    }

    /// Each of a hundred changes, one right after the other, has a time of its own once the one before has been looked at.
    func stampsAreFine() throws -> Bool {
        var times: Set<Timestamp> = []
        for number in 0..<100 {
            try write("stamped", [UInt8(number)])
            guard case .found(let stat)? = folder.inspect([at("stamped")]).results.first else { return false }
            times.insert(stat.changed)
        }
        try unlink("stamped")
        return times.count == 100
    }

    func makeDirectory(_ relative: String, mode: mode_t = 0o755) throws {
        try unsafe Self.check(with(Array(relative.utf8)) { unsafe mkdir($0, mode) })
    }

    func symlink(_ relative: String, to target: String) throws {
        try unsafe Self.check(with(Array(relative.utf8)) { unsafe Glibc.symlink(target, $0) })
    }

    func makeFIFO(_ relative: String) throws {
        try unsafe Self.check(with(Array(relative.utf8)) { unsafe mkfifo($0, 0o644) })
    }

    func rename(_ source: String, _ target: String) throws {
        try unsafe Self.check(
            with(Array(source.utf8)) { from in unsafe with(Array(target.utf8)) { unsafe Glibc.rename(from, $0) } })
    }

    func unlink(_ relative: String) throws {
        try unsafe Self.check(with(Array(relative.utf8)) { unsafe Glibc.unlink($0) })
    }

    func removeDirectory(_ relative: String) throws {
        try unsafe Self.check(with(Array(relative.utf8)) { unsafe rmdir($0) })
    }

    func removeTree(_ relative: String) { Self.remove(path + "/" + relative) }

    func setMode(_ relative: String, _ mode: mode_t) throws {
        try unsafe Self.check(with(Array(relative.utf8)) { unsafe chmod($0, mode) })
    }

    func read(_ relative: String) -> [UInt8]? { Self.read(Array((path + "/" + relative).utf8)) }

    func with<Result>(_ relative: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
        unsafe CName(bytes(relative)).withPointer(body)
    }

    static func read(_ path: [UInt8]) -> [UInt8]? {
        let file = unsafe CName(path).withPointer { unsafe open($0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) }
        if file < 0 { return nil }
        defer { close(file) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
            if count <= 0 { return count == 0 ? content : nil }
            content += buffer[..<count]
        }
    }
}

// Looking at a whole tree without the code under test.
extension Scratch {
    struct Standing: Hashable, CustomStringConvertible {
        enum Content: Hashable {
            case file([UInt8])
            case directory
            case symlink([UInt8])
            case special
        }

        let content: Content
        let mode: UInt16

        var description: String { "\(content) \(String(mode, radix: 8))" }
    }

    /// Everything in the folder by its path, our own directory included.
    func tree() -> [Path: Standing] {
        var found: [Path: Standing] = [:]
        Scratch.walk(Array(path.utf8), .root, &found)
        return found
    }

    private static func walk(_ directory: [UInt8], _ path: Path, _ found: inout [Path: Standing]) {
        for name in names(in: directory) {
            let full = directory + [0x2F] + name
            guard let name = Name(name), let status = status(full) else { continue }
            let below = path.appending(name)
            found[below] = Standing(content: content(full, status), mode: UInt16(status.st_mode & 0o777))
            if status.st_mode & S_IFMT == S_IFDIR { walk(full, below, &found) }
        }
    }

    private static func content(_ path: [UInt8], _ status: stat) -> Standing.Content {
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file(read(path) ?? [])
        case S_IFDIR: return .directory
        case S_IFLNK:
            var target = [CChar](repeating: 0, count: 4_096)
            let count = unsafe CName(path).withPointer { unsafe readlink($0, &target, 4_096) }
            return .symlink(target.prefix(max(0, count)).map { UInt8(bitPattern: $0) })
        default: return .special
        }
    }

    static func status(_ path: [UInt8]) -> stat? {
        var status = stat()
        return unsafe CName(path).withPointer { unsafe lstat($0, &status) } == 0 ? status : nil
    }

    static func names(in directory: [UInt8]) -> [[UInt8]] {
        guard let stream = unsafe CName(directory).withPointer({ unsafe opendir($0) }) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [[UInt8]] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            if name != [0x2E] && name != [0x2E, 0x2E] { names.append(name) }
        }
        return names
    }

    private static func remove(bytes path: [UInt8]) {
        if status(path).map({ $0.st_mode & S_IFMT == S_IFDIR }) ?? false {
            for name in names(in: path) { remove(bytes: path + [0x2F] + name) }
            _ = unsafe CName(path).withPointer { unsafe rmdir($0) }
        } else {
            _ = unsafe CName(path).withPointer { unsafe Glibc.unlink($0) }
        }
    }
}

/// A path that stands in a test.
func at(_ text: String) -> Path {
    guard let path = Path(text) else { preconditionFailure("\(text) is no path") }
    return path
}

func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }
