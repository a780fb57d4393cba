package import SyncModel

/// What one seed is about: which faults and habits are on, how often, how large, and how far the limits are shrunk.
///
/// Everything here is drawn once, from the stream "plan", before the world begins; the shrinker then takes things away.
/// A plan and the streams of `RandomStreams` decide a run completely.
package struct SeedPlan: Sendable {
    package let seed: UInt64
    package internal(set) var traits: TraitSet
    /// Mean pause between two happenings of a trait, in milliseconds; by `Trait.rawValue`.
    package internal(set) var pauses: [Int]
    /// Operations of each user, by machine.
    package var userOperations: [Int]
    /// Names the users choose from.
    package var fileCount: Int
    package var directoryCount: Int
    /// Mean pause between two operations of a user.
    package var userPauseMilliseconds: Int
    /// Largest file that users write.
    package var fileBytesMax: Int
    package var limits: [Limits]
    package var settings: [Settings]
    package var crashModel: CrashModel
    /// Kill everything after the world is quiet, start it again from what is durable and let it become quiet once more.
    package var endsWithRestart: Bool
    /// Wall clock of each machine against true time at the beginning.
    package var clockOffsets: [Int64]
    package var clockDriftsPerMillion: [Int]
    package var diskDelayMillisecondsMax: Int
    package var storeDelayMillisecondsMax: Int
    package var linkDelayMillisecondsMax: Int
    package var linkBytesPerSecond: Int
    package var noticeDelayMillisecondsMax: Int
    package var restartDelayMillisecondsMax: Int
    /// The step of the clock that stamps files.
    package var stampNanoseconds: UInt32
    /// See `VirtualDisk.seesWriters`. Where it is off, what is written late is found in what was displaced.
    package var seesWriters: Bool
    /// After so long the kernel writes what nobody asked it to.
    package var writeBackMilliseconds: Int
    /// What the operator does with a mass deletion that waits for him at the end.
    package var approvesHeldDeletes: Bool
    /// User operations that are left out, by the number each workload gives to its operations. Filled by the shrinker.
    package var skippedOperations: SkipList
    /// The users edit records and nothing else, and this is what they are about; nil in all other worlds.
    package internal(set) var scene: RecordScene?
    /// The model of these records is not there from the start; nil where it is.
    package internal(set) var lateModels: LateModels?
    /// The users save guarded files and nothing else, and up to this version the programs of each machine understand them at
    /// first; nil in all other worlds.
    package internal(set) var formatSupport: [UInt32]?
    /// Programs hold files still and show them, beside everything else.
    package internal(set) var hasLocks = false

    package func isOn(_ trait: Trait) -> Bool { traits.contains(trait) }

    package func pause(_ trait: Trait) -> Int { pauses[Int(trait.rawValue)] }

    package mutating func turnOff(_ trait: Trait) { traits.remove(trait) }

    package mutating func turnOn(_ trait: Trait, pauseMilliseconds: Int) {
        traits.insert(trait)
        pauses[Int(trait.rawValue)] = pauseMilliseconds
    }
}

/// Which user operations are left out. Numbers run from 0 over all users of the world, in the order in which the
/// workload hands them out; a number names the same operation whichever others are left out.
package struct SkipList: Sendable, Equatable {
    private var words: [UInt64] = []
    package private(set) var count = 0

    package init() {}

    package func contains(_ number: Int) -> Bool {
        let word = number >> 6
        return word < words.count && words[word] & (1 << UInt64(number & 63)) != 0
    }

    package mutating func insert(_ number: Int) {
        guard !contains(number) else { return }
        while words.count <= number >> 6 { words.append(0) }
        words[number >> 6] |= 1 << UInt64(number & 63)
        count += 1
    }

    package mutating func remove(_ number: Int) {
        guard contains(number) else { return }
        words[number >> 6] &= ~(1 << UInt64(number & 63))
        count -= 1
    }

    /// The numbers in ascending order.
    package var numbers: [Int] {
        (0..<(words.count * 64)).filter(contains)
    }
}

/// Streams of chance, one per concern, so that a concern that is switched off does not move the draws of another.
package struct RandomStreams: Sendable {
    package var users: [SeededRandom]
    package var disks: [SeededRandom]
    package var stores: [SeededRandom]
    package var workers: [SeededRandom]
    package var network: SeededRandom
    package var clock: SeededRandom
    package var operatorActs: SeededRandom
    package var crash: SeededRandom
    package var evil: SeededRandom
    /// Breaks ties between happenings of the same moment.
    package var ties: SeededRandom
    /// When the faults of each trait fall, by `Trait.rawValue`.
    package var traits: [SeededRandom]

    package init(seed: UInt64) {
        users = [SeededRandom(seed: seed, stream: "user0"), SeededRandom(seed: seed, stream: "user1")]
        disks = [SeededRandom(seed: seed, stream: "disk0"), SeededRandom(seed: seed, stream: "disk1")]
        stores = [SeededRandom(seed: seed, stream: "store0"), SeededRandom(seed: seed, stream: "store1")]
        workers = [SeededRandom(seed: seed, stream: "worker0"), SeededRandom(seed: seed, stream: "worker1")]
        network = SeededRandom(seed: seed, stream: "net")
        clock = SeededRandom(seed: seed, stream: "clock")
        operatorActs = SeededRandom(seed: seed, stream: "operator")
        crash = SeededRandom(seed: seed, stream: "crash")
        evil = SeededRandom(seed: seed, stream: "evil")
        ties = SeededRandom(seed: seed, stream: "ties")
        traits = Trait.allCases.map { SeededRandom(seed: seed, stream: "trait-\($0)") }
    }
}
