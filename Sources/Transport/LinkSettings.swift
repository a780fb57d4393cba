public import EventLoop

/// How a link behaves. The times are chosen so that a dead peer is noticed within five seconds and a network that comes
/// back is used within two.
public struct LinkSettings: Sendable {
    /// Where to listen; nil dials only.
    public var listen: Endpoint?
    /// Where to dial; nil listens only.
    public var peer: Endpoint?
    /// Bytes sent each second at most; 0 for no limit.
    public var rateLimitBytesPerSecond: UInt64 = 0

    /// After so long without having said anything, a side says that it is alive.
    public var keepAliveMilliseconds: UInt64 = 1_500
    /// After so long without having heard anything, the peer counts as gone.
    public var deadMilliseconds: UInt64 = 4_500
    /// A connection that is not authenticated by then is dropped.
    public var helloMilliseconds: UInt64 = 10_000
    /// Patience with one address: longer than a packet is on its way to anywhere.
    public var dialMilliseconds: UInt64 = 1_500
    /// Attempts to connect begin at least this far apart at first, ...
    public var reconnectFirstMilliseconds: UInt64 = 100
    /// ... and at most this far in the end.
    public var reconnectLastMilliseconds: UInt64 = 1_500
    /// What may wait to be sent. The core keeps far below; beyond it the life ends, rather than the memory.
    public var outboundBytesMax = 32 << 20

    /// An invitation is valid this long.
    public var invitationMilliseconds: UInt64 = 15 * 60 * 1_000
    /// `join` tries this long to reach the inviting node.
    public var pairingMilliseconds: UInt64 = 30_000

    public init(listen: Endpoint?, peer: Endpoint?) {
        self.listen = listen
        self.peer = peer
    }
}
