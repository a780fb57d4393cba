import Config
import ControlProtocol
import Coordination
import Crypto
import EventLoop
import Store
import SyncCore
import SyncModel
import Transport

/// Another key for this node, and for the other one. Each side writes down what it knows before it says so:
///
/// 1. this node: the new key in `next.pem`, its fingerprint in the store; then it is offered to the other node
/// 2. the other node: its fingerprint in the store, beside the pin; then it says that it has taken it
/// 3. this node: `next.pem` becomes `key.pem`, what that was becomes `former.pem`; then it connects anew with the new key
/// 4. the other node sees it used: it becomes the pin, and no other key is accepted any more
/// 5. this node sees it accepted: `former.pem` goes
///
/// Whoever ends in between does at the next connection what was left. The id of a node stays what it was: the log is chained by it.
extension Daemon {
    private static let renewalMilliseconds: UInt64 = 60_000

    // MARK: Asked by a person

    func renewKey(_ asker: Asker) {
        guard peer.pin != nil else { return asker.refuse(ControlError(.pairingNone)) }
        host.ask(.status) { [unowned self] answer in
            guard case .status(let status) = answer else { return asker.refuse(Daemon.error(instead: answer)) }
            if let problem = renewalProblem(status) { return asker.refuse(problem) }
            waitForRenewal(asker)
            if !keys.isBeingRenewed, !isMakingKey { makeKey() }
        }
    }

    private func renewalProblem(_ status: Status) -> ControlError? {
        guard !keys.isBeingRenewed else { return nil }
        guard status.isConnected else {
            return ControlError(
                .peerAway,
                text: "The other node is away, and a new key can only be made known to it while it is connected.")
        }
        guard status.peerRenewsKeys else {
            return ControlError(
                .requestRefused,
                text: "The program on the other node is too old to take a new key of this one.",
                cure: "Upgrade syncd on the other node, then run syncctl renew-key again.")
        }
        return nil
    }

    private func waitForRenewal(_ asker: Asker) {
        let id = asker.client.id
        let timer = Timer(loop: loop)
        timer.start(afterMilliseconds: Daemon.renewalMilliseconds) { [unowned self] in
            settleRenewal(
                of: id,
                .failure(
                    ControlError(
                        .waitTimedOut,
                        text: """
                            The other node has not been seen to accept the new key yet. Both keys are kept, and it goes on by \
                            itself when the two nodes are connected.
                            """)))
        }
        let former = keys.former ?? keys.present
        renewalWaiters[id] = { result in
            timer.close()
            switch result {
            case .success(let key): asker.finish(RenewedKeyDocument(key: key, former: former.fingerprint))
            case .failure(let error): asker.refuse(error)
            }
        }
        asker.client.whenOver { [unowned self] in
            renewalWaiters[id] = nil
            timer.close()
        }
    }

    private func settleRenewal(of id: ClientID, _ result: Result<[UInt8], ControlError>) {
        renewalWaiters.removeValue(forKey: id)?(result)
    }

    func settleRenewals(_ result: Result<[UInt8], ControlError>) {
        for id in renewalWaiters.keys.sorted() { settleRenewal(of: id, result) }
    }

    // MARK: Our own key

    private func makeKey() {
        isMakingKey = true
        let made: IdentityKey
        do throws(CryptoError) { made = try IdentityKey.generate() } catch { return renewalFailed("\(error.reason)") }
        changeKeys { (files, store) throws(Trouble) in
            try files.whole { (files) throws(System.FileError) in try files.keep(next: made.pem) }
            try store.whole { (store) throws(StoreError) in try NodeKeys.note(isNext: made.fingerprint, store) }
        } then: { [unowned self] in
            isMakingKey = false
            // Who has unpaired meanwhile has no one to tell.
            guard peer.pin != nil else { return dropOtherKeys() }
            keys.next = made
            journal.say(.keyOffered, "a new key is offered to the other node")
            link.offer(made)
        }
    }

    /// The other node has written the new key down, or could not.
    func newKeyAnswered(_ fingerprint: [UInt8], isTaken: Bool) {
        guard isTaken else {
            let text = "The other node could not write the new key down; its journal says why. The key in use stays."
            journal.problem(.requestRefused, text)
            return settleRenewals(.failure(ControlError(.requestRefused, text: text)))
        }
        guard let next = keys.next, next.fingerprint == fingerprint, !isMakingKey else { return }
        isMakingKey = true
        let present = keys.present
        changeKeys { (files, store) throws(Trouble) in
            try files.whole { (files) throws(System.FileError) in try files.change(from: present.pem) }
            try store.whole { (store) throws(StoreError) in try NodeKeys.note(isPresent: fingerprint, store) }
        } then: { [unowned self] in
            isMakingKey = false
            // The key has changed, whatever became of the pair meanwhile.
            let isPaired = peer.pin != nil
            keys = NodeKeys(present: next, next: nil, former: isPaired ? present : nil)
            link.changeKey(to: next, former: keys.former)
            if !isPaired { dropOtherKeys() }
        }
    }

    /// The other node accepts the new key, so nothing needs the one before.
    private func forgetFormerKey() {
        changeKeys { (files, _) throws(Trouble) in
            try files.whole { (files) throws(System.FileError) in try files.dropFormer() }
        } then: { [unowned self] in
            guard keys.former != nil else { return }
            keys.former = nil
            link.settleKey()
            tellOfKey(record.name)
            settleRenewals(.success(keys.present.fingerprint))
        }
    }

    /// Whatever was begun is over: there is nobody to tell.
    func giveRenewalUp() {
        guard keys.isBeingRenewed || isMakingKey else { return }
        settleRenewals(.failure(ControlError(.pairingNone)))
        keys.next = nil
        keys.former = nil
        link.offer(nil)
        link.settleKey()
        dropOtherKeys()
    }

    private func dropOtherKeys() {
        changeKeys({ (files, _) throws(Trouble) in
            try files.whole { (files) throws(System.FileError) in try files.dropOthers() }
        }) {}
    }

    // MARK: The other node's key

    /// It is told that its new key is taken once that is durable.
    func newPeerKey(_ fingerprint: [UInt8], settle: @escaping (Bool) -> Void) {
        guard peer.pin != nil else { return settle(false) }
        host.keep([(key: Opening.Fact.nextPin, value: fingerprint)]) { [unowned self] result in
            switch result {
            case .success:
                peer.next = fingerprint
                journal.say(
                    .keyOffered, "the other node is about to use another key; both are accepted until it does")
                settle(true)
            case .failure(let error):
                journal.problem(.diskError, "state.db: \(error). The new key of the other node is not taken.")
                settle(false)
            }
        }
    }

    /// Which keys a connection was made with shows how far a renewal has come.
    func noteKeysInUse() {
        guard let used = link.keysInUse else { return }
        if let next = peer.next, used.peer == next { settlePeerKey(next) }
        if keys.former != nil, used.own == keys.present.fingerprint { forgetFormerKey() }
    }

    private func settlePeerKey(_ fingerprint: [UInt8]) {
        let after = peer.paired(by: fingerprint)
        host.keep(after.facts) { [unowned self] result in
            // Both go on being accepted, and the next connection tries again.
            guard case .success = result, peer.pin != nil, peer.next == fingerprint else { return }
            peer = after
            link.settlePin(fingerprint)
            tellOfKey(record.peerName)
        }
    }

    /// The log of the other node is written by another id than was thought: its state is younger than its key, or ours is.
    func learn(peerIs id: NodeID) {
        guard peer.pin != nil, peer.nodeID != id else { return }
        host.keep([(key: Opening.Fact.peerID, value: id.digest.bytes)]) { [unowned self] result in
            guard case .success = result, peer.pin != nil else { return }
            peer.id = id.digest.bytes
            restartNode()
        }
    }

    private func tellOfKey(_ name: [UInt8]) {
        journal.tell(.keyRenewed, name)
        feed.tell(.note(at: Clock.wallMilliseconds(), code: .keyRenewed, subject: name))
    }

    // MARK: Writing it down

    /// Files and facts are changed on the store's thread, one step after the other.
    private func changeKeys(
        _ body: @escaping @Sendable (KeyFiles, Store) throws(Trouble) -> Void, then: @escaping () -> Void
    ) {
        let files = KeyFiles(state: configuration.node.state)
        host.atStore({ (store: Store) -> String? in
            do throws(Trouble) { try body(files, store) } catch { return error.text }
            return nil
        }) { [unowned self] problem in
            if let problem { renewalFailed(problem) } else { then() }
        }
    }

    private func renewalFailed(_ why: String) {
        isMakingKey = false
        let text = "The new key could not be written down: \(why). The key in use stays."
        journal.problem(.diskError, text)
        settleRenewals(.failure(ControlError(.requestRefused, text: text)))
    }
}

/// What went wrong with a file or a fact, in words.
private struct Trouble: Error {
    let text: String
}

extension KeyFiles {
    fileprivate func whole(_ body: (KeyFiles) throws(System.FileError) -> Void) throws(Trouble) {
        do throws(System.FileError) { try body(self) } catch { throw Trouble(text: "\(error)") }
    }
}

extension Store {
    fileprivate func whole(_ body: (Store) throws(StoreError) -> Void) throws(Trouble) {
        do throws(StoreError) { try body(self) } catch { throw Trouble(text: "\(error)") }
    }
}
