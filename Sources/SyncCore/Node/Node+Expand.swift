import SyncModel

/// A directory move of ours told path by path, for a peer that does not hold exactly what we moved.
///
/// What the move was is read back from the rows: the deleted halves are still at the old paths, and what still carries the
/// move's own position at the new paths has not been changed since. Everything else has later entries of its own.
extension Node {
    mutating func expand(_ position: LogPosition, _ answers: inout Answers, into effects: inout Effects) {
        session.expansions = max(0, session.expansions - 1)
        guard session.isLive, let entry = answers.logRecord(), case .relocate(let move) = entry.change else { return }
        enqueue(.expandPart(position, move, after: nil, old: true))
    }

    mutating func expandPart(
        _ position: LogPosition, _ move: Relocation, after: Path?, old: Bool, _ answers: inout Answers,
        into effects: inout Effects
    ) {
        guard session.isLive else { return }
        var rows = after == nil ? answers.rows() : []
        if after != nil { _ = answers.rows() }
        let below = answers.rows()
        rows += below
        let states = rows.compactMap { row -> RowState? in
            guard let head = row.head(by: .own), head.origin.position == position else { return nil }
            return RowState(path: row.path, revision: head)
        }
        let isPartDone = below.count < limits.batchPathsMax
        let isLast = isPartDone && !old
        for part in Node.frames(of: states) { send(.expansion(position, part, isLast: false), into: &effects) }
        if isLast { send(.expansion(position, [], isLast: true), into: &effects) }
        if !isPartDone {
            enqueue(.expandPart(position, move, after: below.last?.path, old: old))
        } else if old {
            enqueue(.expandPart(position, move, after: nil, old: false))
        }
    }

    /// Parts that each fit one frame, however long their paths are.
    static func frames(of states: [RowState]) -> [[RowState]] {
        var parts: [[RowState]] = []
        var part: [RowState] = []
        var size = 0
        for state in states {
            let paths = [state.path, state.revision.movedFrom, state.revision.movedTo].compactMap { $0?.bytes.count }
            let cost = paths.reduce(400, +) + targetSize(of: state.revision.entry)
            if size + cost > Limits.frameBytesMax / 2, !part.isEmpty {
                parts.append(part)
                part = []
                size = 0
            }
            part.append(state)
            size += cost
        }
        if !part.isEmpty { parts.append(part) }
        return parts
    }

    private static func targetSize(of entry: Entry) -> Int {
        if case .symlink(let target) = entry.content { return target.count }
        return 0
    }
}
