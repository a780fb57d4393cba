/// Where a change of a model comes from.
public enum ChangeOrigin: Hashable, Sendable, CaseIterable {
    /// This program, by `DocumentSession.mutate`.
    case local
    /// The file: another program has written it, or syncd has brought what was changed on the other node, and what it made whole again.
    case imported
}

/// What a program keeps in a model because of something else in it: counts, an index, records that belong to others.
///
/// It is made where the change is made, once, and saved with it. Everybody else gets it as data, like the rest of the model: who made it
/// anew for what came from elsewhere would make it twice, and break what syncd has just brought together. So it follows changes of this
/// program only, unless it says otherwise.
public struct DerivedData<Model: Sendable>: Sendable {
    public let origins: Set<ChangeOrigin>
    let derive: @Sendable (inout Model, ApplyContext<Model>) -> Bool

    /// `derive` says whether it has changed the model.
    public init(
        on origins: Set<ChangeOrigin> = [.local],
        _ derive: @escaping @Sendable (_ model: inout Model, _ context: ApplyContext<Model>) -> Bool
    ) {
        self.origins = origins
        self.derive = derive
    }
}

/// What data is derived from.
public struct ApplyContext<Model: Sendable>: Sendable {
    public let origin: ChangeOrigin
    /// The model before the change; nil if there was none.
    public let before: Model?
}
