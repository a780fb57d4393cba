import SyncCore
import SyncModel

/// Knows which input ended the process: what is parsed is named in a small file while it is, and whoever finds it named there at a
/// start knows that the last process did not get to its end. What that has happened to twice is parsed no more.
///
/// What does not come to an end is ended with the process: `ProcessorAlarm`.
///
/// The file is written with one call before and one after, and never synced: it has to outlive the process, not the machine.
/// Its bytes: digest of the program's version, state of the slot (1: being parsed), digest in the slot, then suspects: deaths and digest.
final class ParsingWatch {
    private struct Suspect {
        let digest: Digest
        var deaths: UInt8
    }

    private let file: MarkFile
    private let digest: SHA256.Function
    private var suspects: [Suspect] = []
    /// Reads whose bytes go to a parser.
    private var expected: [JobID: Bool] = [:]  // lookup only
    private var current: Digest?
    private let alarm: ProcessorAlarm?

    /// Of processor time; the longest text that is parsed takes a thirtieth of it.
    private static let secondsMax = 10
    private static let deathsMax: UInt8 = 2
    private static let suspectsMax = 64
    private static let slot = 32

    /// Nil if the file cannot be used: then nothing is remembered.
    init?(
        file path: [UInt8], version: String = Program.version, alarm: ProcessorAlarm? = ProcessorAlarm(),
        digest: @escaping SHA256.Function = Program.digest(of:)
    ) {
        self.alarm = alarm
        guard let file = MarkFile(path) else { return nil }
        self.file = file
        self.digest = digest
        let stamp = digest(Array(version.utf8)).bytes
        let bytes = file.read(limit: 1 << 16)
        // Another program may read what the last one could not.
        if bytes.starts(with: stamp) { recall(Array(bytes.dropFirst(stamp.count))) }
        write(stamp: stamp)
    }

    private func recall(_ bytes: [UInt8]) {
        var rest = bytes[...]
        func next() -> (UInt8, Digest)? {
            guard rest.count >= 33, let first = rest.first,
                let digest = Digest(bytes: Array(rest.dropFirst().prefix(32)))
            else { return nil }
            rest = rest.dropFirst(33)
            return (first, digest)
        }
        guard let (isOpen, digest) = next() else { return }
        while let (deaths, digest) = next() { suspects.append(Suspect(digest: digest, deaths: deaths)) }
        guard isOpen == 1 else { return }
        if let index = suspects.firstIndex(where: { $0.digest == digest }) {
            suspects[index].deaths = min(suspects[index].deaths + 1, ParsingWatch.deathsMax)
        } else {
            if suspects.count >= ParsingWatch.suspectsMax { suspects.removeFirst() }
            suspects.append(Suspect(digest: digest, deaths: 1))
        }
    }

    private func write(stamp: [UInt8]? = nil) {
        let list = suspects.flatMap { [$0.deaths] + $0.digest.bytes }
        let slot = [UInt8](repeating: 0, count: 33)
        if let stamp { file.write(stamp, at: 0) }
        file.write(slot + list, at: ParsingWatch.slot)
        file.cut(at: ParsingWatch.slot + slot.count + list.count)
    }

    func expect(_ job: JobID, _ requests: [ReadRequest]) {
        if requests.contains(where: \.isParsed) { expected[job] = true }
    }

    /// Whatever was asked of a node that is gone.
    func forget() { expected = [:] }

    /// To be called before the core sees an event; the core is shown what is returned.
    func begin(_ event: Event) -> Event {
        guard case .readFinished(let job, let outcomes) = event, expected.removeValue(forKey: job) != nil,
            case .bytes(let bytes)? = outcomes.first
        else { return event }
        return open(bytes) ? event : .readFinished(job, [.poisoned])
    }

    /// What else than the core parses, such as `doc check`. Nil for what two processes have died of.
    func parse<Found>(_ bytes: [UInt8], _ body: () -> Found) -> Found? {
        guard open(bytes) else { return nil }
        defer { end() }
        return body()
    }

    private func open(_ bytes: [UInt8]) -> Bool {
        let digest = digest(bytes)
        if let suspect = suspects.first(where: { $0.digest == digest }), suspect.deaths >= ParsingWatch.deathsMax {
            return false
        }
        current = digest
        file.write([1] + digest.bytes, at: ParsingWatch.slot)
        alarm?.start(seconds: ParsingWatch.secondsMax)
        #if DEBUG
            // For tests, which know of no input that really does it.
            if let text = System.environment("SYNCD_TEST_DIES_OF"), bytes.firstRange(of: Array(text.utf8)) != nil {
                System.die()
            }
            if let text = System.environment("SYNCD_TEST_HANGS_OF"), bytes.firstRange(of: Array(text.utf8)) != nil {
                alarm?.start(seconds: 1)
                System.hang()
            }
        #endif
        return true
    }

    /// And after it.
    func end() {
        guard let done = current else { return }
        current = nil
        alarm?.stop()
        file.write([0], at: ParsingWatch.slot)
        guard suspects.contains(where: { $0.digest == done }) else { return }
        // The process ended for another reason that time.
        suspects.removeAll { $0.digest == done }
        write()
    }
}
