import SyncCore
import SyncModel

/// Bugs in what is remembered, and in when it counts as remembered.
extension PlantedBugs {
    static var store: [Plot] {
        [
            Plot(name: "intents are not written down", traits: [.processKills]) {
                dropping { if case .putIntent = $0 { true } else { false } }
            },
            Plot(name: "intents are never taken back", traits: [.processKills]) {
                dropping { if case .dropIntent = $0 { true } else { false } }
            },
            Plot(name: "kept versions are not recorded", traits: [.sharedNames]) {
                dropping { if case .putVersion = $0 { true } else { false } }
            },
            Plot(name: "the log is not appended") { dropping { if case .appendLog = $0 { true } else { false } } },
            Plot(name: "deleted paths are forgotten", traits: [.massDeletes, .processKills]) {
                PlantedBug.Ways(storing: { operation in
                    guard case .putRow(let row) = operation, row.disk == nil, row.heads.allSatisfy(\.entry.isAbsent)
                    else { return [operation] }
                    return [.dropRow(row.path)]
                })
            },
            Plot(name: "the clock is not remembered", traits: [.processKills]) {
                PlantedBug.Ways(storing: { operation in
                    guard case .putNode(var record) = operation else { return [operation] }
                    record.clock = .zero
                    return [.putNode(record)]
                })
            },
            Plot(name: "what was imported is not remembered", traits: [.processKills, .linkCuts]) {
                PlantedBug.Ways(storing: { operation in
                    guard case .putNode(var record) = operation else { return [operation] }
                    record.importedHead = .none
                    return [.putNode(record)]
                })
            },
            Plot(name: "stored counts before it is durable", traits: [.processKills], shape: slowStore, bug: hasty),
            Plot(name: "a failed store is taken for a good one", traits: [.storeFailures]) {
                PlantedBug.Ways(event: { event, _, _ in
                    if case .storeFailed(let job) = event { return .stored(job) }
                    return event
                })
            },
        ]
    }

    /// The node hears of its batch as soon as it has asked, and not again when it is true.
    private static func hasty() -> PlantedBug.Ways {
        var early: [SortedMap<JobID, Bool>] = [[:], [:]]
        return PlantedBug.Ways(
            effect: { effect, machine, world in
                if case .store(let job, _) = effect {
                    world.machines[machine].work.outstanding += 1
                    world.answer(machine, .stored(job), after: 0)
                    early[machine][job] = false
                }
                return [effect]
            },
            event: { event, machine, _ in
                if case .started = event { early[machine] = [:] }
                guard case .stored(let job) = event else { return event }
                let isTold = early[machine].updateValue(true, forKey: job)
                return isTold == true ? nil : event
            })
    }

    private static func slowStore(_ plan: inout SeedPlan) {
        plan.storeDelayMillisecondsMax = 300
    }

    private static func dropping(_ isDropped: @escaping (StoreOperation) -> Bool) -> PlantedBug.Ways {
        PlantedBug.Ways(storing: { isDropped($0) ? [] : [$0] })
    }
}
