/// `SortedMap` read in key order: as a collection, from a key on, by range, and the neighbours of a key.
extension SortedMap: BidirectionalCollection {
    public typealias Element = (key: Key, value: Value)

    public struct Index: Comparable, Sendable {
        @usableFromInline var chunk: Int
        @usableFromInline var offset: Int

        @inlinable init(chunk: Int, offset: Int) {
            self.chunk = chunk
            self.offset = offset
        }

        @inlinable public static func < (left: Index, right: Index) -> Bool {
            left.chunk == right.chunk ? left.offset < right.offset : left.chunk < right.chunk
        }
    }

    /// Walks chunk by chunk; the map may change meanwhile, the walk sees it as it was.
    public struct Iterator: IteratorProtocol {
        @usableFromInline var entries: Chunk
        @usableFromInline var offset = 0
        @usableFromInline var rest: ContiguousArray<Chunk>
        @usableFromInline var nextChunk = 0

        @inlinable init(_ map: SortedMap) {
            entries = map.head
            rest = map.tail
        }

        @inlinable public mutating func next() -> Element? {
            if offset == entries.count {
                guard nextChunk < rest.count else { return nil }
                entries = rest[nextChunk]
                nextChunk += 1
                offset = 0
            }
            defer { offset += 1 }
            return (entries[offset].key, entries[offset].value)
        }
    }

    @inlinable public func makeIterator() -> Iterator { Iterator(self) }

    @inlinable public var startIndex: Index { Index(chunk: 0, offset: 0) }
    @inlinable public var endIndex: Index { Index(chunk: chunkCount, offset: 0) }

    @inlinable public func index(after index: Index) -> Index {
        settled(Index(chunk: index.chunk, offset: index.offset + 1))
    }

    @inlinable public func index(before index: Index) -> Index {
        if index.offset > 0 { return Index(chunk: index.chunk, offset: index.offset - 1) }
        return Index(chunk: index.chunk - 1, offset: length(of: index.chunk - 1) - 1)
    }

    @inlinable public subscript(position: Index) -> Element {
        if position.chunk == 0 { return (head[position.offset].key, head[position.offset].value) }
        let (chunk, offset) = (position.chunk - 1, position.offset)
        return (tail[chunk][offset].key, tail[chunk][offset].value)
    }

    @inlinable public var keys: LazyMapCollection<SortedMap, Key> { lazy.map { $0.key } }
    @inlinable public var values: LazyMapCollection<SortedMap, Value> { lazy.map { $0.value } }
}

extension SortedMap {
    /// The first keys, as many as `limit` at most, whose values are wanted. No value is copied, however large it is.
    @inlinable public func keys(_ limit: Int, where isWanted: (borrowing Value) -> Bool) -> [Key] {
        var found: [Key] = []
        for chunk in 0..<chunkCount {
            let entries = self.chunk(chunk)
            for offset in entries.indices where isWanted(entries[offset].value) {
                if found.count >= limit { return found }
                found.append(entries[offset].key)
            }
        }
        return found
    }

    /// Everything from the key on, the key included if it is there.
    @inlinable public func range(from key: Key) -> Slice<SortedMap> {
        self[position(of: key)..<endIndex]
    }

    @inlinable public func range(_ keys: Range<Key>) -> Slice<SortedMap> {
        self[position(of: keys.lowerBound)..<position(of: keys.upperBound)]
    }

    @inlinable public func range(_ keys: ClosedRange<Key>) -> Slice<SortedMap> {
        self[position(of: keys.lowerBound)..<position(past: keys.upperBound)]
    }

    /// Visits entries from the key on until `visit` answers false.
    @inlinable public func forEach(from key: Key, _ visit: (Key, Value) -> Bool) {
        for (key, value) in range(from: key) where !visit(key, value) { return }
    }

    /// The entry of the key, or else the next one.
    @inlinable public func first(from key: Key) -> Element? {
        entry(at: position(of: key))
    }

    @inlinable public func first(after key: Key) -> Element? {
        entry(at: position(past: key))
    }

    @inlinable public func last(before key: Key) -> Element? {
        let position = position(of: key)
        return position == startIndex ? nil : self[index(before: position)]
    }

    @inlinable func entry(at position: Index) -> Element? {
        position == endIndex ? nil : self[position]
    }

    /// Of the first entry that is not before the key.
    @inlinable func position(of key: Key) -> Index {
        let slot = slot(of: key)
        return settled(Index(chunk: slot.chunk, offset: slot.offset))
    }

    /// Of the first entry after the key.
    @inlinable func position(past key: Key) -> Index {
        let slot = slot(of: key)
        return settled(Index(chunk: slot.chunk, offset: slot.isTaken ? slot.offset + 1 : slot.offset))
    }

    /// One past the end of a chunk is the start of the next.
    @inlinable func settled(_ index: Index) -> Index {
        index.offset < length(of: index.chunk) ? index : Index(chunk: Swift.min(index.chunk + 1, chunkCount), offset: 0)
    }

    @inlinable func length(of chunk: Int) -> Int {
        chunk == 0 ? head.count : tail[chunk - 1].count
    }
}
