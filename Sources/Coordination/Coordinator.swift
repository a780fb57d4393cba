public import SyncModel

/// Programs that share files: who may read or write what, in which order, and who is asked before.
///
/// One queue in order of arrival. Nobody passes somebody he excludes, with one exception: who was asked to save is let in ahead of the
/// claim that asks. Nobody waits for ever: a claim has its own patience, a presenter that does not answer is skipped after its time, a
/// client that is gone holds nothing, and claims that would wait for each other in a circle are found when the last of them comes.
///
/// Reads nothing, writes nothing, and knows no time but what it is told: see `step` and `nextDue`. What an event costs does not grow with
/// the number of claims, but with the number of those that meet its paths.
public struct Coordinator: Sendable {
    public enum Event: Hashable, Sendable {
        case claim(ClaimRequest)
        /// Granted already, whoever it excludes: it has begun before this coordinator knew of anybody.
        case occupy(ClaimRequest)
        /// Given back, or no longer wanted.
        case end(claim: ClaimID, [Deed])
        case register(Presenter)
        case withdraw(presenter: PresenterID)
        case answer(question: QuestionID, PresenterAnswer)
        case gone(client: ClientID)
        /// Something changed without a claim, or by somebody this coordinator does not know.
        case happened(Deed)
        case warned(Warning)
        /// Who waits for whom on the other node among programs of that alone: all of it, as the other has told last.
        case elsewhere([Wait])
        case time
    }

    public enum Effect: Hashable, Sendable {
        case granted(Grant)
        case refused(claim: ClaimID, ClaimRefusal)
        /// It was held for longer than it may be, and somebody waits.
        case revoked(claim: ClaimID)
        case ask(Question)
        case tell(presenter: PresenterID, News)
    }

    /// In the order of arrival.
    var entries = SortedMap<Turn, ClaimEntry>()
    var turns = SortedMap<ClaimID, Turn>()
    private var places = Meetings<Turn>()
    var presenters = SortedMap<PresenterID, Presenter>()
    private var shown = Meetings<PresenterID>()
    var questions = SortedMap<QuestionID, PendingQuestion>()
    /// Claims that may be granted by what has happened.
    private var toLookAt = SortedMap<Turn, Bool>()
    /// Claims that have begun to wait for somebody.
    var suspects: [Turn] = []
    /// On the other node, as it says.
    var waitsElsewhere: [Wait] = []
    private var due = SortedMap<Due, Bool>()
    /// Whose lock was taken away after its time, and who has said nothing since: it may be stopped, and others have waited for it once.
    private var silent = SortedMap<ClientID, Bool>()
    private var lastTurn = Turn(0)
    private var lastQuestion = QuestionID(0)
    private var lastFence: UInt64
    private var now: UInt64 = 0
    private let asks: Asks

    /// How long a presenter may take for its answer.
    public static let answerMilliseconds: UInt64 = 10_000
    /// The same for one that others have just waited for as the holder of a lock.
    public static let silentAnswerMilliseconds: UInt64 = 1_000
    public static let claimsMax = 4_096
    public static let presentersMax = 65_536

    /// Whom a claim is a reason to ask.
    public enum Asks: Sendable {
        /// All of one program: every presenter of another purpose.
        case everybody
        /// Programs that each see to their own presenters: those of other clients, on the same node.
        case others
    }

    /// Fences begin above a number that must be higher with every start of the process.
    public init(fencesAbove last: UInt64 = 0, asking asks: Asks = .everybody) {
        lastFence = last
        self.asks = asks
    }

    public mutating func step(_ event: Event, at nowMilliseconds: UInt64, into effects: inout [Effect]) {
        now = max(now, nowMilliseconds)
        switch event {
        case .claim(let request): add(request, into: &effects)
        case .occupy(let request): occupy(request, into: &effects)
        case .end(let claim, let deeds): end(claim, deeds, into: &effects)
        case .register(let presenter): register(presenter)
        case .withdraw(let presenter): withdraw(presenter)
        case .answer(let question, let answer): take(answer, to: question, into: &effects)
        case .gone(let client): forget(client, into: &effects)
        case .happened(let deed): spread(deed, into: &effects)
        case .warned(let warning): spread(warning, into: &effects)
        case .elsewhere(let waits): note(elsewhere: waits)
        case .time: break
        }
        // First what may be granted: a claim that waits for nobody is granted, however little time it has.
        pump(into: &effects)
        endOverdue(into: &effects)
        repeat {
            pump(into: &effects)
            breakCircles(into: &effects)
        } while !toLookAt.isEmpty
    }

    /// When `time` is to be told at the latest.
    public var nextDue: UInt64? { due.first?.key.at }

    /// False once the grant was given back or taken away.
    public func isCurrent(fence: UInt64) -> Bool {
        entries.values.contains { $0.isHeld && $0.fence == fence }
    }

    public var heldClaims: [ClaimRequest] { entries.values.filter(\.isHeld).map(\.request) }

    /// Nobody claims anything, and nobody shows anything.
    public var isEmpty: Bool { entries.isEmpty && presenters.isEmpty }
    public var hasPresenters: Bool { !presenters.isEmpty }

    /// What would have to wait for this, or be asked before it.
    public func concerns(_ request: ClaimRequest) -> Bool {
        isAwaited(request) || shown.candidates(request.accesses).contains { isAsked($0, by: request) }
    }

    public func isHeldAgainst(_ request: ClaimRequest) -> Bool {
        places.candidates(request.accesses).contains { turn in
            entries[turn].map { $0.isHeld && $0.request.excludes(request) } ?? false
        }
    }

    /// Somebody has it, or has asked for it before.
    public func isAwaited(_ request: ClaimRequest) -> Bool {
        places.candidates(request.accesses).contains { entries[$0]?.request.excludes(request) == true }
    }

    /// The question is open, and was put to this one.
    public func isAsked(_ presenter: PresenterID, _ question: QuestionID) -> Bool {
        questions[question]?.question.presenter == presenter
    }

    /// Where what it shows is by now; nil once it is withdrawn.
    public func place(ofPresenter id: PresenterID) -> Path? { presenters[id]?.path }

    // MARK: Claims

    private mutating func add(_ request: ClaimRequest, into effects: inout [Effect]) {
        guard let turn = enter(request, into: &effects) else { return }
        if let ends = entries[turn]?.patienceEnds { due[Due(at: ends, .patience(turn))] = true }
        toLookAt[turn] = true
        suspects.append(turn)
    }

    private mutating func occupy(_ request: ClaimRequest, into effects: inout [Effect]) {
        if let turn = enter(request, into: &effects) { grant(turn, into: &effects) }
    }

    private mutating func enter(_ request: ClaimRequest, into effects: inout [Effect]) -> Turn? {
        silent[request.client] = nil
        guard entries.count < Coordinator.claimsMax, !request.accesses.isEmpty, turns[request.id] == nil else {
            effects.append(.refused(claim: request.id, .tooMany))
            return nil
        }
        lastTurn = lastTurn.next
        entries[lastTurn] = ClaimEntry(request: request, arrivedAt: now)
        turns[request.id] = lastTurn
        for access in request.accesses { places.add(lastTurn, at: access.path) }
        return lastTurn
    }

    private mutating func end(_ claim: ClaimID, _ deeds: [Deed], into effects: inout [Effect]) {
        guard let turn = turns[claim], let entry = remove(turn) else { return }
        guard entry.isHeld else {
            effects.append(.refused(claim: claim, .withdrawn))
            return release(entry, into: &effects)
        }
        for deed in deeds { spread(deed, by: entry.request, into: &effects) }
        release(entry, into: &effects)
    }

    /// Whoever let go of something for it may have it back.
    private func release(_ entry: ClaimEntry, into effects: inout [Effect]) {
        for presenter in entry.asked where presenters[presenter] != nil {
            effects.append(.tell(presenter: presenter, .reacquired))
        }
    }

    /// With the questions that were asked for it. Who waited for it is looked at again.
    private mutating func remove(_ turn: Turn) -> ClaimEntry? {
        guard let entry = entries.removeValue(forKey: turn) else { return nil }
        turns[entry.request.id] = nil
        toLookAt[turn] = nil
        for access in entry.request.accesses { places.remove(turn, from: access.path) }
        for question in entry.pending { drop(question: question) }
        if let ends = entry.patienceEnds { due[Due(at: ends, .patience(turn))] = nil }
        if let ends = entry.holdEnds { due[Due(at: ends, .hold(turn))] = nil }
        for other in places.candidates(entry.request.accesses) { toLookAt[other] = true }
        return entry
    }

    mutating func refuse(_ turn: Turn, _ reason: ClaimRefusal, into effects: inout [Effect]) {
        guard let entry = remove(turn) else { return }
        effects.append(.refused(claim: entry.request.id, reason))
        release(entry, into: &effects)
    }

    private mutating func forget(_ client: ClientID, into effects: inout [Effect]) {
        for (turn, entry) in entries where entry.request.client == client {
            if let entry = remove(turn) { release(entry, into: &effects) }
        }
        for (id, presenter) in presenters where presenter.client == client { withdraw(id) }
        silent[client] = nil
    }

    /// Everybody who shows it is told, but whoever did it. Claims that wait for what was moved follow it.
    private mutating func spread(_ deed: Deed, by request: ClaimRequest? = nil, into effects: inout [Effect]) {
        let whole = Access(deed.path, .write(.deleting))
        for id in shown.candidates([whole]) {
            guard let presenter = presenters[id], presenter.isConcerned(by: whole),
                request.map({ isOther(presenter, than: $0) }) ?? true
            else { continue }
            switch deed {
            case .changed(let path):
                if presenter.shows(path) { effects.append(.tell(presenter: id, .changed(path))) }
            case .deleted(let path): effects.append(.tell(presenter: id, .deleted(path)))
            case .moved(let path, let target): effects.append(.tell(presenter: id, .moved(path, to: target)))
            }
        }
        if case .moved(let path, let target) = deed { follow(path, to: target) }
    }

    private func spread(_ warning: Warning, into effects: inout [Effect]) {
        for id in shown.candidates([Access(warning.path, .write(.update))])
        where presenters[id]?.shows(warning.path) == true {
            effects.append(.tell(presenter: id, .warned(warning)))
        }
    }

    private mutating func follow(_ path: Path, to target: Path) {
        let whole = [Access(path, .write(.deleting))]
        for id in shown.candidates(whole) {
            guard let old = presenters[id]?.path, let new = old.following(path, to: target) else { continue }
            presenters[id]?.path = new
            shown.remove(id, from: old)
            shown.add(id, at: new)
        }
        for turn in places.candidates(whole) {
            // (What is asked for on the other node is held there where it was asked for, so it is kept for that here.)
            guard var entry = entries[turn], entry.phase == .waiting, entry.request.node == .own else { continue }
            for index in entry.request.accesses.indices {
                let access = entry.request.accesses[index]
                if case .write(.replacing) = access.kind { continue }
                guard let new = access.path.following(path, to: target) else { continue }
                entry.request.accesses[index].path = new
                places.remove(turn, from: access.path)
                places.add(turn, at: new)
            }
            entries[turn] = entry
            toLookAt[turn] = true
            suspects.append(turn)
        }
    }

    // MARK: Presenters

    private mutating func register(_ presenter: Presenter) {
        if presenters[presenter.id] != nil { withdraw(presenter.id) }
        silent[presenter.client] = nil
        guard presenters.count < Coordinator.presentersMax else { return }
        presenters[presenter.id] = presenter
        shown.add(presenter.id, at: presenter.path)
    }

    /// What it was asked counts as answered.
    private mutating func withdraw(_ id: PresenterID) {
        guard let presenter = presenters.removeValue(forKey: id) else { return }
        shown.remove(id, from: presenter.path)
        for (question, pending) in questions where pending.question.presenter == id { drop(question: question) }
    }

    private mutating func take(_ answer: PresenterAnswer, to id: QuestionID, into effects: inout [Effect]) {
        guard var pending = questions[id] else { return }
        if let presenter = presenters[pending.question.presenter] { silent[presenter.client] = nil }
        switch answer {
        case .ready:
            drop(question: id)
        case .busy:
            guard !pending.isExtended else { return }
            due[Due(at: pending.dueAt, .answer(id))] = nil
            pending.isExtended = true
            pending.dueAt += Coordinator.answerMilliseconds
            questions[id] = pending
            due[Due(at: pending.dueAt, .answer(id))] = true
        case .failed(let reason):
            refuse(pending.turn, .presenterFailed(reason), into: &effects)
        }
    }

    private mutating func drop(question id: QuestionID) {
        guard let pending = questions.removeValue(forKey: id) else { return }
        due[Due(at: pending.dueAt, .answer(id))] = nil
        guard entries[pending.turn] != nil else { return }
        entries[pending.turn]?.pending.removeAll { $0 == id }
        toLookAt[pending.turn] = true
    }

    // MARK: Time

    private mutating func endOverdue(into effects: inout [Effect]) {
        while let first = due.first?.key, first.at <= now {
            due[first] = nil
            switch first.end {
            case .answer(let question):
                guard let presenter = questions[question]?.question.presenter else { continue }
                drop(question: question)
                effects.append(.tell(presenter: presenter, .skipped(fence: lastFence + 1)))
            case .patience(let turn):
                guard let entry = entries[turn], !entry.isHeld else { continue }
                refuse(turn, timeout(of: entry), into: &effects)
            case .hold(let turn):
                // Nobody may wait for it yet: whoever comes looks at this.
                entries[turn]?.isOverdue = true
                guard let entry = entries[turn] else { continue }
                for other in places.candidates(entry.request.accesses) { toLookAt[other] = true }
            }
        }
    }

    /// Who has what is wanted, or is about to have it. (Who wants it may have come here with no time left to wait in the queue.)
    public func holder(against request: ClaimRequest, at milliseconds: UInt64) -> ClaimRefusal? {
        for turn in places.candidates(request.accesses) {
            guard let other = entries[turn], other.phase != .waiting, other.request.excludes(request) else { continue }
            let since = if case .held(let since) = other.phase { since } else { other.arrivedAt }
            return .timedOut(
                holder: other.request.client, purpose: other.request.purpose,
                heldMilliseconds: milliseconds - min(milliseconds, since))
        }
        return nil
    }

    private func timeout(of entry: ClaimEntry) -> ClaimRefusal {
        if let refusal = holder(against: entry.request, at: now) { return refusal }
        let asked = entry.pending.first.flatMap { questions[$0] }
        let presenter = asked.flatMap { presenters[$0.question.presenter] }
        return .timedOut(holder: presenter?.client, purpose: presenter?.purpose, heldMilliseconds: 0)
    }

    // MARK: Granting

    private mutating func pump(into effects: inout [Effect]) {
        while let (turn, _) = toLookAt.popFirst() {
            guard let entry = entries[turn], !entry.isHeld else { continue }
            if entry.phase == .waiting {
                guard isNext(turn, entry, into: &effects) else { continue }
                entries[turn]?.phase = .preparing
                ask(for: turn, into: &effects)
            }
            grantIfReady(turn, into: &effects)
        }
    }

    /// Nobody is in its way. Who is, and has had his time, is no longer.
    private mutating func isNext(_ turn: Turn, _ entry: ClaimEntry, into effects: inout [Effect]) -> Bool {
        let mine = jumps(entry)
        var isFree = true
        for other in places.candidates(entry.request.accesses) where blocks(other, turn, jumping: mine) {
            if entries[other]?.isOverdue == true, let holder = remove(other) {
                effects.append(.revoked(claim: holder.request.id))
                silent[holder.request.client] = true
                release(holder, into: &effects)
            } else {
                isFree = false
            }
        }
        return isFree
    }

    /// The claims that are in the way of one that is not held.
    func blockers(of turn: Turn) -> [Turn] {
        guard let entry = entries[turn] else { return [] }
        let mine = jumps(entry)
        return places.candidates(entry.request.accesses).filter { blocks($0, turn, jumping: mine) }
    }

    private func blocks(_ other: Turn, _ turn: Turn, jumping asking: [Turn]) -> Bool {
        guard let first = entries[other], let entry = entries[turn], first.request.excludes(entry.request) else {
            return false
        }
        switch first.phase {
        case .held: return true
        case .preparing: return entry.phase == .waiting && !asking.contains(other)
        case .waiting:
            return entry.phase == .waiting && other < turn && asking.isEmpty && !waits(first, for: entry.request)
        }
    }

    /// It cannot be granted before what the same purpose holds is given back, and that may need this first.
    private func waits(_ first: ClaimEntry, for request: ClaimRequest) -> Bool {
        guard request.purpose != nil else { return false }
        return places.candidates(first.request.accesses).contains { turn in
            guard let holder = entries[turn], holder.isHeld, holder.request.agent == request.agent else {
                return false
            }
            return holder.request.excludes(first.request)
        }
    }

    /// The claims that have asked whoever made this one to save what it is about.
    private func jumps(_ entry: ClaimEntry) -> [Turn] {
        guard !questions.isEmpty else { return [] }
        let request = entry.request
        return questions.values.filter { pending in
            guard pending.question.savesFirst, let presenter = presenters[pending.question.presenter],
                presenter.client == request.client, presenter.purpose == request.purpose
            else { return false }
            return request.accesses.allSatisfy { presenter.shows($0.path) }
        }.map(\.turn)
    }

    private mutating func ask(for turn: Turn, into effects: inout [Effect]) {
        guard let request = entries[turn]?.request else { return }
        for id in shown.candidates(request.accesses) where isAsked(id, by: request) {
            guard let presenter = presenters[id], let concern = Concern(of: presenter, by: request) else { continue }
            lastQuestion = lastQuestion.next
            let question = Question(
                id: lastQuestion, presenter: id, path: concern.path, kind: concern.kind,
                savesFirst: concern.savesFirst)
            let isSilent = silent.contains(key: presenter.client)
            let dueAt = now + (isSilent ? Coordinator.silentAnswerMilliseconds : Coordinator.answerMilliseconds)
            questions[lastQuestion] = PendingQuestion(question: question, turn: turn, dueAt: dueAt)
            due[Due(at: dueAt, .answer(lastQuestion))] = true
            entries[turn]?.asked.append(id)
            entries[turn]?.pending.append(lastQuestion)
            effects.append(.ask(question))
            letIn(presenter)
        }
        if entries[turn]?.pending.isEmpty == false { suspects.append(turn) }
    }

    private func isAsked(_ id: PresenterID, by request: ClaimRequest) -> Bool {
        guard request.node == .own, let presenter = presenters[id], isOther(presenter, than: request) else {
            return false
        }
        guard let concern = Concern(of: presenter, by: request) else { return false }
        return concern.kind == .letDelete || !isWithin(request)
    }

    /// The same purpose has it all to itself already: nobody could save any more.
    private func isWithin(_ request: ClaimRequest) -> Bool {
        guard request.purpose != nil else { return false }
        let held = places.candidates(request.accesses).compactMap { entries[$0] }.filter {
            $0.isHeld && $0.request.agent == request.agent
        }
        let writes = held.flatMap(\.request.accesses).filter { !$0.isRead }
        return request.accesses.allSatisfy { access in writes.contains { $0.meets(access.path) } }
    }

    private func isOther(_ presenter: Presenter, than request: ClaimRequest) -> Bool {
        presenter.agent != request.agent && (asks == .everybody || presenter.client != request.client)
    }

    /// What it has claimed already may be what it is asked to save.
    private mutating func letIn(_ presenter: Presenter) {
        let shows = Access(presenter.path, .write(.update), coversContents: presenter.coversContents)
        for turn in places.candidates([shows]) where entries[turn]?.request.client == presenter.client {
            toLookAt[turn] = true
        }
    }

    private mutating func grantIfReady(_ turn: Turn, into effects: inout [Effect]) {
        // Somebody who was asked to save may have been let in meanwhile.
        guard let entry = entries[turn], entry.pending.isEmpty, blockers(of: turn).isEmpty else { return }
        grant(turn, into: &effects)
    }

    private mutating func grant(_ turn: Turn, into effects: inout [Effect]) {
        guard var entry = entries[turn] else { return }
        lastFence += 1
        entry.phase = .held(since: now)
        entry.fence = lastFence
        entries[turn] = entry
        if let ends = entry.holdEnds { due[Due(at: ends, .hold(turn))] = true }
        let paths = entry.request.accesses.map(\.path)
        effects.append(.granted(Grant(claim: entry.request.id, paths: paths, fence: lastFence)))
        for other in places.candidates(entry.request.accesses) where other != turn { toLookAt[other] = true }
    }
}

/// When something ends by itself, and what.
private struct Due: Comparable, Sendable {
    enum End: Comparable, Sendable {
        case answer(QuestionID)
        case patience(Turn)
        case hold(Turn)
    }

    let at: UInt64
    let end: End

    init(at: UInt64, _ end: End) {
        self.at = at
        self.end = end
    }

    static func < (left: Due, right: Due) -> Bool { (left.at, left.end) < (right.at, right.end) }
}

extension Deed {
    fileprivate var path: Path {
        switch self {
        case .changed(let path), .deleted(let path), .moved(let path, _): path
        }
    }
}

extension Path {
    /// Where it is after `old` has become `new`; nil if that does not concern it.
    fileprivate func following(_ old: Path, to new: Path) -> Path? {
        guard self == old || isBelow(old) else { return nil }
        return Path(new.bytes + bytes.dropFirst(old.bytes.count))
    }
}
