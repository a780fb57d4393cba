import Disk
import RecordMerge
import SyncKit
import Synchronization
import Testing

/// Rows M1 to M7 of the design's sources.
@Suite("opening many documents")
struct OpenAllTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    private struct Digit: Codable, Hashable, Sendable { var digit: Int }

    private func make(_ count: Int) throws {
        for index in 0..<count { try desk.write("file_\(index)", #"{"format": 1, "digit": \#(index)}"#) }
    }

    @Test("M1, M3, M5: all are done when it returns, in the order of their paths", arguments: [0, 1, 10, 200])
    func sorted(count: Int) async throws {
        try make(count)
        let opened = try await openAll(JSONFile<Digit>(), in: desk.path)
        #expect(opened.count == count && opened.map(\.path) == opened.map(\.path).sorted())
        for document in opened {
            #expect(document.path.description.hasSuffix("file_\(document.result.model?.digit ?? -1)"))
        }
    }

    @Test("M2: in the order of completion each comes once, too")
    func completion() async throws {
        try make(50)
        let opened = try await openAll(JSONFile<Digit>(), in: desk.path, order: .completion, width: 5)
        #expect(Set(opened.map(\.path)).count == 50 && opened.allSatisfy { $0.result.outcome == .success })
    }

    @Test("M4: of ten thousand each has one result, and of none there is none", arguments: [0, 1, 10_000])
    func counts(count: Int) async throws {
        try make(10)
        let paths = (0..<count).map { desk["file_\($0 % 20)"] }
        let opened = await openAll(JSONFile<Digit>(), at: paths, order: .completion)
        #expect(opened.count == count && opened.count { $0.result.outcome == .success } == (count + 1) / 2)
        #expect(await openAll(JSONFile<Digit>(), at: paths, width: 0).map(\.path) == paths.sorted())
    }

    @Test("M5: ten thousand, one after the other, need no more of the stack than ten")
    func stack() async throws {
        try make(10)
        let measured = Measured()
        for count in [10, 10_000] {
            _ = await openAll(measured, at: (0..<count).map { desk["file_\($0 % 10)"] }, width: 1)
            measured.next()
        }
        #expect(measured.depths.count == 2 && measured.depths.allSatisfy { $0 <= 64 << 10 }, "\(measured.depths)")
    }

    @Test("M6: one after the other and many at a time come to the same")
    func widths() async throws {
        try make(200)
        try desk.write("file_7", "broken")
        let one = try await openAll(JSONFile<Digit>(), in: desk.path, width: 1)
        let many = try await openAll(JSONFile<Digit>(), in: desk.path, width: 16)
        #expect(one.count == 200 && one.map(\.path) == many.map(\.path) && one.map(\.result) == many.map(\.result))
    }

    /// Notes how much deeper on its thread's stack it was asked to decode one document than another.
    private final class Measured: Document {
        private let ends = Mutex<[[UInt: ClosedRange<Int>]]>([[:]])

        func next() { ends.withLock { $0.append([:]) } }

        /// Of each round, in bytes.
        var depths: [Int] {
            ends.withLock { $0.dropLast().map { $0.values.map { $0.upperBound - $0.lowerBound }.max() ?? .max } }
        }

        func decode(_ contents: DocumentContents) -> Decoded<Int> {
            let (thread, end) = endOfStack()
            ends.withLock { rounds in
                let known = rounds[rounds.count - 1][thread] ?? end...end
                rounds[rounds.count - 1][thread] = min(known.lowerBound, end)...max(known.upperBound, end)
            }
            return Decoded(.success, model: 1)
        }

        func encode(_ model: Int, replacing: DocumentContents?) throws -> DocumentContents { .file([]) }
    }

    @Test("M4: those that fail have a result like all others, and calls at the same time do not meet")
    func failures() async throws {
        try make(10)
        try desk.write("file_3", "broken")
        let paths = (0..<12).map { desk["file_\($0)"] }
        await withTaskGroup(of: [OpenedDocument<Digit>].self) { group in
            for _ in 0..<4 { group.addTask { await openAll(JSONFile<Digit>(), at: paths) } }
            for await opened in group {
                #expect(opened.count == 12 && opened.count { $0.result.outcome == .success } == 9)
                #expect(opened.count { $0.result.outcome == .noSuchFile } == 2)
            }
        }
    }

    @Test("M7: no more than so many are open at once, and each place that is free is taken", arguments: [1, 5])
    func width(_ width: Int) async throws {
        try make(40)
        let gate = Gate(makeFileCoordinator(socket: nil))
        let opening = Task { [desk] in
            try await openAll(JSONFile<Digit>(), in: desk.path, width: width, coordinator: gate)
        }
        await until { gate.inside == width }
        // Whoever else could come would come now.
        for _ in 0..<1_000 { await Task.yield() }
        #expect(gate.inside == width)
        gate.open()
        #expect(try await opening.value.count == 40 && gate.most == width)
    }

    /// Lets nobody go on before it is opened.
    private final class Gate: FileCoordinator {
        private struct State {
            var (inside, most, isOpen) = (0, 0, false)
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let inner: any FileCoordinator
        private let state = Mutex(State())

        init(_ inner: any FileCoordinator) { self.inner = inner }

        var inside: Int { state.withLock { $0.inside } }
        var most: Int { state.withLock { $0.most } }

        func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                return state.waiting
            }
            for one in waiting { one.resume() }
        }

        func withAccess<Result: Sendable>(
            _ accesses: [FileAccess], for purpose: String?, within patience: Duration?,
            _ body: @Sendable (FileGrant) async throws -> Result
        ) async throws -> Result {
            await withCheckedContinuation { waiting in
                let mayGoOn = state.withLock { state in
                    state.inside += 1
                    state.most = max(state.most, state.inside)
                    if !state.isOpen { state.waiting.append(waiting) }
                    return state.isOpen
                }
                if mayGoOn { waiting.resume() }
            }
            defer { state.withLock { $0.inside -= 1 } }
            return try await inner.withAccess(accesses, for: purpose, within: patience, body)
        }

        func present(_ presenter: any FilePresenter) async throws -> PresenterToken {
            try await inner.present(presenter)
        }
        func withdraw(_ token: PresenterToken) async { await inner.withdraw(token) }
        func isOver(_ grant: FileGrant) -> Bool { inner.isOver(grant) }
    }

    @Test("M7: dot files, links, pipes and directories are no documents, whatever they are called")
    func skipped() async throws {
        try make(1)
        try desk.write(".hidden", "x")
        try desk.item("file_3").create(.package([:]))
        desk.link("file_4", to: "file_0")
        desk.pipe("file_5")
        #expect(try await openAll(JSONFile<Digit>(), in: desk.path).map(\.path) == [desk["file_0"]])
    }
}
