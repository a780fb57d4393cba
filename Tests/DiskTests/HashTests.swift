/// Reading whole files: the same chunks as the plain chunker cuts, holes or not, and nothing that changed meanwhile.
import Glibc
import SyncModel
import SyncSim
import Testing

@testable import Disk

@Suite("a content is named by its bytes, and only if it held still")
struct HashTests {
    private func chunks(_ outcome: HashOutcome) -> ChunkList? {
        if case .content(.file(let id, let size), let list, let stat) = outcome {
            #expect(id.digest == list.contentID)
            #expect(size == list.size)
            #expect(stat.size == size)
            return list
        }
        return nil
    }

    private func random(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SeededRandom(seed: seed)
        var bytes: [UInt8] = []
        while bytes.count < count { unsafe withUnsafeBytes(of: random.next()) { unsafe bytes.append(contentsOf: $0) } }
        return Array(bytes[..<count])
    }

    @Test("files of any size are cut as the plain chunker cuts them", arguments: [0, 1, 65_535, 1 << 20, 3_333_333])
    func sizes(size: Int) throws {
        let scratch = try Scratch()
        let bytes = random(size, seed: UInt64(size))
        try scratch.write("a", bytes)
        let outcome = scratch.folder.hash([at("a")], chunking: .standard)[0]
        #expect(chunks(outcome) == ContentHasher.chunks(of: bytes))
    }

    @Test("files with holes are cut as if the zeros had been read", arguments: 1...6) func holes(seed: UInt64) throws {
        let scratch = try Scratch()
        var random = SeededRandom(seed: seed)
        let parameters = seed % 2 == 0 ? ChunkerParameters.standard : ChunkerParameters(average: 4_096)
        var bytes = [UInt8](repeating: 0, count: 2_000_000 + random.below(2_000_000))
        let file = try unsafe Scratch.check(open(scratch.path + "/a", O_CREAT | O_RDWR | O_CLOEXEC, 0o644))
        defer { close(file) }
        try Scratch.check(ftruncate(file, bytes.count))
        for _ in 0..<random.below(5) {
            let piece = self.random(1 + random.below(200_000), seed: random.next())
            let offset = random.below(bytes.count - piece.count)
            bytes.replaceSubrange(offset..<(offset + piece.count), with: piece)
            try unsafe Scratch.check(piece.withUnsafeBytes { unsafe pwrite(file, $0.baseAddress, $0.count, offset) })
        }
        let outcome = scratch.folder.hash([at("a")], chunking: parameters)[0]
        #expect(chunks(outcome) == ContentHasher.chunks(of: bytes, parameters))
    }

    @Test("a terabyte of nothing is not read") func terabyte() throws {
        let scratch = try Scratch()
        try scratch.write("a", utf8("head"))
        try unsafe Scratch.check(truncate(scratch.path + "/a", 1 << 40))
        // Large chunks, so that the list is short.
        let parameters = ChunkerParameters(average: 1 << 22)
        let list = try #require(chunks(scratch.folder.hash([at("a")], chunking: parameters)[0]))
        #expect(list.size == 1 << 40)
        #expect(Set(list.chunks.dropFirst().dropLast()).count == 1)
    }

    @Test("symlinks, directories, nothing") func others() throws {
        let scratch = try Scratch()
        try scratch.makeDirectory("d")
        try scratch.symlink("l", to: "some/where")
        let outcomes = scratch.folder.hash(
            [at("d"), at("l"), at("none"), at("d/none"), at("l/none")], chunking: .standard)
        guard case .content(.directory, ChunkList(), _) = outcomes[0] else {
            return #expect(Bool(false), "\(outcomes[0])")
        }
        guard case .content(.symlink(utf8("some/where")), ChunkList(), _) = outcomes[1] else {
            return #expect(Bool(false), "\(outcomes[1])")
        }
        #expect(outcomes[2...] == [.absent, .absent, .absent])
    }

    @Test("a file that is written while it is read has no content yet, or one that it had") func changing() throws {
        let scratch = try Scratch()
        var bytes = random(300_000, seed: 3)
        let last = bytes.count - 1
        let count: UInt8 = 8
        (bytes[0], bytes[last]) = (0, 0)
        // The writer counts at the beginning and then at the end: at no moment is the end ahead.
        var known: Set<ChunkList> = []
        for number in 0..<count {
            for ahead in [number, (number + 1) % count] {
                var state = bytes
                (state[0], state[last]) = (ahead, number)
                known.insert(ContentHasher.chunks(of: state))
            }
        }
        try scratch.write("a", bytes)
        let isOver = Flag()
        let writer = try Background {
            let file = unsafe open(scratch.path + "/a", O_WRONLY | O_CLOEXEC)
            var number: UInt8 = 0
            while !isOver.isSet {
                number = (number + 1) % count
                _ = unsafe pwrite(file, &number, 1, 0)
                _ = unsafe pwrite(file, &number, 1, last)
            }
            close(file)
        }
        // Who writes may be without a processor for as long as a whole read takes, so there is no telling how many come through.
        let areStampsFine = try scratch.stampsAreFine()
        var (refused, tries) = (0, 0)
        while refused < 5, tries < 20_000 {
            tries += 1
            let begun = Self.wallMilliseconds()
            let outcome = scratch.folder.hash([at("a")], chunking: .standard)[0]
            if case .content(_, let list, let stat) = outcome {
                // Where a second change may not show, what changed in this very breath is read again by whoever asked.
                let isExcused = !areStampsFine && stat.isFresh(during: begun...Self.wallMilliseconds())
                #expect(known.contains(list) || isExcused)
            } else {
                #expect(outcome == .changing)
                refused += 1
            }
        }
        isOver.set()
        writer.join()
        #expect(refused == 5)
        #expect(chunks(scratch.folder.hash([at("a")], chunking: .standard)[0]).map(known.contains) == true)
    }

    private static func wallMilliseconds() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    @Test("whole files that replace each other are never mixed") func replacing() throws {
        let scratch = try Scratch()
        let contents = [[UInt8](repeating: 1, count: 9_000), [UInt8](repeating: 2, count: 9_000)]
        let known = Set(contents.map { ContentHasher.chunks(of: $0) })
        try scratch.write("a", contents[0])
        let isOver = Flag()
        let writer = try Background {
            var turn = 0
            while !isOver.isSet {
                turn += 1
                usleep(UInt32(turn % 7) * 300)
                do {
                    try scratch.write("new", contents[turn % 2])
                    try scratch.rename("new", "a")
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
        var whole = 0
        for _ in 0..<300 {
            let outcome = scratch.folder.hash([at("a")], chunking: .standard)[0]
            if let list = chunks(outcome) {
                #expect(known.contains(list))
                whole += 1
            } else {
                #expect(outcome == .changing)
            }
        }
        isOver.set()
        writer.join()
        #expect(whole > 0)
    }

    @Test("an interrupted folder reads no more") func interrupted() throws {
        let scratch = try Scratch()
        try scratch.write("a")
        scratch.folder.interrupt()
        #expect(scratch.folder.hash([at("a")], chunking: .standard) == [.failed(.busy)])
        let request = ReadRequest(place: .tree(at("a")), expected: nil, offset: 0, length: 1)
        #expect(scratch.folder.read([request]) == [.failed(.busy)])
        #expect(scratch.folder.run([DiskProgram([.createFile(.tree(at("b")))])]) == [DiskResult()])
    }
}

@Suite("pieces of files are of the file that was meant")
struct ReadTests {
    @Test("as far as the file goes, and only while it is the expected one") func reads() throws {
        let scratch = try Scratch()
        try scratch.write("a", utf8("hello"))
        let place = Place.tree(at("a"))
        guard case .found(let stat) = scratch.folder.inspect([at("a")]).results[0] else {
            return #expect(Bool(false), "the file is there")
        }
        func read(_ offset: UInt64, _ length: Int) -> ReadOutcome {
            scratch.folder.read([ReadRequest(place: place, expected: stat, offset: offset, length: length)])[0]
        }
        #expect(read(0, 5) == .bytes(utf8("hello")))
        #expect(read(3, 99) == .bytes(utf8("lo")))
        #expect(read(5, 1) == .bytes([]))
        #expect(read(0, 0) == .bytes([]))
        try scratch.write("a", utf8("hullo"))
        #expect(read(0, 5) == .failed(.mismatch))
        try scratch.unlink("a")
        #expect(read(0, 5) == .failed(.notFound))
        try scratch.makeDirectory("a")
        #expect(read(0, 5) == .failed(.mismatch))
        let plain = ReadRequest(place: place, expected: nil, offset: 0, length: 1)
        #expect(scratch.folder.read([plain]) == [.failed(.isDirectory)])
    }

    @Test("bytes that were written while the piece was read are never handed out") func torn() throws {
        let scratch = try Scratch(in: Scratch.fastDirectory)
        let size = 4 << 20
        var refused = 0
        // Whether the writer comes in the middle of the reading is up to the machine: until it has once.
        for turn in 0..<4_000 where turn < 40 || refused == 0 {
            try scratch.write("a", [UInt8](repeating: 0, count: size))
            // Longer than the tick of a kernel that stamps files coarsely.
            usleep(12_000)
            guard case .found(let stat) = scratch.folder.inspect([at("a")]).results[0] else { continue }
            let writer = try Background {
                let file = unsafe open(scratch.path + "/a", O_WRONLY | O_CLOEXEC)
                usleep(UInt32(turn % 40 * 40))
                var byte: UInt8 = 1
                _ = unsafe pwrite(file, &byte, 1, size - 1)
                close(file)
            }
            let request = ReadRequest(place: .tree(at("a")), expected: stat, offset: 0, length: size)
            let outcome = scratch.folder.read([request])[0]
            writer.join()
            if outcome == .failed(.mismatch) {
                refused += 1
            } else if case .bytes(let bytes) = outcome {
                #expect(bytes.last == 0)
            }
        }
        #expect(refused > 0)
    }
}
