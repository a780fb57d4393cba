import ControlProtocol
import Coordination
import SyncCore
import SyncModel

/// `present`, `answer` and `withdraw`: programs that show files are asked before others touch them, and told after. What they are
/// asked by other programs of their own connection they see to themselves.
extension Daemon {
    func present(_ request: PresentRequest, _ asker: Asker) {
        guard let path = path(of: request.path) else { return asker.refuse(outside([request.path])) }
        guard Daemon.isPurpose(request.purpose) else { return asker.refuse(Daemon.noPurpose) }
        guard presenters.count < Coordinator.presentersMax else {
            return asker.refuse(ControlError(.requestRefused, text: "too many programs show files"))
        }
        lastPresenter = lastPresenter.next
        let id = lastPresenter
        let ending = asker.client.whenOver { [unowned self] in withdraw(presenter: id) }
        presenters[id] = Shown(asker: asker, ending: ending)
        asker.item(PresenterLine.registered(presenter: "p\(id)"))
        let presenter = Presenter(
            id: id, client: asker.client.id, purpose: request.purpose, path: path,
            coversContents: request.coversContents)
        host.ask(.present(presenter)) { _ in }
    }

    func withdraw(_ name: String, _ asker: Asker) {
        guard let id = name.hasPrefix("p") ? UInt64(name.dropFirst()).map(PresenterID.init) : nil,
            let shown = presenters[id],
            shown.asker.client.id == asker.client.id
        else {
            return asker.refuse(ControlError(.requestNotFound, text: "this connection has no presenter \(name)"))
        }
        shown.asker.client.forgetEnding(shown.ending)
        withdraw(presenter: id)
        shown.asker.finish(DoneDocument())
        asker.finish(DoneDocument())
    }

    private func withdraw(presenter id: PresenterID) {
        presenters[id] = nil
        host.ask(.withdrawPresenter(id)) { _ in }
    }

    /// An answer that comes too late is no mistake of whoever gives it.
    func answer(_ name: String, _ reply: PresenterReply, _ asker: Asker) {
        guard let (question, presenter) = Daemon.ids(in: name),
            presenters[presenter]?.asker.client.id == asker.client.id
        else {
            return asker.refuse(ControlError(.requestNotFound, text: "this connection was not asked \(name)"))
        }
        tell(.answerQuestion(question, of: presenter, Daemon.answer(reply)), asker)
    }

    /// A question is called after whom it was put to.
    private static func name(of question: Question) -> String { "q\(question.id)-p\(question.presenter)" }

    private static func ids(in name: String) -> (question: QuestionID, presenter: PresenterID)? {
        let parts = name.split(separator: "-")
        guard parts.count == 2, parts[0].hasPrefix("q"), parts[1].hasPrefix("p"),
            let question = UInt64(parts[0].dropFirst()), let presenter = UInt64(parts[1].dropFirst())
        else { return nil }
        return (QuestionID(question), PresenterID(presenter))
    }

    /// Another node begins, which knows of no locks and of nobody: who had any is told by the end of the connection.
    func forgetPrograms() {
        let clients = presenters.values.map(\.asker.client) + holders.values.map(\.client)
        standingLocks = []
        for client in clients { client.close() }
    }

    func heed(_ word: ProgramWord) {
        switch word {
        case .revoked(let claim, _): revoke(claim)
        case .ask(let question):
            guard let shown = presenters[question.presenter] else { return }
            shown.asker.item(
                PresenterLine.question(
                    .init(
                        id: Daemon.name(of: question), path: question.path.bytes, kind: Daemon.kind(question.kind),
                        savesFirst: question.savesFirst)))
        case .tell(let presenter, let news):
            presenters[presenter]?.asker.item(PresenterLine.news(Daemon.news(news)))
        }
    }

    /// One presenter, and how it is reached.
    struct Shown {
        let asker: Asker
        let ending: UInt64
    }

    private static func kind(_ kind: Question.Kind) -> PresenterLine.Question.Kind {
        switch kind {
        case .letRead: .read
        case .letWrite: .write
        case .letDelete: .delete
        }
    }

    private static func answer(_ reply: PresenterReply) -> PresenterAnswer {
        switch reply {
        case .ready: .ready
        case .busy: .busy
        case .failed(let reason): .failed(reason)
        }
    }

    private static func news(_ news: News) -> PresenterLine.News {
        switch news {
        case .reacquired: .reacquired
        case .changed(let path): .changed(path.bytes)
        case .deleted(let path): .deleted(path.bytes)
        case .moved(let path, let target): .moved(path.bytes, to: target.bytes)
        case .skipped: .skipped
        case .warned(let warning):
            .warned(
                warning.path.bytes, about: warning.about.bytes, code: CodeText(warning.code), isOpen: warning.isOpen)
        }
    }
}
