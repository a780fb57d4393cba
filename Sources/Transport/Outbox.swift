/// What waits to be sent, as one row of bytes, and which frames are out when so much of it has gone.
struct Outbox {
    /// A queue with a moving head; `nil` before the head, so that what is out is freed.
    private var items: [Item?] = []
    private var first = 0
    /// How much of the first item has been taken.
    private var taken = 0
    private(set) var waitingBytes = 0

    private struct Item {
        let bytes: [UInt8]
        /// Length of the frame in it as the core knows it; 0 for what the transport says on its own behalf.
        let frameBytes: Int
    }

    struct Piece {
        let bytes: [UInt8]
        /// Of the frames whose last byte is in this piece.
        let frameBytes: Int
    }

    var isEmpty: Bool { waitingBytes == 0 }

    mutating func add(_ bytes: [UInt8], frameBytes: Int = 0) {
        items.append(Item(bytes: bytes, frameBytes: frameBytes))
        waitingBytes += bytes.count
    }

    /// Header and payload one behind the other: a large payload is not copied to get a header.
    mutating func add(_ record: Record, frameBytes: Int) {
        add(record.header)
        add(record.payload, frameBytes: frameBytes)
    }

    /// At most `count` bytes: small records travel together, large ones in several pieces.
    mutating func take(_ count: Int) -> Piece? {
        guard count > 0, waitingBytes > 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(count, waitingBytes))
        var frameBytes = 0
        while bytes.count < count, first < items.count, let item = items[first] {
            let end = min(item.bytes.count, taken + count - bytes.count)
            bytes += item.bytes[taken..<end]
            taken = end
            guard taken == item.bytes.count else { break }
            frameBytes += item.frameBytes
            dropFirst()
        }
        waitingBytes -= bytes.count
        return Piece(bytes: bytes, frameBytes: frameBytes)
    }

    private mutating func dropFirst() {
        items[first] = nil
        first += 1
        taken = 0
        guard first == items.count || first >= 1_024 else { return }
        items.removeFirst(first)
        first = 0
    }
}
