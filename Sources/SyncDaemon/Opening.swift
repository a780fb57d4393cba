import Config
import Crypto
import Disk
import EventLoop
import Store
import SyncModel

/// Opens everything a node needs, in the order in which a refusal harms least: nothing is written before it is sure that
/// this key, this state and this folder belong together and to nobody else.
struct Opening {
    /// What is open afterwards.
    struct Opened {
        let keys: NodeKeys
        let store: Store
        let folder: Folder
        /// The record to start with.
        var record: NodeRecord
        var peer: KnownPeer
        var hasJoined: Bool
        var formerPeers: [FormerPeer]
        /// When the last process heard of the peer.
        let contact: LastContact?
        let modelMemory: ModelMemory
        /// The machine went down since this node was last alive.
        let powerWasLost: Bool
        /// The state was damaged and put aside under this name, and is being built anew.
        let setAside: [UInt8]?
    }

    let configuration: Configuration
    let journal: Journal
    let reason: Reason?

    /// Why everything is opened once more in the same process.
    enum Reason {
        /// What had not reached the disk under the folder is lost, though the machine is up.
        case diskWasPulled
        /// Something in it could not be read while the node worked with it, though SQLite finds nothing wrong.
        case stateIsDamaged
    }

    func open() throws(Refusal) -> Opened {
        let key = try readKey()
        for place in [configuration.node.state, files.key] where System.isOpenToOthers(place) {
            journal.tell(.stateExposed, place)
        }
        if reason != .stateIsDamaged {
            do throws(Refusal) {
                return try open(key, try openStore())
            } catch {
                guard error.code == .stateDamaged else { throw error }
            }
        }
        return try open(key, try openFreshStore())
    }

    /// Closes the store if nothing comes of it.
    private func open(_ key: IdentityKey, _ store: Store) throws(Refusal) -> Opened {
        do throws(Refusal) {
            return try finish(key, store)
        } catch {
            store.close()
            throw error
        }
    }

    private func finish(_ key: IdentityKey, _ store: Store) throws(Refusal) -> Opened {
        let stored = try stored { () throws(StoreError) in try store.node() }
        let peer = try self.stored { () throws(StoreError) in try KnownPeer(store) }
        let id = try nodeID(key, stored, store)
        let keys = try keys(key, isPaired: peer.pin != nil, store)
        let contactBytes = try self.stored { () throws(StoreError) in try store.value(Fact.lastContact) }
        let contact = contactBytes.flatMap { LastContact(encoded: $0) }
        let folder = try openFolder(stored, peer, contact, store)
        var record = stored ?? NodeRecord(id: id, name: [], folder: folder.id)
        record.name = Array(configuration.node.name.utf8)
        let hasJoined = try self.stored { () throws(StoreError) in try store.value(Fact.hasJoined) } != nil
        let formers = try self.stored { () throws(StoreError) in try store.value(Fact.formerPeers) } ?? []
        let models = try self.stored { () throws(StoreError) in try store.value(Fact.models) } ?? []
        let setAside = try self.stored { () throws(StoreError) in try store.value(Fact.setAside) }
        let powerWasLost = try noteBoot(store, &record, isFirst: stored == nil)
        return Opened(
            keys: keys, store: store, folder: folder, record: record, peer: peer,
            hasJoined: hasJoined, formerPeers: FormerPeer.decoded(formers), contact: contact,
            modelMemory: ModelMemory(encoded: models), powerWasLost: powerWasLost, setAside: setAside)
    }

    /// Names of the small facts that the shell keeps in the store.
    enum Fact {
        static let peerPin = "peer.pin"
        static let nextPin = "peer.next"
        static let lastPeer = "peer.last"
        static let earlierPeers = "peer.earlier"
        /// What the peer's log is chained by, once that is not the key it was first paired by.
        static let peerID = "peer.id"
        /// The fingerprint of this node's key, once it is not the one that the state was made with; and of the one that comes.
        static let ownKey = "key.present"
        static let nextKey = "key.next"
        /// Those that this state was about before (`FormerPeer`).
        static let formerPeers = "peer.former"
        /// When the peer was last heard of, as far as it was written down (`LastContact`).
        static let lastContact = "peer.contact"
        static let boot = "boot.id"
        /// There if this node joined the other, and not the other this one.
        static let hasJoined = "peer.joined"
        static let alerts = "alerts"
        /// The name of the damaged state that this one was made instead of, until it has been built anew.
        static let setAside = "state.set-aside"
        /// What the model files were about (`ModelMemory`).
        static let models = "models"
    }

    // MARK: Key

    private var files: KeyFiles { KeyFiles(state: configuration.node.state) }
    private var shownKeyPath: String { Path.quote(files.key) }
    private var shownState: String { Path.quote(configuration.node.state) }
    private var shownDatabase: String { Path.quote(configuration.node.state + Array("/state.db".utf8)) }
    private var shownFolder: String { "the shared folder \(Path.quote(configuration.folder.path))" }

    private func readKey() throws(Refusal) -> IdentityKey {
        guard let pem = System.contents(of: files.key, limit: KeyFiles.bytesMax) else {
            if System.isForbidden(files.key) { throw forbiddenKey }
            throw Refusal(
                exit: .configuration,
                text: """
                    the key of this node, \(shownKeyPath), cannot be read. If the node is new, set it up with \
                    syncctl init; otherwise put the key back from a backup. Nothing was touched.
                    """)
        }
        do throws(CryptoError) {
            return try IdentityKey(pem: pem)
        } catch {
            throw Refusal(
                exit: .configuration,
                text: """
                    \(shownKeyPath) does not hold the key of a node: \(error.reason). Put it back from a backup. Nothing \
                    was touched.
                    """)
        }
    }

    private var forbiddenKey: Refusal {
        let own = System.ownName
        // In a directory that this user may not enter, nobody sees whose the key is; both were made for the same user.
        let owner = System.owner(of: files.key) ?? System.owner(of: configuration.node.state)
        let cause = owner == nil || owner == own ? "" : ", because it belongs to \(owner ?? own)"
        return Refusal(
            exit: .permission,
            text: """
                the key of this node, \(shownKeyPath), may not be read by \(own)\(cause) (Permission denied). Run syncd as \
                the user that the state directory was made for, or give that directory with all that is in it to \(own). \
                Nothing was touched.
                """)
    }

    /// What the last process left of a renewal, if there was one. A key that was not yet on record nobody knows of.
    private func keys(_ present: IdentityKey, isPaired: Bool, _ store: Store) throws(Refusal) -> NodeKeys {
        let known = try stored { () throws(StoreError) in try store.value(Fact.nextKey) }
        let next = files.readNext().flatMap { isPaired && $0.fingerprint == known ? $0 : nil }
        let former = files.readFormer().flatMap { isPaired && $0.fingerprint != present.fingerprint ? $0 : nil }
        let keys = NodeKeys(present: present, next: next, former: former)
        if !keys.isBeingRenewed {
            // What cannot be removed is read again at the next start, and comes to the same.
            do throws(System.FileError) { try files.dropOthers() } catch {
                journal.say(.diskError, "a key that is not in use cannot be removed: \(error)")
            }
        }
        return keys
    }

    // MARK: Store

    private func openStore() throws(Refusal) -> Store {
        try stored { () throws(StoreError) in try Store.open(directory: configuration.node.state) }
    }

    /// What the folder holds is the truth: a fresh state is built from it and from the peer, without a single delete. While the
    /// folder is away nothing is touched: a fresh state would not know which folder to wait for.
    private func openFreshStore() throws(Refusal) -> Store {
        guard Opening.marker(at: configuration.folder.path) != nil else {
            throw Refusal(
                exit: .storage, code: .stateDamaged,
                text: """
                    \(shownDatabase) is damaged, and \(shownFolder), from which it would be built anew, is not there or \
                    not set up. Nothing was touched. Mount or restore the folder, then start syncd.
                    """)
        }
        let directory = configuration.node.state
        do throws(StoreError) {
            let name = try Store.setAside(directory: directory)
            let store = try Store.open(directory: directory)
            // Should something else keep this process from its work, people are told by the next.
            try store.setValue(Fact.setAside, name)
            return store
        } catch {
            throw refusal(error)
        }
    }

    private func stored<Value>(_ body: () throws(StoreError) -> Value) throws(Refusal) -> Value {
        do throws(StoreError) { return try body() } catch { throw refusal(error) }
    }

    private func refusal(_ error: StoreError) -> Refusal {
        let place = shownDatabase
        switch error {
        case .newer(let found, let supported):
            return Refusal(
                exit: .refusedData, code: .statedbNewer,
                text: """
                    \(place) was written by a newer syncd (format \(found); this one knows up to \(supported)). \
                    Nothing was touched. Upgrade syncd on this machine.
                    """)
        case .notOurs:
            return Refusal(
                exit: .refusedData,
                text: """
                    \(place) is a database of another program. Nothing was touched. Give this node a state directory of \
                    its own.
                    """)
        case .busy:
            return Refusal(
                exit: .inUse,
                text: """
                    another syncd uses \(place). Stop it first, or give this node a state directory of its own.
                    """)
        case .damaged, .full, .inputOutput, .failed:
            let isDamaged = if case .damaged = error { true } else { false }
            return Refusal(
                exit: .storage, code: isDamaged ? .stateDamaged : nil,
                text: "\(place) cannot be used: \(error). Your files were not touched.")
        }
    }

    // MARK: Folder

    /// A folder that was there before and is away may come back: a disk is mounted later than the daemon starts.
    private func openFolder(
        _ stored: NodeRecord?, _ peer: KnownPeer, _ contact: LastContact?, _ store: Store
    ) throws(Refusal) -> Folder {
        let path = configuration.folder.path
        while true {
            do throws(FolderError) {
                let id: FolderID
                if let stored { id = stored.folder } else { id = try Folder.marker(at: path) }
                return try Folder(path: path, id: id)
            } catch {
                guard let stored, let absence = Opening.absence(error.kind) else { throw refusal(error) }
                try wait(for: stored, peer, contact, store, because: absence)
            }
        }
    }

    /// What is not there now, and may be later.
    private static func absence(_ kind: FolderError.Kind) -> (code: MessageCode, trouble: RootTrouble)? {
        switch kind {
        case .missing, .notDirectory: (.rootMissing, .absent)
        case .notSetUp: (.rootMissing, .unmarked)
        case .replaced: (.rootReplaced, .otherMark)
        case .permission, .alreadySetUp, .damaged, .inUse, .noSpace, .readOnly, .unsupported, .tooMany, .failed: nil
        }
    }

    private func wait(
        for record: NodeRecord, _ peer: KnownPeer, _ contact: LastContact?, _ store: Store,
        because absence: (code: MessageCode, trouble: RootTrouble)
    ) throws(Refusal) {
        let totals = try stored { () throws(StoreError) in try store.totals() }
        let alerts = try stored { () throws(StoreError) in try store.value(Fact.alerts) }
        let path = configuration.folder.path
        let room = try WaitingRoom(
            configuration, record: record, peer: peer, contact: contact, totals: totals,
            alerts: alerts.map { AlertBook(encoded: $0) } ?? AlertBook(), because: absence.code,
            RootWords.sentence(path, absence.trouble), journal: journal)
        let isBack = try room.wait { Opening.marker(at: path) == record.folder }
        if !isBack { throw Refusal(exit: .stopped, text: "stopped") }
    }

    private static func marker(at path: [UInt8]) -> FolderID? {
        do throws(FolderError) { return try Folder.marker(at: path) } catch { return nil }
    }

    private func refusal(_ error: FolderError) -> Refusal {
        let place = shownFolder
        switch error.kind {
        case .inUse:
            return Refusal(exit: .inUse, text: "another syncd works in \(place). Stop it first.")
        case .permission:
            return Refusal(
                exit: .permission,
                text:
                    "\(place) cannot be used: \(error). Give the user that runs syncd access to it. Nothing was touched."
            )
        case .missing, .notSetUp, .notDirectory:
            return Refusal(
                exit: .configuration, code: .rootMissing,
                text: """
                    \(place) is not there or not set up: \(error). If it lies on a disk that is not mounted, mount it; \
                    if it is new, run syncctl init. Nothing was touched, and nothing counts as deleted.
                    """)
        case .replaced:
            return Refusal(
                exit: .configuration, code: .rootReplaced,
                text: """
                    \(place) is another folder than the one this node was set up with. If a disk is not mounted, mount \
                    it. Nothing was touched, and nothing counts as deleted.
                    """)
        case .damaged:
            return Refusal(
                exit: .storage,
                text: """
                    \(place) cannot be used: \(error). Nothing was touched, and nothing counts as deleted. Bring that back as it \
                    was, from a backup; where there is none, troubleshooting.md says how to set the node up anew.
                    """)
        case .alreadySetUp, .noSpace, .readOnly, .unsupported, .tooMany, .failed:
            return Refusal(exit: .storage, text: "\(place) cannot be used: \(error). Nothing was touched.")
        }
    }

    // MARK: Record

    /// Whose state this is, before anything else is looked at.
    private func nodeID(_ key: IdentityKey, _ stored: NodeRecord?, _ store: Store) throws(Refusal) -> NodeID {
        guard let digest = Digest(bytes: key.fingerprint) else {
            throw Refusal(exit: .configuration, text: "the key in \(shownKeyPath) has no fingerprint of 32 bytes")
        }
        let id = NodeID(digest)
        guard let stored else { return id }
        let present = try self.stored { () throws(StoreError) in try store.value(Fact.ownKey) }
        if key.fingerprint == present ?? stored.id.digest.bytes { return stored.id }
        // The last process ended between changing the key and noting it.
        let next = try self.stored { () throws(StoreError) in try store.value(Fact.nextKey) }
        if key.fingerprint == next {
            try self.stored { () throws(StoreError) in try NodeKeys.note(isPresent: key.fingerprint, store) }
            return stored.id
        }
        throw Refusal(
            exit: .refusedData,
            text: """
                the state in \(shownState) belongs to another key than \(shownKeyPath). Put the right key back, or \
                give this node a state directory of its own. Nothing was touched.
                """)
    }

    /// True if the machine was started anew since the last time. That something may be damaged is on record before this boot is:
    /// the process may end before the node has written anything.
    private func noteBoot(_ store: Store, _ record: inout NodeRecord, isFirst: Bool) throws(Refusal) -> Bool {
        let boot = System.bootID()
        let last = try stored { () throws(StoreError) in try store.value(Fact.boot) }
        // A machine that does not tell is taken for one that went down: that costs time, never a file.
        let wasLost = !isFirst && (boot == nil || boot != last || reason == .diskWasPulled)
        if wasLost {
            let now = Moment(
                monotonicMilliseconds: Clock.monotonicMilliseconds(), wallMilliseconds: Clock.wallMilliseconds())
            record.distrust(Limits(), at: now)
            let batch = StoreBatch([.putNode(record)])
            try stored { () throws(StoreError) in try store.perform(batch) }
        }
        if boot != last { try stored { () throws(StoreError) in try store.setValue(Fact.boot, boot) } }
        return wasLost
    }
}
