import ControlProtocol
import EventLoop
import Store
import SyncCore
import SyncModel
import Transport

/// A node that is to have another partner: `syncctl unpair --forget`.
///
/// The node is stopped, which finishes what it is doing in the folder. Then the store changes from the state of one pair to that of none in
/// one transaction (`Store.forgetPeer`), and the node starts anew as one that has files, kept versions, an id and a key, and has met nobody.
/// Before that the whole state of before is put beside it as a file. Whoever ends in between is still the partner of the other node.
extension Daemon {
    static let isForgettingText = "this node is just forgetting its partner of before; try again in a moment"

    func forgetPeer(_ asker: Asker) {
        guard pin != nil || peer.last != nil else { return asker.refuse(ControlError(.pairingNone)) }
        guard !isForgetting else { return asker.refuse(ControlError(.requestRefused, text: Daemon.isForgettingText)) }
        host.ask(.status) { [unowned self] answer in
            guard case .status(let status) = answer else { return asker.refuse(Daemon.error(instead: answer)) }
            guard !isForgetting else {
                return asker.refuse(ControlError(.requestRefused, text: Daemon.isForgettingText))
            }
            let parting = Parting(peer: peer, name: record.peerName, notes: Daemon.notes(on: status)) {
                switch $0 {
                case .success(let notes): asker.finish(DoneDocument(notes: notes))
                case .failure(let error): asker.refuse(error)
                }
            }
            // Nothing more comes from it, and nothing that it does is written down.
            peer.pin = nil
            link.setPin(nil)
            restartNode(forgetting: parting)
        }
    }

    /// What goes with the pair.
    private static func notes(on status: Status) -> [String] {
        var notes: [String] = []
        if status.isConnected {
            notes.append("The other node is there and still takes this one for its partner: run syncctl unpair on it.")
        }
        if status.toApply > 0 {
            notes.append(
                "Paths of which this node did not show everything yet: \(status.toApply). They stay as they are here.")
        }
        if let held = status.heldDeletes {
            notes.append(
                "Deletions that waited for approval: \(held.files). Nobody is told to delete these files any more.")
        }
        if status.contests > 0 {
            notes.append(
                "Conflicts between records that were open: \(status.contests). What lost in them is among the earlier versions "
                    + "(syncctl history).")
        }
        return notes
    }

    /// `restart` comes whether it could be written down or not; then who asked is told.
    func forget(_ parting: Parting, restart: @escaping () -> Void) {
        let former = FormerPeer(name: parting.name, keys: parting.peer.known, versionsBefore: nil)
        let (id, folder, name) = (record.id, record.folder, record.name)
        let (formers, keys) = (formerPeers, KnownPeer().facts.map { $0.key })
        host.atStore({ (store: Store) -> Result<Forgotten, StoreError> in
            Result { () throws(StoreError) in
                var node = try store.node() ?? NodeRecord(id: id, name: name, folder: folder)
                var former = former
                former.versionsBefore = node.nextVersion
                let all = FormerPeer.remembered(formers + [former])
                node.forgetPeer()
                node.name = name
                let facts: [StoreFact] =
                    keys.map { ($0, nil) } + [
                        (Opening.Fact.hasJoined, nil), (Opening.Fact.lastContact, nil),
                        (Opening.Fact.formerPeers, FormerPeer.encoded(all)),
                    ]
                let copy = try store.forgetPeer(as: node, setting: facts)
                return Forgotten(node: node, formers: all, copy: copy)
            }
        }) { [unowned self] result in
            switch result {
            case .success(let forgotten):
                noteForgotten(forgotten, parting)
                restart()
                let kept = """
                    All that was known of that pair is kept as \(Path.escape(forgotten.copy)) in the state directory; remove it \
                    when nobody needs it.
                    """
                parting.then(.success(parting.notes + [kept]))
            case .failure(let error):
                peer = parting.peer
                link.setPin(peer.pin)
                link.accept(alsoKey: peer.pin == nil ? nil : peer.next)
                let text = "the state could not be changed, and this node is what it was: \(error)"
                journal.problem(.requestRefused, text)
                restart()
                parting.then(.failure(ControlError(.requestRefused, text: text)))
            }
        }
    }

    private func noteForgotten(_ forgotten: Forgotten, _ parting: Parting) {
        record = forgotten.node
        formerPeers = forgotten.formers
        peer = KnownPeer()
        hasJoined = false
        contact = nil
        giveRenewalUp()
        clear(AlertKey(code: .peerRejected))
        let copy = Path.escape(forgotten.copy)
        journal.say(
            .pairingNone,
            "\"\(Path.escape(parting.name))\" is forgotten; the folder stays, and so does all that was known, in \(copy)"
        )
    }

    /// Who an earlier version is by. Those of a partner of before are not by that of now.
    func name(of author: Author, at version: VersionID) -> [UInt8] {
        guard author == .peer else { return record.name }
        let former = formerPeers.first { version.raw < $0.versionsBefore ?? 0 }
        return former?.name ?? record.peerName
    }

    /// Nil if no partner of before has this key.
    func formerPeer(with key: [UInt8]) -> FormerPeer? { formerPeers.last { $0.keys.contains(key) } }
}

/// What the state is after it.
private struct Forgotten: Sendable {
    let node: NodeRecord
    let formers: [FormerPeer]
    /// The file that holds what it was.
    let copy: [UInt8]
}

/// The peer that is being forgotten, and who asked for it.
struct Parting {
    let peer: KnownPeer
    let name: [UInt8]
    let notes: [String]
    let then: (Result<[String], ControlError>) -> Void
}
