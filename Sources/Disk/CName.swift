/// Bytes of a name as C wants them, ended by a zero byte. Names of the tree have none inside.
import SyncModel

struct CName {
    private let bytes: [UInt8]

    init(_ bytes: some Collection<UInt8>) {
        var copy: [UInt8] = []
        copy.reserveCapacity(bytes.count + 1)
        copy.append(contentsOf: bytes)
        copy.append(0)
        self.bytes = copy
    }

    init(_ text: StaticString) {
        unsafe self.init(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// The pointer is good until the body returns.
    func withPointer<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        unsafe bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { preconditionFailure("there is always the zero byte") }
            return unsafe body(start.assumingMemoryBound(to: CChar.self))
        }
    }

    static let current = CName(".")
}
