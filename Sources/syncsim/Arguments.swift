/// What was asked of `syncsim` on the command line.
enum Request: Equatable {
    case help
    case seed(UInt64, Worlds, keepsTrace: Bool, shrinks: Bool)
    case seeds(first: UInt64, count: UInt64, Worlds, jobs: Int, hashes: String?)
    case list(String, jobs: Int)
    case traces(first: UInt64, count: UInt64, Worlds)
    case exhaustive(part: Int, of: Int)
    case story(pair: Int)
    case planted
    case scenarios(String, rewrites: Bool)
    case bench(recordsOnly: Bool)
}

/// What the users of the worlds do.
enum Worlds: String, Equatable {
    case files, records, formats, locks
}

/// A command line that cannot be understood, with what to do about it.
struct UsageError: Error, Equatable {
    let text: String
}

struct Arguments {
    static let help = """
        syncsim: two nodes in a simulated world, decided by one seed.

        syncsim --seed S [--trace] [--shrink]
            Run one seed. --trace prints every event and effect. --shrink makes a failing seed small first and
            prints its plan and its story.
        syncsim [--first-seed S] --seeds N [--jobs J] [--hashes FILE]
            Run N seeds from S on (0 unless given) on J threads (one per processor unless given); list those that
            fail and the rare states that were reached. --hashes writes into FILE what --traces would print of them.
        syncsim --list FILE [--jobs J]
            Run the worlds that a file names, on each line what their users do (files, records, formats or locks) and
            seeds; a line that begins with # is a comment.
        syncsim [--first-seed S] --traces N
            Print "seed hash" for N seeds. Two processes, builds or machines must print the same.
        --records beside any of these
            Worlds whose users edit records and nothing else. Seeds above 1000000 are about the later scenes, those
            above 2000000 about record files that stand there before their model comes.
        --formats beside any of these
            Worlds whose users save guarded files in several versions and nothing else.
        --locks beside any of these
            Worlds whose programs hold files still and show them, while the link comes and goes.
        syncsim --exhaustive [--part K/N]
            Every pair of short histories, or the K-th of N parts of them.
        syncsim --case C
            The story of one of these pairs, by the number with which it is told as failed.
        syncsim --planted
            Plant known bugs one after the other and see that the invariants find them.
        syncsim --scenarios DIRECTORY [--rewrite]
            Run the transcripts (*.txt) of a directory; --rewrite writes down what happens instead of comparing.
        syncsim --bench [--records]
            Measure; with --records what it costs to merge records, and nothing else.

        Exit: 0 all is well, 1 something failed, 64 the command line is wrong.

        """

    private var rest: ArraySlice<String>
    private var values: [(option: String, value: String)] = []

    /// Options that take a value, and those that do not.
    private static let valued = [
        "--seed", "--first-seed", "--seeds", "--list", "--jobs", "--hashes", "--traces", "--part", "--case",
        "--scenarios",
    ]
    private static let plain = [
        "--trace", "--shrink", "--exhaustive", "--planted", "--rewrite", "--records", "--formats", "--locks", "--bench",
        "--help",
    ]
    /// Each asks for something of its own, and what may stand beside it.
    private static let modes: [(option: String, companions: [String])] = [
        ("--help", []),
        ("--seed", ["--trace", "--shrink", "--records", "--formats", "--locks"]),
        ("--seeds", ["--first-seed", "--jobs", "--hashes", "--records", "--formats", "--locks"]),
        ("--list", ["--jobs"]),
        ("--traces", ["--first-seed", "--records", "--formats", "--locks"]),
        ("--exhaustive", ["--part"]),
        ("--case", []),
        ("--planted", []),
        ("--scenarios", ["--rewrite"]),
        ("--bench", ["--records"]),
    ]

    static func parse(_ arguments: [String], processors: Int) throws(UsageError) -> Request {
        var parser = Arguments(rest: arguments[...])
        try parser.collect()
        return try parser.request(processors: processors)
    }

    private init(rest: ArraySlice<String>) {
        self.rest = rest
    }

    private mutating func collect() throws(UsageError) {
        while var option = rest.popFirst() {
            var attached: String?
            if let equals = option.firstIndex(of: "="), option.hasPrefix("--") {
                attached = String(option[option.index(after: equals)...])
                option = String(option[..<equals])
            }
            if values.contains(where: { $0.option == option }) {
                throw UsageError(text: "\(option) is given twice: give it once")
            }
            if Arguments.plain.contains(option) {
                guard attached == nil else {
                    throw UsageError(text: "\(option) takes no value: leave out what follows the =")
                }
                values.append((option, ""))
            } else if Arguments.valued.contains(option) {
                guard let value = attached ?? rest.popFirst() else {
                    throw UsageError(text: "\(option) needs a value: write it after the option")
                }
                values.append((option, value))
            } else {
                throw UsageError(text: "there is no option \(option): see syncsim --help")
            }
        }
    }

    private func request(processors: Int) throws(UsageError) -> Request {
        let asked = Arguments.modes.filter { has($0.option) }
        guard let mode = asked.first else {
            throw UsageError(
                text: "nothing is asked for: say --seed, --seeds, --scenarios or another of syncsim --help")
        }
        if asked.count > 1 {
            throw UsageError(text: "\(asked[0].option) and \(asked[1].option) do not go together: choose one")
        }
        for (option, _) in values where option != mode.option && !mode.companions.contains(option) {
            throw UsageError(text: "\(option) does not go with \(mode.option): leave it out")
        }
        if ["--records", "--formats", "--locks"].count(where: has) > 1 {
            throw UsageError(text: "--records, --formats and --locks do not go together: choose one")
        }
        switch mode.option {
        case "--help": return .help
        case "--seed":
            return .seed(try number("--seed", 0), worlds, keepsTrace: has("--trace"), shrinks: has("--shrink"))
        case "--seeds":
            let first = try number("--first-seed", 0)
            let count = try number("--seeds", 0)
            guard count > 0 else { throw UsageError(text: "--seeds 0 runs nothing: ask for 1 or more") }
            guard !first.addingReportingOverflow(count).overflow else { throw past(first, count) }
            return .seeds(
                first: first, count: count, worlds, jobs: try jobs(processors), hashes: value("--hashes"))
        case "--list": return .list(value("--list") ?? "", jobs: try jobs(processors))
        case "--traces":
            let first = try number("--first-seed", 0)
            let count = try number("--traces", 0)
            guard !first.addingReportingOverflow(count).overflow else { throw past(first, count) }
            return .traces(first: first, count: count, worlds)
        case "--exhaustive": return try exhaustive()
        case "--case": return .story(pair: Int(clamping: try number("--case", 0)))
        case "--planted": return .planted
        case "--scenarios": return .scenarios(value("--scenarios") ?? "", rewrites: has("--rewrite"))
        default: return .bench(recordsOnly: has("--records"))
        }
    }

    private func exhaustive() throws(UsageError) -> Request {
        guard let text = value("--part") else { return .exhaustive(part: 1, of: 1) }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let part = Int(parts[0]), let count = Int(parts[1]), part >= 1, part <= count else {
            throw UsageError(text: "--part \(text) is no part: write K/N with K from 1 to N, as in 2/8")
        }
        return .exhaustive(part: part, of: count)
    }

    private func jobs(_ processors: Int) throws(UsageError) -> Int {
        let jobs = try number("--jobs", UInt64(processors))
        guard jobs > 0, jobs <= 256 else { throw UsageError(text: "--jobs \(jobs) is not from 1 to 256") }
        return Int(jobs)
    }

    private var worlds: Worlds {
        has("--records") ? .records : has("--formats") ? .formats : has("--locks") ? .locks : .files
    }

    private func has(_ option: String) -> Bool { values.contains { $0.option == option } }

    private func value(_ option: String) -> String? { values.first { $0.option == option }?.value }

    private func number(_ option: String, _ fallback: UInt64) throws(UsageError) -> UInt64 {
        guard let text = value(option) else { return fallback }
        guard let number = UInt64(text) else {
            throw UsageError(
                text: "\(option) \(text) is no number: write a whole number from 0 to 18446744073709551615")
        }
        return number
    }

    private func past(_ first: UInt64, _ count: UInt64) -> UsageError {
        UsageError(text: "\(count) seeds from \(first) on go past the last there is: begin with a smaller one")
    }
}
