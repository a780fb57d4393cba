/// `birthdays FILE list | add NAME DAY | remove NAME | reinit | watch [NAME DAY]`: the example application of SyncKit, a list that lives in a shared folder.
/// `--format 1` is the program as it was before family names. See `Birthdays` for the model and docs/library.md for the tutorial.
import Glibc
import RecordMerge
import SyncKit

@main
struct Program: Sendable {
    private static let usage = """
        birthdays [--format 1|2] [--socket PATH] FILE list
        birthdays [--format 1|2] [--socket PATH] FILE add NAME YYYY-MM-DD
        birthdays [--format 1|2] [--socket PATH] FILE remove NAME
        birthdays [--format 1|2] [--socket PATH] FILE reinit
        birthdays [--format 1|2] [--socket PATH] FILE watch [NAME YYYY-MM-DD]
        """

    private enum Request: Sendable {
        case list, reinit
        case add(String, Day)
        case remove(String)
        /// Shows the list now and after each change, until it is ended; with a person who is not saved before somebody asks for it.
        case watch((String, Day)?)
    }

    private let path: DocumentPath
    private let request: Request
    private let coordinator: any FileCoordinator

    static func main() async {
        var words = Array(CommandLine.arguments.dropFirst())
        let socket = option("--socket", &words).map { DocumentPath($0) }
        let format = option("--format", &words) ?? "2"
        guard let path = words.first, let request = request(words.dropFirst()), ["1", "2"].contains(format) else {
            end(64, usage)
        }
        let coordinator = socket.map { makeFileCoordinator(socket: $0) } ?? makeFileCoordinator()
        let program = Program(path: DocumentPath(path), request: request, coordinator: coordinator)
        do {
            if format == "1" { try await program.runOne() } else { try await program.runTwo() }
        } catch let error as DocumentError {
            end(1, error.reason)
        } catch {
            end(1, "\(error)")
        }
    }

    private static func option(_ name: String, _ words: inout [String]) -> String? {
        guard let index = words.firstIndex(of: name), index + 1 < words.count else { return nil }
        defer { words.removeSubrange(index...(index + 1)) }
        return words[index + 1]
    }

    private static func request(_ words: ArraySlice<String>) -> Request? {
        let words = Array(words)
        switch (words.first, words.count) {
        case ("list", 1): return .list
        case ("reinit", 1): return .reinit
        case ("remove", 2): return .remove(words[1])
        case ("watch", 1): return .watch(nil)
        case ("watch", 3): return Day(words[2]).map { .watch((words[1], $0)) }
        case ("add", 3): return Day(words[2]).map { .add(words[1], $0) }
        default: return nil
        }
    }

    /// 0 done, 1 refused with a reason, 64 usage.
    private static func end(_ code: Int32, _ text: String) -> Never {
        print(text)
        exit(code)
    }

    // MARK: The two formats

    private func runOne() async throws {
        try await run(JSONFile<BirthdaysOne>(reads: 1...1), empty: BirthdaysOne()) { model, request in
            switch request {
            case .list, .reinit, .watch(nil): break
            case .add(let name, let day), .watch((let name, let day)?):
                model.people.values.append(BirthdaysOne.Person(name: name, born: day))
            case .remove(let name): model.people.values.removeAll { $0.name == name }
            }
        } lines: { model in
            Program.lines(model.people) { ($0.born, $0.name) }
        }
    }

    private func runTwo() async throws {
        try await run(JSONFile<Birthdays>(reads: 1...2), empty: Birthdays()) { model, request in
            switch request {
            case .list, .reinit, .watch(nil): break
            case .add(let name, let day), .watch((let name, let day)?):
                model.people.values.append(Person(name: name, born: day))
            case .remove(let name): model.people.values.removeAll { $0.name == name }
            }
        } lines: { model in
            Program.lines(model.people) { ($0.born, $0.name) }
        }
    }

    private static func lines<Entry>(_ people: LossyArray<Entry>, _ facts: (Entry) -> (born: Day, name: String))
        -> [String]
    {
        people.values.map(facts).sorted { $0.born < $1.born }.map { "\($0.born)  \($0.name)" }
            + people.failures.map { "cannot be read: \($0.raw?.description ?? "") (\($0.reason))" }
    }

    // MARK: What is the same for both

    /// From reading to writing nobody else has the list: otherwise who comes second would be told that it has changed. A program that stays
    /// open would keep its session without that, and save by itself.
    private func run<Model: Sendable>(
        _ document: some Document<Model>, empty: Model, change: @escaping @Sendable (inout Model, Request) -> Void,
        lines: @escaping @Sendable (Model) -> [String]
    ) async throws {
        if case .watch(let unsaved) = request {
            return try await watch(document, hasNews: unsaved != nil, change: change, lines: lines)
        }
        try await coordinator.withAccess([access], for: Program.purpose, within: nil) { _ in
            try await edit(document, empty: empty, change: change, lines: lines)
        }
    }

    /// The session hears by itself of what others do, and is asked to save before others read.
    private func watch<Model: Sendable>(
        _ document: some Document<Model>, hasNews: Bool, change: @escaping @Sendable (inout Model, Request) -> Void,
        lines: (Model) -> [String]
    ) async throws {
        closeOpenDocumentsAtEnd { unsaved in
            for one in unsaved { print("not saved: \(one.error.reason)") }
        }
        let session = makeDocumentSession(document, at: path, coordinator: coordinator, autosave: .never)
        await session.open()
        let request = request
        if hasNews { try await session.update { change(&$0, request) } }
        for await model in await session.models() {
            for line in lines(model) { print(line) }
            print("--")
            // Whoever reads what is printed through a pipe sees it now.
            _ = fflush(nil)
        }
    }

    /// Whoever shows the list saves it first.
    private var access: FileAccess {
        if case .list = request { .read(path) } else { .merge(path) }
    }

    private static var purpose: String { "birthdays \(getpid())" }

    private func edit<Model: Sendable>(
        _ document: some Document<Model>, empty: Model, change: @escaping @Sendable (inout Model, Request) -> Void,
        lines: (Model) -> [String]
    ) async throws {
        let session = makeDocumentSession(
            document, at: path, coordinator: coordinator, purpose: Program.purpose, autosave: .never)
        let outcome = await session.open()
        if case .reinit = request {
            try await session.reinitialise(with: empty)
            return try await session.close()
        }
        switch outcome {
        case .success, .olderVersion: break
        case .noSuchFile, .zeroLength:
            if case .list = request { return }
            try await session.begin(with: empty)
        case .newerVersion(let found, let supported):
            let known = supported.upperBound
            Program.end(
                1,
                "This list is of format \(found), this program knows up to \(known): upgrade it. Nothing was changed.")
        case .corrupt(let reason, let offset):
            Program.end(
                1,
                "This list cannot be read: \(reason), at byte \(offset). Nothing was changed; reinit keeps it beside a new one."
            )
        case .notLoaded, .unknownVersion, .accessDenied, .changedDuringRead:
            let reason = await session.lastError?.reason ?? "\(outcome)"
            Program.end(1, "This list cannot be read: \(reason). Nothing was changed.")
        }
        if case .list = request {
            if let model = await session.model { for line in lines(model) { print(line) } }
            return
        }
        let request = request
        try await session.update { change(&$0, request) }
        try await session.close()
    }
}
