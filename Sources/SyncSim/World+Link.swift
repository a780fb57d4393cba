import SyncCore
import SyncModel

/// The wire, as the world drives it: connections come up, frames arrive, ends learn that it is over.
extension World {
    /// What the network has planned goes into the queue.
    func linkChanged() {
        guard !network.outbox.isEmpty else { return }
        let planned = network.outbox
        network.outbox.removeAll(keepingCapacity: true)
        for delayed in planned { schedule(.link(delayed.happening), at: delayed.time) }
    }

    func happen(_ link: LinkHappening) {
        switch link {
        case .attempt: attemptConnection()
        case .up(let machine, let life): comeUp(machine, life)
        case .down(let machine, let life): comeDown(machine, life)
        case .silence(let machine, let life): network.judgeSilence(machine, life: life, at: now, &random.network)
        case .deliver(let machine, let life): deliver(to: machine, life)
        case .left(let machine, let life, let bytes):
            if network.isCurrent(machine, life: life) { tell(machine, .sent(LinkID(raw: life), bytes)) }
        }
        linkChanged()
    }

    func send(_ frame: [UInt8], from machine: Int, _ link: LinkID) {
        machines[machine].counters.framesSent += 1
        machines[machine].counters.bytesSent += frame.count
        network.send(frame, from: machine, life: link.raw, at: now, &random.network)
        linkChanged()
    }

    func close(_ link: LinkID, by machine: Int) {
        guard network.isCurrent(machine, life: link.raw) else { return }
        rare.hit("link: closed by a node")
        network.close(machine, life: link.raw, at: now, &random.network)
        network.wantConnection(at: now, &random.network)
        linkChanged()
    }

    /// The connection breaks now.
    func cutLink() {
        if network.framesInFlight > 0 { rare.hit("link: cut with frames in flight") }
        network.cut(at: now, &random.network)
        linkChanged()
    }

    /// Nothing gets through in either direction, until all is lifted again.
    func partition(_ isOn: Bool) {
        for sender in 0..<2 {
            if isOn { network.block(from: sender, at: now) }
            while !isOn, network.isBlocked(from: sender) { network.unblock(from: sender, at: now) }
        }
        if !isOn { network.wantConnection(at: now, &random.network) }
        linkChanged()
    }

    func block(from machine: Int) {
        network.block(from: machine, at: now)
        linkChanged()
    }

    /// A frame of the enemy, to the machine at the other end.
    package func sendAsGhost(_ frame: [UInt8]) {
        guard let ghost = network.ghost else { return }
        network.inject(frame, from: ghost, at: now, &random.network)
        linkChanged()
    }

    /// The enemy hangs up.
    package func closeAsGhost() {
        guard let ghost = network.ghost, let life = network.life(at: ghost) else { return }
        close(LinkID(raw: life), by: ghost)
        enemy?.disconnected(self)
    }

    private func attemptConnection() {
        let areRunning = (0..<2).allSatisfy { machines[$0].isRunning || network.ghost == $0 }
        network.attempt(areBothRunning: areRunning, at: now, &random.network)
    }

    private func comeUp(_ machine: Int, _ life: UInt64) {
        let (over, isNew) = network.comeUp(machine, life: life, at: now)
        if network.ghost == machine {
            if over != nil { enemy?.disconnected(self) }
            if isNew { enemy?.connected(self) }
            return
        }
        if let over {
            rare.hit("link: half-open connection replaced by a new one")
            tell(machine, .disconnected(LinkID(raw: over)))
        }
        if isNew { tell(machine, .connected(LinkID(raw: life))) }
    }

    private func comeDown(_ machine: Int, _ life: UInt64) {
        let over = network.comeDown(machine, life: life)
        network.wantConnection(at: now, &random.network)
        guard let over else { return }
        if network.ghost == machine {
            enemy?.disconnected(self)
        } else {
            tell(machine, .disconnected(LinkID(raw: over)))
        }
    }

    private func deliver(to machine: Int, _ life: UInt64) {
        guard let frame = network.deliver(to: machine, life: life, at: now) else { return }
        if network.ghost == machine {
            enemy?.received(frame, in: self)
        } else {
            tell(machine, .received(LinkID(raw: life), frame))
        }
    }
}
