import RecordMerge
import SyncModel

/// What stands in files that no row here has ever shown, from before this process (`RecordState.Finding.isUnrecorded`): this node may have lost
/// the state that told of it. Then the sets that the peer has, its own among them, say that it was saved there, or it came of them. It is no news:
/// whoever told of it anew would take back what has come of it since.
extension Node {
    /// A state that began without a set of its own may have lost all: until everything is here that the peer had to say, nobody knows what of it is
    /// news. (A process that is ended while its own sets come back leaves some of them to the next, which does not wait.)
    var waitsForPast: Bool {
        records.before == .none && !records.hasHeardPeer && records.found.contains { $0.value.isUnrecorded }
    }

    mutating func noteHearing() {
        guard !records.hasHeardPeer, session.isLive, knowsItsPast, hasSetsOfGreeting else { return }
        records.hasHeardPeer = true
        tellWhatWaited()
    }

    /// What was merged is in no set: it may have stood here when the state was lost.
    func mergedBeforeLoss(at path: Path, _ number: Int) -> ContentID? {
        guard let finding = records.found[path], finding.isUnrecorded,
            case .file(let content, _) = finding.entry.content, records.books[number].hasSaved(path),
            records.books[number].isForeign(content, at: path)
        else { return nil }
        return content
    }
}
