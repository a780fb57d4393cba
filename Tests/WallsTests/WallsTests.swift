/// Every C library answers through its wall, and the library that is loaded is not older than what we build on.
/// A wall's own shims are exercised here too, because until their Swift owner exists nobody else would notice a bad one.
import CInih
import CLibuv
import CLinux
import COpenSSL
import CSQLite
import CZstd
import Glibc
import Testing

@Suite("the walls to C")
struct WallsTests {
    @Test("libuv is 1.44 or later") func libuvFloor() {
        #expect(uv_version() >= 1 << 16 | 44 << 8)
    }

    @Test("SQLite is 3.40 or later") func sqliteFloor() {
        #expect(sqlite3_libversion_number() >= 3_040_000)
    }

    @Test("OpenSSL is 3.0 or later") func opensslFloor() {
        #expect(OpenSSL_version_num() >= 0x3000_0000)
    }

    @Test("zstd is 1.5 or later") func zstdFloor() {
        #expect(ZSTD_versionNumber() >= 1_05_00)
    }

    @Test("inih reads sections, keys and comments") func inihReads() {
        var pairs: [String] = []
        let outcome = unsafe withUnsafeMutablePointer(to: &pairs) { collected in
            let text = "[node]\nname = alpha ; inline\n[link]\nlisten = [::]:7420\n"
            return unsafe ini_parse_string(
                text,
                { user, section, key, value in
                    guard let user = unsafe user, let section = unsafe section, let key = unsafe key,
                        let value = unsafe value
                    else { return 0 }
                    let pair = unsafe "\(String(cString: section)).\(String(cString: key))=\(String(cString: value))"
                    unsafe user.assumingMemoryBound(to: [String].self).pointee.append(pair)
                    return 1
                }, collected)
        }
        #expect(outcome == 0)
        #expect(pairs == ["node.name=alpha", "link.listen=[::]:7420"])
    }

    @Test("SQLite copies bound text and takes options") func sqliteShims() {
        var database: OpaquePointer?
        #expect(unsafe sqlite3_open(":memory:", &database) == SQLITE_OK)
        defer { unsafe sqlite3_close(database) }
        var now: Int32 = -1
        #expect(unsafe csqlite_set_option(database, SQLITE_DBCONFIG_DEFENSIVE, 1, &now) == SQLITE_OK)
        #expect(now == 1)

        var statement: OpaquePointer?
        #expect(unsafe sqlite3_prepare_v2(database, "SELECT ?1", -1, &statement, nil) == SQLITE_OK)
        defer { unsafe sqlite3_finalize(statement) }
        var bytes: [CChar] = [97, 98, 99, 0]
        #expect(unsafe sqlite3_bind_text(statement, 1, &bytes, 3, csqlite_transient()) == SQLITE_OK)
        bytes = [120, 120, 120, 0]
        #expect(unsafe sqlite3_step(statement) == SQLITE_ROW)
        #expect(unsafe String(cString: sqlite3_column_text(statement, 0)) == "abc")
    }

    @Test("OpenSSL can be pinned to TLS 1.3, and an empty memory BIO asks to retry") func opensslShims() throws {
        let context = unsafe SSL_CTX_new(TLS_method())
        defer { unsafe SSL_CTX_free(context) }
        #expect(unsafe copenssl_pin_version(context, TLS1_3_VERSION) == 1)
        #expect(unsafe SSL_CTX_ctrl(context, SSL_CTRL_GET_MIN_PROTO_VERSION, 0, nil) == Int(TLS1_3_VERSION))
        #expect(unsafe SSL_CTX_ctrl(context, SSL_CTRL_GET_MAX_PROTO_VERSION, 0, nil) == Int(TLS1_3_VERSION))

        let memory = unsafe BIO_new(BIO_s_mem())
        defer { unsafe BIO_free(memory) }
        unsafe copenssl_empty_means_retry(memory)
        var byte: UInt8 = 0
        #expect(unsafe BIO_read(memory, &byte, 1) == -1)
        #expect(unsafe BIO_test_flags(memory, BIO_FLAGS_SHOULD_RETRY) != 0)
    }
}

/// The Linux calls do what their names say, on a real directory: two files that trade places and a way out that is shut.
@Suite("the wall to Linux")
struct LinuxWallTests {
    @Test("openat2 beneath a directory opens a child and refuses the way out") func openBeneath() throws {
        try withScratch { directory in
            let child = unsafe clinux_openat2(directory, "a", UInt64(O_RDONLY), 0, UInt64(RESOLVE_BENEATH))
            #expect(child >= 0)
            close(child)
            #expect(unsafe clinux_openat2(directory, "../", UInt64(O_RDONLY), 0, UInt64(RESOLVE_BENEATH)) == -EXDEV)
            #expect(unsafe clinux_openat2(directory, "none", UInt64(CLINUX_O_PATH), 0, 0) == -ENOENT)
        }
    }

    @Test("renameat2 swaps two files, and refuses to replace when told so") func renames() throws {
        try withScratch { directory in
            let before = try inode(of: "a", in: directory)
            #expect(unsafe clinux_renameat2(directory, "a", directory, "b", CLINUX_RENAME_EXCHANGE) == 0)
            #expect(try inode(of: "b", in: directory) == before)
            #expect(unsafe clinux_renameat2(directory, "a", directory, "b", CLINUX_RENAME_NOREPLACE) == -EEXIST)
        }
    }

    @Test("statx tells the birth time and works on a descriptor alone") func births() throws {
        try withScratch { directory in
            var status = statx()
            #expect(unsafe clinux_statx(directory, "", CLINUX_AT_EMPTY_PATH, UInt32(STATX_BTIME), &status) == 0)
            #expect(status.stx_btime.tv_sec > 0 || status.stx_mask & UInt32(STATX_BTIME) == 0)
            #expect(UInt32(status.stx_mode) & Glibc.S_IFMT == Glibc.S_IFDIR)
        }
    }

    @Test("a clone either shares blocks or says why not") func clones() throws {
        try withScratch { directory in
            let source = unsafe openat(directory, "a", O_RDONLY)
            let target = unsafe openat(directory, "b", O_WRONLY)
            defer {
                close(source)
                close(target)
            }
            #expect([0, -EOPNOTSUPP, -EXDEV, -ENOTTY].contains(clinux_clone(target, source)))
            #expect(clinux_clone(target, -1) == -EBADF)
        }
    }

    @Test("getdents64 gives every name once, at the offsets the wall states") func listing() throws {
        try withScratch { directory in
            var buffer = [UInt8](repeating: 0, count: 4096)
            let filled = unsafe clinux_getdents64(directory, &buffer, buffer.count)
            var names: [String] = []
            var start = 0
            while start < filled {
                let length = Int(buffer[start + Int(CLINUX_DIRENT_LENGTH_OFFSET)])
                let name = buffer[(start + Int(CLINUX_DIRENT_NAME_OFFSET))..<(start + length)].prefix { $0 != 0 }
                names.append(String(decoding: name, as: UTF8.self))
                start += length
            }
            #expect(names.sorted() == [".", "..", "a", "b"])
            #expect(unsafe clinux_getdents64(-1, &buffer, buffer.count) == -Int(EBADF))
        }
    }

    @Test("the inotify constants the watcher needs are visible through Glibc") func inotifyConstants() {
        let watched = [
            IN_CLOSE_WRITE, IN_MODIFY, IN_ATTRIB, IN_CREATE, IN_DELETE, IN_MOVED_FROM, IN_MOVED_TO, IN_DELETE_SELF,
            IN_MOVE_SELF, IN_ONLYDIR, IN_DONT_FOLLOW, IN_EXCL_UNLINK, IN_Q_OVERFLOW, IN_IGNORED, IN_ISDIR,
        ]
        let combined = watched.reduce(0) { $0 | $1 }
        #expect(combined.nonzeroBitCount == watched.count, "each constant is one bit of its own")
    }
}

/// A directory of its own with two empty files, `a` and `b`, handed over as a descriptor and removed afterwards.
private func withScratch(_ body: (_ directory: Int32) throws -> Void) throws {
    var template = Array("/tmp/syncd-walls-XXXXXX".utf8CString)
    let made = unsafe mkdtemp(&template)
    try #require(unsafe made != nil)
    let directory = unsafe open(&template, O_RDONLY | O_DIRECTORY)
    defer {
        close(directory)
        unsafe rmdir(&template)
    }
    for name in ["a", "b"] { close(unsafe openat(directory, name, O_CREAT | O_WRONLY, 0o600)) }
    defer { for name in ["a", "b"] { unsafe unlinkat(directory, name, 0) } }
    try body(directory)
}

private func inode(of name: String, in directory: Int32) throws -> UInt64 {
    var status = statx()
    try #require(unsafe clinux_statx(directory, name, 0, UInt32(STATX_INO), &status) == 0)
    return status.stx_ino
}
