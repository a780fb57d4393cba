import SyncModel

// Trials of the invariants about what a node asks for, keeps in memory and tells people.
@testable import SyncCore
@testable import SyncSim

extension CheckerTests {
    static let nodeTrials: [Trial] = [quiet, bounds, oneAlert, equalAlerts].flatMap(\.self)

    private static let quiet: [Trial] = [
        Trial(Quiet.self, "a node at rest changes its disk", says: "1 operations changed the disk") { isBad, court in
            rest(&court) { counters in
                if isBad { counters.mutations += 1 } else { counters.looks += 1 }
            }
        },
        Trial(Quiet.self, "a node at rest changes its store", says: "1 batches changed the store") { isBad, court in
            rest(&court) { counters in
                if isBad { counters.batches += 1 } else { counters.framesSent += 1 }
            }
        },
        Trial(Quiet.self, "a node at rest sends a content", says: "1 frames of content left") { isBad, court in
            rest(sending: isBad ? .chunks(ContentID(.zero), []) : .ping, &court)
        },
        Trial(Quiet.self, "a node at rest sends its log once more", says: "1 frames of content left") { isBad, court in
            rest(sending: isBad ? .log([]) : .want([]), &court)
        },
        Trial(Quiet.self, "the process at rest is the one that worked", says: "changed the disk") { isBad, court in
            rest(&court, isRestarted: !isBad) { $0.mutations += 1 }
        },
    ]

    private static let bounds: [Trial] =
        [
            Trial(Bounds.self, "a frame is too large", says: "a frame of") { isBad, court in
                let bytes = [UInt8](repeating: 0, count: Limits.frameBytesMax + (isBad ? 5 : 4))
                Bounds().see(asking(.send(LinkID(raw: 1), bytes)), &court)
            },
            Trial(Bounds.self, "a scan asks for too much", says: "a scan of 2 differences") { isBad, court in
                let request = ScanRequest(directory: .root, after: nil, limit: isBad ? 2 : 1)
                Bounds().see(asking(.scan(JobID(raw: 1), request, IgnoreRules())), &court)
            },
            Trial(Bounds.self, "too many paths are inspected", says: "2 paths looked at at once") { isBad, court in
                let paths = Array(repeating: at("a"), count: isBad ? 2 : 1)
                Bounds().see(asking(.inspect(JobID(raw: 1), paths)), &court)
            },
            Trial(Bounds.self, "too many paths are hashed", says: "2 paths looked at at once") { isBad, court in
                let paths = Array(repeating: at("a"), count: isBad ? 2 : 1)
                Bounds().see(asking(.hash(JobID(raw: 1), paths)), &court)
            },
        ] + memory

    /// The most that a node may hold when every limit is one.
    private static let memory: [Trial] = {
        let counts: [(String, Int, @Sendable (Int) -> Footprint)] = [
            ("jobs in flight", 68, { footprint(jobs: $0) }),
            ("transactions waiting", 76, { footprint(transactions: $0) }),
            ("paths noted", 27, { footprint(noted: $0) }),
            ("imported records waiting", 2, { footprint(imports: $0) }),
            ("paths being applied", 11, { footprint(tasks: $0) }),
            ("contents being fetched", 11, { footprint(fetches: $0) }),
            ("bytes handed to the link", Limits.frameBytesMax + 5, { footprint(outboundBytes: $0) }),
            ("requests of the peer waiting", 1_024, { footprint(serving: $0) }),
        ]
        return counts.map { name, most, held in
            Trial(Bounds.self, "too many \(name)", says: "\(most + 1) \(name), \(most) allowed") { isBad, court in
                let act = StepAct(
                    machine: 0, event: .deadline, effects: [], limits: ones, footprint: held(isBad ? most + 1 : most))
                Bounds().see(act, &court)
            }
        }
    }()

    private static let oneAlert: [Trial] = [
        Trial(OneAlert.self, "a condition is told twice", says: "path.busy of a was raised twice") { isBad, court in
            let checker = OneAlert()
            checker.see(telling(.raised(busy("a"))), &court)
            checker.see(telling(.raised(busy(isBad ? "a" : "b"))), &court)
        },
        Trial(OneAlert.self, "the end of what nobody was told of", says: "had not been raised") { isBad, court in
            let checker = OneAlert()
            if !isBad { checker.see(telling(.raised(busy("a"))), &court) }
            checker.see(telling(.cleared(busy("a").key)), &court)
        },
        Trial(OneAlert.self, "the end is told twice", says: "had not been raised") { isBad, court in
            let checker = OneAlert()
            checker.see(telling(.raised(busy("a"))), &court)
            checker.see(telling(.cleared(busy("a").key)), &court)
            if !isBad { checker.see(telling(.raised(busy("a"))), &court) }
            checker.see(telling(.cleared(busy("a").key)), &court)
        },
        Trial(OneAlert.self, "told again by the same process", says: "was raised twice") { isBad, court in
            let checker = OneAlert()
            checker.see(telling(.raised(busy("a"))), &court)
            if !isBad { checker.see(ProcessTurn(machine: 0, isRunning: true, store: .fresh(0)), &court) }
            checker.see(telling(.raised(busy("a"))), &court)
        },
        Trial(OneAlert.self, "at rest a path is still called busy", says: "stands, though nothing is wrong") {
            isBad, court in
            OneAlert().see(alerted(isBad ? .pathBusy : .conflictFile), &court)
        },
        Trial(OneAlert.self, "the busy path is not the stuck one", says: "stands, though nothing is wrong") {
            isBad, court in
            var sight = alerted(.pathBusy)
            sight.stuck = [at(isBad ? "b" : "a")]
            OneAlert().see(sight, &court)
        },
    ]

    private static let equalAlerts: [Trial] = [
        Trial(EqualAlerts.self, "one node tells of a conflict", says: "is known to one node only") { isBad, court in
            EqualAlerts().see(alerted(.conflictFile, onBoth: !isBad), &court)
        },
        Trial(EqualAlerts.self, "what one node tells concerns both", says: "is known to one node only") {
            isBad, court in
            EqualAlerts().see(alerted(isBad ? .conflictSlot : .pathSpecial), &court)
        },
        Trial(EqualAlerts.self, "the rules keep the conflict from neither node", says: "is known to one node only") {
            isBad, court in
            var sight = alerted(.conflictFile)
            if !isBad { sight.machines[1].ignores = { $0 == at("a") } }
            EqualAlerts().see(sight, &court)
        },
        Trial(EqualAlerts.self, "a conflict copy lies there untold", says: "nobody is told of the conflict copy") {
            isBad, court in
            let copy = "a.conflict-beta-20250615-150649-5cc08c"
            var sight = alerted(isBad ? .pathSpecial : .conflictFile, about: copy, onBoth: true)
            for machine in sight.machines.indices {
                sight.machines[machine].tree[at(copy)] = sight.machines[machine].tree[at("a")]
            }
            EqualAlerts().see(sight, &court)
        },
        Trial(EqualAlerts.self, "a conflict is told of whose copy has gone", says: "is told of that is not there") {
            isBad, court in
            EqualAlerts().see(alerted(.conflictFile, about: isBad ? "b" : "a", onBoth: true), &court)
        },
    ]
}

// MARK: What the trials show

/// Two looks at nodes at rest, and what the second node did between them.
private func rest(
    sending frame: Frame = .ping, _ court: inout Court, isRestarted: Bool = false,
    does: (inout Machine.Counters) -> Void = { _ in }
) {
    let checker = Quiet()
    var sight = Sight(both: "a=1")
    checker.see(sight, &court)
    sight.look = 2
    does(&sight.machines[1].counters)
    if isRestarted { checker.see(ProcessTurn(machine: 1, isRunning: true, store: .fresh(1)), &court) }
    checker.see(
        StepAct(machine: 1, event: .deadline, effects: [.send(LinkID(raw: 1), FrameCodec.encode(frame))]), &court)
    checker.see(sight, &court)
}

/// One of everything.
private let ones: Limits = {
    var limits = Limits()
    limits.batchPathsMax = 1
    limits.scanChunkMax = 1
    limits.logRecordsPerFrameMax = 1
    limits.importRecordsMax = 1
    limits.applyTasksMax = 1
    limits.outboundBytesMax = 1
    limits.notedPathsMax = 1
    return limits
}()

private func asking(_ effect: Effect) -> StepAct {
    StepAct(machine: 0, event: .deadline, effects: [effect], limits: ones)
}

@Sendable private func footprint(
    jobs: Int = 0, transactions: Int = 0, noted: Int = 0, imports: Int = 0, tasks: Int = 0, fetches: Int = 0,
    outboundBytes: Int = 0, serving: Int = 0
) -> Footprint {
    Footprint(
        jobs: jobs, transactions: transactions, noted: noted, imports: imports, tasks: tasks, fetches: fetches,
        outboundBytes: outboundBytes, serving: serving)
}

private func telling(_ report: Report) -> StepAct {
    StepAct(machine: 0, event: .deadline, effects: [.report(report)])
}

private func busy(_ place: String) -> Alert { alert(.pathBusy, place) }

private func alert(_ code: MessageCode, _ place: String) -> Alert {
    Alert(key: AlertKey(code: code, subject: at(place).bytes), sinceMilliseconds: 0)
}

/// Equal folders; the first node, or both, have an alert about `a`.
private func alerted(_ code: MessageCode, about path: String = "a", onBoth: Bool = false) -> Sight {
    var sight = Sight(both: "a=1")
    let alert = alert(code, path)
    for index in 0..<(onBoth ? 2 : 1) { sight.machines[index].alerts[alert.key] = alert }
    return sight
}
