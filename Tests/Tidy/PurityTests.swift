/// No clock, chance, output, concurrency or hash order in the pure rings; no crash anywhere; `unsafe` only at the walls.
import Testing

@Suite("sources keep to the code rules")
struct PurityTests {
    @Test("every source says only what its ring may say") func sources() throws {
        let files = try Repository().swiftFiles(under: "Sources")
        #expect(!files.isEmpty)
        for file in files {
            guard let target = Architecture.target(owning: file.path) else { continue }  // LayoutTests reports these
            report(CodeRules.findings(in: file, target: target))
        }
    }

    @Test("K4: nothing that the library offers is of any type whatever") func library() throws {
        for file in try Repository().swiftFiles(under: "Sources/SyncKit") {
            for line in InterfaceRules.declarations(in: file) {
                #expect(!line.split { !$0.isLetter }.contains("Any"), "\(file.path): \(line)")
            }
        }
    }

    @Test(
        "nobody moves a target out of the pure rings unnoticed",
        arguments: ["SyncModel", "RecordMerge", "SyncCore", "SyncSim"])
    func pureTargets(name: String) {
        #expect(Architecture.target(name)?.isPure == true)
    }
}

@Suite("code rules find planted violations")
struct CodeRulesTests {
    @Test(
        "what makes two runs differ is found in the core and in the simulator",
        arguments: [
            "let now = Date()", "let clock: ContinuousClock", "let c = SuspendingClock()", "clock_gettime(0, nil)",
            "var g = SystemRandomNumberGenerator()", "Int.random(in: 0..<2)", "list.shuffled()", "list.randomElement()",
            "UUID().uuidString", "print(x)", "debugPrint(x)", "Task { }", "func f() async", "await f()",
            "DispatchQueue.main", "getenv(name)", "ProcessInfo.processInfo", "CommandLine.arguments",
            "ObjectIdentifier(x)", "Hasher()", "x.hashValue", "\"\\(UUID())\"",
        ]) func impure(text: String) throws
    {
        #expect(rules(text, in: "SyncModel") == ["pure"])
        #expect(rules(text, in: "SyncSim") == ["pure"])
        #expect(rules(text, in: "syncsim") == [])
    }

    @Test(
        "K1: what crashes on a surprise is found everywhere",
        arguments: [
            ("let x = y!", "no-force"), ("f(x)!.g", "no-force"), ("rows[0]!", "no-force"), ("x!.y", "no-force"),
            ("var x: Int!", "no-force"), ("var x: Box<Int>!", "no-force"), ("{ 1 }()!", "no-force"),
            ("try! f()", "no-force"), ("x as! Int", "no-force"), ("\"\\(x!)\"", "no-force"), ("x! != y", "no-force"),
            ("fatalError(\"no\")", "no-crash"),
        ]) func crashing(text: String, rule: String) throws
    {
        for target in Architecture.targets where target.ring != .wall {
            #expect(rules(text, in: target.name) == [rule])
        }
    }

    @Test(
        "raw memory is found outside the owners",
        arguments: ["unsafe f()", "nonisolated(unsafe) var x", "@unchecked Sendable"])
    func unsafe(text: String) {
        #expect(rules(text, in: "SyncCore") == ["unsafe-owner"])
        #expect(rules(text, in: "syncsim") == [])
    }

    @Test(
        "hashed collections are found in the core unless they promise not to be walked",
        arguments: [
            ("var x: [Path: Row]", 1), ("var x: [Path: [Row]]", 1), ("let x = [1: 2]", 1), ("f([a: b])", 1),
            ("var x: Set<Path>", 1), ("let x = Set(list)", 1), ("var x: Dictionary<A, B>", 1),
            ("func f() -> [String?: Int]", 1), ("let x: [\n    Path: Row\n]", 1), ("x = y ? [a: b] : z", 1),
            ("var x: [Path: Row]  // lookup only", 0), ("var x: Set<Path> = []  // lookup only: never walked", 0),
            ("x = [:]", 0), ("let x = [a, b]", 0), ("rows[at: 3]", 0), ("f(x)[at: 3]", 0), ("[a ? b : c]", 0),
            ("[(a: 1, b: 2)]", 0), ("[{ (x: Int) in x }]", 0), ("// [Path: Row]", 0), ("OptionSet", 0),
            ("SortedSet<A>", 0),
        ]) func hashed(text: String, expected: Int)
    {
        #expect(rules(text, in: "SyncCore") == Array(repeating: "no-hash-order", count: expected))
    }

    @Test(
        "honest code passes",
        arguments: [
            "if a != b, !c { d(!e) }", "guard x!==y else { return }", "// Date() and try! in prose",
            "let s = \"print(x!)\"", "TaskList.asynchronous", "struct Update(x)", "#if !DEBUG", "let hashes: [Int]",
            "hash(into: &hasher)",
        ]) func honest(text: String)
    {
        #expect(rules(text, in: "SyncCore") == [])
    }

    @Test("a finding names file, line, rule and cure") func wording() throws {
        let file = SourceFile(path: "Sources/SyncCore/X.swift", text: "// Why.\n\nlet x = y!\n")
        let finding = try #require(CodeRules.forced(in: file).first)
        #expect(finding.description.hasPrefix("Sources/SyncCore/X.swift:3: [no-force] No force-unwrap: "))
    }

    /// The rules that one line of code breaks in a target.
    private func rules(_ text: String, in target: String) -> [String] {
        guard let target = Architecture.target(target) else { return ["no such target"] }
        return CodeRules.findings(in: SourceFile(path: "x", text: text), target: target).map(\.rule)
    }
}
