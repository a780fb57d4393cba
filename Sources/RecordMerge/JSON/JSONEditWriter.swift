/// Puts an edited document together again from its own bytes. See `JSONEditor` for what is to be written.
///
/// White space before an item belongs to its place in the row rather than to the item: the first keeps what stood
/// before the first, the others what stood before them. White space before the closing bracket belongs to the
/// container.
struct JSONEditWriter {
    private let document: JSONDocument
    private let style: JSONStyle
    private(set) var output: [UInt8]
    /// The containers being written, outermost first.
    private var rows: [Row] = []

    private struct Row {
        /// Items come or go.
        let isResized: Bool
        /// White space before the first item, before any other that has none of its own, and before the closing
        /// bracket.
        let first: [UInt8]
        let next: [UInt8]
        let last: [UInt8]
        var count = 0
        /// Where the source of the latest item ends, if it has one.
        var latest: Int?
    }

    init(document: JSONDocument, output: [UInt8]) {
        self.document = document
        self.output = output
        style = JSONStyle(of: document)
    }

    mutating func append(_ bytes: [UInt8]) { output += bytes }
    mutating func append(_ bytes: ArraySlice<UInt8>) { output += bytes }

    mutating func open(_ container: JSONDocument.Place, isResized: Bool) {
        rows.append(row(of: container, isResized: isResized))
        output.append(document.bytes[document.range(of: container).lowerBound])
    }

    /// Everything of a kept item before its value.
    mutating func beginKept(_ child: JSONDocument.Place, wasFirst: Bool) {
        let start = document.keyRange(of: child)?.lowerBound ?? document.range(of: child).lowerBound
        beginItem(own: wasFirst ? nil : space(before: start))
        output += document.bytes[start..<document.range(of: child).lowerBound]
        rows[rows.count - 1].latest = document.range(of: child).upperBound
    }

    mutating func appendNew(key: [UInt8]?, value: JSONText) {
        beginItem(own: nil)
        if let key { output += key + style.colon }
        output += value.bytes
        rows[rows.count - 1].latest = nil
    }

    mutating func close(_ container: JSONDocument.Place) {
        guard let row = rows.popLast() else { return }
        if row.count > 0 { output += row.last }
        output.append(document.bytes[document.range(of: container).upperBound - 1])
    }

    private mutating func beginItem(own: [UInt8]?) {
        let row = rows[rows.count - 1]
        if row.count > 0 {
            // White space before a comma is rare, and stays where no item came or went.
            if let latest = row.latest, !row.isResized { output += space(after: latest) }
            output.append(JSONByte.comma)
        }
        output += row.count == 0 ? row.first : own ?? row.next
        rows[rows.count - 1].count += 1
    }

    private func row(of container: JSONDocument.Place, isResized: Bool) -> Row {
        let range = document.range(of: container)
        let children = document.children(of: container)
        guard children.contains(where: { _ in true }) else {
            let first = style.spaceBeforeFirst(in: container)
            let last = style.spaceAfterLast(in: container)
            return Row(isResized: isResized, first: first, next: style.spaceBeforeNext(after: first), last: last)
        }
        let first = space(after: range.lowerBound + 1)
        let next = children.dropFirst().first { _ in true }.map { space(before: start(of: $0)) }
        return Row(
            isResized: isResized, first: first, next: next ?? style.spaceBeforeNext(after: first),
            last: space(before: range.upperBound - 1))
    }

    private func start(of child: JSONDocument.Place) -> Int {
        document.keyRange(of: child)?.lowerBound ?? document.range(of: child).lowerBound
    }

    private func space(after offset: Int) -> [UInt8] {
        Array(document.bytes[offset...].prefix { JSONByte.isSpace($0) })
    }

    private func space(before offset: Int) -> [UInt8] {
        var start = offset
        while start > 0, JSONByte.isSpace(document.bytes[start - 1]) { start -= 1 }
        return Array(document.bytes[start..<offset])
    }
}
