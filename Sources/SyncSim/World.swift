package import RecordMerge
package import SyncCore
package import SyncModel

/// Two machines, the wire between them, their users, and one seed that decides everything.
///
/// One priority queue of happenings drives it all: `step` takes the first and nothing else moves meanwhile. The nodes are
/// the real ones; disks, stores, clocks and the wire are simulated. Where to go next: `World+Run` (phases), `World+Effects`
/// (what a node asked for), `World+Life` (starts, kills, power cuts), `World+Link` (the wire), `World+Faults` (what goes wrong).
///
/// Who acts on the world is an `Agent`, who watches it is a `Checker`; both are handed the world and may read everything.
package final class World {
    package enum Phase: UInt8, Sendable {
        /// Users act, faults strike; what must never happen may not happen here either.
        case safety
        /// Users have stopped and every fault is mended: the nodes must agree soon.
        case healing
        /// Nothing moves any more.
        case quiet
    }

    package let seed: UInt64
    package internal(set) var plan: SeedPlan
    /// What the applications of both machines say of their files.
    package internal(set) var models: [InstalledModel] = []
    /// Of a machine that has others than those.
    package internal(set) var ownModels: [[InstalledModel]?] = [nil, nil]
    /// A machine whose model file has a fault has no model.
    package internal(set) var heldFiles = [HeldFiles(), HeldFiles()]
    /// What the shell has the hello say.
    package internal(set) var features: [[UInt8]] = []
    /// Which formats the programs of each machine understand.
    package internal(set) var formats = [FormatRules(), FormatRules()]
    package let budget: Budget
    package internal(set) var phase = Phase.safety
    /// True time in milliseconds since the world began.
    package internal(set) var now: Int64 = 0
    /// Happenings so far.
    package internal(set) var steps = 0
    /// How often the world has become quiet.
    package internal(set) var quietLooks = 0

    /// Two, "alpha" and "beta".
    package let machines: [Machine]
    package var network: VirtualNetwork
    package var queue = HappeningQueue()
    package var random: RandomStreams
    package var trace: Trace
    package var ledger: Ledger
    package var rare = RareStates()
    /// What people did with records, in a world that is about these.
    var life: RecordLife?
    /// The same of guarded files.
    var formatLife: FormatLife?
    /// Changes what a node is told or asks for: this is how bugs are planted.
    package var saboteur: (any Saboteur)?
    /// Holds an end of the wire instead of a node, when `network.ghost` says so.
    package var enemy: (any Enemy)?

    package internal(set) var agents: [any Agent] = []
    package internal(set) var checkers: [any Checker] = []
    package internal(set) var violations: [Violation] = []
    /// Faults that are going on right now, so that healing can end them.
    var strains: [Strain] = []
    var strainsBegun = 0
    /// Agents that still hold up the end of the safety phase.
    var busyAgents = 0
    var step: StepRecord
    var healing = Healing()

    package init(plan: SeedPlan, budget: Budget = Budget(), keepsTrace: Bool = false) {
        seed = plan.seed
        self.plan = plan
        self.budget = budget
        random = RandomStreams(seed: plan.seed)
        trace = Trace(isKept: keepsTrace)
        ledger = Ledger()
        network = VirtualNetwork(
            delayMillisecondsMax: plan.linkDelayMillisecondsMax, bytesPerSecond: plan.linkBytesPerSecond)
        machines = [Machine(0, of: plan), Machine(1, of: plan)]
        step = StepRecord(happening: .inspection, tells: [])
    }

    /// Nothing found so far is wrong; a found violation ends the run.
    package var isClean: Bool { violations.isEmpty }

    /// The text of a model file, for both machines.
    func install(_ text: String) {
        let bytes = Array(text.utf8)
        do {
            let model = try Model(parsing: bytes, file: "the model")
            models.append(InstalledModel(model, digest: SHA256.digest(of: bytes)))
        } catch {
            preconditionFailure("a model of the simulator has a fault: \(error)")
        }
    }

    /// The text of format rules, for the programs of one machine.
    func installFormats(_ text: String, on machine: Int) {
        do {
            formats[machine] = try FormatRules(parsing: Array(text.utf8), file: "the formats")
        } catch {
            preconditionFailure("the format rules of the simulator have a fault: \(error)")
        }
    }

    package func add(_ agent: any Agent) { agents.append(agent) }

    package func add(_ checker: any Checker) { checkers.append(checker) }

    /// An invariant does not hold. The run ends after this step.
    package func violate(_ invariant: String, _ detail: String) {
        violations.append(Violation(invariant: invariant, detail: detail, step: steps, time: now))
        trace.tell("\(now) VIOLATION \(invariant) \(detail)")
    }

    /// What was found has been told; the world may go on.
    func forgive() { violations = [] }

    package func schedule(_ happening: Happening, after milliseconds: Int) {
        schedule(happening, at: now + Int64(milliseconds))
    }

    package func schedule(_ happening: Happening, at time: Int64) {
        queue.insert(happening, at: max(now, time), tie: UInt32(truncatingIfNeeded: random.ties.next()))
    }

    /// The wall clock of a machine, as its programs read it.
    package func wall(of machine: Int) -> Int64 { machines[machine].clock.wall(at: now) }

    package func moment(of machine: Int) -> Moment { machines[machine].clock.moment(at: now) }
}

/// Someone who acts: a user, the operator, an enemy.
package protocol Agent: AnyObject {
    /// For the trace: "user alpha", "operator".
    var name: String { get }
    /// The safety phase lasts until every agent that says so has nothing more to do.
    var holdsSafetyPhase: Bool { get }
    /// Names of rare states this agent may hit, so that the report can name those never hit.
    var rareStates: [String] { get }
    /// Before anything runs: the trees that the folders begin with.
    func prepare(_ world: World)
    /// One micro-step (create, or write, or close). The milliseconds until the next, nil when there is nothing more to do.
    /// Called in the safety phase only.
    func act(in world: World) -> Int?
    /// The faults are over: close what is open and leave things as a person would.
    func rest(_ world: World)
    /// After the faults: a person reads what the machine waits for.
    func attend(_ status: Status, on machine: Int, in world: World)
    /// It is this one's business what stands there: nobody else takes it away.
    func keeps(_ path: Path, on machine: Int) -> Bool
}

extension Agent {
    package func attend(_ status: Status, on machine: Int, in world: World) {}
    package func keeps(_ path: Path, on machine: Int) -> Bool { false }
}

/// Someone who watches. Says `world.violate("INV-…", …)` when something is wrong.
package protocol Checker: AnyObject {
    var rareStates: [String] { get }
    /// The world is set up and nothing runs yet.
    func begin(_ world: World)
    /// The daemon of a machine is about to perform this on its disk.
    func willPerform(_ operation: DiskOperation, on machine: Int, in world: World)
    /// After it, with what came of it; nil error for success.
    func didPerform(_ operation: DiskOperation, error: DiskError?, on machine: Int, in world: World)
    /// The store is about to perform this batch; afterwards it is durable.
    func willStore(_ batch: StoreBatch, on machine: Int, in world: World)
    /// A power cut, a restored image or wiped state is about to take something away: the last look at what was.
    func willHappen(_ occurrence: Occurrence, to machine: Int, in world: World)
    /// A process began or ended, a machine lost power, an image was saved or put back.
    func didHappen(_ occurrence: Occurrence, to machine: Int, in world: World)
    /// After every happening; cheap.
    func afterStep(_ step: StepRecord, in world: World)
    /// After every so many happenings and after every crash; may look at whole trees.
    func atPause(_ world: World)
    /// Both nodes say that they are in sync and nothing has moved for a while.
    func atQuiescence(_ world: World)
}

/// Plants a bug between the node and the world. Both answers are what really happens.
package protocol Saboteur: AnyObject {
    /// What the node is told instead; nil keeps it from the node.
    func told(_ event: Event, on machine: Int, in world: World) -> Event?
    /// What is done instead of what the node asked for.
    func asked(_ effects: [Effect], by machine: Int, in world: World) -> [Effect]
}

/// Speaks the protocol by hand at an end of the wire that has no node. Sends with `World.sendAsGhost`.
package protocol Enemy: AnyObject {
    func connected(_ world: World)
    func received(_ frame: [UInt8], in world: World)
    func disconnected(_ world: World)
}

/// What became of a machine or its process.
package enum Occurrence: Sendable, Equatable {
    case started
    case finished(FinishReason)
    case killed
    case powerCut
    case powerOn
    case imageSaved
    case imageRestored
    case stateWiped
}

/// What the last happening was, for checkers.
package struct StepRecord {
    package let happening: Happening
    /// What nodes were told meanwhile, and what they asked for.
    package var tells: [Tell]

    package struct Tell {
        package let machine: Int
        package let event: Event
        package let effects: [Effect]
    }
}
