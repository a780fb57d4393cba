import RecordMerge

/// A save as edits of what is in the file: only what the model changed is written anew, and every other byte stays, so also members that
/// the model does not know, numbers it could not hold, order and white space.
struct DocumentEdit {
    private let basis: JSONDocument
    private var editor: JSONEditor

    /// `old` is what the model made of the basis before, `new` what it makes of itself now.
    static func bytes(of basis: JSONDocument, from old: JSONTree, to new: JSONTree) throws -> [UInt8] {
        var edit = DocumentEdit(basis: basis, editor: JSONEditor(basis))
        try edit.change(.root, at: .root, old, new)
        return edit.editor.finished()
    }

    private mutating func change(
        _ place: JSONDocument.Place, at pointer: JSONPointer, _ old: JSONTree, _ new: JSONTree
    ) throws {
        if old == new { return }
        let kind = basis.kind(of: place)
        if case .object(let before) = old, case .object(let after) = new, kind == .object {
            return try change(members: before, after, of: place, at: pointer)
        }
        if case .array(let before) = old, case .array(let after) = new, kind == .array {
            let places = Array(basis.children(of: place))
            // Otherwise nobody knows which element of the model is which of the file.
            if places.count == before.count {
                return try change(elements: before, after, of: places, at: pointer)
            }
        }
        try editor.replace(pointer, with: try JSONText(parsing: new.compact))
    }

    private mutating func change(
        members before: [JSONTree.Member], _ after: [JSONTree.Member], of place: JSONDocument.Place,
        at pointer: JSONPointer
    ) throws {
        for member in after {
            let below = pointer.appending(member.key)
            guard let there = basis.member(member.key, of: place) else {
                try editor.insert(try JSONText(parsing: member.value.compact), at: below)
                continue
            }
            if let known = before.first(where: { $0.key == member.key }) {
                try change(there, at: below, known.value, member.value)
            } else {
                try editor.replace(below, with: try JSONText(parsing: member.value.compact))
            }
        }
        for member in before where !after.contains(where: { $0.key == member.key }) {
            guard basis.member(member.key, of: place) != nil else { continue }
            try editor.remove(pointer.appending(member.key))
        }
    }

    private mutating func change(
        elements before: [JSONTree], _ after: [JSONTree], of places: [JSONDocument.Place], at pointer: JSONPointer
    ) throws {
        for step in Alignment.steps(from: before, to: after) {
            switch step {
            case .change(let old, let new):
                try change(places[old], at: pointer.appending(old), before[old], after[new])
            case .remove(let old): try editor.remove(pointer.appending(old))
            case .insert(let new, let position):
                try editor.insert(try JSONText(parsing: after[new].compact), at: pointer.appending(position))
            }
        }
    }
}

/// Which element of a list became which.
enum Alignment {
    enum Step: Hashable {
        case change(Int, Int)
        case remove(Int)
        /// The new one of this number, before the old one of that number.
        case insert(Int, before: Int)
    }

    /// More comparisons than this, and elements are matched by their place alone.
    private static let comparisonsMax = 4_000_000

    /// Equal elements keep each other; between them, what has a counterpart at the same place is taken for changed.
    static func steps(from old: [JSONTree], to new: [JSONTree]) -> [Step] {
        let head = zip(old, new).prefix { $0 == $1 }.count
        let tail = zip(old.dropFirst(head).reversed(), new.dropFirst(head).reversed()).prefix { $0 == $1 }.count
        let (oldEnd, newEnd) = (old.count - tail, new.count - tail)
        var steps: [Step] = []
        var (first, second) = (head, head)
        for (left, right) in common(old[head..<oldEnd], new[head..<newEnd]) + [(oldEnd, newEnd)] {
            let both = min(left - first, right - second)
            for offset in 0..<both { steps.append(.change(first + offset, second + offset)) }
            for index in (first + both)..<max(left, first + both) { steps.append(.remove(index)) }
            for index in (second + both)..<max(right, second + both) { steps.append(.insert(index, before: left)) }
            (first, second) = (left + 1, right + 1)
        }
        return steps
    }

    /// The longest common subsequence, as pairs of indices.
    private static func common(_ old: ArraySlice<JSONTree>, _ new: ArraySlice<JSONTree>) -> [(Int, Int)] {
        guard !old.isEmpty, !new.isEmpty, old.count <= comparisonsMax / new.count else { return [] }
        let (rows, columns) = (old.count + 1, new.count + 1)
        var lengths = [Int32](repeating: 0, count: rows * columns)
        for row in (0..<old.count).reversed() {
            for column in (0..<new.count).reversed() {
                let isEqual = old[old.startIndex + row] == new[new.startIndex + column]
                lengths[row * columns + column] =
                    isEqual
                    ? lengths[(row + 1) * columns + column + 1] + 1
                    : max(lengths[(row + 1) * columns + column], lengths[row * columns + column + 1])
            }
        }
        var pairs: [(Int, Int)] = []
        var (row, column) = (0, 0)
        while row < old.count, column < new.count {
            if old[old.startIndex + row] == new[new.startIndex + column] {
                pairs.append((old.startIndex + row, new.startIndex + column))
                (row, column) = (row + 1, column + 1)
            } else if lengths[(row + 1) * columns + column] >= lengths[row * columns + column + 1] {
                row += 1
            } else {
                column += 1
            }
        }
        return pairs
    }
}
