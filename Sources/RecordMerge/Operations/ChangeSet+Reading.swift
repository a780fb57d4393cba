/// What a save means that its author's model did not read, to somebody whose model does.
import SyncModel

extension ChangeSet {
    /// What its author had no model for are files of this one.
    public func isReadable(by model: Model) -> Bool {
        files.allSatisfy { $0.overwritten == nil || $0.document(of: $0.bytes, model) != nil }
    }

    /// The set with the operations that its files come to by this model, for somebody whose view was that of the sets which its author had
    /// seen: the same on both nodes, whenever each of them gets the model. One whose author could read it is as it was.
    public func reading(by model: Model, after history: [ChangeSet], forgotten: Applied) -> ChangeSet {
        guard isUnread else { return self }
        let saves = files.map { file in
            Differ.Save(
                before: file.document(of: file.overwritten?.bytes, model), after: file.document(of: file.bytes, model))
        }
        let view = RecordSpace(of: history.filter(hasSeen), model: model, forgotten: forgotten).view
        return ChangeSet(
            author: author, position: position, time: time, seen: seen,
            operations: Differ(model: model, view: view, at: time).operations(for: saves), files: files.map(\.read),
            needs: Needs(model: needs.model, modelVersion: needs.modelVersion))
    }
}

extension ChangeSet.SavedFile {
    fileprivate func document(of bytes: [UInt8]?, _ model: Model) -> RecordDocument? {
        bytes.flatMap { try? RecordDocument(parsing: $0, at: path, model: model) }
    }
}
