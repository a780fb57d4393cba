package import SyncModel

/// The names people use in a world: few, so that they meet at the same ones.
package struct Alphabet: Sendable {
    /// Existing or not: where people put things. The root is one of them.
    package let directories: [Path]
    package let fileNames: [Name]
    /// Names of directories, for those that move.
    package let directoryNames: [Name]

    /// `machine` decides which names a person prefers when the world has no shared ones.
    package init(_ plan: SeedPlan, machine: Int) {
        let odd = plan.isOn(.oddNames) ? Alphabet.odd(of: plan.seed) : []
        var files: [Name] = []
        for index in 0..<max(1, plan.fileCount) {
            files.append(Alphabet.fileName(index, odd))
        }
        if !plan.isOn(.sharedNames), let own = Name("only-\(Machine.names[machine])") {
            // Mostly apart, but not so far that they never meet.
            files =
                Array(files.prefix(2)) + [own]
                + files.dropFirst(2).enumerated().filter { $0.offset % 2 == machine }.map(\.element)
        }
        fileNames = files
        directories = [.root] + Alphabet.tree.prefix(plan.directoryCount).compactMap { Path($0) }
        directoryNames = ["d", "e", "f", "g"].compactMap { Name($0) }
    }

    private static let tree = ["d", "e", "d/d", "e/d", "d/d/e", "f", "f/g", "g"]

    private static func fileName(_ index: Int, _ odd: ArraySlice<[UInt8]>) -> Name {
        if index % 2 == 1, let name = odd.dropFirst(index / 2).first.flatMap({ Name($0) }) { return name }
        let letters = Array("abchijklmnopqrstuvwxyz".utf8)
        let letter = letters[index % letters.count]
        let name = index % 3 == 2 ? [letter] + Array(".txt".utf8) : [letter]
        return Name(name) ?? .known("x")
    }

    /// No world has so many names that all could occur: most worlds have the first half, every eighth the second.
    private static func odd(of seed: UInt64) -> ArraySlice<[UInt8]> {
        seed % 8 == 7 ? odd.dropFirst(odd.count / 2) : odd.prefix(odd.count / 2)
    }

    /// Names that must be kept byte for byte, escaped in every output, and never taken apart wrongly.
    private static let odd: [[UInt8]] = [
        // "é" composed and decomposed: two names.
        [0xC3, 0xA9], [0x65, 0xCC, 0x81],
        // Not UTF-8.
        [0xFF, 0xFE, 0x61],
        Array("new\nline".utf8), Array("-rf".utf8), Array(" ".utf8), Array("tab\t*?[".utf8), Array("back\\slash".utf8),
        Array("\u{1B}]0;title".utf8), Array(".hidden".utf8), Array("ends.".utf8), Array("...".utf8),
        // As long as a name may be: no room for anything to be added.
        [UInt8](repeating: 0x6C, count: 255),
        // A person's own file that looks like a conflict copy.
        Array("a.conflict-alpha-20250101-000000-abcdef".utf8),
        Array("A".utf8), Array(".conflict-".utf8),
    ]
}

extension Alphabet {
    package func file(_ random: inout SeededRandom) -> Path {
        let directory = random.pick(directories) ?? .root
        return directory.appending(random.pick(fileNames) ?? .known("a"))
    }

    /// Never the root.
    package func directory(_ random: inout SeededRandom) -> Path {
        let known = directories.dropFirst()
        if !known.isEmpty, random.chance(percent: 70) { return random.pick(known) ?? Path.root.appending(.known("d")) }
        let parent = random.pick(directories) ?? .root
        return parent.appending(random.pick(directoryNames) ?? .known("d"))
    }
}
