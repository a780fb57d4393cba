/// What one byte string has that another has not, as one stretch in the middle: enough for a document in which a
/// person changed one place.
struct ByteDelta: Hashable, Sendable {
    /// How many bytes at the start, and then at the end, are those of the base.
    let prefixBytes: Int
    let suffixBytes: Int
    let middle: [UInt8]

    init(prefixBytes: Int, suffixBytes: Int, middle: [UInt8]) {
        self.prefixBytes = prefixBytes
        self.suffixBytes = suffixBytes
        self.middle = middle
    }

    /// The shortest there is.
    init(from base: [UInt8], to result: [UInt8]) {
        let shorter = min(base.count, result.count)
        var prefix = 0
        while prefix < shorter, base[prefix] == result[prefix] { prefix += 1 }
        var suffix = 0
        while suffix < shorter - prefix, base[base.count - 1 - suffix] == result[result.count - 1 - suffix] {
            suffix += 1
        }
        self.init(
            prefixBytes: prefix, suffixBytes: suffix, middle: Array(result[prefix..<(result.count - suffix)]))
    }

    /// Nil if the base is too short for it, or the result would have more than `bytesMax`.
    func applied(to base: [UInt8], bytesMax: Int) -> [UInt8]? {
        guard prefixBytes >= 0, suffixBytes >= 0, prefixBytes <= base.count,
            suffixBytes <= base.count - prefixBytes, middle.count <= bytesMax,
            prefixBytes + suffixBytes <= bytesMax - middle.count
        else { return nil }
        return base[..<prefixBytes] + middle + base[(base.count - suffixBytes)...]
    }
}
