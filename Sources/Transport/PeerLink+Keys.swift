public import Crypto
internal import EventLoop

/// The keys of both ends while one of them is renewed. The node that has a new key offers it on each connection until the peer has
/// taken it, and makes connections with it only then; the peer accepts both until it has seen the new one. Who writes what down,
/// and when, is the business of the owner.
extension PeerLink {
    /// Fingerprints of the keys that the present connection was made with; nil without one.
    public var keysInUse: (own: [UInt8], peer: [UInt8])? { life?.keys }

    // MARK: Our own

    /// The peer is told of this key, now and on each connection that comes, until it is in use; nil gives it up. It has to be
    /// written down before.
    public func offer(_ key: IdentityKey?) {
        loop.assertOnThread()
        next = key
        offerNewestKey()
    }

    /// Connections are made with this key from now on; one that was made with another ends. With the `former` it is tried as well
    /// if the peer refuses the new one, until `settleKey`.
    public func changeKey(to key: IdentityKey, former: IdentityKey?) {
        loop.assertOnThread()
        guard !isShutDown else { return }
        self.former = former
        showsFormer = false
        if next?.fingerprint == key.fingerprint { next = nil }
        guard key.fingerprint != identity.fingerprint else { return }
        identity = key
        _ = withDesk { $0.key = key }
        for handshake in handshakes where handshake.purpose != .pairing { handshake.drop() }
        handshakes.removeAll { $0.purpose != .pairing }
        endLater(.keyRenewed)
        if life == nil { caller?.resume() }
    }

    /// The peer knows the key: the one before is not tried any more.
    public func settleKey() {
        loop.assertOnThread()
        former = nil
        showsFormer = false
    }

    /// The key that is shown in a handshake that begins now.
    var shown: IdentityKey { showsFormer ? former ?? identity : identity }

    /// The other node does not accept the key that was shown. While there are two it may know the other one only.
    func ourKeyWasRefused() {
        if former != nil { showsFormer.toggle() }
    }

    /// Where the connection was made with an older key than there is.
    func offerNewestKey() {
        guard let life, let present = [identity, former].first(where: { $0?.fingerprint == life.keys.own }) ?? nil
        else {
            return
        }
        let newest = next ?? identity
        guard newest.fingerprint != present.fingerprint, let renewal = life.renewal(bySender: true) else { return }
        do throws(CryptoError) {
            life.say(.newKey, try renewal.offer(newest, by: present))
        } catch {
            endLater(.violation("a new key cannot be offered: \(error.reason)"))
        }
    }

    func newKeyWasAnswered(_ fingerprint: [UInt8], isTaken: Bool) {
        if isTaken, fingerprint == identity.fingerprint {
            // It knew the former one only.
            showsFormer = false
            endLater(.keyRenewed)
        } else if fingerprint == next?.fingerprint {
            onNewKeyAnswered?(fingerprint, isTaken)
        }
    }

    // MARK: The peer's

    /// This key of the peer is accepted as well as the pin; nil for none.
    public func accept(alsoKey fingerprint: [UInt8]?) {
        loop.assertOnThread()
        nextPin = fingerprint
    }

    /// The peer has been seen to use its new key, and no other is accepted from now on. The connection goes on.
    public func settlePin(_ pin: [UInt8]) {
        loop.assertOnThread()
        self.pin = pin
        nextPin = nil
    }

    var trusted: Trust {
        guard let pin else { return .pinned([]) }
        return nextPin.map { .either(pin, $0) } ?? .pinned(pin)
    }

    func isPeer(_ fingerprint: [UInt8]?) -> Bool {
        fingerprint != nil && (fingerprint == pin || fingerprint == nextPin)
    }

    /// The peer offers a key. Only what both of its keys have signed for this very session is looked at, and one at a time: all that
    /// wait to be written down would be in memory, and whatever else is to be stored would wait for them.
    func weigh(newKey payload: [UInt8], inLife number: UInt64) {
        guard lifeOfNewKey != number else {
            return endLater(.violation("it offered a key before it was answered about the last one"))
        }
        guard let renewal = life?.renewal(bySender: false), let fingerprint = renewal.check(payload),
            ![identity, former, next].contains(where: { $0?.fingerprint == fingerprint })
        else { return endLater(.violation("it offered a key without proving that it is its own")) }
        guard fingerprint != nextPin else { return answer(fingerprint, isTaken: true, inLife: number) }
        guard let onNewKey else { return answer(fingerprint, isTaken: false, inLife: number) }
        lifeOfNewKey = number
        onNewKey(fingerprint) { [weak self] isStored in
            guard let self, !isShutDown else { return }
            if lifeOfNewKey == number { lifeOfNewKey = nil }
            if isStored { nextPin = fingerprint }
            answer(fingerprint, isTaken: isStored, inLife: number)
        }
    }

    private func answer(_ fingerprint: [UInt8], isTaken: Bool, inLife number: UInt64) {
        guard let life, life.number == number else { return }
        life.say(isTaken ? .newKeyTaken : .newKeyNotTaken, fingerprint)
    }
}
