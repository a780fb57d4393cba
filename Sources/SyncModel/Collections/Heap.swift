/// A queue by priority: the smallest comes out first, equals in the order they went in. Timers and simulated events
/// wait here, and the second rule is what keeps two runs of one seed alike.
public struct Heap<Priority: Comparable, Element> {
    @usableFromInline struct Item {
        @usableFromInline var priority: Priority
        @usableFromInline var ticket: UInt64
        @usableFromInline var element: Element

        @inlinable init(priority: Priority, ticket: UInt64, element: Element) {
            self.priority = priority
            self.ticket = ticket
            self.element = element
        }

        @inlinable func comes(before other: Item) -> Bool {
            if priority < other.priority { return true }
            return ticket < other.ticket && priority == other.priority
        }
    }

    /// A binary heap: the item at n comes before those at 2n+1 and 2n+2.
    @usableFromInline var items: ContiguousArray<Item> = []
    @usableFromInline var nextTicket: UInt64 = 0

    @inlinable public init() {}

    @inlinable public var count: Int { items.count }
    @inlinable public var isEmpty: Bool { items.isEmpty }

    /// The next one out, left where it is.
    @inlinable public var first: (priority: Priority, element: Element)? {
        items.first.map { ($0.priority, $0.element) }
    }

    @inlinable public mutating func push(_ element: Element, at priority: Priority) {
        items.append(Item(priority: priority, ticket: nextTicket, element: element))
        nextTicket += 1
        rise(from: items.count - 1)
    }

    @inlinable public mutating func pop() -> (priority: Priority, element: Element)? {
        guard let last = items.popLast() else { return nil }
        guard let next = items.first else { return (last.priority, last.element) }
        items[0] = last
        sink(from: 0)
        return (next.priority, next.element)
    }

    /// Takes the next one out only when it is due: its priority is not past `limit`.
    @inlinable public mutating func pop(upTo limit: Priority) -> (priority: Priority, element: Element)? {
        guard let next = items.first, !(limit < next.priority) else { return nil }
        return pop()
    }

    @inlinable public mutating func removeAll() {
        items = []
    }

    /// What stays comes out in the order it would have come out before.
    @inlinable public mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        items.removeAll { isUnwanted($0.element) }
        for position in stride(from: items.count / 2 - 1, through: 0, by: -1) { sink(from: position) }
    }

    /// Everything inside, in the order it would come out.
    @inlinable public var inOrder: [(priority: Priority, element: Element)] {
        items.sorted { $0.comes(before: $1) }.map { ($0.priority, $0.element) }
    }

    @inlinable mutating func rise(from position: Int) {
        var child = position
        while child > 0 {
            let parent = (child - 1) / 2
            guard items[child].comes(before: items[parent]) else { return }
            items.swapAt(child, parent)
            child = parent
        }
    }

    @inlinable mutating func sink(from position: Int) {
        var parent = position
        while true {
            var child = 2 * parent + 1
            guard child < items.count else { return }
            if child + 1 < items.count, items[child + 1].comes(before: items[child]) { child += 1 }
            guard items[child].comes(before: items[parent]) else { return }
            items.swapAt(child, parent)
            parent = child
        }
    }
}

extension Heap where Element == Priority {
    /// An element that is its own priority.
    @inlinable public mutating func push(_ element: Element) {
        push(element, at: element)
    }
}

extension Heap: Sendable where Priority: Sendable, Element: Sendable {}
extension Heap.Item: Sendable where Priority: Sendable, Element: Sendable {}
