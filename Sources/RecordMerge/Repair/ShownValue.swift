/// What a register shows: its latest head, or what two heads make together where the model says so.
extension Graph {
    /// Nil for a register without heads. `isJoined` if both heads are in the value.
    func shown(
        _ register: RecordState.Register<JSONText?>, of record: Int
    ) -> (value: JSONText?, isJoined: Bool)? {
        guard let latest = register.heads.last else { return nil }
        if let joined = joined(register, of: record) { return (joined, true) }
        return (latest.value, false)
    }

    private func joined(_ register: RecordState.Register<JSONText?>, of record: Int) -> JSONText? {
        guard register.heads.count == 2, isByLines(register, of: record) else { return nil }
        let (one, other) = (register.heads[0], register.heads[1])
        let base = register.older.last { older in
            fold.history.saw(one.write, older.write) && fold.history.saw(other.write, older.write)
        }
        guard let before = base?.value?.string, let left = one.value?.string, let right = other.value?.string else {
            return nil
        }
        return LineMerge.merged(base: before, left, right).flatMap { JSONText.string($0) }
    }

    private func isByLines(_ register: RecordState.Register<JSONText?>, of record: Int) -> Bool {
        model.isMergedByLines(fold.entities[record], fold.properties[register.property])
    }
}
