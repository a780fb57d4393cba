internal import Compression
internal import EventLoop

/// One life of the link: an authenticated connection, from the moment both sides count on it to its end.
///
/// It turns frames into records and back, keeps the connection warm, notices when the peer falls silent, and holds
/// sending down to what the kernel takes and the rate limit allows.
final class LinkLife {
    let number: UInt64
    let address: String
    let isDialled: Bool
    let begunMilliseconds = Clock.monotonicMilliseconds()
    /// Nil once the life is over.
    private var onEvent: ((Happening) -> Void)?

    enum Happening {
        case frame([UInt8])
        case sent(Int)
        /// The peer wants to use another key from now on, as `Renewal.offer` writes it.
        case newKey([UInt8])
        /// What has become of the new key with this fingerprint on the other node.
        case newKeyAnswered([UInt8], isTaken: Bool)
        case ended(LinkEnd)
    }

    private let loop: Loop
    private let stream: SecureStream
    private let settings: LinkSettings
    private var reader = RecordReader(limit: Record.linkLimit)
    private var outbox = Outbox()
    private var bucket: TokenBucket
    private var packer = FramePacker()
    private let pulse: Timer
    private let refill: Timer
    private var isPumpDue = false
    private var isAnswerWaiting = false
    private var isPaused = false
    private(set) var heardMilliseconds = Clock.monotonicMilliseconds()
    private var saidMilliseconds = Clock.monotonicMilliseconds()
    /// When the pulse was to come.
    private var pulseMilliseconds: UInt64 = 0
    /// A life that may be stale has to be heard of by then.
    private var probeMilliseconds: UInt64?

    /// What is encrypted at a time: OpenSSL is fastest with this much, and it is soon through the kernel.
    private static let pieceBytesMax = 64 << 10
    /// Encrypted bytes that may wait for the kernel; the rest waits unencrypted, where it can still be dropped.
    private static let pendingBytesMax = 256 << 10
    /// A pulse that comes this late tells of a loop or a machine that stood still, not of the peer.
    private var standstillMilliseconds: UInt64 { settings.deadMilliseconds / 4 }

    init(
        number: UInt64, loop: Loop, stream: SecureStream, isDialled: Bool, settings: LinkSettings,
        onEvent: @escaping (Happening) -> Void
    ) {
        self.number = number
        self.loop = loop
        self.stream = stream
        self.isDialled = isDialled
        self.settings = settings
        self.onEvent = onEvent
        address = stream.address
        bucket = TokenBucket(
            bytesPerSecond: settings.rateLimitBytesPerSecond, nowMilliseconds: Clock.monotonicMilliseconds())
        pulse = Timer(loop: loop)
        refill = Timer(loop: loop)
        stream.onEstablished = nil
        stream.onPlain = { [self] in heard($0) }
        stream.onEnd = { [self] in streamEnded($0) }
        armPulse()
    }

    // MARK: Sending

    func send(frame: [UInt8]) {
        guard onEvent != nil else { return }
        precondition(frame.count < Record.linkLimit, "no frame is longer than \(Record.linkLimit - 1) bytes")
        outbox.add(packer.record(for: frame), frameBytes: frame.count)
        pumpUnlessTooMuch()
    }

    func say(_ kind: Record.LinkKind, _ payload: [UInt8]) {
        guard onEvent != nil else { return }
        outbox.add(Record.link(kind, payload))
        pumpUnlessTooMuch()
    }

    /// Also of answers: a peer may have us give them, and read none.
    private func pumpUnlessTooMuch() {
        guard outbox.waitingBytes <= settings.outboundBytesMax else {
            return loop.doLater { [self] in finish(.overflow) }
        }
        pumpLater()
    }

    /// What a new key is proved with on this session, in the one direction or the other; nil if it has no secret to give.
    func renewal(bySender isSender: Bool) -> Renewal? {
        guard let peer = stream.peerFingerprint,
            let exporter = try? stream.exportKey(label: Renewal.exporterLabel, length: Renewal.exporterBytes)
        else { return nil }
        let own = stream.ownFingerprint
        return Renewal(exporter: exporter, sender: isSender ? own : peer, receiver: isSender ? peer : own)
    }

    /// Fingerprints of the keys that the two ends have shown.
    var keys: (own: [UInt8], peer: [UInt8]) { (stream.ownFingerprint, stream.peerFingerprint ?? []) }

    /// Also the first thing said by the side that accepted the connection: it tells the other that the life has begun.
    func sendKeepAlive() {
        outbox.add(Record.link(.keepAlive))
        pumpLater()
    }

    func setRateLimit(bytesPerSecond: UInt64) {
        bucket = TokenBucket(bytesPerSecond: bytesPerSecond, nowMilliseconds: Clock.monotonicMilliseconds())
        pumpLater()
    }

    /// Everything that is sent in one turn goes out together.
    private func pumpLater() {
        guard !isPumpDue else { return }
        isPumpDue = true
        loop.doLater { [self] in
            isPumpDue = false
            pump()
        }
    }

    private func pump() {
        while onEvent != nil, !outbox.isEmpty, stream.pendingBytes < Self.pendingBytesMax {
            let wanted = min(Self.pieceBytesMax, outbox.waitingBytes)
            let allowed = bucket.allowance(nowMilliseconds: Clock.monotonicMilliseconds())
            guard let piece = outbox.take(min(wanted, allowed)) else { return waitForRefill(wanted) }
            bucket.spend(piece.bytes.count)
            isAnswerWaiting = false
            saidMilliseconds = Clock.monotonicMilliseconds()
            stream.write(piece.bytes) { [self] in isOut(piece) }
        }
    }

    private func isOut(_ piece: Outbox.Piece) {
        if piece.frameBytes > 0 { onEvent?(.sent(piece.frameBytes)) }
        pump()
    }

    /// Not for every byte: a sixteenth of a second at a time is smooth enough.
    private func waitForRefill(_ wanted: Int) {
        guard !refill.isRunning else { return }
        let step = max(1, min(wanted, Int(clamping: bucket.bytesPerSecond / 16)))
        refill.start(afterMilliseconds: bucket.waitMilliseconds(for: step)) { [self] in pump() }
    }

    // MARK: Receiving

    func pauseReading() {
        guard onEvent != nil, !isPaused else { return }
        isPaused = true
        stream.pauseReading()
    }

    func resumeReading() {
        guard onEvent != nil, isPaused else { return }
        isPaused = false
        // While we did not listen, the peer could not be heard.
        heardMilliseconds = Clock.monotonicMilliseconds()
        // What had arrived before the pause comes first, in a later turn like everything else.
        loop.doLater { [self] in
            guard onEvent != nil, !isPaused else { return }
            deliver()
            if onEvent != nil, !isPaused { stream.resumeReading() }
        }
    }

    func heard(_ bytes: [UInt8]) {
        heardMilliseconds = Clock.monotonicMilliseconds()
        probeMilliseconds = nil
        reader.append(bytes)
        deliver()
    }

    private func deliver() {
        do throws(RecordReader.BadLength) {
            while onEvent != nil, !isPaused, let record = try reader.next() { handle(record) }
        } catch {
            finish(.violation("\(error)"))
        }
    }

    private func handle(_ record: Record) {
        switch Record.LinkKind(rawValue: record.kind) {
        case .frame: onEvent?(.frame(record.payload))
        case .compressedFrame: unpack(record.payload)
        case .keepAlive: answer()
        case .keepAliveAnswer: break  // Having been heard is all it is for.
        case .newKey: onEvent?(.newKey(record.payload))
        case .newKeyTaken: onEvent?(.newKeyAnswered(Array(record.payload.prefix(32)), isTaken: true))
        case .newKeyNotTaken: onEvent?(.newKeyAnswered(Array(record.payload.prefix(32)), isTaken: false))
        case nil: break  // A later version's.
        }
    }

    private func unpack(_ packed: [UInt8]) {
        do throws(ZstdError) {
            let frame = try Zstd.decompress(packed, limit: Record.plainFrameBytesMax)
            onEvent?(.frame(frame))
        } catch {
            finish(.violation("\(error)"))
        }
    }

    /// However many keep-alives come, one answer waits.
    private func answer() {
        guard !isAnswerWaiting else { return }
        isAnswerWaiting = true
        outbox.add(Record.link(.keepAliveAnswer))
        pumpLater()
    }

    // MARK: Being alive

    /// The peer says that it is not connected to us, although this life goes on here: it has to be heard of soon.
    func probe() {
        guard onEvent != nil, !isPaused, probeMilliseconds == nil else { return }
        probeMilliseconds = Clock.monotonicMilliseconds() + settings.keepAliveMilliseconds
        sendKeepAlive()
        armPulse()
    }

    private var silenceEndsMilliseconds: UInt64 {
        let patient = heardMilliseconds + settings.deadMilliseconds
        return probeMilliseconds.map { min($0, patient) } ?? patient
    }

    private func armPulse() {
        let now = Clock.monotonicMilliseconds()
        let keepAlive = max(now + 1, saidMilliseconds + settings.keepAliveMilliseconds)
        pulseMilliseconds = isPaused ? keepAlive : min(keepAlive, max(now + 1, silenceEndsMilliseconds))
        pulse.start(afterMilliseconds: pulseMilliseconds - now) { [self] in beat() }
    }

    private func beat() {
        let now = Clock.monotonicMilliseconds()
        if now > pulseMilliseconds + standstillMilliseconds {
            // What the peer said meanwhile has not been read yet: give it one interval to show.
            // (A machine that has just been started has no time so long ago.)
            let soon = now + settings.keepAliveMilliseconds
            heardMilliseconds = max(heardMilliseconds, soon - min(soon, settings.deadMilliseconds))
            probeMilliseconds = nil
        }
        if !isPaused, now >= silenceEndsMilliseconds {
            return finish(.silent(milliseconds: now - heardMilliseconds))
        }
        if now >= saidMilliseconds + settings.keepAliveMilliseconds {
            // Bytes that wait show as much, once the way is free.
            if outbox.isEmpty, stream.pendingBytes == 0 { sendKeepAlive() }
            saidMilliseconds = now
        }
        armPulse()
    }

    // MARK: The end

    private func streamEnded(_ ending: SecureStream.Ending) {
        switch ending {
        case .orderly: finish(.closedByPeer)
        case .cut: finish(.cut)
        case .network(let error): finish(.failed(error))
        case .security(let error): finish(.violation("\(error)"))
        case .flood: finish(.violation("too many bytes before its key was proved"))
        case .unread: finish(.violation("it reads nothing of what it is answered"))
        }
    }

    /// Once; later calls change nothing.
    func finish(_ reason: LinkEnd) {
        guard let told = onEvent else { return }
        onEvent = nil
        pulse.close()
        refill.close()
        switch reason {
        case .silent, .overflow: stream.abandon()
        case .closedHere, .unpaired, .closedByPeer, .replaced, .keyRenewed, .cut, .failed, .violation: stream.close()
        }
        told(.ended(reason))
    }
}
