/// SHA-256 of whole files, for people: what `sha256sum` tells. The name of a content is another hash (`ChunkList`).
import Crypto
public import SyncModel

extension Folder {
    /// Of what lies there now. Nil for what cannot be read as a file, and for what comes after `bytesMax` bytes.
    public func digests(of places: [Place], bytesMax: UInt64) -> [Digest?] {
        var rest = bytesMax
        return places.map { place in
            do throws(Failure) {
                return try digest(of: place, within: &rest)
            } catch {
                return nil
            }
        }
    }

    private func digest(of place: Place, within rest: inout UInt64) throws(Failure) -> Digest? {
        let file = try openForReading(place)
        guard file.status.size <= rest else { return nil }
        rest -= file.status.size
        var hasher = SHA256Stream()
        var offset: UInt64 = 0
        var block = [UInt8](repeating: 0, count: Int(max(1, min(Folder.blockBytes, file.status.size))))
        while true {
            if isInterrupted { throw Failure(.busy) }
            let count = try file.descriptor.fill(&block, at: offset)
            guard count > 0 else { return Digest(sha256: hasher.finish()) }
            hasher.update(block[..<count])
            offset += UInt64(count)
        }
    }
}
