package import SyncCore
package import SyncModel

/// A property from `docs/testing.md` that must hold. One file each, named after it; `Watch` feeds them all.
///
/// An invariant sees plain values only (`DiskAct`, `StoreAct`, `StepAct`, `Sight` …), never the world itself, so that a test
/// can show it a small bad world made by hand: an invariant that cannot fail is none. Most need one or two of these calls. What comes to pass
/// most often only those are shown that judge it: `DiskInvariant`, `StoreInvariant`, `StepInvariant`.
package protocol Invariant: AnyObject {
    /// "INV-01", "R-07".
    static var id: String { get }
    /// What it says, in one sentence.
    static var sentence: String { get }

    /// Something a person did that the invariant must forgive or expect.
    func see(_ act: OperatorAct, _ court: inout Court)
    /// A power cut, after the fact.
    func see(_ cut: PowerCut, _ court: inout Court)
    /// A process has begun or ended.
    func see(_ turn: ProcessTurn, _ court: inout Court)
    /// Nothing moves, both nodes say they agree.
    func see(_ sight: Sight, _ court: inout Court)
}

extension Invariant {
    package func see(_ act: OperatorAct, _ court: inout Court) {}
    package func see(_ cut: PowerCut, _ court: inout Court) {}
    package func see(_ turn: ProcessTurn, _ court: inout Court) {}
    package func see(_ sight: Sight, _ court: inout Court) {}
}

package protocol DiskInvariant: Invariant {
    /// An operation of a daemon on its disk, after it was done or refused.
    func see(_ act: DiskAct, _ court: inout Court)
}

package protocol StoreInvariant: Invariant {
    /// A batch that becomes durable, with the store as it was before it.
    func see(_ act: StoreAct, _ court: inout Court)
}

package protocol StepInvariant: Invariant {
    /// An event a node was told and what it asked for.
    func see(_ act: StepAct, _ court: inout Court)
}

/// Where findings are brought, and what is known of the world as a whole.
package struct Court {
    package struct Finding: Hashable, Sendable {
        package let id: String
        package let machine: Int?
        package let text: String
    }

    package private(set) var findings: [Finding] = []
    package var ledger: Ledger
    /// True time in milliseconds.
    package var now: Int64 = 0

    package init(ledger: Ledger = Ledger()) {
        self.ledger = ledger
    }

    package mutating func find(_ invariant: any Invariant, on machine: Int? = nil, _ text: String) {
        findings.append(Finding(id: type(of: invariant).id, machine: machine, text: text))
    }

    package mutating func takeFindings() -> [Finding] {
        defer { findings = [] }
        return findings
    }
}

/// What stands at a path of a folder.
package struct Seen: Hashable, Sendable {
    package let value: Value
    package let entry: Entry
    package let identity: FileIdentity

    package init(value: Value, entry: Entry, identity: FileIdentity) {
        self.value = value
        self.entry = entry
        self.identity = identity
    }
}

/// One operation of a daemon, with the places it names as they were before and after. (This and its like are handed from invariant to
/// invariant: by reference, because a copy of all that they tell costs more than most judgements.)
package final class DiskAct {
    package let machine: Int
    package let operation: DiskOperation
    package let error: DiskError?
    package let touched: [Touched]
    /// The store at that moment: what is durable of intents and rows.
    package let store: VirtualStore
    /// Faults are on: errors of the disk may be the disk's own.
    package let mayFail: Bool
    /// A person did something at or around the places since the daemon last looked.
    package let isDisturbed: Bool
    /// True if the folder holds the value at the path or at a conflict copy of it. Asked only on suspicion.
    package let holds: (Value, Path) -> Bool
    /// Where the folder holds the value. Asked only on suspicion.
    package let places: (Value) -> [Path]
    /// The same of the other machine's folder as `holds`.
    package let otherHolds: (Value, Path) -> Bool
    /// What stands at the path there.
    package let other: (Path) -> Value
    /// True if in either folder there is something below the path that nobody syncs (special, or left out by the rules): it keeps its
    /// directory.
    package let isKept: (Path) -> Bool

    package struct Touched: Hashable, Sendable {
        package let place: Place
        package let before: Value
        package let after: Value
        /// The file that stood there before.
        package let identity: FileIdentity?

        package init(place: Place, before: Value, after: Value, identity: FileIdentity? = nil) {
            self.place = place
            self.before = before
            self.after = after
            self.identity = identity
        }
    }

    package init(
        machine: Int, operation: DiskOperation, error: DiskError? = nil, touched: [Touched] = [], store: VirtualStore,
        mayFail: Bool = false, isDisturbed: Bool = false, holds: @escaping (Value, Path) -> Bool = { _, _ in false },
        places: @escaping (Value) -> [Path] = { _ in [] },
        otherHolds: @escaping (Value, Path) -> Bool = { _, _ in false },
        other: @escaping (Path) -> Value = { _ in .absent },
        isKept: @escaping (Path) -> Bool = { _ in false }
    ) {
        self.machine = machine
        self.isKept = isKept
        self.holds = holds
        self.places = places
        self.otherHolds = otherHolds
        self.other = other
        self.operation = operation
        self.error = error
        self.touched = touched
        self.store = store
        self.mayFail = mayFail
        self.isDisturbed = isDisturbed
    }

    /// Changes of the tree by this operation.
    package var treeChanges: [(path: Path, before: Value, after: Value)] {
        touched.compactMap { touch in
            guard case .tree(let path) = touch.place, touch.before != touch.after else { return nil }
            return (path, touch.before, touch.after)
        }
    }
}

package final class StoreAct {
    package let machine: Int
    package let batch: StoreBatch
    /// As it was; the batch is durable next.
    package let store: VirtualStore
    /// What is durable on the other machine now.
    package let peerStore: VirtualStore
    package let settings: Settings
    package let wallMilliseconds: Int64
    /// The stat of a path now, and everything about it: asked only where a row is about to say something of it.
    package let look: (Path) -> Stat?
    package let read: (Path) -> Seen?
    /// What a place holds now.
    package let value: (Place) -> Value
    /// True if a power cut could take the version, or what is in it, though nobody has written to it since it was set aside.
    package let mayBeLost: (KeptVersion) -> Bool

    package init(
        machine: Int, batch: StoreBatch, store: VirtualStore, peerStore: VirtualStore, settings: Settings = Settings(),
        wallMilliseconds: Int64 = 0, look: @escaping (Path) -> Stat? = { _ in nil },
        read: @escaping (Path) -> Seen? = { _ in nil }, value: @escaping (Place) -> Value = { _ in .absent },
        mayBeLost: @escaping (KeptVersion) -> Bool = { _ in false }
    ) {
        self.value = value
        self.mayBeLost = mayBeLost
        self.look = look
        self.read = read
        self.machine = machine
        self.batch = batch
        self.store = store
        self.peerStore = peerStore
        self.settings = settings
        self.wallMilliseconds = wallMilliseconds
    }
}

package final class StepAct: Sendable {
    package let machine: Int
    package let event: Event
    package let effects: [Effect]
    package let limits: Limits
    /// What the node holds in memory; nil when it does not run any more.
    package let footprint: Footprint?

    package init(
        machine: Int, event: Event, effects: [Effect], limits: Limits = Limits(), footprint: Footprint? = nil
    ) {
        self.machine = machine
        self.event = event
        self.effects = effects
        self.limits = limits
        self.footprint = footprint
    }
}

/// What the operator did to a machine.
package struct OperatorAct: Sendable {
    package enum Kind: Hashable, Sendable {
        case restoredImage
        case restoredTree
        case restoredState
        case wipedState
        case approvedDeletes
        case rejectedDeletes
        /// Emptied, replaced, unmounted, unmarked.
        case damagedRoot
    }

    package let machine: Int
    package let kind: Kind
    /// The store after it.
    package let store: VirtualStore

    package init(machine: Int, kind: Kind, store: VirtualStore) {
        self.machine = machine
        self.kind = kind
        self.store = store
    }
}

package struct PowerCut: Sendable {
    package let machine: Int
    package let was: SortedMap<Path, Value>
    package let now: SortedMap<Path, Value>
    /// What was on stable storage for certain before the cut.
    package let safe: SortedMap<Path, Value>
    /// The files that stand there now.
    package let files: SortedMap<Path, FileIdentity>

    package init(
        machine: Int, was: SortedMap<Path, Value>, now: SortedMap<Path, Value>, safe: SortedMap<Path, Value>,
        files: SortedMap<Path, FileIdentity> = [:]
    ) {
        self.machine = machine
        self.was = was
        self.now = now
        self.safe = safe
        self.files = files
    }
}

package struct ProcessTurn: Sendable {
    package let machine: Int
    package let isRunning: Bool
    package let store: VirtualStore

    package init(machine: Int, isRunning: Bool, store: VirtualStore) {
        self.machine = machine
        self.isRunning = isRunning
        self.store = store
    }
}

/// Both machines at rest.
package struct Sight: Sendable {
    package var machines: [MachineSight]
    /// Which look of a run this is, from 1. Between the first and the second only the link was cut.
    package var look: Int
    /// Paths with a fault that was left on purpose: everything else must be in order.
    package var stuck: [Path]

    package init(machines: [MachineSight], look: Int = 1, stuck: [Path] = []) {
        self.machines = machines
        self.look = look
        self.stuck = stuck
    }

    package func isStuck(_ path: Path) -> Bool {
        stuck.contains { path == $0 || path.isBelow($0) }
    }

    /// The other node never learns of the rules by which it is left out: this one is not told what is done there.
    package func isKept(_ path: Path, from index: Int) -> Bool { machines[1 - index].keepsToItself(path) }
}

package struct MachineSight: Sendable {
    /// The folder without `.syncd`, special files and ignored paths.
    package var tree: SortedMap<Path, Seen>
    /// Everything else below the root: what the rules ignore, special files, and the directories that hold only these.
    package var unsynced: SortedMap<Path, Value>
    /// Versions and quarantine.
    package var aside: [Value]
    /// The versions of each path.
    package var histories: SortedMap<Path, [Value]>
    /// What the next start will put there, because the disk failed twice.
    package var asideNext: [Value]
    package var store: VirtualStore
    package var alerts: SortedMap<AlertKey, Alert>
    package var status: Status?
    package var counters: Machine.Counters
    /// What `.syncignore` says of a path.
    package var ignores: @Sendable (Path) -> Bool
    /// The rules that leave it out leave out their own file as well: they are told to nobody.
    package var keepsToItself: @Sendable (Path) -> Bool
    /// What stands where it is left out by such rules, and is not on record so: it has come since they count, and was told to nobody.
    package var untold: SortedMap<Path, Value>

    package init(
        tree: SortedMap<Path, Seen>, store: VirtualStore, unsynced: SortedMap<Path, Value> = [:], aside: [Value] = [],
        histories: SortedMap<Path, [Value]> = [:], asideNext: [Value] = [], alerts: SortedMap<AlertKey, Alert> = [:],
        status: Status? = nil,
        counters: Machine.Counters = .init(),
        ignores: @escaping @Sendable (Path) -> Bool = { _ in false },
        keepsToItself: @escaping @Sendable (Path) -> Bool = { _ in false }, untold: SortedMap<Path, Value> = [:]
    ) {
        self.ignores = ignores
        self.keepsToItself = keepsToItself
        self.untold = untold
        self.tree = tree
        self.store = store
        self.unsynced = unsynced
        self.aside = aside
        self.histories = histories
        self.asideNext = asideNext
        self.alerts = alerts
        self.status = status
        self.counters = counters
    }

    package func value(at path: Path) -> Value { tree[path]?.value ?? .absent }

    /// It has gone to the top of the folder, because it could not stay where it was written.
    package func hasRescued(_ value: Value, of path: Path, _ ledger: Ledger) -> Bool {
        tree.contains { place, seen in
            seen.value == value && place.depth == 1 && ledger.rescued(value, to: place).contains(path)
        }
    }

    /// Conflict copies of a path, of all generations.
    package func copies(of path: Path) -> [(path: Path, value: Value)] {
        guard let parent = path.parent else { return [] }
        var found: [(Path, Value)] = []
        for (other, seen) in tree.range(from: parent) {
            if other != parent && !other.isBelow(parent) { break }
            if ConflictFamily.isCopy(other, of: path) { found.append((other, seen.value)) }
        }
        return found
    }

    /// True if a conflict copy of the path that the rules leave out holds the value: it stays where it was made.
    package func leavesOutCopy(of path: Path, holding value: Value) -> Bool {
        unsynced.contains { $0.value == value && ConflictFamily.isCopy($0.key, of: path) }
    }
}
