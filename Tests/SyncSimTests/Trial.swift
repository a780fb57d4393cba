import SyncModel
import Testing

@testable import SyncSim

/// An observation made by hand that breaks one invariant, and its nearest sibling that does not. `CheckerTests` shows both
/// to the invariant. The folders, rows and logs that trials are made of are in `SmallFolders`.
struct Trial: Sendable, CustomTestStringConvertible {
    let id: String
    /// What the bad observation shows.
    let story: String
    /// Part of what the finding must say: which of its promises the invariant found broken.
    let says: String
    /// Shows one of the two. The flag is all that tells them apart.
    private let show: @Sendable (_ isBad: Bool, inout Court) -> Void

    init<Asked: Invariant>(
        _ invariant: Asked.Type, _ story: String, says: String,
        show: @escaping @Sendable (_ isBad: Bool, inout Court) -> Void
    ) {
        id = Asked.id
        self.story = story
        self.says = says
        self.show = show
    }

    var testDescription: String { "\(id): \(story)" }

    func findings(isBad: Bool) -> [Court.Finding] {
        var court = Court()
        show(isBad, &court)
        return court.takeFindings()
    }
}

/// What people do, in as few words as a trial has room for. A file is named by its text.
extension Ledger {
    mutating func wrote(
        _ text: String, over old: String? = nil, at place: String, on machine: Int, time: Int64 = 0,
        isRacing: Bool = false, isBlind: Bool = false
    ) {
        changed(
            at(place), on: machine, from: old.map { .text($0) } ?? .absent, to: .text(text), at: time,
            isRacing: isRacing, isBlind: isBlind)
    }

    mutating func removed(_ text: String, at place: String, on machine: Int, time: Int64 = 0) {
        changed(at(place), on: machine, from: .text(text), to: .absent, at: time)
    }

    mutating func madeDirectory(_ place: String, on machine: Int) {
        changed(at(place), on: machine, from: .absent, to: .directory, at: 0)
    }

    mutating func removedDirectory(_ place: String, on machine: Int) {
        changed(at(place), on: machine, from: .directory, to: .absent, at: 0)
    }
}

extension Value {
    static func text(_ text: String) -> Value { .file(utf8(text)) }
}
