/// Cuts a byte stream into lines, with a bound on what an endless line can make us keep.
public struct LineBuffer: Sendable {
    /// Both ways, the newline not counted.
    public static let lineBytesMax = 4 << 20

    public enum Next: Hashable, Sendable {
        /// No whole line is there yet.
        case none
        /// Without its newline, and without a carriage return before it.
        case line([UInt8])
        /// What is there already is longer than a line may be. The stream cannot be understood any more: close it.
        case tooLong
    }

    private let lineBytesMax: Int
    private var bytes: [UInt8] = []
    /// Where the next line begins, and how far its end has been looked for.
    private var start = 0
    private var searched = 0

    public init(lineBytesMax: Int = LineBuffer.lineBytesMax) {
        self.lineBytesMax = lineBytesMax
    }

    public mutating func append(_ more: some Collection<UInt8>) {
        if start > 0 {
            bytes.removeFirst(start)
            searched -= start
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    public mutating func next() -> Next {
        guard let end = bytes[searched...].firstIndex(of: 0x0A) else {
            searched = bytes.count
            return bytes.count - start > lineBytesMax ? .tooLong : .none
        }
        guard end - start <= lineBytesMax else { return .tooLong }
        var line = bytes[start..<end]
        if line.last == 0x0D { line = line.dropLast() }
        start = end + 1
        searched = start
        return .line(Array(line))
    }
}
