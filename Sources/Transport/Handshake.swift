internal import Crypto
internal import EventLoop

/// A connection that is not a life yet: TLS is under way, or the peer has still to say that it takes the connection.
///
/// It ends in exactly one of three ways: `finished` hands the stream on, `failed` tells why not, or `drop` by its
/// owner.
final class Handshake {
    let stream: SecureStream
    let isDialled: Bool
    /// For a dialled connection: the endpoint, as `Caller` knows it.
    let dialled: Endpoint?
    /// What a dialled connection is for; nil for one that came in, where TLS tells.
    let purpose: Purpose?
    private let patience: Timer
    private let onStep: (Handshake, Step) -> Void
    private var isOver = false

    enum Purpose { case link, pairing }

    enum Step {
        /// The peer is authenticated. The stream still belongs to the handshake until `handOver`.
        case established
        /// Only of a dialled connection: the peer's first words, which say that it takes it.
        case welcomed([UInt8])
        /// An orderly end instead of a welcome: the peer prefers another connection.
        case declined
        case failed(LinkRejection)
        /// The network's troubles say nothing about the peer.
        case lost(LoopError)
    }

    init(
        loop: Loop, stream: SecureStream, dialled: Endpoint?, purpose: Purpose?, patienceMilliseconds: UInt64,
        onStep: @escaping (Handshake, Step) -> Void
    ) {
        self.stream = stream
        self.dialled = dialled
        self.purpose = purpose
        self.onStep = onStep
        isDialled = dialled != nil
        patience = Timer(loop: loop)
        patience.start(afterMilliseconds: patienceMilliseconds) { [self] in over(.failed(.tooSlow)) }
        stream.onEstablished = { [self] in onStep(self, .established) }
        stream.onPlain = { [self] in welcomed($0) }
        stream.onEnd = { [self] in ended($0) }
    }

    var address: String { stream.address }

    /// The stream is somebody else's from here.
    func handOver() -> SecureStream {
        isOver = true
        patience.close()
        return stream
    }

    func drop() {
        guard !isOver else { return }
        isOver = true
        patience.close()
        stream.close()
    }

    private func welcomed(_ bytes: [UInt8]) {
        guard !isOver else { return }
        onStep(self, .welcomed(bytes))
    }

    private func ended(_ ending: SecureStream.Ending) {
        switch ending {
        case .orderly: over(stream.isEstablished ? .declined : .failed(.left))
        case .cut: over(.failed(.left))
        case .network(let error): over(.lost(error))
        case .security(let error): over(.failed(Self.rejection(for: error)))
        case .flood: over(.failed(.noTLS("it sent more than a handshake has")))
        case .unread: over(.failed(.noTLS("it reads nothing of what it is answered")))
        }
    }

    private func over(_ step: Step) {
        guard !isOver else { return }
        isOver = true
        patience.close()
        stream.close()
        onStep(self, step)
    }

    private static func rejection(for error: CryptoError) -> LinkRejection {
        switch error.kind {
        case .untrustedKey(let fingerprint): .wrongKey(fingerprint: fingerprint)
        case .noCommonProtocol: .notPairedHere
        case .refusedByPeer(let alert) where alert == TLSAlert.badCertificate: .ourKeyRefused
        case .refusedByPeer(let alert) where alert == TLSAlert.noApplicationProtocol: .notPairedThere
        case .closed: .left
        case .library, .badKey, .refusedByPeer, .badTraffic: .noTLS(error.reason)
        }
    }
}

/// RFC 8446, section 6.2.
private enum TLSAlert {
    static let badCertificate: UInt8 = 42
    static let noApplicationProtocol: UInt8 = 120
}
