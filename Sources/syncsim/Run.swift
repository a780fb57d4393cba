import SyncSim

/// Does what was asked. True if all is well.
enum Run {
    static func perform(_ request: Request) async throws(System.Failure) -> Bool {
        switch request {
        case .help:
            System.say(Arguments.help, terminator: "")
            return true
        case .seed(let seed, let worlds, let keepsTrace, let shrinks):
            return Seeds.one(NumberedWorld(worlds, seed).plan, keepsTrace: keepsTrace, shrinks: shrinks)
        case .seeds(let first, let count, let worlds, let jobs, let hashes):
            Crash.install()
            let tally = await Seeds.many(count: count, jobs: jobs) { NumberedWorld(worlds, first + $0) }
            if let hashes { try System.write(tally.hashLines, toFile: hashes) }
            return tally.isClean
        case .list(let file, let jobs):
            Crash.install()
            let list = try SeedList(parsing: System.read(file), of: file).worlds
            return await Seeds.many(count: UInt64(list.count), jobs: jobs) { list[Int($0)] }.isClean
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
