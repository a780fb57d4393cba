import SyncModel

/// Local saves are judged strictly, imports never: what a save would break that was whole before. The files stay as
/// they are; the save waits until its author has mended it.
public struct SaveFault: Hashable, Sendable {
    public let record: RecordID
    public let reason: Reason

    public enum Reason: Hashable, Sendable {
        /// It would leave the live graph.
        case leaves(RecordView.Reason)
        /// It is deleted, and a side that denies deletes still has this one.
        case denied(PropertyName, RecordID)
        /// It would be a second name of this one: a singleton, or a natural key that is taken.
        case taken(RecordID)
    }
}

/// Compares the views before and after a save.
public struct SaveCheck {
    private let model: Model
    private let before: RecordView
    private let after: RecordView

    /// `known` is all that the author of the save had.
    public init(_ save: ChangeSet, after known: [ChangeSet], model: Model) {
        self.model = model
        before = RecordView(of: known, model: model)
        after = RecordView(of: known + [save], model: model)
    }

    /// By id. Empty if the save may be logged.
    public var faults: [SaveFault] {
        (leaving + denied + taken).sorted { $0.record < $1.record }
    }

    private var leaving: [SaveFault] {
        [after.quarantine, after.dropped].flatMap { entries in
            entries.filter { before.quarantine[$0.key] == nil && before.dropped[$0.key] == nil }
                .map { SaveFault(record: $0.key, reason: .leaves($0.value.reason)) }
        }
    }

    private var denied: [SaveFault] {
        before.live.filter { after.live[$0.key] == nil }.flatMap { id, record in
            let sides = model.entity(id.entity)?.sides.filter { $0.onDelete == .deny } ?? []
            return sides.flatMap { side in
                (record.links[side.name] ?? []).filter { after.live[$0] != nil }
                    .map { SaveFault(record: id, reason: .denied(side.name, $0)) }
            }
        }
    }

    private var taken: [SaveFault] {
        after.aliases.filter { before.aliases[$0.key] == nil }
            .map { SaveFault(record: $0.key, reason: .taken($0.value)) }
    }
}

extension SaveFault: CustomStringConvertible {
    public var description: String {
        switch reason {
        case .leaves(.missing(let relation)): "\(record) needs somebody by \(relation), and nobody is named"
        case .leaves(.gone(let relation, let partner)): "\(record) needs \(partner) by \(relation), which is not there"
        case .leaves(.lostSlot(let relation, let holder, let winner)):
            "\(record) wants the place at \(holder) by \(relation), which \(winner) has"
        case .leaves(.invalidValue(let name)): "\(record) has no \(name), or not of the type that its model says"
        case .leaves(.deletedWhileEdited): "\(record) was deleted while the other node wrote to it"
        case .denied(let name, let partner): "\(record) may not be deleted while it has \(partner) by \(name)"
        case .taken(let other): "\(record) would be the same as \(other)"
        }
    }
}
