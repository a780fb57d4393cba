import Coordination
import Disk

/// Holds files still against other processes; nil where there is nobody to ask.
protocol AccessBroker: Sendable {
    /// `isNested`: whoever waits has something else meanwhile, that others may be waiting for.
    func hold(_ wanted: HeldPaths, within patience: Duration?, isNested: Bool) async throws -> (any HeldAccess)?

    /// True if what is wanted for one purpose never waits for what is held for the same.
    var knowsPurposes: Bool { get }

    /// From now on `hear` is called before others touch what is shown, and after; as long as what is returned is kept.
    func present(_ shown: ShownPath, hear: @escaping @Sendable (ShownWord) -> Void) async -> (any ShownAccess)?
}

/// Ends when it is released, or let go of.
protocol HeldAccess: Sendable {
    func release(_ deeds: [FileDeed])
    /// Higher than that of every grant before it, if such a thing is known.
    var fence: UInt64? { get }
    /// True once it was taken away.
    var isOver: Bool { get }
    /// Where the paths are that were renamed while this was waited for.
    var moved: [[UInt8]: [UInt8]] { get }
}

/// What one access wants of other processes: resolved paths, by the bytes.
struct HeldPaths: Hashable, Sendable {
    struct Item: Hashable, Sendable {
        var path: [UInt8]
        /// What is meant, if the path is the package that it lies in: the rest of its path.
        let within: [UInt8]
        let kind: Access.Kind
        let coversContents: Bool
    }

    /// Empty: it stands for itself.
    let purpose: String
    var items: [Item]
    let isRead: Bool

    var paths: [[UInt8]] { items.map(\.path) }

    /// What accesses of the same purpose have within these paths already.
    private(set) var hadWithin: [[UInt8]] = []

    /// Without what accesses of the same purpose have already, for who knows of no purposes: it would wait for itself.
    func without(_ held: [ClaimID: HeldPaths]) -> HeldPaths {
        guard !purpose.isEmpty else { return self }
        let had = held.values.filter { $0.purpose == purpose }.flatMap(\.items)
        var rest = self
        // Also what it only reads so far: whoever waited for himself to be done with that would wait for ever.
        rest.items.removeAll { item in had.contains { $0.covers(item.path) } }
        rest.hadWithin = had.map(\.path).filter { path in rest.items.contains { $0.covers(path) } }
        return rest
    }

    mutating func follow(_ moved: [[UInt8]: [UInt8]]) {
        for index in items.indices { items[index].path = moved[items[index].path] ?? items[index].path }
    }
}

extension HeldPaths.Item {
    /// Whatever is done to a part of a package is a change of it.
    init(_ access: FileAccess) throws(CoordinationError) {
        guard let place = Item.resolved(access.path.bytes) else { throw CoordinationError(.noPlace) }
        guard let package = Item.package(around: place) else {
            self.init(path: place, within: [], kind: access.kind, coversContents: access.coversContents)
            return
        }
        let kind: Access.Kind =
            switch access.kind {
            case .write(.deleting), .write(.moving), .write(.replacing): .write(.update)
            case .read, .write(.update), .write(.merging), .write(.metadata): access.kind
            }
        self.init(path: package, within: Array(place[package.count...]), kind: kind, coversContents: true)
    }

    func covers(_ other: [UInt8]) -> Bool {
        path == other || coversContents && other.starts(with: path + [UInt8(ascii: "/")])
    }
}

/// What a presenter shows, with all that is in it: a resolved path, by the bytes.
struct ShownPath: Sendable {
    let path: [UInt8]
    let purpose: String
}

/// Ends when it is withdrawn.
protocol ShownAccess: Sendable {
    func withdraw()
}

/// What other processes have to say to a presenter.
enum ShownWord: Sendable {
    case question(Question.Kind, savesFirst: Bool, reply: @Sendable (PresenterAnswer) -> Void)
    case news(FileNews)
}
