public import EventLoop

/// Pairing, on the same port and the same address as the link. See `PairingDesk`.
extension PeerLink {
    /// Makes a token that works once and for 15 minutes, in place of an earlier one. `hint` is where the other node
    /// may reach this one; nil takes the address that is listened on.
    public func invite(hint: Endpoint? = nil) -> (token: String, expiresWallMilliseconds: Int64) {
        loop.assertOnThread()
        let made = withDesk { $0.invite(hint: hint ?? ownAddress, peer: settings.peer) }
        guard let made else { preconditionFailure("invite() after shutDown()") }
        return made
    }

    public func cancelInvite() {
        loop.assertOnThread()
        withDesk { $0.cancelInvite() }
    }

    /// Uses the other node's token. `then` is called once, in a later turn, unless `shutDown` comes first. On success
    /// store the fingerprint and hand it to `setPin`. If `peers` are named, only a node with one of these keys is met.
    public func join(
        _ token: String, only peers: [[UInt8]] = [], then: @escaping (Result<Paired, PairingError>) -> Void
    ) {
        loop.assertOnThread()
        withDesk {
            $0.join(token, only: peers, peer: settings.peer, canListen: boundPort != nil, then: then)
        }
    }

    /// `then` of the present `join` is called with `.cancelled`.
    public func cancelJoin() {
        loop.assertOnThread()
        withDesk { $0.cancelJoin() }
    }

    /// Another node came with our token. Store its fingerprint, call `settle`, and hand it to `setPin`: the other node
    /// is told only after `settle`, so that a crash in between cannot leave it alone with a pairing that this node
    /// forgot.
    public var onPaired: ((Paired, _ settle: @escaping (PairingVerdict) -> Void) -> Void)? {
        get { withDesk(\.onPaired) ?? nil }
        set { withDesk { $0.onPaired = newValue } }
    }

    /// "Every address" is where to listen, not where to reach us: there the machine's name stands in.
    private var ownAddress: Endpoint? {
        guard case .tcp(let host, _) = settings.listen, let port = boundPort else { return nil }
        guard ["::", "0.0.0.0"].contains(host) else { return .tcp(host: host, port: port) }
        return Machine.name().map { .tcp(host: $0, port: port) }
    }
}
