/// A queue with two ends in a ring buffer: what waits its turn in the core and on the simulated wires.
/// Adding and taking at either end costs the same at any length; the buffer doubles when it is full.
public struct Deque<Element> {
    /// Slots of the ring; the capacity is 0 or a power of two. A slot outside the used stretch is nil, so what was
    /// taken out is released at once.
    @usableFromInline var ring: ContiguousArray<Element?> = []
    /// The slot of the first element.
    @usableFromInline var start = 0
    @usableFromInline var length = 0

    @inlinable public init() {}

    @inlinable public init(_ elements: some Sequence<Element>) {
        for element in elements { append(element) }
    }

    @inlinable public mutating func append(_ element: consuming Element) {
        growIfFull()
        ring[slot(of: length)] = element
        length += 1
    }

    @inlinable public mutating func append(contentsOf elements: some Sequence<Element>) {
        for element in elements { append(element) }
    }

    @inlinable public mutating func prepend(_ element: consuming Element) {
        growIfFull()
        start = (start &- 1) & (ring.count - 1)
        ring[start] = element
        length += 1
    }

    @inlinable public mutating func popFirst() -> Element? {
        guard length > 0 else { return nil }
        let element = ring[start].take()
        start = (start &+ 1) & (ring.count - 1)
        length -= 1
        return element
    }

    @inlinable public mutating func popLast() -> Element? {
        guard length > 0 else { return nil }
        length -= 1
        return ring[slot(of: length)].take()
    }

    @inlinable public mutating func removeAll() {
        self = Deque()
    }

    /// Keeps the order of what stays.
    @inlinable public mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        var kept = Deque()
        for element in self where !isUnwanted(element) { kept.append(element) }
        self = kept
    }

    @inlinable func slot(of position: Int) -> Int {
        (start &+ position) & (ring.count - 1)
    }

    @inlinable mutating func growIfFull() {
        guard length == ring.count else { return }
        var larger: ContiguousArray<Element?> = []
        larger.reserveCapacity(Swift.max(8, ring.count * 2))
        for position in 0..<length { larger.append(ring[slot(of: position)]) }
        while larger.count < Swift.max(8, length * 2) { larger.append(nil) }
        ring = larger
        start = 0
    }
}

extension Deque: RandomAccessCollection, MutableCollection {
    @inlinable public var startIndex: Int { 0 }
    @inlinable public var endIndex: Int { length }

    @inlinable public subscript(position: Int) -> Element {
        get {
            precondition(position >= 0 && position < length, "position \(position) is outside a queue of \(length)")
            guard let element = ring[slot(of: position)] else {
                preconditionFailure("a used slot of the ring is empty: \(position) of \(length)")
            }
            return element
        }
        set {
            precondition(position >= 0 && position < length, "position \(position) is outside a queue of \(length)")
            ring[slot(of: position)] = newValue
        }
    }
}

extension Deque: Sendable where Element: Sendable {}

extension Deque: ExpressibleByArrayLiteral {
    @inlinable public init(arrayLiteral elements: Element...) {
        self.init(elements)
    }
}

extension Deque: Equatable where Element: Equatable {
    @inlinable public static func == (left: Deque, right: Deque) -> Bool {
        left.elementsEqual(right)
    }
}

extension Deque: CustomStringConvertible {
    public var description: String { "\(Array(self))" }
}
