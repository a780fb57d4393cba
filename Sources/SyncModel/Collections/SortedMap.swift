/// The dictionary of the core: keys are kept in order, so a walk over it is the same in every run and every process.
/// Hashed collections are not used here, because their order differs from process to process.
///
/// Entries live in sorted chunks of at most 128. The first chunk is held inline, so a small map is one array; a large
/// one is a row of chunks found by binary search. At a million entries an operation moves a few kilobytes at most.
/// Value semantics: a copy is free until one side changes. Reading by position, by range and by neighbour is in
/// `SortedMap+Order.swift`.
public struct SortedMap<Key: Comparable, Value> {
    @usableFromInline struct Entry {
        @usableFromInline var key: Key
        @usableFromInline var value: Value

        @inlinable init(key: Key, value: Value) {
            self.key = key
            self.value = value
        }
    }

    @usableFromInline typealias Chunk = ContiguousArray<Entry>

    /// Where a key is, or where it would go: `offset` may be one past the end of the chunk.
    @usableFromInline struct Slot {
        @usableFromInline var chunk: Int
        @usableFromInline var offset: Int
        @usableFromInline var isTaken: Bool

        @inlinable init(chunk: Int, offset: Int, isTaken: Bool) {
            self.chunk = chunk
            self.offset = offset
            self.isTaken = isTaken
        }
    }

    /// Chunk 0; empty only when the map is.
    @usableFromInline var head: Chunk = []
    /// Chunks 1, 2, …; none of them is empty.
    @usableFromInline var tail: ContiguousArray<Chunk> = []
    @usableFromInline var entryCount = 0

    @inlinable public init() {}

    /// Later pairs replace earlier ones with the same key.
    @inlinable public init(_ pairs: some Sequence<(Key, Value)>) {
        for (key, value) in pairs { append(value, forKey: key) }
    }

    @inlinable public var count: Int { entryCount }
    @inlinable public var isEmpty: Bool { entryCount == 0 }

    /// Setting nil removes the key.
    @inlinable public subscript(key: Key) -> Value? {
        get {
            let slot = slot(of: key)
            return slot.isTaken ? chunk(slot.chunk)[slot.offset].value : nil
        }
        set {
            if let newValue {
                updateValue(newValue, forKey: key)
            } else {
                removeValue(forKey: key)
            }
        }
    }

    /// The value in place: `map[key, default: []].append(x)` copies nothing. Changing it stores it.
    @inlinable public subscript(key: Key, default fallback: @autoclosure () -> Value) -> Value {
        get { self[key] ?? fallback() }
        _modify {
            var slot = slot(of: key)
            if !slot.isTaken {
                insert(Entry(key: key, value: fallback()), at: slot)
                slot = self.slot(of: key)
            }
            if slot.chunk == 0 {
                yield &head[slot.offset].value
            } else {
                yield &tail[slot.chunk - 1][slot.offset].value
            }
        }
    }

    /// Changes a value in place when the key is there; returns what `change` returned, or nil when it is not.
    @inlinable @discardableResult
    public mutating func update<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        let slot = slot(of: key)
        guard slot.isTaken else { return nil }
        if slot.chunk == 0 { return change(&head[slot.offset].value) }
        return change(&tail[slot.chunk - 1][slot.offset].value)
    }

    @inlinable public func contains(key: Key) -> Bool {
        slot(of: key).isTaken
    }

    /// The value of the key that is, by this order, neither before (below 0) nor after (above 0) what is looked for: it need not be made
    /// for that.
    @inlinable public func value(by order: (Key) -> Int) -> Value? {
        var low = 0
        var high = tail.count
        while low < high {
            let middle = (low &+ high) / 2
            if order(tail[middle][0].key) > 0 { high = middle } else { low = middle &+ 1 }
        }
        return low == 0 ? SortedMap.value(by: order, in: head) : SortedMap.value(by: order, in: tail[low - 1])
    }

    /// As `updateValue`, without a search for what comes after all that is there: most maps are made of what is in order.
    @inlinable public mutating func append(_ value: consuming Value, forKey key: Key) {
        let index = tail.count
        let length = index == 0 ? head.count : tail[index - 1].count
        guard length > 0, (index == 0 ? head[length - 1].key : tail[index - 1][length - 1].key) < key else {
            updateValue(value, forKey: key)
            return
        }
        insert(Entry(key: key, value: value), at: Slot(chunk: index, offset: length, isTaken: false))
    }

    /// Stores the value; returns the one it replaced.
    @inlinable @discardableResult
    public mutating func updateValue(_ value: consuming Value, forKey key: Key) -> Value? {
        let slot = slot(of: key)
        guard slot.isTaken else {
            insert(Entry(key: key, value: value), at: slot)
            return nil
        }
        let replaced: Value
        if slot.chunk == 0 {
            replaced = head[slot.offset].value
            head[slot.offset].value = value
        } else {
            replaced = tail[slot.chunk - 1][slot.offset].value
            tail[slot.chunk - 1][slot.offset].value = value
        }
        return replaced
    }

    @inlinable @discardableResult
    public mutating func removeValue(forKey key: Key) -> Value? {
        let slot = slot(of: key)
        return slot.isTaken ? remove(at: slot).value : nil
    }

    @inlinable public mutating func popFirst() -> (key: Key, value: Value)? {
        guard entryCount > 0 else { return nil }
        let entry = remove(at: Slot(chunk: 0, offset: 0, isTaken: true))
        return (entry.key, entry.value)
    }

    @inlinable public mutating func removeAll() {
        self = SortedMap()
    }

    @inlinable public mutating func removeAll(where isUnwanted: (Key, Value) -> Bool) {
        var kept = SortedMap()
        for (key, value) in self where !isUnwanted(key, value) { kept.updateValue(value, forKey: key) }
        self = kept
    }
}

extension SortedMap {
    /// More entries than this and a chunk is split.
    @inlinable static var chunkCountMax: Int { 128 }
    /// Fewer entries than this and a chunk is joined to a neighbour with room for it.
    @inlinable static var chunkCountMin: Int { 32 }

    @inlinable var chunkCount: Int { entryCount == 0 ? 0 : tail.count + 1 }

    @inlinable func chunk(_ index: Int) -> Chunk {
        index == 0 ? head : tail[index - 1]
    }

    @inlinable func slot(of key: Key) -> Slot {
        if tail.isEmpty { return SortedMap.slot(of: key, in: head, chunk: 0) }
        // The last chunk that starts at or before the key; chunk 0 when none does.
        var low = 0
        var high = tail.count
        while low < high {
            let middle = (low &+ high) / 2
            if key < tail[middle][0].key { high = middle } else { low = middle &+ 1 }
        }
        return low == 0
            ? SortedMap.slot(of: key, in: head, chunk: 0) : SortedMap.slot(of: key, in: tail[low - 1], chunk: low)
    }

    @inlinable static func slot(of key: Key, in entries: Chunk, chunk: Int) -> Slot {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low &+ high) / 2
            if entries[middle].key < key { low = middle &+ 1 } else { high = middle }
        }
        let isTaken = low < entries.count && entries[low].key == key
        return Slot(chunk: chunk, offset: low, isTaken: isTaken)
    }

    @inlinable static func value(by order: (Key) -> Int, in entries: Chunk) -> Value? {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low &+ high) / 2
            let found = order(entries[middle].key)
            if found == 0 { return entries[middle].value }
            if found < 0 { low = middle &+ 1 } else { high = middle }
        }
        return nil
    }

    @inlinable mutating func insert(_ entry: consuming Entry, at slot: Slot) {
        entryCount += 1
        let length: Int
        if slot.chunk == 0 {
            if slot.offset == head.count { head.append(entry) } else { head.insert(entry, at: slot.offset) }
            length = head.count
        } else {
            tail[slot.chunk - 1].insert(entry, at: slot.offset)
            length = tail[slot.chunk - 1].count
        }
        guard length > SortedMap.chunkCountMax else { return }
        // A map filled in order keeps full chunks: only the newcomer moves on.
        let isAtEnd = slot.chunk == tail.count && slot.offset == length - 1
        split(slot.chunk, keeping: isAtEnd ? length - 1 : length / 2)
    }

    @inlinable mutating func split(_ index: Int, keeping kept: Int) {
        let upper: Chunk
        if index == 0 {
            upper = Chunk(head[kept...])
            head.removeSubrange(kept...)
        } else {
            upper = Chunk(tail[index - 1][kept...])
            tail[index - 1].removeSubrange(kept...)
        }
        tail.insert(upper, at: index)
    }

    @inlinable mutating func remove(at slot: Slot) -> Entry {
        entryCount -= 1
        let removed: Entry
        let length: Int
        if slot.chunk == 0 {
            removed = head.remove(at: slot.offset)
            length = head.count
        } else {
            removed = tail[slot.chunk - 1].remove(at: slot.offset)
            length = tail[slot.chunk - 1].count
        }
        if length < SortedMap.chunkCountMin, !tail.isEmpty { join(slot.chunk, of: length) }
        return removed
    }

    /// Joins a short chunk with its right neighbour (the last one with its left), unless the result would soon be split
    /// again.
    @inlinable mutating func join(_ index: Int, of length: Int) {
        let left = index < tail.count ? index : index - 1
        let together = (left == 0 ? head.count : tail[left - 1].count) + tail[left].count
        guard length == 0 || together <= SortedMap.chunkCountMax * 3 / 4 else { return }
        let right = tail.remove(at: left)
        if left == 0 {
            if head.isEmpty { head = right } else { head.append(contentsOf: right) }
        } else {
            tail[left - 1].append(contentsOf: right)
        }
    }
}

extension SortedMap: Sendable where Key: Sendable, Value: Sendable {}
extension SortedMap.Entry: Sendable where Key: Sendable, Value: Sendable {}

extension SortedMap: ExpressibleByDictionaryLiteral {
    @inlinable public init(dictionaryLiteral pairs: (Key, Value)...) {
        self.init(pairs)
    }
}

extension SortedMap: Equatable where Value: Equatable {
    @inlinable public static func == (left: SortedMap, right: SortedMap) -> Bool {
        left.count == right.count && left.elementsEqual(right) { $0.key == $1.key && $0.value == $1.value }
    }
}

extension SortedMap: Hashable where Key: Hashable, Value: Hashable {
    @inlinable public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for (key, value) in self {
            hasher.combine(key)
            hasher.combine(value)
        }
    }
}

extension SortedMap: CustomStringConvertible {
    public var description: String {
        isEmpty ? "[:]" : "[" + map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]"
    }
}
