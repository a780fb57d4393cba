/// The watcher: a change may be told needlessly, never missed (INV-11).
import Glibc
import SyncModel
import Synchronization
import Testing

@testable import Disk

/// Collects what a watcher tells, on a thread of its own.
final class Listener: Sendable {
    struct Heard: Sendable {
        var notices: [Notice] = []
        var overflows = 0
        var limits = 0
    }

    let watcher: Watcher
    private let heard: Mutex<Heard>
    private let thread: Mutex<Background?>
    private let isEnding = Flag()
    private let marks = Atomic(0)

    static func isMark(_ path: Path) -> Bool { path.bytes.starts(with: utf8("mark-")) }

    /// With a scan first, so that every directory is watched.
    init(_ scratch: Scratch, ignoring patterns: String = "") throws {
        let watcher = try scratch.makeWatcher()
        self.watcher = watcher
        heard = Mutex(Heard())
        thread = Mutex(nil)
        _ = WholeScan(scratch.folder, ignoring: patterns, watcher: watcher)
        let background = try Background { [self] in listen() }
        thread.withLock { $0 = background }
    }

    private func listen() {
        while !isEnding.isSet {
            let news = watcher.next()
            heard.withLock { heard in
                heard.notices += news.notices
                heard.overflows += news.hasOverflowed ? 1 : 0
                heard.limits += news.limitReached ? 1 : 0
            }
        }
    }

    var now: Heard { heard.withLock { $0 } }

    func forget() { heard.withLock { $0 = Heard() } }

    /// Waits until everything that has happened is told: until a file that appears now is noticed. False after ten
    /// seconds.
    func isUpToDate(_ scratch: Scratch) throws -> Bool {
        let mark = "mark-\(marks.add(1, ordering: .relaxed).newValue)"
        try scratch.write(mark)
        let isMarked = holds { $0.notices.contains { $0.path == at(mark) } || $0.overflows > 0 }
        try scratch.unlink(mark)
        return isMarked
    }

    func holds(_ condition: (Heard) -> Bool) -> Bool {
        for _ in 0..<5_000 {
            if condition(now) { return true }
            usleep(2_000)
        }
        return condition(now)
    }

    func stop() {
        isEnding.set()
        watcher.interrupt()
        let background = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        background?.join()
    }
}

extension Watcher {
    /// What is told until the file is closed. That is at once, unless another test is starting a process this very moment: it has
    /// all descriptors of ours until it executes its program.
    func told(untilClosed path: String) -> [Notice] {
        var notices: [Notice] = []
        while !notices.contains(Notice(path: at(path), kind: .closed)) {
            let news = next()
            #expect(!news.isInterrupted)
            if news.isInterrupted { break }
            notices += news.notices
        }
        return notices
    }

    /// Of what has happened up to now and was not told yet.
    func flushed() -> Set<Path> {
        let flush = requestFlush()
        var told: Set<Path> = []
        while true {
            let news = next()
            told.formUnion(news.notices.map(\.path))
            if let flushed = news.flushed, flushed >= flush { return told }
        }
    }
}

@Suite("the watcher misses nothing")
struct WatcherTests {
    /// What is told of some acts, in order, without the mark that ends it.
    private func told(
        _ scratch: Scratch, ignoring patterns: String = "", _ acts: (Scratch) throws -> Void
    ) throws -> [Notice] {
        let listener = try Listener(scratch, ignoring: patterns)
        defer { listener.stop() }
        try acts(scratch)
        #expect(try listener.isUpToDate(scratch))
        #expect(listener.now.overflows == 0)
        return listener.now.notices.filter { !Listener.isMark($0.path) }
    }

    /// Of a new directory it depends on the moment whether a file in it is seen to be closed or found when it is.
    private func has(_ notices: [Notice], _ kind: Notice.Kind, _ path: String) -> Bool {
        let last = notices.last { $0.path == at(path) }?.kind
        return last == kind || kind == .touched && last == .closed
    }

    @Test("a flush tells everything that has happened before it was asked for", arguments: Scratch.watchings)
    func flush(isWhole: Bool) throws {
        let scratch = try Scratch(isWhole: isWhole)
        let watcher = try scratch.makeWatcher()
        _ = WholeScan(scratch.folder, watcher: watcher)
        for round in 0..<50 {
            for number in 0..<round { try scratch.write("f\(round)-\(number)") }
            let told = watcher.flushed()
            #expect((0..<round).allSatisfy { told.contains(at("f\(round)-\($0)")) })
        }
    }

    @Test("files that are made, written, changed, moved and removed", arguments: Scratch.watchings) func files(
        isWhole: Bool
    ) throws {
        let scratch = try Scratch(isWhole: isWhole)
        try scratch.makeDirectory("d")
        let notices = try told(scratch) { scratch in
            try scratch.write("d/a", utf8("1"))
            try scratch.write("b")
            try scratch.setMode("b", 0o600)
            try scratch.rename("b", "d/c")
            try scratch.symlink("link", to: "a")
            try scratch.unlink("d/a")
        }
        // fanotify melts coming and going into one.
        for path in ["d/a", "b"] { #expect(has(notices, .gone, path) || isWhole && has(notices, .closed, path)) }
        #expect(has(notices, .touched, "d/c"))
        #expect(has(notices, .touched, "link"))
    }

    @Test(
        "a file that is still open for writing is told as such, and told again when it is closed",
        arguments: Scratch.watchings) func writing(isWhole: Bool)
        throws
    {
        let scratch = try Scratch(isWhole: isWhole)
        try scratch.write("a", utf8("1"))
        let listener = try Listener(scratch)
        defer { listener.stop() }
        let file = try unsafe Scratch.check(open(scratch.path + "/a", O_WRONLY | O_CLOEXEC))
        try Scratch.check(unsafe Glibc.write(file, "22", 2))
        #expect(listener.holds { $0.notices.last?.kind == .writing })
        close(file)
        #expect(listener.holds { $0.notices.last == Notice(path: at("a"), kind: .closed) })
        try scratch.setMode("a", 0o600)
        #expect(listener.holds { $0.notices.last?.kind == .touched })
    }

    @Test("who writes by a name that has gone is told of by that name", arguments: Scratch.watchings) func goneName(
        isWhole: Bool
    ) throws {
        let scratch = try Scratch(isWhole: isWhole)
        try scratch.write("a", utf8("1"))
        try Scratch.check(unsafe link(scratch.path + "/a", scratch.path + "/b"))
        let file = try unsafe Scratch.check(open(scratch.path + "/a", O_WRONLY | O_CLOEXEC))
        defer { close(file) }
        try scratch.unlink("a")
        let listener = try Listener(scratch)
        defer { listener.stop() }
        try Scratch.check(unsafe Glibc.write(file, "22", 2))
        #expect(listener.holds { $0.notices.contains(Notice(path: at("a"), kind: .writing)) })
    }

    @Test(
        "so is who writes by a name whose directory was removed, also where there is another by then",
        arguments: Scratch.watchings)
    func removedDirectory(isWhole: Bool) throws {
        let scratch = try Scratch(isWhole: isWhole)
        for directory in ["d", "d/e", "d/e/f"] { try scratch.makeDirectory(directory) }
        try scratch.write("d/e/a", utf8("1"))
        let file = try unsafe Scratch.check(open(scratch.path + "/d/e/a", O_WRONLY | O_CLOEXEC))
        let listener = try Listener(scratch)
        defer { listener.stop() }
        try scratch.unlink("d/e/a")
        for directory in ["d/e/f", "d/e", "d"] { try scratch.removeDirectory(directory) }
        #expect(try listener.isUpToDate(scratch))
        listener.forget()
        try Scratch.check(unsafe Glibc.write(file, "22", 2))
        #expect(listener.holds { $0.notices.contains(Notice(path: at("d/e/a"), kind: .writing)) })
        for directory in ["d", "d/e"] { try scratch.makeDirectory(directory) }
        #expect(try listener.isUpToDate(scratch))
        listener.forget()
        try Scratch.check(unsafe Glibc.write(file, "33", 2))
        close(file)
        #expect(listener.holds { $0.notices.contains(Notice(path: at("d/e/a"), kind: .closed)) })
        try scratch.write("d/e/b")
        #expect(listener.holds { $0.notices.contains { $0.path == at("d/e/b") } })
        #expect(listener.now.overflows == 0)
    }

    @Test("equal news is told once", arguments: Scratch.watchings) func coalesced(isWhole: Bool) throws {
        let scratch = try Scratch(isWhole: isWhole)
        try scratch.write("a")
        let watcher = try scratch.makeWatcher()
        for _ in 0..<50 { try scratch.write("a", utf8("1")) }
        try scratch.setMode("a", 0o600)
        let notices = watcher.told(untilClosed: "a")
        #expect(notices.last == Notice(path: at("a"), kind: .closed))
        #expect(Set(notices).count == notices.count)
    }

    @Test("nothing is told of our own directory", arguments: Scratch.watchings) func own(isWhole: Bool) throws {
        let scratch = try Scratch(isWhole: isWhole)
        let notices = try told(scratch) { scratch in
            let stage = Place.stage(StageName(raw: 1))
            _ = scratch.folder.run([
                DiskProgram([.createFile(stage), .write(stage, offset: 0, bytes: [1]), .discard(stage)])
            ])
            try scratch.setMode(".syncd", 0o700)
        }
        #expect(notices == [])
    }

    @Test("a tree that is made at once is known to its leaves", arguments: 1...5, Scratch.watchings) func mkdirParents(
        turn: Int, isWhole: Bool
    ) throws {
        let scratch = try Scratch(isWhole: isWhole)
        let notices = try told(scratch) { scratch in
            try scratch.makeDirectory("a")
            try scratch.makeDirectory("a/b")
            try scratch.makeDirectory("a/b/c")
            try scratch.write("a/b/c/f", utf8("1"))
        }
        for path in ["a", "a/b", "a/b/c", "a/b/c/f"] { #expect(has(notices, .touched, path)) }
    }

    @Test(
        "a tree that is moved in is known to its leaves, and one that is moved out is let go",
        arguments: Scratch.watchings) func movedInAndOut(isWhole: Bool)
        throws
    {
        let scratch = try Scratch(isWhole: isWhole)
        let outside = scratch.above + "/outside"
        unsafe mkdir(outside, 0o755)
        unsafe mkdir(outside + "/d", 0o755)
        unsafe close(open(outside + "/d/f", O_CREAT | O_WRONLY | O_CLOEXEC, 0o644))
        let listener = try Listener(scratch)
        defer { listener.stop() }
        unsafe rename(outside, scratch.path + "/in")
        #expect(try listener.isUpToDate(scratch))
        for path in ["in", "in/d", "in/d/f"] { #expect(has(listener.now.notices, .touched, path)) }
        #expect(listener.watcher.count == 3)
        unsafe rename(scratch.path + "/in", outside)
        #expect(try listener.isUpToDate(scratch))
        #expect(has(listener.now.notices, .gone, "in"))
        #expect(listener.watcher.count == 1)
        listener.forget()
        unsafe close(open(outside + "/d/g", O_CREAT | O_WRONLY | O_CLOEXEC, 0o644))
        #expect(try listener.isUpToDate(scratch))
        #expect(listener.now.notices.allSatisfy { Listener.isMark($0.path) })
    }

    @Test("what happens in a directory that was renamed is told under its new name", arguments: Scratch.watchings)
    func renamed(isWhole: Bool) throws {
        let scratch = try Scratch(isWhole: isWhole)
        for name in ["a", "a/b", "c"] { try scratch.makeDirectory(name) }
        let notices = try told(scratch) { scratch in
            try scratch.rename("a", "c/moved")
            try scratch.write("c/moved/b/f")
        }
        #expect(has(notices, .gone, "a"))
        #expect(has(notices, .touched, "c/moved"))
        #expect(has(notices, .touched, "c/moved/b/f"))
    }

    @Test("two directories that change places are not mistaken for each other", arguments: Scratch.watchings)
    func exchanged(isWhole: Bool) throws {
        let scratch = try Scratch(isWhole: isWhole)
        for name in ["a", "a/x", "b", "b/y"] { try scratch.makeDirectory(name) }
        let notices = try told(scratch) { scratch in
            #expect(scratch.folder.run([DiskProgram([.exchange(.tree(at("a")), .tree(at("b")))])]) == [DiskResult()])
            try scratch.write("a/y/f")
            try scratch.write("b/x/g")
        }
        #expect(has(notices, .touched, "a/y/f"))
        #expect(has(notices, .touched, "b/x/g"))
        #expect(!notices.contains { $0.path == at("b/y/f") || $0.path == at("a/x/g") })
    }

    @Test("a directory that the rules ignore is not watched when it appears", arguments: Scratch.watchings)
    func ignored(isWhole: Bool) throws {
        let scratch = try Scratch(isWhole: isWhole)
        let notices = try told(scratch, ignoring: "skip/") { scratch in
            try scratch.makeDirectory("skip")
            try scratch.makeDirectory("keep")
            try scratch.write("skip/f")
            try scratch.write("keep/f")
        }
        #expect(has(notices, .touched, "keep/f"))
        #expect(!notices.contains { $0.path == at("skip/f") })
    }

    @Test("names of any bytes come as they are", arguments: Scratch.watchings) func oddNames(isWhole: Bool) throws {
        let scratch = try Scratch(isWhole: isWhole)
        let names: [[UInt8]] = [[0xFF, 0x0A, 0x80], [UInt8](repeating: 0xC3, count: 255), utf8(".syncd-not")]
        let notices = try told(scratch) { scratch in
            for name in names { try scratch.write(bytes: name) }
        }
        #expect(Set(notices.map(\.path.bytes)) == Set(names))
    }

    @Test("of what is deeper than a path may be its directory is told", arguments: Scratch.watchings) func tooDeep(
        isWhole: Bool
    ) throws {
        let scratch = try Scratch(isWhole: isWhole)
        var path = ""
        for _ in 0..<Limits.pathDepthMax {
            path += path.isEmpty ? "d" : "/d"
            try scratch.makeDirectory(path)
        }
        let notices = try told(scratch) { try $0.write(path + "/deeper") }
        #expect(Set(notices.map(\.path)) == [at(path)])
    }

    @Test("a root that is moved away is told as a loss", arguments: Scratch.watchings) func rootMoved(isWhole: Bool)
        throws
    {
        let scratch = try Scratch(isWhole: isWhole)
        let listener = try Listener(scratch)
        defer { listener.stop() }
        unsafe rename(scratch.path, scratch.above + "/away")
        #expect(listener.holds { $0.overflows > 0 })
    }

    @Test("an interruption ends the wait, and each one only once", arguments: Scratch.watchings) func interrupts(
        isWhole: Bool
    ) throws {
        let scratch = try Scratch(isWhole: isWhole)
        let watcher = try scratch.makeWatcher()
        watcher.interrupt()
        #expect(watcher.next().isInterrupted)
        try scratch.write("a")
        #expect(watcher.told(untilClosed: "a").last == Notice(path: at("a"), kind: .closed))
        let waiting = try Background { _ = watcher.next() }
        watcher.interrupt()
        waiting.join()
    }

    @Test("bytes that are no events of fanotify's are left out, and handles that are not ours") func fanotifyParser() {
        let handle: [UInt8] = [4, 0, 0, 0, 1, 0, 0, 0, 9, 8, 7, 6]
        func event(mask: UInt8, _ name: String) -> [UInt8] {
            let about = [2, 0, UInt8(12 + handle.count + name.utf8.count + 1), 0] + [UInt8](repeating: 5, count: 8)
            let rest = about + handle + utf8(name) + [0]
            let head: [UInt8] = [UInt8(24 + rest.count), 0, 0, 0, 3, 0, 24, 0, mask, 0, 0, 0, 0, 0, 0, 0]
            return head + [UInt8](repeating: 0xFF, count: 8) + rest
        }
        func read(_ bytes: [UInt8]) -> [WatchEvent] { Fanotify.events(in: bytes[...]) { $0 == handle ? 3 : nil } }
        let known = event(mask: UInt8(IN_MODIFY), "a")
        let expected = WatchEvent(watch: 3, mask: UInt32(IN_MODIFY), name: utf8("a"))
        #expect(read(known + known) == [expected, expected])
        #expect(read(event(mask: 4, ".")) == [WatchEvent(watch: 3, mask: 4, name: [])])
        #expect(read(known + known.dropLast()) == [expected])
        var stranger = known
        stranger[24 + 12 + 8] = 1
        #expect(read(stranger + known) == [expected])
        // Every byte cut off or damaged is survived.
        for end in known.indices { _ = read(Array(known[..<end])) }
        for index in known.indices {
            var damaged = known
            damaged[index] = 0xFF
            _ = read(damaged + known)
        }
    }

    @Test("bytes that are no events are left out") func parser() {
        #expect(WatchEvent.all(in: []) == [])
        #expect(WatchEvent.all(in: [UInt8](repeating: 0xFF, count: 40)[...]) == [])
        let event: [UInt8] = [1, 0, 0, 0, 0, 1, 0, 0, 9, 9, 9, 9, 4, 0, 0, 0, 0x61, 0, 0, 0]
        let expected = WatchEvent(watch: 1, mask: UInt32(IN_CREATE), name: [0x61])
        #expect(WatchEvent.all(in: (event + event)[...]) == [expected, expected])
        #expect(WatchEvent.all(in: (event + event.dropLast())[...]) == [expected])
    }
}
