import SyncCore
import SyncModel

/// Bugs in how the world is seen, and in what passes between the two.
extension PlantedBugs {
    static var told: [Plot] {
        [
            Plot(name: "lost notices are not noticed", traits: [.watchOverflows]) {
                telling { if case .overflowed = $0 { nil } else { $0 } }
            },
            Plot(name: "notices are dropped") { telling { if case .noticed = $0 { nil } else { $0 } } },
            Plot(
                name: "a directory that cannot be read counts as empty",
                traits: [.diskErrors, .rescans, .watchOverflows],
                bug: blind),
            Plot(name: "the root counts as healthy, always", traits: [.rootLosses]) {
                telling { event in
                    if case .inspected(let job, let seen) = event {
                        return .inspected(job, Inspection(root: .healthy, results: seen.results))
                    }
                    guard case .scanned(let job, let chunk) = event else { return event }
                    return .scanned(
                        job,
                        ScanChunk(
                            differences: chunk.differences, resume: chunk.resume, root: .healthy,
                            unreadable: chunk.unreadable))
                }
            },
            Plot(name: "a scan ends with its first chunk", traits: [.smallLimits, .watchOverflows, .initialTrees]) {
                telling { event in
                    guard case .scanned(let job, let chunk) = event else { return event }
                    return .scanned(
                        job,
                        ScanChunk(
                            differences: chunk.differences, resume: nil, root: chunk.root, unreadable: chunk.unreadable)
                    )
                }
            },
            Plot(name: "what cannot be looked at counts as absent", traits: [.diskErrors]) {
                inspecting { if case .failed = $0 { .absent } else { $0 } }
            },
            Plot(name: "what is there counts as absent", bug: forgetful),
            Plot(name: "recovery finds nothing", traits: [.processKills], shape: slowDisk) {
                PlantedBug.Ways(event: { event, machine, world in
                    guard world.machines[machine].node?.phase == .recovering,
                        case .diskFinished(let job, let results) = event
                    else { return event }
                    return .diskFinished(
                        job,
                        results.map { DiskResult(inspected: $0.inspected.map { _ in nil }, failure: $0.failure) })
                })
            },
            Plot(
                name: "content is remembered with a later look", traits: [.openWriters, .sharedNames],
                shape: slowDisk, bug: lateLook),
            Plot(name: "failed expectations count as met", traits: [.sharedNames], shape: slowDisk) {
                forgiving(.mismatch)
            },
            Plot(name: "input/output errors count as success", traits: [.failedSyncs, .diskErrors]) {
                forgiving(.inputOutput)
            },
            Plot(name: "read bytes are damaged") {
                telling { event in
                    guard case .readFinished(let job, let outcomes) = event else { return event }
                    return .readFinished(
                        job, outcomes.map { if case .bytes(let bytes) = $0 { .bytes(damaged(bytes)) } else { $0 } })
                }
            },
            Plot(name: "frames are sent twice") {
                PlantedBug.Ways(effect: { effect, _, _ in
                    if case .send = effect { return [effect, effect] }
                    return [effect]
                })
            },
            Plot(name: "every seventh frame is lost") {
                var frames = 0
                return PlantedBug.Ways(effect: { effect, _, _ in
                    guard case .send = effect else { return [effect] }
                    frames += 1
                    return frames.isMultiple(of: 7) ? [] : [effect]
                })
            },
            Plot(
                name: "an epoch is named as the one before", traits: [.imageRestores, .processKills], shape: manyImages
            ) {
                telling { event in
                    starting(event) {
                        Start(
                            node: $0.node, settings: $0.settings, limits: $0.limits, program: $0.program, nonce: 7,
                            powerWasLost: $0.powerWasLost)
                    }
                }
            },
            Plot(name: "power cuts go unnoticed", traits: [.powerCuts]) {
                telling { event in
                    starting(event) { start in
                        var node = start.node
                        node.distrustSince = nil
                        return Start(
                            node: node, settings: start.settings, limits: start.limits, program: start.program,
                            nonce: start.nonce, powerWasLost: false)
                    }
                }
            },
            Plot(name: "mass deletions are not held", traits: [.massDeletes]) {
                telling { event in
                    starting(event) { start in
                        var settings = start.settings
                        settings.deleteFuseFiles = 1_000_000
                        return Start(
                            node: start.node, settings: settings, limits: start.limits, program: start.program,
                            nonce: start.nonce, powerWasLost: start.powerWasLost)
                    }
                }
            },
            Plot(name: "kept versions are given up at once", traits: [.sharedNames]) {
                telling { event in
                    starting(event) { start in
                        var settings = start.settings
                        settings.keepVersionsMilliseconds = 0
                        return Start(
                            node: start.node, settings: settings, limits: start.limits, program: start.program,
                            nonce: start.nonce, powerWasLost: start.powerWasLost)
                    }
                }
            },
            Plot(name: "scans forget what is ignored", traits: [.ignoreRules, .rescans, .watchOverflows]) {
                PlantedBug.Ways(effect: { effect, _, _ in
                    guard case .scan(let job, let request, _) = effect else { return [effect] }
                    return [.scan(job, request, IgnoreRules())]
                })
            },
        ]
    }

    /// Images are put back soon, and people go on after that.
    private static func manyImages(_ plan: inout SeedPlan) {
        plan.turnOn(.imageRestores, pauseMilliseconds: 2_000)
        plan.turnOn(.processKills, pauseMilliseconds: 1_000)
        plan.userOperations = [40, 40]
        plan.userPauseMilliseconds = 300
        plan.restartDelayMillisecondsMax = 10
    }

    /// Everything below an unreadable directory is told to be gone.
    private static func blind() -> PlantedBug.Ways {
        PlantedBug.Ways(event: { event, machine, world in
            guard case .scanned(let job, let chunk) = event, !chunk.unreadable.isEmpty else { return event }
            var gone: SortedMap<Path, Stat?> = [:]
            for difference in chunk.differences { gone[difference.path] = .some(difference.stat) }
            for (path, row) in world.machines[machine].store.rows where row.disk != nil {
                if chunk.unreadable.contains(where: { path.isBelow($0) }) { gone[path] = .some(nil) }
            }
            return .scanned(
                job,
                ScanChunk(
                    differences: gone.map { Difference(path: $0.key, stat: $0.value) }, resume: chunk.resume,
                    root: chunk.root, unreadable: []))
        })
    }

    /// Every fifth look misses what is there.
    private static func forgetful() -> PlantedBug.Ways {
        var looks = 0
        return inspecting { result in
            looks += 1
            return looks.isMultiple(of: 5) ? .absent : result
        }
    }

    /// The stat of a hashed file is taken when the answer is given, and not compared with the one from before.
    /// What was read is remembered for it: recorded only, it would be mended, for what was changed in that moment is read once more.
    private static func lateLook() -> PlantedBug.Ways {
        var jobs: [SortedMap<JobID, [Path]>] = [[:], [:]]
        var memory: [SortedMap<Path, (content: Content, chunks: ChunkList, stat: Stat)>] = [[:], [:]]
        return PlantedBug.Ways(
            effect: { effect, machine, _ in
                if case .hash(let job, let paths) = effect { jobs[machine][job] = paths }
                return [effect]
            },
            event: { event, machine, world in
                guard case .hashed(let job, let outcomes) = event, let paths = jobs[machine].removeValue(forKey: job)
                else { return event }
                return .hashed(
                    job,
                    zip(paths, outcomes).map { path, outcome in
                        guard case .content(let content, let chunks, let stat) = outcome else { return outcome }
                        let later = world.machines[machine].disk.peekStat(path) ?? stat
                        if let known = memory[machine][path], known.stat == later {
                            return .content(known.content, known.chunks, later)
                        }
                        memory[machine][path] = (content, chunks, later)
                        return .content(content, chunks, later)
                    })
            })
    }

    private static func forgiving(_ error: DiskError) -> PlantedBug.Ways {
        telling { event in
            guard case .diskFinished(let job, let results) = event else { return event }
            return .diskFinished(
                job, results.map { $0.failure?.error == error ? DiskResult(inspected: $0.inspected) : $0 })
        }
    }

    private static func inspecting(_ change: @escaping (Inspection.Result) -> Inspection.Result) -> PlantedBug.Ways {
        telling { event in
            guard case .inspected(let job, let seen) = event else { return event }
            return .inspected(job, Inspection(root: seen.root, results: seen.results.map(change)))
        }
    }

    private static func starting(_ event: Event, _ change: (Start) -> Start) -> Event {
        if case .started(let start) = event { return .started(change(start)) }
        return event
    }

    private static func telling(_ change: @escaping (Event) -> Event?) -> PlantedBug.Ways {
        PlantedBug.Ways(event: { event, _, _ in change(event) })
    }
}
