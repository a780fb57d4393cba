import SyncModel
import Synchronization

/// Knows which input ended the process: what is parsed is named in a small file while it is, and whoever finds it named there at a
/// start knows that the last process did not get to its end. What that has happened to twice is parsed no more. There is room for one
/// in the file, so one is parsed at a time: of two at once nobody could say which of them it was.
///
/// What does not come to an end is ended with the process: `ProcessorAlarm`.
///
/// The file is written with one call before and one after, and never synced: it has to outlive the process, not the machine.
/// Its bytes: digest of the program's version, state of the slot (1: being parsed), digest in the slot, then suspects: deaths and digest.
final class ParsingWatch: Sendable {
    fileprivate struct Suspect {
        let digest: Digest
        var deaths: UInt8
    }

    private let memory: Mutex<Memory>
    private let digest: SHA256.Function

    /// Of processor time; the longest text that is parsed takes a thirtieth of it.
    private static let secondsMax = 10

    /// Nil if the file cannot be used: then nothing is remembered.
    init?(
        file path: [UInt8], version: String = Program.version, digest: @escaping SHA256.Function = Program.digest(of:)
    ) {
        guard let file = MarkFile(path) else { return nil }
        self.digest = digest
        memory = Mutex(Memory(file, stamp: digest(Array(version.utf8)).bytes))
    }

    /// Nil for what two processes have died of. Whoever else wants to parse waits, so this is not for the loop.
    func parse<Found>(_ bytes: [UInt8], _ body: () -> Found) -> Found? {
        let digest = digest(bytes)
        return memory.withLock { memory in
            guard memory.open(digest) else { return nil }
            // (It counts the time of one thread, and threads come and go.)
            let alarm = ProcessorAlarm()
            alarm?.start(seconds: ParsingWatch.secondsMax)
            defer {
                alarm?.stop()
                memory.close(digest)
            }
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
            return body()
        }
    }
}

/// What is in the file, and what to do with it.
private struct Memory: Sendable {
    private let file: MarkFile
    private var suspects: [ParsingWatch.Suspect] = []

    private static let deathsMax: UInt8 = 2
    private static let suspectsMax = 64
    private static let slot = 32

    /// What another program could not read this one may be able to.
    init(_ file: MarkFile, stamp: [UInt8]) {
        self.file = file
        let bytes = file.read(limit: 1 << 16)
        if bytes.starts(with: stamp) { recall(Array(bytes.dropFirst(stamp.count))) }
        file.write(stamp, at: 0)
        write()
    }

    private mutating func recall(_ bytes: [UInt8]) {
        var rest = bytes[...]
        func next() -> (UInt8, Digest)? {
            guard rest.count >= 33, let first = rest.first,
                let digest = Digest(bytes: Array(rest.dropFirst().prefix(32)))
            else { return nil }
            rest = rest.dropFirst(33)
            return (first, digest)
        }
        guard let (isOpen, digest) = next() else { return }
        while let (deaths, digest) = next() {
            suspects.append(ParsingWatch.Suspect(digest: digest, deaths: deaths))
        }
        guard isOpen == 1 else { return }
        if let index = suspects.firstIndex(where: { $0.digest == digest }) {
            suspects[index].deaths = min(suspects[index].deaths + 1, Memory.deathsMax)
        } else {
            if suspects.count >= Memory.suspectsMax { suspects.removeFirst() }
            suspects.append(ParsingWatch.Suspect(digest: digest, deaths: 1))
        }
    }

    private func write() {
        let list = suspects.flatMap { [$0.deaths] + $0.digest.bytes }
        let slot = [UInt8](repeating: 0, count: 33)
        file.write(slot + list, at: Memory.slot)
        file.cut(at: Memory.slot + slot.count + list.count)
    }

    /// False for what is not to be parsed.
    func open(_ digest: Digest) -> Bool {
        let suspect = suspects.first { $0.digest == digest }
        if let suspect, suspect.deaths >= Memory.deathsMax { return false }
        file.write([1] + digest.bytes, at: Memory.slot)
        return true
    }

    mutating func close(_ digest: Digest) {
        file.write([0], at: Memory.slot)
        guard suspects.contains(where: { $0.digest == digest }) else { return }
        // The process ended for another reason that time.
        suspects.removeAll { $0.digest == digest }
        write()
    }
}
