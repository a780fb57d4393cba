// Trials of the invariants that look at what a daemon does to its disk, operation by operation.
import SyncModel

@testable import SyncSim

private let copy = "a.conflict-beta-20260101-000000-abcdef"
private let copyOfCopy = "a.conflict-beta-20260101-000000-abcdef.conflict-alpha-20260102-000000-012345"
/// What was written into the stage to be put at a path.
private let staged = FileIdentity.of("staged")

extension CheckerTests {
    static let diskTrials: [Trial] = [
        oldOrNew, plansWork, noFalseConflict, massLossGuard, positiveEvidence, intentFirst, nothingOutside,
        promisedHistory,
    ].flatMap(\.self)

    private static let oldOrNew: [Trial] = [
        Trial(OldOrNew.self, "an emptied file after a power cut", says: "went from") { isBad, court in
            let checker = OldOrNew()
            checker.see(replacement(), &court)
            checker.see(powerCut(now: isBad ? "" : "1"), &court)
        },
        Trial(OldOrNew.self, "it is not the old file, which nobody had synced", says: "went from") { isBad, court in
            let checker = OldOrNew()
            checker.see(replacement(), &court)
            checker.see(powerCut(now: "", safe: "", file: isBad ? staged : .of("a")), &court)
        },
        Trial(OldOrNew.self, "what was stored as applied is not there", says: "was stored as") { isBad, court in
            let checker = OldOrNew()
            checker.see(replacement(), &court)
            let row = Row.file("2", at: "a")
            checker.see(
                StoreAct(machine: 0, batch: StoreBatch([.putRow(row)]), store: .fresh(0), peerStore: .fresh(1)), &court)
            checker.see(powerCut(now: isBad ? "1" : "2"), &court)
        },
        Trial(OldOrNew.self, "the torn file was written by the daemon", says: "went from") { isBad, court in
            let checker = OldOrNew()
            checker.see(replacement(isOurs: isBad), &court)
            checker.see(powerCut(now: ""), &court)
        },
        Trial(OldOrNew.self, "nobody wrote to it after the daemon", says: "went from") { isBad, court in
            let checker = OldOrNew()
            checker.see(replacement(), &court)
            checker.see(powerCut(was: isBad ? "2" : "3", now: ""), &court)
        },
        Trial(OldOrNew.self, "half of a file that was being deleted", says: "went from") { isBad, court in
            court.ledger.wrote("long", at: "a", on: 0)
            court.now = 1
            let checker = OldOrNew()
            checker.see(removal(of: "long", at: "a"), &court)
            checker.see(powerCut(was: nil, now: isBad ? "lo" : "long", safe: "long"), &court)
        },
        Trial(OldOrNew.self, "an image was not put back in between", says: "went from") { isBad, court in
            let checker = OldOrNew()
            checker.see(replacement(), &court)
            if !isBad { checker.see(OperatorAct(machine: 0, kind: .restoredImage, store: .fresh(0)), &court) }
            checker.see(powerCut(now: ""), &court)
        },
    ]

    private static let plansWork: [Trial] =
        [
            Trial(PlansWork.self, "a plan ran into a taken name", says: "though nobody interfered") { isBad, court in
                let operation = DiskOperation.move(stage1, to: .tree(at("a")))
                PlansWork().see(
                    DiskAct(machine: 0, operation: operation, error: .exists, store: .fresh(0), isDisturbed: !isBad),
                    &court)
            },
            Trial(PlansWork.self, "no space on a disk with room", says: "on a healthy disk") { isBad, court in
                let operation = DiskOperation.createFile(stage1)
                PlansWork().see(
                    DiskAct(machine: 0, operation: operation, error: .noSpace, store: .fresh(0), mayFail: !isBad),
                    &court)
            },
            Trial(PlansWork.self, "a directory is missing that no disk refused", says: "though nobody interfered") {
                isBad, court in
                let checker = PlansWork()
                let question = DiskOperation.expectAbsent(.tree(at("d")))
                checker.see(
                    DiskAct(
                        machine: 0, operation: question, error: isBad ? nil : .inputOutput, store: .fresh(0),
                        mayFail: true),
                    &court)
                let operation = DiskOperation.move(stage1, to: .tree(at("d/x")))
                checker.see(DiskAct(machine: 0, operation: operation, error: .notFound, store: .fresh(0)), &court)
            },
        ] + questions

    /// Failures that are answers, each beside the same failure of an operation that asks nothing.
    private static let questions: [Trial] = {
        let (tree, version) = (Place.tree(at("a")), version1)
        let file = Seen.file("1", at: "a").stat
        let directory = Seen.directory(at: "a").stat
        let pairs: [(DiskOperation, asks: DiskOperation, DiskError)] = [
            (.discard(stage1), asks: .removeDirectory(tree), .notEmpty),
            (.expectContent(tree, file), asks: .expectContent(version, file), .mismatch),
            (.expectContent(tree, file), asks: .expectContent(.quarantine(.first), file), .mismatch),
            (.expect(tree, file), asks: .expect(version, file), .mismatch),
            (.expect(tree, file), asks: .expect(tree, directory), .mismatch),
            (.move(tree, to: version), asks: .move(version, to: tree), .notFound),
            (.move(tree, to: version), asks: .move(version, to: tree), .notDirectory),
            (.setMode(stage1, 0o600), asks: .discard(stage1), .notFound),
        ]
        return pairs.map { plain, question, error in
            Trial(PlansWork.self, "\(plain) must not fail with \(error)", says: "though nobody interfered") {
                isBad, court in
                PlansWork().see(
                    DiskAct(machine: 0, operation: isBad ? plain : question, error: error, store: .fresh(0)), &court)
            }
        }
    }()

    private static let noFalseConflict: [Trial] = [
        Trial(NoFalseConflict.self, "the winner had seen the loser", says: "nothing was in conflict") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.wrote("2", over: isBad ? "1" : nil, at: "a", on: 1)
            NoFalseConflict().see(copying("1", to: copy), &court)
        },
        Trial(NoFalseConflict.self, "who put the same bytes there had seen the loser", says: "nothing was in conflict")
        { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            if !isBad { court.ledger.putOver(.text("1"), at: at("a"), on: 1) }
            court.ledger.wrote("2", over: "1", at: "a", on: 0)
            court.ledger.wrote("3", over: "2", at: "a", on: 1)
            if isBad { court.ledger.putOver(.text("3"), at: at("a"), on: 1) }
            NoFalseConflict().see(copying("2", to: copy), &court)
        },
        Trial(NoFalseConflict.self, "the directory was elsewhere", says: "nothing was in conflict") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.wrote("2", at: isBad ? "b/x" : "a/x", on: 1)
            NoFalseConflict().see(copying("1", to: copy), &court)
        },
        Trial(NoFalseConflict.self, "a copy of a copy that nobody fought over", says: "nothing was in conflict") {
            isBad, court in
            court.ledger.wrote("1", at: copy, on: 0)
            if !isBad { court.ledger.wrote("2", at: copy, on: 1) }
            NoFalseConflict().see(copying("1", to: copyOfCopy), &court)
        },
        Trial(NoFalseConflict.self, "a copy whose name was cut", says: "nothing was in conflict") { isBad, court in
            let name = String(repeating: "l", count: 250)
            court.ledger.wrote("1", at: name, on: 0)
            court.ledger.wrote("2", over: isBad ? "1" : nil, at: name, on: 1)
            let cut = String(repeating: "l", count: 218) + ".conflict-beta-20260101-000000-abcdef"
            NoFalseConflict().see(copying("1", to: cut), &court)
        },
        Trial(NoFalseConflict.self, "the rules leave out nothing in the directory", says: "nothing was in conflict") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            NoFalseConflict().see(copying("1", to: copy, isKept: !isBad), &court)
        },
        Trial(NoFalseConflict.self, "the daemons know what they knew", says: "nothing was in conflict") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            if !isBad { court.ledger.forgot(0) { _ in true } }
            NoFalseConflict().see(copying("1", to: copy), &court)
        },
    ]

    private static let massLossGuard: [Trial] = [
        Trial(MassLossGuard.self, "more went than the fuse allows", says: "without anybody's approval") {
            isBad, court in
            burst(4, of: 5, &court)
            delete(isBad ? 3 : 2, on: 1, fuse(), &court)
        },
        Trial(MassLossGuard.self, "the approval was for an earlier deletion", says: "without anybody's approval") {
            isBad, court in
            let checker = fuse()
            court.now = isBad ? 4 : 5
            checker.see(OperatorAct(machine: 0, kind: .approvedDeletes, store: .fresh(0)), &court)
            burst(4, of: 5, at: 5, &court)
            delete(4, on: 1, checker, &court)
        },
        Trial(MassLossGuard.self, "a large part of the folder", says: "of 4 files") { isBad, court in
            burst(4, of: isBad ? 15 : 16, &court)
            delete(4, on: 1, fuse(), &court)
        },
        Trial(MassLossGuard.self, "a large part of one directory", says: "of 4 files") { isBad, court in
            burst(4, of: 40, inside: isBad ? 8 : 16, &court)
            delete(4, on: 1, fuse(), &court)
        },
        Trial(MassLossGuard.self, "the files went on the other machine", says: "without anybody's approval") {
            isBad, court in
            burst(4, of: 5, &court)
            delete(4, on: isBad ? 1 : 0, fuse(), &court)
        },
        Trial(MassLossGuard.self, "the files stand under no other name", says: "without anybody's approval") {
            isBad, court in
            burst(4, of: 5, &court)
            delete(4, on: 1, stillAt: isBad ? [at("1")] : [at("b")], fuse(), &court)
        },
        Trial(MassLossGuard.self, "the rules let go of it before the others were told of", says: "3 of 4 files") {
            isBad, court in
            let checker = fuse()
            burst(4, of: 5, &court)
            court.now = 1
            if isBad { checker.see(lettingGo(of: ["2"]), &court) }
            court.now = 2
            checker.see(telling(["0", "1"]), &court)
            court.now = 3
            if !isBad { checker.see(lettingGo(of: ["2"]), &court) }
            court.now = 4
            checker.see(telling(["2"]), &court)
            delete(3, on: 1, checker, &court)
        },
        Trial(MassLossGuard.self, "it was told of before the rules left it out", says: "3 of 4 files") {
            isBad, court in
            let checker = fuse()
            burst(4, of: 5, &court)
            court.now = 1
            checker.see(telling(isBad ? ["0", "1", "2"] : ["0", "1"]), &court)
            court.now = 2
            checker.see(lettingGo(of: ["2"]), &court)
            court.now = 3
            if !isBad { checker.see(telling(["2"]), &court) }
            delete(3, on: 1, checker, &court)
        },
        Trial(MassLossGuard.self, "too much of what the rules left out goes together", says: "3 of 4 files") {
            isBad, court in
            let checker = fuse()
            burst(4, of: 5, &court)
            court.now = 1
            checker.see(telling(["0"]), &court)
            court.now = 2
            checker.see(lettingGo(of: ["1", "2", "3"]), &court)
            court.now = 3
            checker.see(telling(["1", "2", "3"]), &court)
            delete(isBad ? 4 : 3, on: 1, checker, &court)
        },
    ]

    private static let positiveEvidence: [Trial] = [
        Trial(PositiveEvidence.self, "a file goes that nobody let go of", says: "was taken from a") { isBad, court in
            court.ledger.wrote("0", at: "a", on: 0)
            court.ledger.wrote("1", over: "0", at: "a", on: 0)
            court.ledger.removed(isBad ? "0" : "1", at: "a", on: 1)
            PositiveEvidence().see(removal(of: "1", at: "a"), &court)
        },
        Trial(PositiveEvidence.self, "no copy of it stays", says: "was taken from a") { isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            PositiveEvidence().see(removal(of: "1", at: "a", isHeld: !isBad), &court)
        },
        Trial(
            PositiveEvidence.self, "the same bytes written again are not on the other machine", says: "was taken from a"
        ) {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            court.ledger.removed("1", at: "a", on: 0)
            court.ledger.wrote("1", at: "a", on: 0)
            PositiveEvidence().see(removal(of: "1", at: "a", isElsewhere: !isBad), &court)
        },
        Trial(PositiveEvidence.self, "what an exchange brought out is thrown away", says: "was taken from a") {
            isBad, court in
            court.ledger.wrote("1", at: "a", on: 0)
            let identity = isBad ? FileIdentity.of("a") : staged
            let touched = DiskAct.Touched(
                place: stage1, before: .text("1"), after: .absent, identity: identity)
            let act = DiskAct(
                machine: 0, operation: .discard(stage1), touched: [touched], store: intending(placing("a")))
            PositiveEvidence().see(act, &court)
        },
        Trial(PositiveEvidence.self, "a directory goes that nobody removed", says: "the directory d was removed") {
            isBad, court in
            court.ledger.madeDirectory("d", on: 0)
            if !isBad { court.ledger.removedDirectory("d", on: 1) }
            let touched = DiskAct.Touched(place: .tree(at("d")), before: .directory, after: .absent)
            let act = DiskAct(
                machine: 0, operation: .removeDirectory(.tree(at("d"))), touched: [touched], store: .fresh(0))
            PositiveEvidence().see(act, &court)
        },
    ]

    private static let intentFirst: [Trial] = {
        let exchange = DiskOperation.exchange(.tree(at("a")), stage1)
        let rename = Intent(
            stage: .first, path: at("b"), action: .rename(from: at("a")), expected: nil, displaced: nil)
        let copying = Intent(
            stage: .first, path: at("a"), action: .remove, expected: nil, displaced: .conflictCopy(at(copy)))
        let kept = keeping().versions.values.map { Intent.Displaced.version($0) }
        let rescue = Intent(
            stage: .first, path: at("a"), action: .remove, expected: nil, displaced: kept.first)
        let cases: [(String, DiskOperation, Intent)] = [
            ("a rescue of what was displaced", .move(version1, to: .tree(at(copy))), rescue),
            ("a rescue out of the stage", .move(stage1, to: .tree(at(copy))), placing("a")),
            ("an exchange", exchange, placing("a")),
            ("a placement", .move(stage1, to: .tree(at("a"))), placing("a")),
            ("a removal", .move(.tree(at("a")), to: version1), placing("a")),
            ("the old name of a rename", .move(.tree(at("a")), to: .tree(at("b"))), rename),
            ("a conflict copy", .move(stage1, to: .tree(at(copy))), copying),
        ]
        return cases.map { what, operation, intent in
            Trial(IntentFirst.self, "\(what) that nothing announced", says: "without a durable intent") {
                isBad, court in
                let store = isBad ? intending(placing("other")) : intending(intent)
                IntentFirst().see(DiskAct(machine: 0, operation: operation, store: store), &court)
            }
        }
    }()

    private static let nothingOutside: [Trial] = [
        Trial(NothingOutside.self, "the daemon's own folder by path", says: "daemon's own folder") { isBad, court in
            let place = Place.tree(at(isBad ? ".syncd/node.db" : ".syncdx/node.db"))
            NothingOutside().see(DiskAct(machine: 0, operation: .inspect(place), store: .fresh(0)), &court)
        },
        Trial(NothingOutside.self, "the root itself is changed", says: "changes the root") { isBad, court in
            let operation: DiskOperation = isBad ? .setMode(.tree(.root), 0o700) : .inspect(.tree(.root))
            NothingOutside().see(DiskAct(machine: 0, operation: operation, store: .fresh(0)), &court)
        },
    ]

    private static let promisedHistory: [Trial] = [
        Trial(PromisedHistory.self, "a young version is forgotten", says: "was removed after 99 ms") { isBad, court in
            history().see(forgetting(at: isBad ? 99 : 100), &court)
        },
        Trial(PromisedHistory.self, "there is room for all versions", says: "was removed") { isBad, court in
            history(bytes: isBad ? 5 : 4).see(forgetting(at: 1), &court)
        },
        Trial(PromisedHistory.self, "its file was not given back to the folder", says: "was removed") { isBad, court in
            history().see(forgetting(at: 1, file: isBad ? .text("early") : .absent), &court)
        },
        Trial(PromisedHistory.self, "the file goes while its record stands", says: "was removed") { isBad, court in
            let store = isBad ? keeping() : VirtualStore.fresh(0)
            history().see(DiskAct(machine: 0, operation: .discard(version1), store: store), &court)
        },
        Trial(PromisedHistory.self, "a file is set aside and not recorded", says: "in no history") { isBad, court in
            history().see(aside(recorded: !isBad), &court)
        },
        Trial(PromisedHistory.self, "a version is recorded first", says: "not on the disk") { isBad, court in
            history().see(recording(isUnsynced: isBad), &court)
        },
        Trial(PromisedHistory.self, "no sync of it has failed", says: "not on the disk") { isBad, court in
            let checker = history()
            let error: DiskError? = isBad ? nil : .inputOutput
            let sync = DiskAct(machine: 0, operation: .syncFile(version1), error: error, store: .fresh(0))
            checker.see(sync, &court)
            checker.see(recording(isUnsynced: true), &court)
        },
        Trial(PromisedHistory.self, "it was not written anew beside it", says: "not on the disk") { isBad, court in
            history().see(recording(isUnsynced: true, isBesideAnother: !isBad), &court)
        },
        Trial(PromisedHistory.self, "a wiped state knows of nothing", says: "in no history") { isBad, court in
            let checker = history()
            if !isBad { checker.see(OperatorAct(machine: 0, kind: .wipedState, store: .fresh(0)), &court) }
            checker.see(aside(recorded: false), &court)
        },
    ]
}

// MARK: What the trials show

/// The daemon swaps `a`, which holds 1, for a staged 2.
private func replacement(isOurs: Bool = true) -> DiskAct {
    DiskAct(
        machine: 0, operation: .exchange(.tree(at("a")), stage1),
        touched: [
            DiskAct.Touched(
                place: .tree(at("a")), before: .text("1"), after: .text("2"), identity: .of("a")),
            DiskAct.Touched(place: stage1, before: .text("2"), after: .text("1"), identity: staged),
        ],
        store: isOurs ? intending(placing("a")) : .fresh(0))
}

private func powerCut(
    was: String? = "2", now: String, safe: String = "1", file: FileIdentity? = nil
) -> PowerCut {
    var before: SortedMap<Path, Value> = [:]
    if let was { before[at("a")] = .text(was) }
    return PowerCut(
        machine: 0, was: before, now: [at("a"): .text(now)], safe: [at("a"): .text(safe)],
        files: file.map { [at("a"): $0] } ?? [:])
}

private func placing(_ place: String) -> Intent {
    let entry = Seen.file("2", at: place).entry
    return Intent(stage: .first, path: at(place), action: .place(staged, entry), expected: nil, displaced: nil)
}

private func intending(_ intent: Intent) -> VirtualStore {
    var store = VirtualStore.fresh(0)
    store.perform(StoreBatch([.putIntent(intent)]))
    return store
}

/// The daemon makes a conflict copy out of what stands at `a`.
private func copying(_ text: String, to place: String, isKept: Bool = false) -> DiskAct {
    DiskAct(
        machine: 0, operation: .move(.tree(at("a")), to: .tree(at(place))),
        touched: [
            DiskAct.Touched(place: .tree(at("a")), before: .text(text), after: .absent),
            DiskAct.Touched(place: .tree(at(place)), before: .absent, after: .text(text)),
        ],
        store: .fresh(0), isKept: { isKept && $0 == at("a") })
}

/// Two files at once, or a quarter of all.
private func fuse() -> MassLossGuard {
    var settings = Settings()
    settings.deleteFuseFiles = 2
    settings.deleteFusePercent = 25
    return MassLossGuard(settings: settings)
}

/// Somebody at the first machine deletes the first of so many files; `inside` of them are in one directory with those.
private func burst(_ count: Int, of all: Int, inside: Int = 0, at time: Int64 = 0, _ court: inout Court) {
    let files = (0..<all).map { at($0 < inside ? "d/\($0)" : "\($0)") }
    court.ledger.massDeletion(of: Array(files.prefix(count)), among: files, on: 0, at: time)
}

/// The daemon of a machine deletes the first of the files that went.
private func delete(
    _ count: Int, on machine: Int, stillAt places: [Path] = [], _ checker: MassLossGuard, _ court: inout Court
) {
    for gone in court.ledger.bursts[0].paths.keys.prefix(count) {
        let touched = DiskAct.Touched(place: .tree(gone), before: .text("1"), after: .absent)
        checker.see(
            DiskAct(
                machine: machine, operation: .move(.tree(gone), to: version1), touched: [touched],
                store: .fresh(machine), places: { _ in places }), &court)
    }
}

/// The first machine writes into its log that these are gone.
private func telling(_ places: [String]) -> StoreAct {
    var log = SmallLog(0)
    for place in places { log.put(nil, at: place) }
    return StoreAct(
        machine: 0, batch: StoreBatch(log.records.map { .appendLog($0) }), store: .fresh(0), peerStore: .fresh(1))
}

/// The rules of the first machine let go of files that they had left out.
private func lettingGo(of places: [String]) -> StoreAct {
    var store = VirtualStore.fresh(0)
    let rows = places.map { Row.file("1", at: $0) }
    for var row in rows {
        row.condition = .ignored
        store.put(row)
    }
    return StoreAct(
        machine: 0, batch: StoreBatch(rows.map { .putRow($0) }), store: store, peerStore: .fresh(1))
}

/// Versions are promised for 100 ms, or for what has room in so many bytes.
private func history(bytes: UInt64 = 1_000) -> PromisedHistory {
    var settings = Settings()
    settings.keepVersionsMilliseconds = 100
    settings.keepVersionsBytes = bytes
    return PromisedHistory(settings: [settings, settings])
}

/// Two machines at rest; the first has a version of five bytes.
private func aside(recorded: Bool) -> Sight {
    let store = recorded ? keeping() : VirtualStore.fresh(0)
    return Sight(machines: [
        MachineSight(tree: [:], store: store, aside: [.text("early")]), MachineSight(tree: [:], store: .fresh(1)),
    ])
}

/// A store with one version, kept at time 0, of five bytes.
private func keeping() -> VirtualStore {
    var store = VirtualStore.fresh(0)
    store.perform(StoreBatch([.putVersion(version(.first))]))
    return store
}

private func version(_ id: VersionID) -> KeptVersion {
    let seen = Seen.file("early", at: "a")
    return KeptVersion(
        id: id, path: at("a"), entry: seen.entry, stat: seen.stat, author: .own, keptMilliseconds: 0,
        reason: .versionKept)
}

/// The first version goes on record, perhaps with another that has the same bytes and is on the disk.
private func recording(isUnsynced: Bool, isBesideAnother: Bool = false) -> StoreAct {
    let versions = [version(.first)] + (isBesideAnother ? [version(VersionID(raw: 9))] : [])
    return StoreAct(
        machine: 0, batch: StoreBatch(versions.map { .putVersion($0) }), store: .fresh(0), peerStore: .fresh(1),
        mayBeLost: { isUnsynced && $0.id == .first })
}

private func forgetting(at time: Int64, file: Value = .text("early")) -> StoreAct {
    StoreAct(
        machine: 0, batch: StoreBatch([.dropVersion(.first)]), store: keeping(), peerStore: .fresh(1),
        wallMilliseconds: time, value: { $0 == version1 ? file : .absent })
}
