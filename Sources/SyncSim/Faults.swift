/// What may go wrong in a world, and how its users behave: each on or off for a seed, each dropped on its own by the shrinker.
package enum Trait: UInt8, CaseIterable, Sendable {
    // Nature: done by `World+Faults`.
    case processKills
    case powerCuts
    case storeFailures
    case fullDisks
    case diskErrors
    case failedSyncs
    case linkCuts
    case partitions
    case oneWayPartitions
    case linkFreezes
    case slowLinks
    case clockDrift
    case clockSteps
    case clockFreezes
    case watchOverflows
    case lateNotices

    // The file system: how it is for the whole of a seed.
    case coarseTimes
    case inodeReuse
    case timesTrailData

    // The operator: done by the workload's operator.
    case orderlyStops
    case pauses
    case imageRestores
    case stateWipes
    case rootLosses
    case rescans
    case versionRestores

    // Limits
    case smallLimits
    case tinyChunks
    case shortLogs

    // Users: done by the workload's users.
    case sharedNames
    case openWriters
    case lateWriters
    case editorSaves
    case fileMoves
    case directoryMoves
    case massDeletes
    case permissionChanges
    case timeChanges
    case symlinks
    case kindSwaps
    case ignoreRules
    case oddNames
    case bigFiles
    case specialFiles
    case initialTrees

    // The other machine is not a node but an enemy who holds its key.
    case evilPeer
}

/// A set of traits in one word.
package struct TraitSet: Sendable, Equatable {
    private var bits: UInt64 = 0

    package init() {}

    package func contains(_ trait: Trait) -> Bool { bits & (1 << UInt64(trait.rawValue)) != 0 }
    package mutating func insert(_ trait: Trait) { bits |= 1 << UInt64(trait.rawValue) }
    package mutating func remove(_ trait: Trait) { bits &= ~(1 << UInt64(trait.rawValue)) }

    /// In the order of their declaration.
    package var list: [Trait] { Trait.allCases.filter(contains) }
}
