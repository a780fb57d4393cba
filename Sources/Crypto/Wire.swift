/// What OpenSSL takes for a socket: bytes of the network on one side, bytes for the network on the other.
///
/// A memory BIO would do, with two more copies of every byte. This one reads where the caller's bytes are and writes
/// where they are taken from.
import COpenSSL

@safe final class Wire {
    /// Only valid while `lending` runs.
    private var incoming = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    private(set) var outgoing: [UInt8] = []

    /// For a session that will own it. It points back here without a reference: the session keeps this wire until it
    /// has freed its BIO.
    func makeBIO() -> OpaquePointer? {
        guard let bio = unsafe BIO_new(Wire.method.raw) else { return nil }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    /// Lets OpenSSL read `bytes` while `body` runs.
    func lending<Result>(_ bytes: [UInt8], _ body: () -> Result) -> Result {
        unsafe bytes.withUnsafeBytes { lent in
            unsafe incoming = lent
            defer { unsafe incoming = UnsafeRawBufferPointer(start: nil, count: 0) }
            return body()
        }
    }

    func takeOutgoing() -> [UInt8] {
        let taken = outgoing
        outgoing = []
        return taken
    }

    /// Room for what is coming, at least doubled, so that many small announcements do not copy over and over.
    func expectOutgoing(_ count: Int) {
        let needed = outgoing.count + count
        guard needed > outgoing.capacity else { return }
        outgoing.reserveCapacity(max(needed, outgoing.capacity * 2))
    }

    fileprivate func read(into room: UnsafeMutableRawBufferPointer) -> Int {
        let count = unsafe min(room.count, incoming.count)
        unsafe room.copyMemory(from: UnsafeRawBufferPointer(rebasing: incoming[..<count]))
        unsafe incoming = UnsafeRawBufferPointer(rebasing: incoming[count...])
        return count
    }

    fileprivate func write(_ bytes: UnsafeRawBufferPointer) {
        unsafe outgoing.append(contentsOf: bytes)
    }

    /// Unchecked because of the pointer: the table behind it is filled here, never changed afterwards and never freed.
    @safe private struct Method: @unchecked Sendable {
        let raw: OpaquePointer

        init() {
            guard let raw = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "syncd wire") else {
                preconditionFailure("OpenSSL has no memory for a table of functions")
            }
            unsafe BIO_meth_set_read_ex(raw, readWire)
            unsafe BIO_meth_set_write_ex(raw, writeWire)
            unsafe BIO_meth_set_ctrl(raw, controlWire)
            unsafe self.raw = raw
        }
    }

    private static let method = Method()
}

private func wire(of bio: OpaquePointer?) -> Wire? {
    unsafe BIO_get_data(bio).map { unsafe Unmanaged<Wire>.fromOpaque($0).takeUnretainedValue() }
}

private func readWire(
    _ bio: OpaquePointer?, _ room: UnsafeMutablePointer<CChar>?, _ roomCount: Int, _ done: UnsafeMutablePointer<Int>?
) -> Int32 {
    unsafe copenssl_clear_retry(bio)
    let room = unsafe UnsafeMutableRawBufferPointer(start: room, count: roomCount)
    let count = unsafe wire(of: bio)?.read(into: room) ?? 0
    unsafe done?.pointee = count
    if count == 0 { unsafe copenssl_set_retry_read(bio) }
    return count == 0 ? 0 : 1
}

private func writeWire(
    _ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: Int, _ done: UnsafeMutablePointer<Int>?
) -> Int32 {
    unsafe copenssl_clear_retry(bio)
    unsafe wire(of: bio)?.write(UnsafeRawBufferPointer(start: bytes, count: count))
    unsafe done?.pointee = count
    return 1
}

/// OpenSSL flushes after each flight and wants to hear that it worked; it asks nothing else that matters here.
private func controlWire(_ bio: OpaquePointer?, _ command: Int32, _: Int, _: UnsafeMutableRawPointer?) -> Int {
    command == BIO_CTRL_FLUSH ? 1 : 0
}
