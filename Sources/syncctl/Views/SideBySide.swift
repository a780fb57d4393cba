/// Two texts beside each other, line by line: what stands in both is in one row, and a mark between the columns says where they differ.
/// No row is wider than the terminal: what does not fit goes on in the next.
struct SideBySide {
    let style: Style

    /// One row of the two texts; nil where one of them has nothing.
    private struct Row {
        let left: String?
        let right: String?

        var mark: String {
            switch (left, right) {
            case (let left?, let right?): left == right ? " " : "|"
            case (_?, nil): "<"
            case (nil, _): ">"
            }
        }
    }

    func lines(_ left: (title: String, text: String), _ right: (title: String, text: String)) -> [String] {
        let column = max(8, (style.width - 3) / 2)
        let titles = lines(of: Row(left: left.title, right: right.title), column) { _ in " " }
        let rows = SideBySide.rows(lines(of: left.text), lines(of: right.text))
        return titles.map(style.dim) + rows.flatMap { lines(of: $0, column, mark: \.mark) }
    }

    /// One text alone.
    func lines(_ title: String, _ text: String) -> [String] {
        [style.dim(title)] + lines(of: text).flatMap { SideBySide.pieces(of: $0, max(8, style.width)) }
    }

    /// Harmless ones: what a terminal could act upon is escaped.
    private func lines(of text: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            style.foreign(String(line).replacing("\t", with: "    "))
        }
        if lines.last == "" { lines.removeLast() }
        return lines
    }

    /// Neighbouring lines that go here and come there stand beside each other.
    private static func rows(_ left: [String], _ right: [String]) -> [Row] {
        let difference = right.difference(from: left)
        var (gone, come) = (Set<Int>(), Set<Int>())
        for change in difference {
            switch change {
            case .remove(let offset, _, _): gone.insert(offset)
            case .insert(let offset, _, _): come.insert(offset)
            }
        }
        var rows: [Row] = []
        var (here, there) = (0, 0)
        while here < left.count || there < right.count {
            if !gone.contains(here), !come.contains(there), here < left.count, there < right.count {
                rows.append(Row(left: left[here], right: right[there]))
                (here, there) = (here + 1, there + 1)
                continue
            }
            let isLeft = gone.contains(here)
            let isRight = come.contains(there)
            rows.append(Row(left: isLeft ? left[here] : nil, right: isRight ? right[there] : nil))
            if isLeft { here += 1 }
            if isRight { there += 1 }
        }
        return rows
    }

    private func lines(of row: Row, _ column: Int, mark: (Row) -> String) -> [String] {
        let left = SideBySide.pieces(of: row.left ?? "", column)
        let right = SideBySide.pieces(of: row.right ?? "", column)
        return (0..<max(left.count, right.count)).map { index in
            let (one, other) = (index < left.count ? left[index] : "", index < right.count ? right[index] : "")
            let padding = String(repeating: " ", count: column - Style.columns(one))
            let isOther = mark(row) != " "
            let line =
                (isOther ? style.red(one) : one) + padding + " \(mark(row)) " + (isOther ? style.green(other) : other)
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// Cut where the column ends, between characters.
    private static func pieces(of line: String, _ column: Int) -> [String] {
        var pieces: [String] = []
        var piece = ""
        var width = 0
        for character in line {
            let more = Style.columns(String(character))
            if width + more > column, !piece.isEmpty {
                pieces.append(piece)
                (piece, width) = ("", 0)
            }
            piece.append(character)
            width += more
        }
        return pieces + [piece]
    }
}
