import SyncCore
import SyncModel

/// A mistake that a daemon could have, made outside of it: between what it is told or asks for and what really happens.
///
/// Most bugs change single operations of the disk or of the store, some change what comes back. The counts that the node
/// is given stay true to what it asked for, so that a bug does what it says and nothing else.
final class PlantedBug: Saboteur {
    /// The parts of a bug; what is not given is left as it is.
    struct Ways {
        /// What is done on the disk instead of one operation.
        var operation: ((DiskOperation) -> [DiskOperation])?
        /// What is stored instead of one operation.
        var storing: ((StoreOperation) -> [StoreOperation])?
        /// What is done instead of one effect.
        var effect: ((Effect, Int, World) -> [Effect])?
        /// What is told instead of an event; nil for nothing.
        var event: ((Event, Int, World) -> Event?)?
    }

    private let ways: Ways
    /// By machine and job, for each program: which of the operations asked for the operation that is done comes from.
    private var sources: [SortedMap<JobID, [[Int]]>] = [[:], [:]]

    init(_ ways: Ways) {
        self.ways = ways
    }

    func told(_ event: Event, on machine: Int, in world: World) -> Event? {
        if case .started = event { sources[machine] = [:] }
        let event = ways.event.map { $0(event, machine, world) } ?? event
        guard case .diskFinished(let job, let results)? = event,
            let programs = sources[machine].removeValue(forKey: job)
        else { return event }
        return .diskFinished(job, zip(results, programs).map { PlantedBug.renumbered($0, $1) })
    }

    func asked(_ effects: [Effect], by machine: Int, in world: World) -> [Effect] {
        effects.map { bent($0, machine) }.flatMap { ways.effect?($0, machine, world) ?? [$0] }
    }

    private func bent(_ effect: Effect, _ machine: Int) -> Effect {
        if case .disk(let job, let programs) = effect, let operation = ways.operation {
            var bent: [DiskProgram] = []
            var numbers: [[Int]] = []
            for program in programs {
                let parts = program.operations.enumerated().map { number, asked in (number, operation(asked)) }
                bent.append(DiskProgram(parts.flatMap(\.1)))
                numbers.append(parts.flatMap { number, done in done.map { _ in number } })
            }
            sources[machine][job] = numbers
            return .disk(job, bent)
        }
        if case .store(let job, let batch) = effect, let storing = ways.storing {
            return .store(job, StoreBatch(batch.operations.flatMap(storing)))
        }
        return effect
    }

    private static func renumbered(_ result: DiskResult, _ sources: [Int]) -> DiskResult {
        guard let failure = result.failure, sources.indices.contains(failure.index) else { return result }
        return DiskResult(
            inspected: result.inspected,
            failure: DiskResult.Failure(index: sources[failure.index], error: failure.error))
    }
}
