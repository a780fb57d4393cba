/// Which save of a file everything else that was written to its records is written into: the last one. Of two whose authors did not know
/// of each other it is the one in the later version of the format, whatever the clocks say: what an earlier one has no place for would be lost.
import SyncModel

struct BaseSaves: Sendable {
    /// The last save of each author.
    private var first: Place?
    private var second: Place?

    /// The number of the set, and that of the file in it.
    struct Place: Sendable {
        fileprivate let set: Int32
        fileprivate let file: Int32

        init(_ set: Int, _ file: Int) {
            self.set = Int32(clamping: set)
            self.file = Int32(clamping: file)
        }
    }

    private struct Save {
        let set: ChangeSet
        let file: ChangeSet.SavedFile

        func isBase(over other: Save, _ model: Model) -> Bool {
            if set.hasSeen(other.set) { return true }
            if other.set.hasSeen(set) { return false }
            let (version, otherVersion) = (model.version(of: file), model.version(of: other.file))
            return version == otherVersion ? other.set.precedes(set) : version > otherVersion
        }
    }

    /// False for what its author has saved anew already. `sets` has the sets by their numbers.
    mutating func note(_ place: Place, among sets: (Int) -> ChangeSet?) -> Bool {
        guard let set = sets(Int(place.set)) else { return false }
        let known = (set.author == .first ? first : second).flatMap { sets(Int($0.set)) }
        if let known, !known.precedes(set) { return false }
        switch set.author {
        case .first: first = place
        case .second: second = place
        }
        return true
    }

    func base(_ model: Model, among sets: (Int) -> ChangeSet?) -> ContentID? {
        let saves = [first, second].compactMap { $0.flatMap { save(at: $0, among: sets) } }
        guard let one = saves.first, let other = saves.dropFirst().first else { return saves.first?.file.content }
        return other.isBase(over: one, model) ? other.file.content : one.file.content
    }

    private func save(at place: Place, among sets: (Int) -> ChangeSet?) -> Save? {
        sets(Int(place.set)).map { Save(set: $0, file: $0.files[Int(place.file)]) }
    }
}

extension Model {
    /// Of a model that reads one version only all files are in that.
    fileprivate func version(of file: ChangeSet.SavedFile) -> Int {
        guard reads.count > 1, let bytes = file.bytes,
            let document = try? RecordDocument(parsing: bytes, at: file.path, model: self)
        else { return 0 }
        return version(of: document)
    }
}
