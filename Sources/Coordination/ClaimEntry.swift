import SyncModel

/// A claim on its way through the queue.
struct ClaimEntry: Sendable {
    enum Phase: Hashable, Sendable {
        case waiting
        /// Presenters are asked; nobody it excludes is granted meanwhile.
        case preparing
        case held(since: UInt64)
    }

    var request: ClaimRequest
    let arrivedAt: UInt64
    var phase = Phase.waiting
    var fence: UInt64 = 0
    /// Who was asked to let go of the item for it.
    var asked: [PresenterID] = []
    /// Questions without an answer.
    var pending: [QuestionID] = []
    /// Held for as long as it may be: whoever comes takes it away.
    var isOverdue = false

    var isHeld: Bool { if case .held = phase { true } else { false } }

    var patienceEnds: UInt64? {
        request.patienceMilliseconds.flatMap { Moment.end(of: $0, after: arrivedAt) }
    }

    var holdEnds: UInt64? {
        guard case .held(let since) = phase, !isOverdue else { return nil }
        return request.holdMilliseconds.flatMap { Moment.end(of: $0, after: since) }
    }
}

struct PendingQuestion: Sendable {
    let question: Question
    /// Of the claim it was asked for.
    let turn: Turn
    var dueAt: UInt64
    var isExtended = false
}

/// The gravest of what a claim means to a presenter.
struct Concern {
    let path: Path
    let kind: Question.Kind
    let savesFirst: Bool

    init?(of presenter: Presenter, by request: ClaimRequest) {
        var gravest: (path: Path, kind: Question.Kind, savesFirst: Bool)?
        for access in request.accesses where presenter.isConcerned(by: access) {
            switch access.kind {
            case .write(.metadata): continue
            case .write(.deleting), .write(.replacing): gravest = (access.path, .letDelete, false)
            case .write(.merging), .write(.update), .write(.moving):
                if gravest?.kind == .letDelete { continue }
                let savesFirst = access.kind == .write(.merging) || gravest?.savesFirst == true
                gravest = (access.path, .letWrite, savesFirst)
            case .read(let savesFirst):
                switch gravest?.kind {
                case .letDelete: continue
                case .letWrite: if savesFirst { gravest?.savesFirst = true }
                case .letRead, nil: gravest = (access.path, .letRead, savesFirst || gravest?.savesFirst == true)
                }
            }
        }
        guard let gravest else { return nil }
        (path, kind, savesFirst) = gravest
    }
}
