/// How a document is laid out, so that what is added looks like what is there: one member to a line or all on one line,
/// which white space, which line ends. What a document does not show is taken as two spaces and a line feed.
struct JSONStyle {
    private let document: JSONDocument
    /// Members are put on lines of their own.
    private let hasLines: Bool
    private let lineEnd: [UInt8]
    private let indent: [UInt8]
    /// Between key and value, the colon included.
    let colon: [UInt8]

    init(of document: JSONDocument) {
        self.document = document
        let bytes = document.bytes
        let lineFeed = bytes.firstIndex(of: JSONByte.lineFeed)
        let isDOS = lineFeed.map { $0 > 0 && bytes[$0 - 1] == JSONByte.carriageReturn } ?? false
        lineEnd = isDOS ? [JSONByte.carriageReturn, JSONByte.lineFeed] : [JSONByte.lineFeed]
        let root = document.range(of: .root)
        hasLines = bytes[root].contains(JSONByte.lineFeed) || root.count == 2 && lineFeed != nil
        indent = JSONStyle.indent(of: document) ?? [JSONByte.space, JSONByte.space]
        colon = JSONStyle.colon(of: document) ?? [JSONByte.colon, JSONByte.space]
    }

    /// White space before the first item of a container that had none.
    func spaceBeforeFirst(in container: JSONDocument.Place) -> [UInt8] {
        hasLines ? lineEnd + margin(of: container) + indent : []
    }

    /// White space after the last item of a container that had none.
    func spaceAfterLast(in container: JSONDocument.Place) -> [UInt8] {
        hasLines ? lineEnd + margin(of: container) : []
    }

    /// White space before an item that follows another, where the container shows it at its first item only.
    func spaceBeforeNext(after first: [UInt8]) -> [UInt8] {
        if first.contains(JSONByte.lineFeed) { return first }
        return colon.last == JSONByte.space ? [JSONByte.space] : []
    }

    /// White space at the start of the line on which a value begins.
    private func margin(of place: JSONDocument.Place) -> [UInt8] {
        let before = document.bytes[..<document.range(of: place).lowerBound]
        let start = before.lastIndex(of: JSONByte.lineFeed).map { $0 + 1 } ?? 0
        return Array(before[start...].prefix { $0 == JSONByte.space || $0 == JSONByte.tab })
    }

    /// What the first container with lines puts before its first item, beyond its own margin.
    private static func indent(of document: JSONDocument) -> [UInt8]? {
        let root = document.range(of: .root)
        guard let first = document.children(of: .root).first(where: { _ in true }) else { return nil }
        let start = document.keyRange(of: first)?.lowerBound ?? document.range(of: first).lowerBound
        let space = document.bytes[(root.lowerBound + 1)..<start]
        guard let lineFeed = space.lastIndex(of: JSONByte.lineFeed) else { return nil }
        return Array(space[(lineFeed + 1)...])
    }

    private static func colon(of document: JSONDocument) -> [UInt8]? {
        for index in document.values.indices {
            let place = JSONDocument.Place(index: index)
            guard let key = document.keyRange(of: place) else { continue }
            return Array(document.bytes[key.upperBound..<document.range(of: place).lowerBound])
        }
        return nil
    }
}
