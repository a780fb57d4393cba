import SyncModel
import Testing

@testable import SyncSim

/// Stories that a transcript would tell too long-windedly: many files, or the same story with the process killed at every place.
@Suite("Stories with many files or many endings")
struct StoryTests {
    /// What the commands say, all together.
    private func tell(_ runner: ScenarioRunner, _ lines: String...) -> [String] {
        lines.flatMap { runner.perform($0) }
    }

    @Test("INV-24: sixty files in sixty deep directories are sixty of sixty files, however many directories there are")
    func fuseCountsFiles() {
        let runner = ScenarioRunner(seed: 1)
        for number in 10..<70 { _ = tell(runner, "alpha write a\(number)/b/c/d/f \"content \(number)\"") }
        #expect(tell(runner, "start", "settle", "alerts") == [])
        for number in 10..<70 { _ = tell(runner, "alpha rm a\(number)/b/c/d/f") }
        let alerts = tell(runner, "run 60s", "alerts")
        #expect(alerts.contains { $0.contains("alpha") && $0.contains("fuse.deletes") }, "\(alerts)")
        let shown = tell(runner, "show").first { $0.hasPrefix("beta") }
        #expect(shown?.contains("a69/b/c/d/f=content 69") == true)
    }

    /// Whether the daemon at alpha has gone through all its rows since the last call.
    private func wentThroughAll(_ runner: ScenarioRunner) -> Bool {
        runner.perform("trace").contains { $0.contains("alpha > load") && $0.contains("below . ") }
    }

    @Test("rules that have not changed make nobody go through all rows at a start; rules that changed meanwhile do")
    func rulesAreOnRecord() {
        let runner = ScenarioRunner(seed: 1)
        _ = tell(runner, "alpha write .syncignore \"*.o\\n\"", "alpha write d/.syncignore \"*.tmp\\n\"")
        _ = tell(runner, "alpha write d/a \"1\"", "alpha write b.o \"2\"", "start", "settle")
        #expect(wentThroughAll(runner))
        _ = tell(runner, "alpha stop", "alpha start", "settle")
        #expect(!wentThroughAll(runner))
        _ = tell(runner, "alpha kill", "alpha rm .syncignore", "alpha start", "settle")
        #expect(wentThroughAll(runner))
        #expect(tell(runner, "show").last == #"beta   b.o=2  d/.syncignore=*.tmp\x0a  d/a=1"#)
    }

    @Test("what recovery finds in its place is nobody's edit, wherever the crash came", arguments: 1...24)
    func placedAtTheKill(operation: Int) {
        let runner = ScenarioRunner(seed: 1)
        _ = tell(runner, "alpha write n \"first\"", "start", "settle")
        _ = tell(runner, "beta crash-at \(operation)", "alpha write n \"second\"", "run 1s")
        _ = tell(runner, "alpha write n \"third\"", "run 1s", "beta start", "settle")
        #expect(tell(runner, "show", "alerts") == ["alpha  n=third", "beta   n=third"])
    }

    @Test("a file takes the place of a directory somebody writes into, wherever the crash comes", arguments: 1...16)
    func directoryInTheWay(operation: Int) {
        let runner = ScenarioRunner(seed: 1)
        _ = tell(runner, "alpha write d/x \"in it\"", "start", "settle", "part", "run 20s")
        _ = tell(runner, "alpha rm d", "alpha write d \"a file now\"", "run 5s")
        _ = tell(runner, "beta write d/y \"new in it\"", "run 5s", "beta crash-at \(operation)", "heal", "run 2s")
        _ = tell(runner, "beta start", "settle")
        let shown = tell(runner, "show").map { $0.dropFirst(7) }
        #expect(shown.first == shown.last)
        // What nobody has synced may be empty after a crash; it is not lost by us.
        #expect(shown.allSatisfy { $0.contains("=a file now") && $0.contains("/y=") }, "\(shown)")
    }
}
