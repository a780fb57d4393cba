/// The compiled core asks nothing of the operating system: its object files name no system call, clock, chance or task.
/// The source rules look at words; this looks at what the compiler made of them, also through inlined library code.
import Foundation
import Testing

@Suite("the compiled core is pure")
struct SymbolTests {
    @Test(
        "objects of the pure targets leave no impure symbol undefined",
        .enabled(if: Objects.nm != nil, "nm is not installed (package binutils)"),
        .enabled(if: !Objects.ofPureTargets.isEmpty, "no object files of the pure targets lie beside the test program"))
    func objects() throws {
        let nm = try #require(Objects.nm)
        var symbolsSeen = 0
        for object in Objects.ofPureTargets {
            let symbols = try Objects.undefinedSymbols(of: object, nm: nm)
            symbolsSeen += symbols.count
            for symbol in symbols.filter(SymbolRules.isImpure) {
                Issue.record("\(object.lastPathComponent): [pure-object] \(symbol) is used. Cure: hand its result in.")
            }
        }
        #expect(symbolsSeen > 0, "nm told nothing about any object")
    }

    @Test(
        "impure symbols are recognised",
        arguments: [
            "open", "open64", "openat", "read", "write", "clock_gettime", "gettimeofday", "getrandom", "arc4random_buf",
            "time", "getenv", "swift_task_create", "$ss27SystemRandomNumberGeneratorV4nexts6UInt64VyF",
            "$ss15ContinuousClockV3nowAB7InstantVvgZ", "$ss5print_9separator10terminatoryypd_S2StF", "$sSb6randomSbyFZ",
            "$ss17FixedWidthIntegerPsE6random2inxSnyxG_tFZ", "$sSTsE8shuffledSay7ElementQzGyF",
            "$sSlsE13randomElement0B0QzSgyF",
        ]) func planted(symbol: String)
    {
        #expect(SymbolRules.isImpure(symbol))
    }

    @Test(
        "ordinary symbols pass",
        arguments: ["swift_retain", "memcpy", "$s9SyncModel6RandomV4nextSiyF", "timer", "reader"])
    func ordinary(symbol: String) {
        #expect(!SymbolRules.isImpure(symbol))
    }
}

enum SymbolRules {
    private static let calls = [
        "open", "open64", "openat", "openat64", "read", "pread", "pread64", "write", "pwrite", "pwrite64",
        "clock_gettime", "gettimeofday", "time", "getrandom", "getentropy", "arc4random", "arc4random_buf",
        "arc4random_uniform", "rand", "random", "getenv", "secure_getenv", "syscall", "socket", "connect", "fork",
        "pthread_create", "swift_task_create",
    ]
    /// Parts of mangled names, wherever they come from.
    private static let types = ["SystemRandomNumberGenerator", "ContinuousClock", "SuspendingClock", "swift_task_"]
    /// Parts of mangled names of the standard library's own members; those begin with $ss or $sS.
    private static let members = ["5print_", "6random", "7shuffle", "8shuffled", "13randomElement"]

    static func isImpure(_ symbol: String) -> Bool {
        let isStandard = symbol.hasPrefix("$ss") || symbol.hasPrefix("$sS")
        return calls.contains(symbol) || types.contains { symbol.contains($0) }
            || isStandard && members.contains { symbol.contains($0) }
    }
}

/// Object files of this very build: SwiftPM leaves them beside the program that runs these tests.
private enum Objects {
    static let nm = ["/usr/bin/nm", "/usr/local/bin/nm"].first(where: FileManager.default.isExecutableFile)
        .map { URL(fileURLWithPath: $0) }

    static var ofPureTargets: [URL] {
        let build = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        return Architecture.targets.filter(\.isPure).flatMap { target in
            let folder = build.appendingPathComponent("\(target.name).build")
            let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            // A .swiftmodule.o holds types for the debugger and no code.
            return (files ?? []).filter { $0.pathExtension == "o" && !$0.lastPathComponent.hasSuffix(".swiftmodule.o") }
        }
    }

    static func undefinedSymbols(of object: URL, nm: URL) throws -> [String] {
        let process = Process()
        let output = Pipe()
        process.executableURL = nm
        process.arguments = ["--undefined-only", "--format=posix", object.path]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
    }
}
