/// A state directory of its own for each test, and a few ways to look at what lies in it.
import Glibc
import Store
import SyncModel
import Testing

/// Removed with everything in it when the test is over.
final class Scratch {
    let path: String
    var directory: [UInt8] { Array(path.utf8) }

    init() throws {
        var template = Array("/tmp/syncd-test-store-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in names { unsafe unlink("\(path)/\(name)") }
        unsafe rmdir(path)
    }

    func open() throws -> Store { try Store.open(directory: directory, sync: FaultyDisk.sync) }

    var names: [String] {
        guard let stream = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Never of a state.db that is open in this process: closing the file would drop SQLite's locks on it.
    func bytes(_ name: String) throws -> [UInt8] {
        let file = unsafe Glibc.open("\(path)/\(name)", O_RDONLY | O_CLOEXEC)
        try #require(file >= 0, "\(name) can be read")
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe read(file, &buffer, buffer.count)
            try #require(count >= 0)
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        let file = unsafe Glibc.open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes[start...].withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            try #require(count > 0)
            start += count
        }
    }
}

/// A path that is written in a test.
func place(_ text: String) throws -> Path { try #require(Path(text)) }
