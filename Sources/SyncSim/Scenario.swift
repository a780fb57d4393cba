/// A transcript: commands, and what the world said to them. The file is the test and its own expectation.
///
/// ```
/// # An edit travels.
/// alpha write a/x "1"
/// settle
/// show
/// ----
/// alpha  a/x=1
/// beta   a/x=1
/// ```
/// Lines before `----` are commands, the lines after it up to an empty line what they said together. A `#` begins a
/// comment line. The commands are those of `ScenarioRunner`.
package struct Scenario: Equatable {
    /// What stands in the file from one block of commands to the next.
    package struct Block: Equatable {
        /// Comments and empty lines before the first command, kept as they are.
        package var preamble: [String] = []
        package var commands: [String] = []
        package var expected: [String] = []
    }

    package var blocks: [Block] = []

    package init(parsing text: String) {
        var block = Block()
        var isOutput = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if isOutput {
                if !line.isEmpty {
                    block.expected.append(line)
                    continue
                }
                blocks.append(block)
                block = Block()
                isOutput = false
            } else if line == Scenario.divider {
                isOutput = true
            } else if line.hasPrefix("#") || line.isEmpty {
                // A comment among commands stays with them.
                if block.commands.isEmpty { block.preamble.append(line) } else { block.commands.append(line) }
            } else {
                block.commands.append(line)
            }
        }
        if isOutput || !block.commands.isEmpty || !block.preamble.isEmpty { blocks.append(block) }
    }

    /// The text that parses to this: what `--rewrite` writes.
    package var text: String {
        var lines: [String] = []
        for block in blocks {
            lines += Scenario.withoutLeadingBlanks(block.preamble, isFirst: lines.isEmpty)
            guard !block.commands.isEmpty else { continue }
            lines += block.commands
            lines.append(Scenario.divider)
            lines += block.expected
            lines.append("")
        }
        while lines.last == "" { lines.removeLast() }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func withoutLeadingBlanks(_ lines: [String], isFirst: Bool) -> [String] {
        Array(lines.drop { $0.isEmpty && isFirst })
    }

    private static let divider = "----"
}

extension Scenario {
    /// A block that said something else than it should.
    package struct Difference: Equatable {
        package let block: Int
        package let commands: [String]
        package let expected: [String]
        package let found: [String]
    }

    /// Runs all commands in a fresh world, and answers the scenario as it should read.
    package func replayed(seed: UInt64 = 1) -> Scenario {
        var replayed = self
        let runner = ScenarioRunner(seed: seed)
        for index in blocks.indices {
            replayed.blocks[index].expected = blocks[index].commands.flatMap { runner.perform($0) }
        }
        return replayed
    }

    package func differences(from replayed: Scenario) -> [Difference] {
        zip(blocks, replayed.blocks).enumerated().compactMap { index, pair in
            let (old, new) = pair
            if old.expected == new.expected { return nil }
            return Difference(
                block: index, commands: old.commands, expected: old.expected, found: new.expected)
        }
    }
}
