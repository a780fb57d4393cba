/// Holds files still against other processes; nil where there is nobody to ask.
protocol AccessBroker: Sendable {
    func hold(_ wanted: HeldPaths, within patience: Duration?) async throws -> (any HeldAccess)?
}

/// Ends when it is released, or let go of.
protocol HeldAccess: Sendable {
    func release()
}

/// What one access wants of other processes: resolved paths, by the bytes.
struct HeldPaths: Hashable, Sendable {
    let purpose: String
    var paths: [[UInt8]]
    let isRead: Bool

    /// Without what an access of the same purpose has already: no broker knows of purposes, and it would wait for itself.
    func without(_ others: some Sequence<HeldPaths>) -> HeldPaths {
        guard !purpose.isEmpty else { return self }
        let had = others.filter { $0.purpose == purpose && (!$0.isRead || isRead) }
        var rest = self
        rest.paths.removeAll { path in had.contains { $0.paths.contains(path) } }
        return rest
    }
}
