import SyncSim

/// Does what was asked. True if all is well.
enum Run {
    static func perform(_ request: Request) async throws(System.Failure) -> Bool {
        switch request {
        case .help:
            System.say(Arguments.help, terminator: "")
            return true
        case .seed(let seed, let worlds, let keepsTrace, let shrinks):
            return Seeds.one(worlds.plan(seed), keepsTrace: keepsTrace, shrinks: shrinks)
        case .seeds(let first, let count, let worlds, let jobs):
            Crash.install()
            return await Seeds.many(first: first, count: count, worlds, jobs: jobs)
        case .traces(let first, let count, let worlds):
            Crash.install()
            Seeds.traces(first: first, count: count, worlds)
            return true
        case .exhaustive(let part, let count): return Exhaustive.run(part: part, of: count) { System.say($0) }
        case .story(let pair):
            for line in Exhaustive.story(ofCase: pair) { System.say(line) }
            return true
        case .planted: return PlantedBugs.run { System.say($0) }
        case .scenarios(let directory, let rewrites): return try Scenarios.run(directory, rewrites: rewrites)
        case .bench(let recordsOnly): return recordsOnly ? RecordBench.run() : Bench.run()
        }
    }
}
