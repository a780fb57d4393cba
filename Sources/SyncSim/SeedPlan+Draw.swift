import SyncModel

/// How a plan is drawn from its seed, and the plan of a world in which nothing goes wrong by itself.
extension SeedPlan {
    /// No faults, honest clocks, no delays worth mentioning: for scenarios and tests.
    package init(calm seed: UInt64) {
        self.seed = seed
        traits = TraitSet()
        pauses = Trait.allCases.map { _ in 0 }
        userOperations = [0, 0]
        fileCount = 8
        directoryCount = 3
        userPauseMilliseconds = 500
        fileBytesMax = 64
        var limits = Limits()
        limits.chunking = ChunkerParameters(average: 64)
        self.limits = [limits, limits]
        settings = [Settings(), Settings()]
        crashModel = .strict
        endsWithRestart = false
        clockOffsets = [0, 0]
        clockDriftsPerMillion = [0, 0]
        diskDelayMillisecondsMax = 1
        storeDelayMillisecondsMax = 1
        linkDelayMillisecondsMax = 1
        linkBytesPerSecond = 100_000_000
        noticeDelayMillisecondsMax = 1
        restartDelayMillisecondsMax = 1
        approvesHeldDeletes = true
        stampNanoseconds = 1
        seesWriters = false
        writeBackMilliseconds = 30_000
        skippedOperations = SkipList()
        scene = nil
        formatSupport = nil
    }

    package init(seed: UInt64) {
        self.init(calm: seed)
        var random = SeededRandom(seed: seed, stream: "plan")
        // From quiet seeds, where only the users can surprise each other, to wild ones.
        let percent = random.pick([0, 8, 20, 35, 60]) ?? 0
        for trait in Trait.allCases {
            // Drawn for every trait, so that a new rate for one does not move the others.
            let isOn = random.chance(percent: trait.isHabit ? 45 : percent)
            let pause = random.range(trait.pauseRange)
            if isOn { turnOn(trait, pauseMilliseconds: pause) }
        }
        // An enemy is a world of its own: no honest node to compare with.
        if !random.chance(percent: 4) { turnOff(.evilPeer) } else { turnOn(.evilPeer, pauseMilliseconds: 400) }
        drawSizes(&random)
        drawDelays(&random)
        drawLimits(&random)
        drawSettings(&random)
        var chance = SeededRandom(seed: seed, stream: "writers")
        seesWriters = chance.chance(percent: 25)
    }

    /// A world whose users edit records. Half of them know no disasters but kills: of those everything is asked.
    package init(recordsOf seed: UInt64) {
        self.init(seed: seed)
        var random = SeededRandom(seed: seed, stream: "records")
        scene = random.pick(Array(RecordScene.choices(for: seed)))
        // What people lose with a folder, or what their own saves fail with, is no story about records.
        leaveOut([.rootLosses, .versionRestores, .massDeletes, .fullDisks, .diskErrors, .evilPeer], &random)
        userOperations = [random.range(1...14), random.range(1...14)]
        userPauseMilliseconds = random.pick([50, 300, 1_500, 4_000]) ?? 300
        for index in limits.indices { limits[index].setsForgottenMin = random.pick([1, 4, 256]) ?? 256 }
        if LateModels.comesLate(in: seed) { drawLateModels(&random) }
    }

    /// What people do with records before their model comes, and a little after.
    private mutating func drawLateModels(_ random: inout SeededRandom) {
        let late = LateModels(seed: seed, cutsPower: isOn(.powerCuts))
        lateModels = late
        for machine in 0..<2 {
            userOperations[machine] =
                late.operationsBefore[machine] + late.operationsBetween[machine] + random.range(0...8)
        }
    }

    /// A world whose users save guarded files. Half of them know no disasters but kills: of those everything is asked.
    package init(formatsOf seed: UInt64) {
        self.init(seed: seed)
        var random = SeededRandom(seed: seed, stream: "formats")
        formatSupport = [UInt32(random.range(1...3)), UInt32(random.range(1...3))]
        // What people lose with a folder, and what they fetch from among the versions, is no story about formats.
        leaveOut([.rootLosses, .versionRestores, .massDeletes, .evilPeer], &random)
        userOperations = [random.range(1...16), random.range(1...16)]
        userPauseMilliseconds = random.pick([20, 300, 1_500, 4_000]) ?? 300
    }

    /// A world whose programs hold files still and show them, and whose link comes and goes. People do little beside.
    package init(locksOf seed: UInt64) {
        self.init(seed: seed)
        var random = SeededRandom(seed: seed, stream: "locks")
        hasLocks = true
        leaveOut([.versionRestores, .massDeletes, .rootLosses, .evilPeer, .imageRestores, .stateWipes], &random)
        userOperations = [random.range(0...8), random.range(0...8)]
        userPauseMilliseconds = random.pick([300, 1_500, 4_000]) ?? 300
        turnOn(.linkCuts, pauseMilliseconds: random.pick([2_000, 10_000, 40_000]) ?? 10_000)
    }

    /// A world of users with a story of their own: without the habits of others and these traits, and in half of them without disasters but
    /// kills.
    private mutating func leaveOut(_ others: [Trait], _ random: inout SeededRandom) {
        for trait in traits.list where trait.isHabit { turnOff(trait) }
        for trait in others { turnOff(trait) }
        if random.chance(percent: 50) {
            for trait in [.powerCuts, .imageRestores, .stateWipes, .failedSyncs] as [Trait] { turnOff(trait) }
        }
        // What waits for a person's word on many deletions is another story.
        let calm = Settings()
        for index in settings.indices {
            settings[index].deleteFuseFiles = calm.deleteFuseFiles
            settings[index].deleteFusePercent = calm.deleteFusePercent
        }
    }

    private mutating func drawSizes(_ random: inout SeededRandom) {
        userOperations = [random.range(2...24), random.range(2...24)]
        // Some seeds are about one busy side only.
        if random.chance(percent: 10) { userOperations[random.below(2)] = 0 }
        fileCount = random.range(1...16)
        directoryCount = random.range(0...6)
        userPauseMilliseconds = random.pick([5, 50, 300, 1_500]) ?? 300
        fileBytesMax = random.pick([8, 100, 2_000]) ?? 100
        let large = random.pick([20_000, 60_000]) ?? 20_000
        // Large files in the smallest pieces would be a story about nothing but pieces.
        if isOn(.bigFiles) { fileBytesMax = isOn(.smallLimits) || isOn(.tinyChunks) ? 2_000 : large }
        crashModel = random.pick(Array(CrashModel.allCases)) ?? .strict
        endsWithRestart = random.chance(percent: 33)
        approvesHeldDeletes = random.chance(percent: 50)
    }

    private mutating func drawDelays(_ random: inout SeededRandom) {
        diskDelayMillisecondsMax = random.pick([0, 2, 20, 200]) ?? 2
        storeDelayMillisecondsMax = random.pick([0, 2, 20, 300]) ?? 2
        linkDelayMillisecondsMax = random.pick([0, 2, 30, 400]) ?? 2
        let bytesPerSecond = random.range(3_000...60_000)
        linkBytesPerSecond = isOn(.slowLinks) ? bytesPerSecond : 100_000_000
        let noticeDelay = random.range(200...4_000)
        noticeDelayMillisecondsMax = isOn(.lateNotices) ? noticeDelay : 20
        restartDelayMillisecondsMax = random.pick([10, 500, 5_000]) ?? 500
        let stamp = random.pick([10_000_000, 1_000_000_000]) ?? 10_000_000
        if isOn(.coarseTimes) { stampNanoseconds = UInt32(stamp) }
        writeBackMilliseconds = random.pick([1_000, 10_000, 60_000]) ?? 10_000
        let offsets = [random.range(-90_000...90_000), random.range(-90_000...90_000)]
        let drifts = [random.range(-3_000...3_000), random.range(-3_000...3_000)]
        if isOn(.clockDrift) {
            clockOffsets = offsets.map { Int64($0) }
            clockDriftsPerMillion = drifts
        }
    }

    private mutating func drawLimits(_ random: inout SeededRandom) {
        // Where a content is cut is a format: the same on both nodes.
        let average = random.range(16...200)
        let chunking = isOn(.tinyChunks) ? ChunkerParameters(average: average) : .standard
        let lateWriter = UInt64(random.pick([500, 2_000, 10_000]) ?? 2_000)
        let fuseWindow = UInt64(random.pick([500, 3_000, 10_000]) ?? 3_000)
        var shared = Limits()
        // What one node sends in these bounds the other must take: both run the same program.
        let imports = random.range(2...20)
        shared.importRecordsMax = imports
        shared.logRecordsPerFrameMax = random.range(1...max(1, imports / 2))
        shared.wantedBytesMax = random.pick([1, 300, 5_000]) ?? 300
        shared.outboundBytesMax = random.pick([1, 600, 10_000]) ?? 600
        shared.contentFrameBytesMax = random.pick([16, 64, 1_000]) ?? 64
        for index in 0..<2 {
            var drawn = shared
            drawn.batchPathsMax = random.range(1...6)
            drawn.scanChunkMax = random.range(1...6)
            drawn.applyTasksMax = random.range(1...5)
            drawn.notedPathsMax = random.range(1...10)
            let kept = random.range(0...3)
            if !isOn(.smallLimits) { drawn = Limits() }
            if isOn(.shortLogs) { drawn.logRecordsKept = kept }
            drawn.lateWriterMilliseconds = lateWriter
            // What the node believes of its kernel must be true, with a little in hand.
            drawn.writebackMilliseconds = UInt64(writeBackMilliseconds + 2 * World.writeBackPauseMilliseconds)
            // No window is of use that is shorter than what went at one moment is told apart.
            let lateness = isOn(.lateNotices) ? UInt64(noticeDelayMillisecondsMax) + 1_000 : 0
            drawn.fuseWindowMilliseconds = max(fuseWindow, lateness)
            drawn.chunking = chunking
            limits[index] = drawn
        }
    }

    private mutating func drawSettings(_ random: inout SeededRandom) {
        let files = random.range(1...6)
        let percent = random.range(5...60)
        guard isOn(.massDeletes) else { return }
        for index in 0..<2 {
            settings[index].deleteFuseFiles = files
            settings[index].deleteFusePercent = percent
        }
    }
}

extension Trait {
    /// A way of users, not a fault: many are on in every seed, calm ones included.
    package var isHabit: Bool {
        rawValue >= Trait.sharedNames.rawValue && rawValue < Trait.evilPeer.rawValue
    }

    /// Between two strikes, in milliseconds; the mean of a seed is drawn from here.
    var pauseRange: ClosedRange<Int> {
        switch self {
        case .processKills: 700...12_000
        case .powerCuts: 1_500...15_000
        case .storeFailures: 3_000...15_000
        case .fullDisks: 2_000...15_000
        case .diskErrors, .failedSyncs: 700...8_000
        case .linkCuts: 200...6_000
        case .partitions, .oneWayPartitions: 2_000...20_000
        case .linkFreezes: 1_000...10_000
        case .slowLinks, .clockDrift, .lateNotices, .coarseTimes, .inodeReuse, .timesTrailData: 1_000...1_000
        case .clockSteps, .clockFreezes: 1_000...10_000
        case .watchOverflows: 1_000...10_000
        case .orderlyStops, .pauses: 2_000...15_000
        case .imageRestores, .stateWipes: 8_000...40_000
        case .rootLosses: 4_000...20_000
        case .rescans, .versionRestores: 2_000...12_000
        case .smallLimits, .tinyChunks, .shortLogs: 1_000...1_000
        case .sharedNames, .openWriters, .lateWriters, .editorSaves, .fileMoves, .directoryMoves, .massDeletes,
            .permissionChanges, .timeChanges, .symlinks, .kindSwaps, .ignoreRules, .oddNames, .bigFiles, .specialFiles,
            .initialTrees, .evilPeer:
            1_000...1_000
        }
    }
}
