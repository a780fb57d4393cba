/// Whether a program is at a file: what `expectUnheld` sees, and what it cannot.
import Glibc
import SyncModel
import Testing

@testable import Disk

@Suite("Disk: who holds a file") struct HolderTests {
    private static func place(_ name: String) throws -> Place { .tree(try #require(Path(Array(name.utf8)))) }

    private func isHeld(_ name: String, in scratch: Scratch) throws -> Bool {
        scratch.folder.error(.expectUnheld(try Self.place(name))) == .busy
    }

    /// Another test may be starting a process, which has all descriptors of ours until it executes its program.
    private func isFreed(_ name: String, in scratch: Scratch) throws -> Bool {
        for _ in 0..<200 {
            if try !isHeld(name, in: scratch) { return true }
            usleep(10_000)
        }
        return false
    }

    private func open(_ name: String, _ flags: Int32, in scratch: Scratch) throws -> Int32 {
        try unsafe Scratch.check(Glibc.open("\(scratch.path)/\(name)", flags | O_CLOEXEC))
    }

    @Test("a file is held while it is open for writing, not while it is only read") func writers() throws {
        let scratch = try Scratch()
        try scratch.write("f", [1])
        for (flags, expected) in [(O_RDONLY, false), (O_WRONLY, true), (O_RDWR, true), (O_WRONLY | O_APPEND, true)] {
            #expect(try isFreed("f", in: scratch))
            let file = try open("f", flags, in: scratch)
            if expected { #expect(try isHeld("f", in: scratch)) } else { #expect(try isFreed("f", in: scratch)) }
            close(file)
        }
    }

    @Test("a mapping that can be written to holds the file after its descriptor is closed") func mappings() throws {
        let scratch = try Scratch()
        try scratch.write("f", [1])
        let file = try open("f", O_RDWR, in: scratch)
        let mapping = unsafe mmap(nil, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        close(file)
        #expect(try isHeld("f", in: scratch))
        unsafe munmap(mapping, 1)
        #expect(try isFreed("f", in: scratch))
    }

    @Test("a lock of either kind holds the file, for reading too") func locks() throws {
        let scratch = try Scratch()
        try scratch.write("f", [1])
        let file = try open("f", O_RDONLY, in: scratch)
        defer { close(file) }
        for kind in [LOCK_SH, LOCK_EX] {
            try Scratch.check(flock(file, kind))
            #expect(try isHeld("f", in: scratch))
            try Scratch.check(flock(file, LOCK_UN))
            #expect(try isFreed("f", in: scratch))
        }
    }

    /// F_OFD_SETLK, which the module of the C library leaves out.
    private static let ownedLock: Int32 = 37

    @Test(
        "a record lock holds the file, of the process or of the open file, for reading or writing, on any part of it",
        arguments: [F_SETLK, ownedLock], [F_RDLCK, F_WRLCK])
    func recordLocks(command: Int32, kind: Int32) throws {
        let scratch = try Scratch()
        try scratch.write("f", [1])
        // (Who may lock it for writing has it open for writing, which holds it as well.)
        let file = try open("f", kind == F_RDLCK ? O_RDONLY : O_RDWR, in: scratch)
        func lock(_ kind: Int32) throws {
            var lock = Glibc.flock()
            lock.l_type = Int16(kind)
            lock.l_whence = Int16(SEEK_SET)
            lock.l_start = 1_000
            lock.l_len = 1
            // The structure is used for the time of the call only.
            try unsafe Scratch.check(fcntl(file, command, &lock))
        }
        try lock(kind)
        #expect(try isHeld("f", in: scratch))
        try lock(F_UNLCK)
        close(file)
        #expect(try isFreed("f", in: scratch))
    }

    @Test("what is not there, no file or not to be read holds nothing up") func others() throws {
        let scratch = try Scratch()
        try scratch.makeDirectory("d")
        try scratch.symlink("l", to: "f")
        try scratch.makeFIFO("p")
        for name in ["none", "none/f", "d", "l", "p"] { #expect(try !isHeld(name, in: scratch)) }
    }

    @Test("asking leaves nothing behind: the file can be opened and locked at once") func noTrace() throws {
        let scratch = try Scratch()
        try scratch.write("f", [1])
        for _ in 0..<100 {
            _ = try isHeld("f", in: scratch)
            let file = try open("f", O_RDWR | O_NONBLOCK, in: scratch)
            #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
            // Not by the close alone: a process that is being started has the descriptor for a moment longer.
            flock(file, LOCK_UN)
            close(file)
        }
    }
}
