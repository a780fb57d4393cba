import SyncSim

/// The transcripts of a directory: replayed and compared, or written down anew.
enum Scenarios {
    /// True if every transcript says what the world says.
    static func run(_ directory: String, rewrites: Bool) throws(System.Failure) -> Bool {
        let names = try System.names(in: directory).filter { $0.hasSuffix(".txt") }
        guard !names.isEmpty else {
            throw System.Failure(
                text: "there is no transcript (*.txt) in \(directory): name the directory that holds them")
        }
        var failed = 0
        for name in names {
            let path = "\(directory)/\(name)"
            let text = try System.read(path)
            let scenario = Scenario(parsing: text)
            let replayed = scenario.replayed()
            if rewrites {
                guard replayed.text != text else { continue }
                try System.write(replayed.text, toFile: path)
                System.say("rewritten: \(name)")
            } else if !report(scenario.differences(from: replayed), in: name) {
                failed += 1
            }
        }
        System.say("\(names.count - failed) passed, \(failed) failed, 0 skipped")
        return failed == 0
    }

    private static func report(_ differences: [Scenario.Difference], in name: String) -> Bool {
        for difference in differences {
            System.say("\(name), block \(difference.block + 1):")
            for command in difference.commands { System.say("    \(command)") }
            for line in difference.expected where !difference.found.contains(line) { System.say("  - \(line)") }
            for line in difference.found where !difference.expected.contains(line) { System.say("  + \(line)") }
            if difference.expected.sorted() == difference.found.sorted() {
                System.say("  (the same lines in another order)")
            }
        }
        return differences.isEmpty
    }
}
