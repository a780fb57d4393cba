import EventLoop
import Store
import SyncCore
import Transport

/// When the other node was last heard of, and by which program: told while it is away, over a restart as well (`LastContact`).
extension Daemon {
    /// As far as this process and those before it know.
    var lastContactMilliseconds: Int64? {
        guard let heard = link.heardMilliseconds else { return contact?.wallMilliseconds }
        return Clock.wallMilliseconds() - Int64(clamping: Clock.monotonicMilliseconds() - heard)
    }

    /// The version of its program: the one of now tells it with its greeting.
    func peerProgram(_ status: Status) -> String? {
        LastContact.text(of: status.peerProgram) ?? contact.flatMap { LastContact.text(of: $0.program) }
    }

    /// Nothing is on disk yet. `then` does not come where nobody has been heard of.
    func noteContact(then: @escaping (LastContact) -> Void = { _ in }) {
        guard pin != nil, link.heardMilliseconds != nil else { return }
        host.ask(.status) { [unowned self] answer in
            // Who was forgotten meanwhile is not remembered once more.
            guard pin != nil, case .status(let status) = answer, let heard = lastContactMilliseconds else { return }
            let program = status.peerProgram.isEmpty ? contact?.program ?? [] : status.peerProgram
            let latest = LastContact(wallMilliseconds: heard, program: program)
            contact = latest
            then(latest)
        }
    }

    /// For the next process, which may begin while the other node is away. Never with a message: at the end of a connection, now and then
    /// with a sign of life of this node, and when it stops.
    func rememberContact() {
        noteContact { [unowned self] contact in
            // Without it people are told of the contact before.
            host.keep([(key: Opening.Fact.lastContact, value: contact.encoded)]) { _ in }
        }
    }

    /// As long as the connection lasts. Who is killed may have heard of it so long after what is written down.
    func rememberContactAgain() {
        guard connection.life != nil else { return }
        if let contact {
            let age = (Clock.wallMilliseconds() - contact.wallMilliseconds).magnitude
            guard age >= Daemon.contactPauseMilliseconds else { return }
        }
        rememberContact()
    }

    private static let contactPauseMilliseconds: UInt64 = 600_000

    /// For the end, when nobody else works with the store any more.
    func saveContactAtOnce() {
        guard pin != nil, link.heardMilliseconds != nil, let heard = lastContactMilliseconds else { return }
        let last = LastContact(wallMilliseconds: heard, program: contact?.program ?? [])
        do throws(StoreError) {
            try store.setValue(Opening.Fact.lastContact, last.encoded)
        } catch {
            journal.trace("when the other node was last heard of cannot be written down: \(error)", at: .changes)
        }
    }
}
