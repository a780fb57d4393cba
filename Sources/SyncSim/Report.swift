/// What a run found: violations of invariants, and the counts that say how far it went.

/// An invariant that did not hold.
package struct Violation: Sendable, Equatable {
    /// The id from `docs/testing.md`: "INV-01", "R-03".
    package let invariant: String
    package let detail: String
    package let step: Int
    /// True time in milliseconds.
    package let time: Int64

    /// Tells one way of breaking an invariant from another, as far as the words go: names and numbers differ from run to run.
    package var signature: String {
        let words = detail.split(separator: " ").prefix(4).filter { word in
            word.allSatisfy { $0.isLetter } && !Machine.names.contains(String(word))
        }
        return ([invariant] + words.map(String.init)).joined(separator: " ")
    }

    package init(invariant: String, detail: String, step: Int, time: Int64) {
        self.invariant = invariant
        self.detail = detail
        self.step = step
        self.time = time
    }
}

package struct SeedReport: Sendable {
    package let seed: UInt64
    package var violations: [Violation]
    package var rare: RareStates
    package var traceHash: UInt64
    package var steps: Int
    package var messages: Int
    /// True time that passed in the world, in milliseconds.
    package var simulatedMilliseconds: Int64
    package var lines: [String]

    package var isClean: Bool { violations.isEmpty }
}

/// How long a world may take before it counts as one that does not come to rest.
package struct Budget: Sendable, Equatable {
    /// Simulated time from the end of all faults to quiet.
    package var healingMilliseconds: Int64 = 30 * 60_000
    /// Frames from the end of all faults to quiet: so many, and so many for each path that was changed.
    package var healingFrames = 1_000
    package var healingFramesPerChange = 10
    /// Happenings of a whole run; a world that needs more spins.
    package var steps = 400_000
    /// Nothing may change for so long before the world is called quiet: longer than any pause after which a node looks again.
    package var quietMilliseconds: Int64 = 25_000
    /// Frames in that time: a last acknowledgement, and a look at the other clock, each way. Signs of life are the
    /// transport's, below the frames.
    package var quietFrames = 10

    package init() {}
}
