/// What others cost who share a file: a program that is killed while it holds it, one that is stopped while it shows it, and sixty-four at once.
import Coordination
import Glibc
import SyncKit
import SyncModel
import Synchronization

enum Sharing {
    // MARK: A holder that is killed

    /// From the kill to the moment at which somebody who waited has the file.
    static func deaths(socket: DocumentPath?, folder: DocumentPath, rounds: Int) async throws {
        let coordinator = makeFileCoordinator(socket: socket, mode: .local)
        var times: [Int] = []
        for round in 0..<rounds {
            let path = folder.appending("held-\(round % 10)")
            let holder = try Helper(["hold", socket?.description ?? "-", path.description])
            let waiting = Task.detached {
                try await coordinator.withAccess([.write(path)]) { _ in ContinuousClock.now }
            }
            // Until it stands in the queue, and does what whoever waits for long does.
            try await Task.sleep(for: .milliseconds(100))
            let start = ContinuousClock.now
            holder.kill9()
            times.append((try await waiting.value - start).nanoseconds / 1_000)
            holder.wait()
        }
        times.sort()
        print(
            "granted after the holder was killed, \(socket == nil ? "without a daemon" : "over the daemon"), \(rounds) times:"
                + " p50 \(times[times.count / 2]) µs, p99 \(times[times.count * 99 / 100]) µs,"
                + " at most \(times[times.count - 1]) µs (goal 10,000)")
    }

    static func hold(socket: DocumentPath?, path: DocumentPath) async throws {
        try await makeFileCoordinator(socket: socket, mode: .local).withAccess([.write(path)]) { _ in
            Helper.isThere()
            try await Task.sleep(for: .seconds(600))
        }
    }

    // MARK: A presenter that is stopped

    /// How much longer than its ten seconds a presenter that is stopped keeps somebody waiting. `rounds` of them at once, each for a file of its own.
    static func stopped(socket: DocumentPath, folder: DocumentPath, rounds: Int) async throws {
        let coordinator = makeFileCoordinator(socket: socket, mode: .local)
        let paths = (0..<rounds).map { folder.appending("shown-\($0)") }
        let helpers = try paths.map { try Helper(["show", socket.description, $0.description]) }
        for helper in helpers { helper.stop() }
        let late = try await withThrowingTaskGroup(of: Int.self) { group in
            for path in paths {
                group.addTask {
                    let start = ContinuousClock.now
                    try await coordinator.withAccess([.write(path)]) { _ in }
                    return (ContinuousClock.now - start).nanoseconds / 1_000
                        - Int(Coordinator.answerMilliseconds) * 1_000
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted()
        }
        for helper in helpers {
            helper.kill9()
            helper.wait()
        }
        print(
            "granted later than the 10 s of a stopped presenter, \(rounds) at once: p50 \(late[late.count / 2]) µs,"
                + " at most \(late[late.count - 1]) µs (goal 50,000)")
    }

    static func show(socket: DocumentPath, path: DocumentPath) async throws {
        let coordinator = makeFileCoordinator(socket: socket, mode: .local)
        let presenter = Silent(presentedPath: path)
        let token = try await coordinator.withAccess([.read(path)]) { _ in try await coordinator.present(presenter) }
        // What was presented is known to the daemon when a later request has been answered.
        try await coordinator.withAccess([.read(path)], for: presenter.purpose, within: nil) { _ in }
        Helper.isThere()
        try await Task.sleep(for: .seconds(600))
        // (The coordinator does not keep who shows a file.)
        await coordinator.withdraw(token)
        print(presenter.purpose)
    }

    private final class Silent: FilePresenter {
        let presentedPath: DocumentPath
        let purpose = "silent"

        init(presentedPath: DocumentPath) { self.presentedPath = presentedPath }

        func prepare(for question: Question.Kind, savingFirst: Bool) async throws {}
        func take(_ news: FileNews) async {}
    }

    // MARK: Many at once

    /// Each client has a connection of its own, and makes one claim after the other, of one to three of 256 files or a directory of them. A judge that
    /// knows only who may be with whom looks at each grant.
    static func crowd(socket: DocumentPath, folder: DocumentPath, clients: Int, claims: Int) async throws {
        let judge = Judge()
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<clients {
                group.addTask {
                    let coordinator = makeFileCoordinator(socket: socket, mode: .local)
                    var random = SeededRandom(seed: UInt64(client), stream: "crowd")
                    for number in 0..<claims {
                        let wanted = accesses(in: folder, &random)
                        let id = client * claims + number
                        try await coordinator.withAccess(wanted) { _ in
                            judge.enter(id, wanted)
                            if number % 16 == 0 { await Task.yield() }
                            judge.leave(id)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let (granted, faults, most) = judge.figures
        let seconds = (ContinuousClock.now - start).nanoseconds / 1_000_000_000
        print(
            "\(clients) clients over the daemon: \(granted) of \(clients * claims) claims granted and ended in \(seconds) s,"
                + " up to \(most) at once, \(faults) of them with somebody they exclude (goal 0)")
    }

    private static func accesses(in folder: DocumentPath, _ random: inout SeededRandom) -> [FileAccess] {
        let isRead = random.chance(percent: 50)
        return (0...random.below(3)).map { _ in
            let directory = folder.appending("d\(random.below(16))")
            let path = random.chance(percent: 5) ? directory : directory.appending("f\(random.below(16))")
            return isRead ? .read(path, savingFirst: false) : .write(path)
        }
    }

    /// Written apart from the coordinator's own rule.
    private final class Judge: Sendable {
        private struct State {
            var inside: [Int: [FileAccess]] = [:]
            var granted = 0
            var faults = 0
            var most = 0
        }

        private let state = Mutex(State())

        var figures: (granted: Int, faults: Int, most: Int) { state.withLock { ($0.granted, $0.faults, $0.most) } }

        func enter(_ id: Int, _ accesses: [FileAccess]) {
            state.withLock { state in
                state.granted += 1
                let isAlone = state.inside.values.allSatisfy { other in
                    accesses.allSatisfy { one in other.allSatisfy { !Judge.exclude(one, $0) } }
                }
                if !isAlone { state.faults += 1 }
                state.inside[id] = accesses
                state.most = max(state.most, state.inside.count)
            }
        }

        func leave(_ id: Int) { state.withLock { $0.inside[id] = nil } }

        private static func exclude(_ one: FileAccess, _ other: FileAccess) -> Bool {
            let (first, second) = (one.path.bytes + [0x2F], other.path.bytes + [0x2F])
            guard first.starts(with: second) || second.starts(with: first) else { return false }
            return one.kind != .read(savesFirst: false) || other.kind != .read(savesFirst: false)
        }
    }
}
