import Config
import ControlProtocol
import SyncModel

/// One command being carried out: its arguments, the daemon it talks to, and where its answer goes.
struct Session: Sendable {
    let invocation: Invocation
    let output: Output

    var style: Style { output.style }
    var wantsJSON: Bool { invocation.wantsJSON }

    /// How long a daemon that only has to look something up may take. One that does not answer is worth telling of.
    static let patienceMilliseconds: Int64 = 30_000

    // MARK: Asking

    func connect() throws(Failure) -> ControlClient {
        let socket = try socket()
        do throws(ControlError) {
            return try ControlClient(socket: socket)
        } catch {
            throw .refused(withCommand(error))
        }
    }

    /// Which unit runs a node that was named by its file is not known, but what runs it by hand is.
    private func withCommand(_ error: ControlError) -> ControlError {
        guard error.code.known == .controlNotRunning, let file = bytes("--config") else { return error }
        let cure = "Start it with its systemd unit, or by hand with: syncd --config \(style.argument(file))"
        return ControlError(.controlNotRunning, text: error.text, cure: cure)
    }

    /// The document that answers a request.
    func ask(_ request: ControlRequest, patience: Int64? = Session.patienceMilliseconds) throws(Failure) -> JSON {
        try ask(request, over: try connect(), patience: patience)
    }

    func ask(
        _ request: ControlRequest, over client: ControlClient, patience: Int64? = Session.patienceMilliseconds
    ) throws(Failure) -> JSON {
        do throws(ControlError) {
            return try client.ask(request, patienceMilliseconds: patience)
        } catch {
            throw .refused(error)
        }
    }

    func read<Document: ControlDocument>(_ json: JSON, as type: Document.Type) throws(Failure) -> Document {
        do throws(DocumentError) {
            return try Document(json: json)
        } catch {
            throw .refused(
                ControlError(
                    .controlUnreadable, text: "The answer of syncd was not understood: in it, \(error.text)."))
        }
    }

    /// Asks, and prints the document as it came, or what `lines` makes of it.
    @discardableResult
    func show<Document: ControlDocument>(
        _ request: ControlRequest, as type: Document.Type, patience: Int64? = Session.patienceMilliseconds,
        lines: (Document) -> [String]
    ) throws(Failure) -> Document {
        try show(try ask(request, patience: patience), as: type, lines: lines)
    }

    @discardableResult
    func show<Document: ControlDocument>(
        _ json: JSON, as type: Document.Type, lines: (Document) -> [String]
    ) throws(Failure) -> Document {
        let document = try read(json, as: type)
        if wantsJSON { output.say(json) } else { output.say(lines(document)) }
        return document
    }

    /// For commands whose answer is that it is done; `text` is said unless the daemon says more.
    func perform(
        _ request: ControlRequest, _ text: String, patience: Int64? = Session.patienceMilliseconds
    ) throws(Failure) -> ExitCode {
        try show(request, as: DoneDocument.self, patience: patience) { done in
            [style.foreign(done.text ?? text)] + done.notes.map { "  " + style.foreign($0) }
        }
        return .done
    }

    /// Prints each document of a stream, until it ends or the reader has had enough.
    func stream<Document: ControlDocument>(
        _ request: ControlRequest, as type: Document.Type, show: (JSON, Document) -> Void
    ) throws(Failure) {
        let client = try connect()
        var failure: Failure?
        do throws(ControlError) {
            try client.stream(request) { json in
                do throws(Failure) {
                    show(json, try read(json, as: type))
                    return true
                } catch {
                    failure = error
                    return false
                }
            }
        } catch {
            throw .refused(error)
        }
        if let failure { throw failure }
    }

    /// For what only looks on: a daemon that stops meanwhile does not run any more. (Of an order nobody knows then whether it was
    /// carried out: that is a failure.)
    func whileItRuns(_ body: () throws(Failure) -> ExitCode) throws(Failure) -> ExitCode {
        do throws(Failure) {
            return try body()
        } catch {
            guard case .refused(let reason) = error, reason.code.known == .controlLost else { throw error }
            output.complain(error)
            return .notRunning
        }
    }

    /// A whole list, however many lines it took to send it. With `--limit` the first so many, and `next` if there are more.
    func askForAll(_ key: String, _ request: (Page) -> ControlRequest) throws(Failure) -> JSON {
        let limit = try number("--limit")
        // The answer would read as if there were none.
        if limit == 0 { throw .usage("--limit 0 would show nothing: write how many, such as --limit 10.") }
        let client = try connect()
        var whole = try ask(request(Page(limit: limit)), over: client)
        while let next = whole["next"]?.text, case .object(var object) = whole {
            let sofar = whole[key]?.items ?? []
            if let limit, sofar.count >= limit { break }
            let page = try ask(request(Page(limit: limit.map { $0 - sofar.count }, after: next)), over: client)
            // The cursor must move, or a broken daemon would keep us here for ever.
            guard page["next"]?.text != next, let more = page[key]?.items else {
                throw .refused(ControlError(.controlUnreadable, text: "The list that syncd sends does not go on."))
            }
            object[key] = .array(sofar + more)
            object["next"] = page["next"]
            whole = .object(object)
        }
        return whole
    }

    // MARK: Arguments

    func has(_ option: String) -> Bool { invocation.has(option) }

    func bytes(_ option: String) -> [UInt8]? { invocation.values[option] }

    func text(_ option: String) throws(Failure) -> String? {
        guard let bytes = bytes(option) else { return nil }
        return try text(bytes, typed(option))
    }

    func text(_ bytes: [UInt8], _ what: String) throws(Failure) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .usage("\(what) \(NameText.printable(bytes)) is not UTF-8: write it in UTF-8.")
        }
        return text
    }

    func operand(_ index: Int) throws(Failure) -> String {
        try text(invocation.operands[index], invocation.commandName)
    }

    /// As somebody wrote it, to whom it is named.
    private func typed(_ option: String) -> String { invocation.typed[option] ?? option }

    func number(_ option: String) throws(Failure) -> Int? {
        guard let text = try text(option) else { return nil }
        guard let number = Int(text), number >= 0, text.first?.isNumber == true else {
            let typed = typed(option)
            throw .usage(
                "\(typed) \(NameText.typed(text)) is no number: write a whole number, such as \(typed) 10.")
        }
        return number
    }

    func choice<Choice: RawRepresentable & CaseIterable>(_ option: String) throws(Failure) -> Choice?
    where Choice.RawValue == String {
        guard let text = try text(option) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let allowed = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("\(option) \(NameText.typed(text)) is not known: write one of \(allowed).")
        }
        return choice
    }

    /// Seconds, with decimals if wanted, or with a unit: `90`, `1.5`, `60s`, `5min`, `2h`.
    func milliseconds(_ option: String) throws(Failure) -> UInt64? {
        guard let text = try text(option) else { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
        let units: [Substring: Double] = ["": 1_000, "s": 1_000, "min": 60_000, "m": 60_000, "h": 3_600_000]
        guard let value = Double(digits), let unit = units[text[digits.endIndex...]], value * unit < 1e15 else {
            throw .usage(
                "\(option) \(NameText.typed(text)) is no time: write seconds, such as \(option) 30, or 5min or 2h.")
        }
        return UInt64(value * unit)
    }

    /// A path as it was typed and where that was.
    func path(_ typed: [UInt8]) throws(Failure) -> PathArgument {
        // Where one stands says nothing about a path from the top.
        guard let directory = System.workingDirectory ?? (typed.first == 0x2F ? [0x2F] : nil) else {
            throw .refused(
                ControlError(
                    .requestRefused, text: "The directory you are in has been deleted, so paths cannot be told.",
                    cure: "Change to a directory that exists."))
        }
        return PathArgument(typed: typed, directory: directory)
    }

    /// A name that was not found may have been typed as it is shown. That is not guessed: a file can be called just like that.
    func hinting(_ failure: Failure) -> Failure {
        guard case .refused(let error) = failure, error.code.known == .requestNotFound, let hint = hintOnName else {
            return failure
        }
        let cure = [error.cure, hint].filter { !$0.isEmpty }.joined(separator: " ")
        return .refused(ControlError(.requestNotFound, text: error.text, cure: cure))
    }

    /// How to type an operand that looks like a name as it is shown.
    var hintOnName: String? {
        invocation.operands.compactMap { NameText.name(shownAs: $0) }.first.map { name in
            "If this is a name as it is shown, write it for the shell as \(style.argument(name))."
        }
    }

    /// What to type for another command to the same daemon.
    func again(_ command: String) -> String {
        for option in ["--config", "--socket"] {
            if let value = bytes(option) { return "syncctl \(option) \(style.argument(value)) \(command)" }
        }
        return "syncctl \(command)"
    }

    // MARK: Which daemon

    var configurationFile: [UInt8] { bytes("--config") ?? Array(Configuration.defaultFile.utf8) }

    func configuration() throws(Failure) -> Configuration {
        let file = try text(configurationFile, "--config")
        do throws(ConfigurationError) {
            return try Configuration.read(path: file)
        } catch {
            throw .refused(ControlError(.configInvalid, text: error.description))
        }
    }

    /// Where nothing is said and nothing is configured, the daemon of a sample configuration would listen.
    private func socket() throws(Failure) -> [UInt8] {
        if let socket = bytes("--socket") { return socket }
        if bytes("--config") == nil, !System.exists(configurationFile) { return Session.defaultSocket }
        do throws(Failure) {
            return try configuration().node.control
        } catch {
            // A daemon that runs goes on with what it has read: one wrong line is no reason not to ask it.
            let control = Configuration.control(path: try text(configurationFile, "--config"))
            guard let control, System.exists(control) else { throw error }
            return control
        }
    }

    static let defaultSocket = Array("/run/syncd/default.sock".utf8)
}

extension Invocation {
    var commandName: String {
        if case .command(let command) = wish { command.name } else { "" }
    }
}
