package import SyncModel

/// The wire between the two machines: one connection at a time, in each direction an ordered stream of frames that arrives
/// whole or not at all. A stream may be cut at any byte; a frame that was cut is one that never arrives.
///
/// A value without a queue of its own: what is to happen later is left in `outbox` for the world to schedule.
/// A *life* is one connection. An *end* is what the process on a machine believes: it may hold on to a dead connection for
/// long, and only learns what its kernel tells it.
package struct VirtualNetwork {
    package struct Delayed: Sendable {
        package let time: Int64
        package let happening: LinkHappening
    }

    /// Frames may be changed, multiplied or swallowed on their way out of a machine (the evil profile).
    package typealias Interceptor = ([UInt8]) -> [[UInt8]]

    package var delayMillisecondsMax: Int
    package var bytesPerSecond: Int
    package var outbox: [Delayed] = []
    package var interceptors: [Interceptor?] = [nil, nil]
    /// A machine whose end of the wire is held by an enemy; it needs no process.
    package var ghost: Int?
    package private(set) var lives: UInt64 = 0
    /// Frames and bytes that arrived, by receiver.
    package private(set) var framesDelivered = [0, 0]
    package private(set) var bytesDelivered = [0, 0]
    private var ends = [End(), End()]
    /// By sender.
    private var streams = [Stream(), Stream()]
    private var isAttemptPending = false

    private struct End: Sendable {
        /// The connection this process believes to have.
        var life: UInt64?
        /// The connection its kernel has made and not yet told of.
        var promised: UInt64?
        /// The connection of which the kernel knows that it is over; the news is on its way.
        var ending: UInt64?
    }

    private struct Stream: Sendable {
        /// The connection whose frames still arrive.
        var life: UInt64?
        /// Nothing gets through until this is 0: partitions and freezes may overlap.
        var blocks = 0
        var blockedSince: Int64 = 0
        var frames: Deque<[UInt8]> = []
        /// Frames at the front whose time has come but who could not get through.
        var stalled = 0
        /// Bytes given to the kernel and not yet reported as gone.
        var unreported: [Int] = []
        var lineFree: Int64 = 0
        var lastArrival: Int64 = 0
        /// The sender has closed: what is in flight arrives, then the end.
        var endsAfterFrames = false

        /// The wire as it is, without a connection on it.
        var emptied: Stream { Stream(blocks: blocks, blockedSince: blockedSince) }
    }

    package init(delayMillisecondsMax: Int, bytesPerSecond: Int) {
        self.delayMillisecondsMax = delayMillisecondsMax
        self.bytesPerSecond = max(1, bytesPerSecond)
    }

    /// The connection a process believes to have.
    package func life(at machine: Int) -> UInt64? { ends[machine].life }

    /// Both processes have the same living connection and nothing holds its frames up.
    package var isWhole: Bool {
        guard let life = ends[0].life else { return false }
        return ends[1].life == life && streams.allSatisfy { $0.life == life && $0.blocks == 0 && !$0.endsAfterFrames }
    }

    package var isBlocked: Bool { streams.contains { $0.blocks > 0 } }

    package func isBlocked(from machine: Int) -> Bool { streams[machine].blocks > 0 }

    /// Frames on their way, in both directions.
    package var framesInFlight: Int { streams[0].frames.count + streams[1].frames.count }
}

// MARK: Connections

extension VirtualNetwork {
    /// Somebody should try to connect, after a pause. Harmless when it is already planned or makes no sense.
    package mutating func wantConnection(at now: Int64, _ random: inout SeededRandom) {
        guard !isAttemptPending else { return }
        isAttemptPending = true
        outbox.append(Delayed(time: now + Int64(random.range(20...900)), happening: .attempt))
    }

    /// A connection is tried. It comes about when both processes run and the wire carries in both directions.
    package mutating func attempt(areBothRunning: Bool, at now: Int64, _ random: inout SeededRandom) {
        isAttemptPending = false
        guard areBothRunning, !isBlocked, !isWhole, ends[0].promised == nil, ends[1].promised == nil else { return }
        lives += 1
        for machine in 0..<2 {
            // A process that still holds on to a dead connection learns that it is over before it hears of the new one.
            streams[machine] = Stream(life: lives)
            ends[machine].promised = lives
            outbox.append(
                Delayed(
                    time: now + Int64(random.range(0...delayMillisecondsMax)),
                    happening: .up(machine: machine, life: lives)))
        }
    }

    /// The process is told of its new connection. Answers the old one it must be told is over, and whether the new one still is.
    package mutating func comeUp(_ machine: Int, life: UInt64, at now: Int64) -> (over: UInt64?, isNew: Bool) {
        guard ends[machine].promised == life else { return (nil, false) }
        let over = ends[machine].life
        ends[machine] = End(life: life)
        release(from: 1 - machine, at: now)
        return (over, true)
    }

    /// The process is told that its connection is over; nil if it knows.
    package mutating func comeDown(_ machine: Int, life: UInt64) -> UInt64? {
        if ends[machine].promised == life { ends[machine].promised = nil }
        guard ends[machine].life == life else { return nil }
        ends[machine].life = nil
        return life
    }

    /// The process closes its connection. What it sent before still arrives; what is on its way to it does not.
    package mutating func close(_ machine: Int, life: UInt64, at now: Int64, _ random: inout SeededRandom) {
        guard ends[machine].life == life else { return }
        ends[machine].life = nil
        leave(machine, life: life, isAbrupt: false, at: now, &random)
    }

    /// The process is gone and its kernel closes for it. Whether the last frames still arrive is a matter of luck.
    package mutating func processDied(_ machine: Int, at now: Int64, _ random: inout SeededRandom) {
        let life = ends[machine].promised ?? ends[machine].life
        ends[machine] = End()
        guard let life else { return }
        leave(machine, life: life, isAbrupt: random.chance(percent: 50), at: now, &random)
    }

    /// The machine is gone and says nothing: the other end finds out by its own timers, or when a new connection comes.
    package mutating func powerWasCut(_ machine: Int, at now: Int64) {
        ends[machine] = End()
        streams = streams.map { $0.emptied }
        listenForSilence(to: machine, at: now)
    }

    /// The transport of the other end asks for a sign of life all the time; it gives up when none comes for so long.
    private mutating func listenForSilence(to machine: Int, at now: Int64) {
        guard let life = ends[1 - machine].promised ?? ends[1 - machine].life else { return }
        outbox.append(
            Delayed(
                time: now + VirtualNetwork.deadPeerMilliseconds, happening: .silence(machine: 1 - machine, life: life)))
    }

    /// The connection of a machine has been silent for long if nothing has got through since: then it is over.
    package mutating func judgeSilence(_ machine: Int, life: UInt64, at now: Int64, _ random: inout SeededRandom) {
        let stream = streams[1 - machine]
        let isSilent =
            stream.life != life
            || stream.blocks > 0 && now - stream.blockedSince >= VirtualNetwork.deadPeerMilliseconds
        guard isSilent, ends[machine].life == life else { return }
        tellDown(machine, at: now)
        leave(machine, life: life, isAbrupt: true, at: now, &random)
    }

    /// What the daemon's transport waits for a sign of life (`Limits.deadPeerMilliseconds`).
    private static let deadPeerMilliseconds = Int64(Limits().deadPeerMilliseconds)

    /// The connection breaks: what is in flight is lost, and both ends are told, soon, in any order.
    package mutating func cut(at now: Int64, _ random: inout SeededRandom) {
        for machine in 0..<2 {
            streams[machine] = streams[machine].emptied
            tellDown(machine, at: now + Int64(random.range(0...50)))
        }
    }

    private mutating func leave(
        _ machine: Int, life: UInt64, isAbrupt: Bool, at now: Int64, _ random: inout SeededRandom
    ) {
        guard streams[machine].life == life else { return }
        streams[1 - machine] = streams[1 - machine].emptied
        if isAbrupt { streams[machine].frames.removeAll() }
        streams[machine].unreported = []
        streams[machine].endsAfterFrames = true
        endIfDrained(machine, at: now + Int64(random.range(0...delayMillisecondsMax)))
    }

    private mutating func endIfDrained(_ sender: Int, at time: Int64) {
        guard streams[sender].endsAfterFrames, streams[sender].frames.isEmpty, streams[sender].blocks == 0 else {
            return
        }
        streams[sender] = Stream()
        tellDown(1 - sender, at: time)
    }

    private mutating func tellDown(_ machine: Int, at time: Int64) {
        guard let life = ends[machine].promised ?? ends[machine].life, ends[machine].ending != life else { return }
        ends[machine].ending = life
        outbox.append(Delayed(time: time, happening: .down(machine: machine, life: life)))
    }
}

// MARK: Frames

extension VirtualNetwork {
    package mutating func send(
        _ frame: [UInt8], from machine: Int, life: UInt64, at now: Int64, _ random: inout SeededRandom
    ) {
        // Into a connection that is over the bytes just vanish.
        guard ends[machine].life == life, streams[machine].life == life, !streams[machine].endsAfterFrames else {
            return
        }
        let left = max(now, streams[machine].lineFree) + Int64(frame.count * 1_000 / bytesPerSecond)
        streams[machine].lineFree = left
        if streams[machine].blocks == 0 {
            outbox.append(
                Delayed(time: left, happening: .left(machine: machine, life: life, bytes: frame.count)))
        } else {
            streams[machine].unreported.append(frame.count)
        }
        for changed in interceptors[machine]?(frame) ?? [frame] {
            put(changed, from: machine, leaving: left, &random)
        }
    }

    /// A frame of an enemy, who holds an end of the wire without a process.
    package mutating func inject(_ frame: [UInt8], from machine: Int, at now: Int64, _ random: inout SeededRandom) {
        guard streams[machine].life != nil else { return }
        put(frame, from: machine, leaving: now, &random)
    }

    private mutating func put(_ frame: [UInt8], from machine: Int, leaving: Int64, _ random: inout SeededRandom) {
        guard let life = streams[machine].life else { return }
        let arrival = max(
            streams[machine].lastArrival, leaving + Int64(random.range(0...delayMillisecondsMax)))
        streams[machine].lastArrival = arrival
        streams[machine].frames.append(frame)
        outbox.append(Delayed(time: arrival, happening: .deliver(to: 1 - machine, life: life)))
    }

    /// A frame's time has come: the frame, if it gets through.
    package mutating func deliver(to machine: Int, life: UInt64, at now: Int64) -> [UInt8]? {
        let sender = 1 - machine
        guard streams[sender].life == life, !streams[sender].frames.isEmpty else { return nil }
        guard streams[sender].blocks == 0, ends[machine].promised != life else {
            streams[sender].stalled += 1
            return nil
        }
        guard let frame = streams[sender].frames.popFirst() else { return nil }
        defer { endIfDrained(sender, at: now) }
        guard ends[machine].life == life else { return nil }
        framesDelivered[machine] += 1
        bytesDelivered[machine] += frame.count
        return frame
    }

    /// True if the process still has the connection by which these bytes left.
    package func isCurrent(_ machine: Int, life: UInt64) -> Bool { ends[machine].life == life }

    package mutating func block(from machine: Int, at now: Int64) {
        if streams[machine].blocks == 0 { streams[machine].blockedSince = now }
        streams[machine].blocks += 1
        listenForSilence(to: machine, at: now)
    }

    package mutating func unblock(from machine: Int, at now: Int64) {
        guard streams[machine].blocks > 0 else { return }
        streams[machine].blocks -= 1
        guard streams[machine].blocks == 0 else { return }
        release(from: machine, at: now)
        endIfDrained(machine, at: now)
    }

    /// What was held up goes on its way.
    private mutating func release(from sender: Int, at now: Int64) {
        guard let life = streams[sender].life, streams[sender].blocks == 0 else { return }
        for _ in 0..<streams[sender].stalled {
            outbox.append(Delayed(time: now, happening: .deliver(to: 1 - sender, life: life)))
        }
        streams[sender].stalled = 0
        for bytes in streams[sender].unreported {
            outbox.append(Delayed(time: now, happening: .left(machine: sender, life: life, bytes: bytes)))
        }
        streams[sender].unreported = []
    }
}
