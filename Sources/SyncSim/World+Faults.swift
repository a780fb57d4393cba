import SyncModel

/// What goes wrong by itself: each trait of nature strikes at its own pace, from its own stream of chance.
extension World {
    /// A fault that lasts: it ends at its time, or when everything is mended.
    struct Strain {
        let number: Int
        let trait: Trait
        let machine: Int
    }

    func scheduleFault(_ trait: Trait) {
        // Uniform around the mean: short pauses and long ones in every seed.
        let pause = random.traits[Int(trait.rawValue)].below(2 * plan.pause(trait) + 1)
        schedule(.fault(trait), after: pause)
    }

    func strike(_ trait: Trait) {
        guard phase == .safety else { return }
        let machine = random.traits[Int(trait.rawValue)].below(2)
        let span = random.traits[Int(trait.rawValue)].below(4 * plan.pause(trait) / 3 + 1)
        trace.mix(Int(trait.rawValue) << 1 | machine)
        trace.tell("\(now) fault: \(trait) at \(machines[machine].name)")
        strike(trait, machine, span: span)
        scheduleFault(trait)
    }

    private func strike(_ trait: Trait, _ machine: Int, span: Int) {
        switch trait {
        case .processKills: kill(machine)
        case .powerCuts: powerCut(machine)
        case .storeFailures:
            let batches = random.stores[machine].below(6)
            // What has failed is not mended by the next fault: what waits behind it would get in.
            if machines[machine].storeFailsAfter != 0 { machines[machine].storeFailsAfter = batches }
        case .fullDisks, .diskErrors, .failedSyncs, .watchOverflows: begin(trait, machine, span: span)
        case .linkCuts: cutLink()
        case .partitions, .oneWayPartitions: begin(trait, machine, span: span)
        case .linkFreezes: begin(trait, machine, span: span / 6)
        case .clockSteps:
            machines[machine].clock.step(by: clockStep(from: machines[machine].clock.wall(at: now)))
            noteClock(machine)
        case .clockFreezes: begin(trait, machine, span: span)
        case .slowLinks, .clockDrift, .lateNotices, .coarseTimes, .inodeReuse, .timesTrailData, .orderlyStops, .pauses,
            .imageRestores, .stateWipes, .rootLosses,
            .rescans, .versionRestores, .smallLimits, .tinyChunks, .shortLogs, .sharedNames, .openWriters, .lateWriters,
            .editorSaves, .fileMoves, .directoryMoves, .massDeletes, .permissionChanges, .timeChanges, .symlinks,
            .kindSwaps, .ignoreRules, .oddNames, .bigFiles, .specialFiles, .initialTrees, .evilPeer:
            preconditionFailure("not a fault of nature: \(trait)")
        }
    }

    /// From a second to half a century, in both directions, but never much further from the right time: what is dated more
    /// than a century ahead is not taken before it is due, and so two such clocks could part two nodes for ever.
    private func clockStep(from wall: Int64) -> Int64 {
        let size = random.clock.pick([1_000, 60_000, 3_600_000, 400 * 86_400_000, 50 * 366 * 86_400_000]) ?? 1_000
        let step = Int64(random.clock.range(-size...size))
        let furthest: Int64 = 49 * 366 * 86_400_000
        let ahead = wall - VirtualClock.epochMilliseconds - now
        return min(max(ahead + step, -furthest), furthest) - ahead
    }

    /// A strain of the same kind is not doubled.
    private func begin(_ trait: Trait, _ machine: Int, span: Int) {
        guard !strains.contains(where: { $0.trait == trait }) else { return }
        strainsBegun += 1
        strains.append(Strain(number: strainsBegun, trait: trait, machine: machine))
        setStrain(trait, machine, isOn: true)
        schedule(.faultEnd(strainsBegun), after: span)
    }

    func endStrain(_ number: Int) {
        guard let index = strains.firstIndex(where: { $0.number == number }) else { return }
        let strain = strains.remove(at: index)
        trace.tell("\(now) fault ends: \(strain.trait) at \(machines[strain.machine].name)")
        setStrain(strain.trait, strain.machine, isOn: false)
    }

    func endAllStrains() {
        for strain in strains { setStrain(strain.trait, strain.machine, isOn: false) }
        strains = []
    }

    private func setStrain(_ trait: Trait, _ machine: Int, isOn: Bool) {
        if trait == .partitions || trait == .linkFreezes {
            for sender in 0..<2 { block(sender, isOn) }
        }
        if trait == .oneWayPartitions { block(machine, isOn) }
        if trait == .clockFreezes {
            if isOn { machines[machine].clock.freeze(at: now) } else { machines[machine].clock.thaw(at: now) }
        }
        noteClock(machine)
        setDiskFaults(machine)
        linkChanged()
    }

    /// Where the clock was set since the start of a machine that its daemon does not trust yet, times tell nothing.
    func noteClock(_ machine: Int) {
        if machines[machine].clock.wasSet, isUnsettled(machine) { ledger.lostTrackOfTime(on: machine) }
    }

    private func block(_ sender: Int, _ isOn: Bool) {
        if isOn {
            network.block(from: sender, at: now)
        } else {
            network.unblock(from: sender, at: now)
            network.wantConnection(at: now, &random.network)
        }
    }

    /// True while a fault of this kind strains the machine.
    func isStrained(_ machine: Int, by trait: Trait) -> Bool {
        strains.contains { $0.trait == trait && $0.machine == machine }
    }
}

extension SeedPlan {
    /// Those that strike by themselves, in the order of their declaration.
    var traitsOfNature: [Trait] {
        traits.list.filter { trait in
            trait.rawValue <= Trait.watchOverflows.rawValue && trait != .slowLinks && trait != .clockDrift
        }
    }
}
