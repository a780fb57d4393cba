import Synchronization

/// What a task has while it asks for more. Tasks that it begins meanwhile know of it as well, also once it is over.
final class AccessScope: Sendable {
    @TaskLocal static var current: AccessScope?

    private let outer: AccessScope?
    private let isOver = Atomic(false)

    init(within outer: AccessScope?) {
        self.outer = outer
    }

    /// It is still had, or one around it is.
    var isOpen: Bool { !isOver.load(ordering: .acquiring) || outer?.isOpen == true }

    func end() { isOver.store(true, ordering: .releasing) }
}
