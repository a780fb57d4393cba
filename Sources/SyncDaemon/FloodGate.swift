/// Whether the peer is to be held back: it sends faster than the core takes in. An honest one is bounded by what was asked of
/// it and stays below.
struct FloodGate {
    /// Frames that the core has not seen yet, and their bytes.
    struct Unread: Equatable {
        var frames = 0
        var bytes = 0
    }

    private(set) var isClosed = false

    static let framesMax = 4_096
    static let bytesMax = 16 << 20
    /// It opens again when so little is left of either.
    static let shareLeft = 4

    /// True if it has closed or opened.
    mutating func follow(_ unread: Unread) -> Bool {
        let isTooMuch = unread.frames > FloodGate.framesMax || unread.bytes > FloodGate.bytesMax
        let isLittle =
            unread.frames <= FloodGate.framesMax / FloodGate.shareLeft
            && unread.bytes <= FloodGate.bytesMax / FloodGate.shareLeft
        guard isClosed ? isLittle : isTooMuch else { return false }
        isClosed.toggle()
        return true
    }
}
