import SyncModel
import Testing

@testable import SyncSim

@Suite("The wire: whole frames in order, or none")
struct VirtualNetworkTests {
    /// A network with its own queue, and what arrived.
    private struct Rig {
        var network = VirtualNetwork(delayMillisecondsMax: 30, bytesPerSecond: 1_000_000)
        var random: SeededRandom
        var now: Int64 = 0
        var planned = Heap<Int64, LinkHappening>()
        var arrived: [[[UInt8]]] = [[], []]
        var ups: [[UInt64]] = [[], []]
        var downs: [[UInt64]] = [[], []]
        var bytesGone = [0, 0]
        var areRunning = true

        init(seed: UInt64 = 1) {
            random = SeededRandom(seed: seed)
        }

        mutating func collect() {
            for delayed in network.outbox { planned.push(delayed.happening, at: delayed.time) }
            network.outbox = []
        }

        /// Runs everything planned, for so long.
        mutating func run(_ milliseconds: Int64 = 10_000) {
            collect()
            let end = now + milliseconds
            while let (time, happening) = planned.pop(upTo: end) {
                now = max(now, time)
                switch happening {
                case .attempt: network.attempt(areBothRunning: areRunning, at: now, &random)
                case .up(let machine, let life):
                    let (over, isNew) = network.comeUp(machine, life: life, at: now)
                    if let over { downs[machine].append(over) }
                    if isNew { ups[machine].append(life) }
                case .down(let machine, let life):
                    if let over = network.comeDown(machine, life: life) { downs[machine].append(over) }
                    network.wantConnection(at: now, &random)
                case .silence(let machine, let life):
                    network.judgeSilence(machine, life: life, at: now, &random)
                case .deliver(let machine, let life):
                    if let frame = network.deliver(to: machine, life: life, at: now) { arrived[machine].append(frame) }
                case .left(let machine, let life, let bytes):
                    if network.isCurrent(machine, life: life) { bytesGone[machine] += bytes }
                }
                collect()
            }
            now = end
        }

        mutating func connect() {
            network.wantConnection(at: now, &random)
            run()
        }

        mutating func send(_ frame: [UInt8], from machine: Int) {
            guard let life = network.life(at: machine) else { return }
            network.send(frame, from: machine, life: life, at: now, &random)
        }
    }

    private func frames(_ count: Int) -> [[UInt8]] {
        (0..<count).map { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    }

    @Test("Frames arrive once, whole and in order, whatever the delays", arguments: 0..<20)
    func ordered(seed: Int) {
        var rig = Rig(seed: UInt64(seed))
        rig.connect()
        for frame in frames(300) {
            rig.send(frame, from: 0)
            rig.send(frame, from: 1)
            rig.run(Int64(rig.random.below(5)))
        }
        rig.run()
        #expect(rig.arrived == [frames(300), frames(300)])
        #expect(rig.bytesGone == [600, 600])
        #expect(rig.ups == [[1], [1]])
    }

    @Test("A cut loses a tail of each direction, tells both ends and leads to a new life", arguments: 0..<20)
    func cut(seed: Int) {
        var rig = Rig(seed: UInt64(seed))
        rig.connect()
        let sent = frames(40)
        for frame in sent { rig.send(frame, from: 0) }
        rig.run(Int64(rig.random.below(20)))
        rig.network.cut(at: rig.now, &rig.random)
        rig.run()
        #expect(rig.arrived[1] == Array(sent.prefix(rig.arrived[1].count)))
        #expect(rig.downs == [[1], [1]])
        #expect(rig.ups == [[1, 2], [1, 2]])
        let before = rig.arrived[1].count
        rig.send([7], from: 0)
        rig.run()
        #expect(rig.arrived[1].count == before + 1)
        #expect(rig.arrived[1].last == [7])
    }

    @Test("A partition holds frames back; when it is lifted in time nothing is lost") func freezes() {
        var rig = Rig()
        rig.connect()
        rig.network.block(from: 0, at: rig.now)
        for frame in frames(10) { rig.send(frame, from: 0) }
        rig.send([9], from: 1)
        rig.run(4_000)
        #expect(rig.arrived == [[[9]], []])
        #expect(rig.bytesGone[0] == 0)
        rig.network.unblock(from: 0, at: rig.now)
        rig.run()
        #expect(rig.arrived[1] == frames(10))
        #expect(rig.bytesGone[0] == 20)
        #expect(rig.network.lives == 1)
    }

    @Test("No connection comes about through a wire that is blocked one way") func oneWay() {
        var rig = Rig()
        rig.network.block(from: 1, at: rig.now)
        rig.connect()
        #expect(rig.network.lives == 0)
        rig.network.unblock(from: 1, at: rig.now)
        rig.connect()
        #expect(rig.network.isWhole)
    }

    @Test("Who closes still delivers what it sent; the other end is told after that") func closes() {
        var rig = Rig()
        rig.connect()
        for frame in frames(10) { rig.send(frame, from: 0) }
        rig.network.close(0, life: 1, at: rig.now, &rig.random)
        rig.send([1], from: 1)
        rig.run()
        #expect(rig.arrived == [[], frames(10)])
        #expect(rig.downs == [[], [1]])
    }

    @Test("A partition that lasts ends the connection at both ends") func partitions() {
        var rig = Rig()
        rig.connect()
        for machine in 0..<2 { rig.network.block(from: machine, at: rig.now) }
        rig.send([1], from: 0)
        rig.run()
        #expect(rig.downs == [[1], [1]])
        for machine in 0..<2 { rig.network.unblock(from: machine, at: rig.now) }
        rig.connect()
        #expect(rig.network.isWhole)
        #expect(rig.arrived == [[], []])
    }

    @Test("A power cut tells nobody: the other end keeps a dead connection until it misses the signs of life")
    func halfOpen() {
        var rig = Rig()
        rig.connect()
        rig.areRunning = false
        rig.network.powerWasCut(0, at: rig.now)
        rig.send([1], from: 1)
        rig.run(4_000)
        #expect(rig.downs[1] == [])
        #expect(rig.network.life(at: 1) == 1)
        #expect(!rig.network.isWhole)
        rig.run(1_000)
        #expect(rig.downs[1] == [1])
        rig.areRunning = true
        rig.connect()
        #expect(rig.ups[1] == [1, 2])
        #expect(rig.arrived == [[], []])
        #expect(rig.network.isWhole)
    }

    @Test("A new connection replaces a half-open one, which is told first") func replaces() {
        var rig = Rig()
        rig.connect()
        rig.network.powerWasCut(0, at: rig.now)
        rig.network.wantConnection(at: rig.now, &rig.random)
        rig.run(2_000)
        #expect(rig.downs[1] == [1])
        #expect(rig.ups == [[1, 2], [1, 2]])
        #expect(rig.network.isWhole)
    }

    @Test("Without both processes there is no connection") func needsBoth() {
        var rig = Rig()
        rig.areRunning = false
        rig.connect()
        #expect(rig.network.lives == 0)
        rig.areRunning = true
        rig.connect()
        #expect(rig.network.isWhole)
    }

    @Test("Random storms: per life and direction, what arrives is a prefix of what was sent", arguments: 0..<60)
    func storms(seed: Int) {
        var rig = Rig(seed: UInt64(seed))
        var sent: [[UInt64: [[UInt8]]]] = [[:], [:]]  // lookup only
        var seen = [0, 0]
        var received: [[UInt64: [[UInt8]]]] = [[:], [:]]  // lookup only
        rig.connect()
        var number: UInt8 = 0
        for _ in 0..<400 {
            let machine = rig.random.below(2)
            switch rig.random.below(14) {
            case 0: rig.network.cut(at: rig.now, &rig.random)
            case 1: rig.network.block(from: machine, at: rig.now)
            case 2, 3: rig.network.unblock(from: machine, at: rig.now)
            case 4:
                if let life = rig.network.life(at: machine) {
                    rig.network.close(machine, life: life, at: rig.now, &rig.random)
                }
            case 5: rig.network.processDied(machine, at: rig.now, &rig.random)
            case 6: rig.network.powerWasCut(machine, at: rig.now)
            case 7: rig.network.wantConnection(at: rig.now, &rig.random)
            default:
                if let life = rig.network.life(at: machine) {
                    number &+= 1
                    sent[machine][life, default: []].append([UInt8(truncatingIfNeeded: life), number])
                    rig.send([UInt8(truncatingIfNeeded: life), number], from: machine)
                }
            }
            rig.run(Int64(rig.random.below(60)))
            for receiver in 0..<2 {
                for frame in rig.arrived[receiver][seen[receiver]...] {
                    received[receiver][UInt64(frame[0]), default: []].append(frame)
                }
                seen[receiver] = rig.arrived[receiver].count
            }
        }
        for receiver in 0..<2 {
            for life in 0...rig.network.lives {
                let got = received[receiver][life & 0xFF] ?? []
                let all = sent[1 - receiver][life] ?? []
                #expect(got == Array(all.prefix(got.count)), "life \(life)")
            }
        }
        for machine in 0..<2 {
            while rig.network.isBlocked(from: machine) { rig.network.unblock(from: machine, at: rig.now) }
        }
        rig.connect()
        #expect(rig.network.isWhole)
    }

    @Test("An interceptor may change, multiply and swallow frames") func intercepts() {
        var rig = Rig()
        rig.connect()
        rig.network.interceptors[0] = { frame in frame == [1] ? [] : [frame, frame] }
        rig.send([1], from: 0)
        rig.send([2], from: 0)
        rig.run()
        #expect(rig.arrived[1] == [[2], [2]])
    }
}
