internal import Crypto
internal import EventLoop

/// One connection on which two nodes pair: records in and out, and an end to patience. What is said is decided by
/// `PairingDesk`.
final class PairingTalk {
    enum Heard {
        case proof(PairingMessage)
        case answer(PairingMessage)
        case refusal(PairingRefusal)
        case ended
        case violation(String)
    }

    let peer: [UInt8]
    let exporter: [UInt8]
    /// The endpoint, if this side dialled.
    let dialled: Endpoint?
    private let stream: SecureStream
    private let patience: Timer
    private let onHeard: (PairingTalk, Heard) -> Void
    private var reader = RecordReader(limit: Record.pairingLimit)
    private var isOver = false

    /// Nil, with the stream closed, when it cannot be used for pairing.
    init?(
        loop: Loop, stream: SecureStream, dialled: Endpoint?, patienceMilliseconds: UInt64,
        onHeard: @escaping (PairingTalk, Heard) -> Void
    ) {
        guard let peer = stream.peerFingerprint,
            let exporter = try? stream.exportKey(
                label: PairingProof.exporterLabel, length: PairingProof.exporterBytes)
        else {
            stream.close()
            return nil
        }
        self.peer = peer
        self.exporter = exporter
        self.stream = stream
        self.dialled = dialled
        self.onHeard = onHeard
        patience = Timer(loop: loop)
        patience.start(afterMilliseconds: patienceMilliseconds) { [self] in over(.ended) }
        stream.onEstablished = nil
        stream.onPlain = { [self] in heard($0) }
        stream.onEnd = { [self] _ in over(.ended) }
    }

    var address: String { stream.address }

    func say(_ kind: Record.PairingKind, _ payload: [UInt8]) {
        guard !isOver else { return }
        stream.write(Record.pairing(kind, payload))
    }

    func refuse(_ refusal: PairingRefusal) { say(.refusal, [refusal.rawValue]) }

    /// Nothing is heard any more.
    func close() {
        guard !isOver else { return }
        isOver = true
        patience.close()
        stream.close()
    }

    private func heard(_ bytes: [UInt8]) {
        reader.append(bytes)
        do throws(RecordReader.BadLength) {
            while !isOver, let record = try reader.next() { handle(record) }
        } catch {
            over(.violation("\(error)"))
        }
    }

    private func handle(_ record: Record) {
        switch Record.PairingKind(rawValue: record.kind) {
        case .proof:
            guard let message = PairingMessage(payload: record.payload) else { return over(.violation("a bad proof")) }
            onHeard(self, .proof(message))
        case .answer:
            guard let message = PairingMessage(payload: record.payload) else { return over(.violation("a bad answer")) }
            onHeard(self, .answer(message))
        case .refusal:
            guard let refusal = record.payload.first.flatMap(PairingRefusal.init(rawValue:)) else {
                return over(.violation("an unknown refusal"))
            }
            onHeard(self, .refusal(refusal))
        case nil: break  // A later version's.
        }
    }

    private func over(_ heard: Heard) {
        guard !isOver else { return }
        close()
        onHeard(self, heard)
    }
}
