/// A set of act numbers of one page of the ledger. Sets and not counters: after a restored image the acts of one machine
/// are no longer a line but a tree.
package struct ActSet: Hashable, Sendable {
    private var words: [UInt64] = []

    package init() {}

    package var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

    package func contains(_ number: Int) -> Bool {
        let word = number >> 6
        return word < words.count && words[word] & (1 << UInt64(number & 63)) != 0
    }

    package mutating func insert(_ number: Int) {
        while words.count <= number >> 6 { words.append(0) }
        words[number >> 6] |= 1 << UInt64(number & 63)
    }

    package mutating func formUnion(_ other: ActSet) {
        while words.count < other.words.count { words.append(0) }
        for index in other.words.indices { words[index] |= other.words[index] }
    }

    package func inserting(_ number: Int) -> ActSet {
        var result = self
        result.insert(number)
        return result
    }
}
