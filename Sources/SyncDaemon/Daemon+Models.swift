import ControlProtocol
import RecordMerge
import SyncCore
import SyncModel

/// `doc check` and `doc show`: files as the models of this node see them.
extension Daemon {
    func checkDocuments(_ files: [PathArgument], _ asker: Asker) {
        guard !files.isEmpty else { return scanRecords(asker) }
        let paths = files.compactMap { path(of: $0) }
        guard paths.count == files.count else { return asker.refuse(outside(files)) }
        let (formats, models) = (models.formats, models.models)
        host.parse(paths, bytesNeeded: bytesNeeded) { path, bytes, size in
            if let model = Daemon.model(of: path, among: models) { return Daemon.check(path, bytes, model) }
            return formats.reader(of: path).map { .header($0.header(of: bytes, size: size)) } ?? .nothing
        } then: { [unowned self] parsed in
            let files = zip(paths, parsed).map { check($0, $1) }
            host.rows(at: paths) { [unowned self] rows in
                asker.finish(DocumentChecks(files: files.map { tellingWhy($0, rows) }))
            }
        }
    }

    /// A file that can be read may wait all the same, because of what it says.
    private func tellingWhy(_ file: DocumentChecks.File, _ rows: [Row]) -> DocumentChecks.File {
        guard file.outcome == .success, let row = rows.first(where: { $0.path.bytes == file.path }),
            let code = host.reasonNotInSync(row)
        else { return file }
        var file = file
        file.detail = "it is not in sync yet (\(code.rawValue))"
        return file
    }

    /// What a file turns out to be where it is parsed.
    private enum Check: Sendable {
        case document(DocumentChecks.File)
        case header(FormatHeader)
        case nothing
    }

    /// What the daemon itself would read of it.
    private var bytesNeeded: @Sendable (Path, UInt64) -> Int {
        let (formats, models) = (models.formats, models.models)
        return { path, size in
            let isOfRecords = models.contains { !$0.model.entities(claiming: path).isEmpty }
            let rule = isOfRecords ? nil : formats.reader(of: path)
            return rule?.bytesNeeded(of: size) ?? Int(min(size, UInt64(Limits.jsonBytesMax)))
        }
    }

    private func scanRecords(_ asker: Asker) {
        host.ask(.scanRecords) { answer in
            guard case .scan(let scan) = answer else { return asker.refuse(Daemon.error(instead: answer)) }
            var checks = DocumentChecks(files: [])
            checks.graph = .init(live: scan.live, deleted: scan.dead, strays: scan.strays, faults: scan.faults)
            asker.finish(checks)
        }
    }

    private static func model(of path: Path, among models: [InstalledModel]) -> Model? {
        models.first { !$0.model.entities(claiming: path).isEmpty }?.model
    }

    private func check(_ path: Path, _ outcome: ParseOutcome<Check>) -> DocumentChecks.File {
        guard let model = Daemon.model(of: path, among: models.models) else {
            guard let rule = models.formats.reader(of: path) else {
                let isThere = !outcome.isAbsence
                var file = DocumentChecks.File(path: path.bytes, outcome: isThere ? .unguarded : .noSuchFile)
                if models.heldFiles.claims(path, as: [.records, .subtree, .format]) {
                    file.detail = "a model file with a fault is about it (\(MessageCode.schemaInvalid.rawValue))"
                }
                return file
            }
            return Daemon.check(path, outcome, by: rule)
        }
        if let what = Daemon.nameOfNoFile(outcome) { return .init(path: path.bytes, outcome: .unguarded, detail: what) }
        let name = String(decoding: model.name, as: UTF8.self)
        switch outcome {
        case .failed(.notFound), .failed(.notDirectory):
            return .init(path: path.bytes, outcome: .noSuchFile, model: name)
        case .failed(.permission): return .init(path: path.bytes, outcome: .accessDenied, model: name)
        case .failed(.mismatch): return .init(path: path.bytes, outcome: .changedDuringRead, model: name)
        case .failed(let error):
            return .init(path: path.bytes, outcome: .corrupt, model: name, detail: Daemon.unreadable(error))
        case .parsed(.document(let file)): return file
        case .parsed, .poisoned:
            return .init(path: path.bytes, outcome: .corrupt, model: name, detail: Daemon.poisonText)
        }
    }

    private static func check(_ path: Path, _ bytes: [UInt8], _ model: Model) -> Check {
        let name = String(decoding: model.name, as: UTF8.self)
        if bytes.isEmpty { return .document(.init(path: path.bytes, outcome: .zeroLength, model: name)) }
        var file = DocumentChecks.File(path: path.bytes, outcome: .success, model: name)
        do throws(DocumentFault) {
            let document = try RecordDocument(parsing: bytes, at: path, model: model)
            let version = document.version(at: model.versionAt)
            file.found = Daemon.found(version)
            file.supported = .array([JSON.count(model.reads.min() ?? 0), JSON.count(model.reads.max() ?? 0)])
            file.outcome = Daemon.outcome(of: version, model)
        } catch {
            file.outcome = .corrupt
            file.offset = error.offset
            file.detail = error.description
        }
        return .document(file)
    }

    private static let poisonText = "parsing it ends the program"

    /// What stands there, if that is no file, whatever its name says. It is synced all the same.
    private static func nameOfNoFile(_ outcome: ParseOutcome<Check>) -> String? {
        switch outcome {
        case .failed(.isDirectory): "a directory stands there, and no file"
        case .failed(.unsupported): "a link stands there, or something else that is no file"
        case .failed, .parsed, .poisoned: nil
        }
    }

    private static func unreadable(_ error: DiskError) -> String {
        let why =
            switch error {
            case .inputOutput: "the disk does not give it"
            case .permission: "this user may not do that"
            case .noSpace: "there is no space left"
            case .readOnly: "the file system can only be read"
            case .nameTooLong: "the name is too long for the file system"
            case .crossDevice: "another disk is mounted there"
            case .unsupported, .isDirectory: "it is no file"
            case .notFound, .notDirectory, .exists, .notEmpty, .busy, .mismatch: "it is not as it was a moment ago"
            }
        return "it cannot be read: \(why)"
    }

    private static func check(
        _ path: Path, _ outcome: ParseOutcome<Check>, by rule: FormatRule
    ) -> DocumentChecks.File {
        if let what = nameOfNoFile(outcome) { return .init(path: path.bytes, outcome: .unguarded, detail: what) }
        var file = DocumentChecks.File(path: path.bytes, outcome: .success, model: Path.escape(rule.model))
        file.supported = .array([JSON.count(Int(rule.supports.lowerBound)), JSON.count(Int(rule.supports.upperBound))])
        if case .parsed(.header(.version(let number))) = outcome { file.found = .count(Int(number)) }
        switch loaded(outcome, by: rule) {
        case .notLoaded, .success: break
        case .noSuchFile: file.outcome = .noSuchFile
        case .zeroLength: file.outcome = .zeroLength
        case .corrupt(let reason, let offset): (file.outcome, file.offset, file.detail) = (.corrupt, offset, reason)
        case .olderVersion: file.outcome = .olderVersion
        case .newerVersion: file.outcome = .newerVersion
        case .unknownVersion(let found):
            (file.outcome, file.found) = (.unknownVersion, .string(Path.escape(found)))
        case .accessDenied: file.outcome = .accessDenied
        case .changedDuringRead: file.outcome = .changedDuringRead
        }
        return file
    }

    private static func loaded(_ outcome: ParseOutcome<Check>, by rule: FormatRule) -> LoadOutcome {
        switch outcome {
        case .parsed(.header(let header)): rule.outcome(of: header)
        case .failed(.notFound), .failed(.notDirectory): .noSuchFile
        case .failed(.permission): .accessDenied
        case .failed(.mismatch): .changedDuringRead
        case .failed(let error): .corrupt(reason: unreadable(error), offset: 0)
        case .parsed, .poisoned: .corrupt(reason: poisonText, offset: 0)
        }
    }

    private static func found(_ version: DocumentVersion) -> JSON? {
        switch version {
        case .absent: nil
        case .number(let number): .count(number)
        case .unknown(let text): .string(Path.escape(text))
        }
    }

    /// A document that does not say its version is as old as the first there was.
    private static func outcome(of version: DocumentVersion, _ model: Model) -> DocumentChecks.Outcome {
        switch version {
        case .unknown: .unknownVersion
        case .number(let number):
            number > (model.reads.max() ?? 0) ? .newerVersion : model.reads.contains(number) ? .success : .olderVersion
        case .absent: .success
        }
    }

    func showDocument(_ argument: PathArgument, _ asker: Asker) {
        guard let path = path(of: argument) else { return asker.refuse(outside([argument])) }
        guard let model = Daemon.model(of: path, among: models.models) else {
            return asker.refuse(
                ControlError(
                    .requestNotFound, text: "no model of this node is about \(path.quoted)",
                    cure:
                        "The files of a model are named in its file; models in the configuration says where those are.")
            )
        }
        host.parse([path], bytesNeeded: bytesNeeded) { path, bytes, _ in
            Daemon.records(of: bytes, at: path, model)
        } then: { parsed in
            switch parsed.first {
            case .parsed(.success(let document))?: asker.finish(document)
            case .parsed(.failure(let fault))?: asker.refuse(ControlError(.formatCorrupt, text: fault.description))
            case .poisoned?: asker.refuse(ControlError(.itemPoisoned, text: "\(path.quoted): \(Daemon.poisonText)"))
            case .failed?, nil:
                asker.refuse(
                    ControlError(
                        .requestNotFound, text: "\(path.quoted) cannot be read",
                        cure: "syncctl doc check tells why."))
            }
        }
    }

    private static func records(
        of bytes: [UInt8], at path: Path, _ model: Model
    ) -> Result<RecordsDocument, DocumentFault> {
        Result { () throws(DocumentFault) in
            RecordsDocument(
                path: path.bytes, model: model.name, try RecordDocument(parsing: bytes, at: path, model: model))
        }
    }
}

extension ParseOutcome {
    fileprivate var isAbsence: Bool {
        switch self {
        case .failed(.notFound), .failed(.notDirectory): true
        case .failed, .parsed, .poisoned: false
        }
    }
}

extension RecordsDocument {
    fileprivate init(path: [UInt8], model: [UInt8], _ document: RecordDocument) {
        let records = document.recordIDs.map { id in
            RecordsDocument.record(
                id: "\(id)", values: document.values(of: id).map { ("\($0.name)", RecordsDocument.value($0.text)) },
                links: document.links(of: id).map {
                    ("\($0.name)", $0.keys.map { String(decoding: $0, as: UTF8.self) })
                })
        }
        self.init(path: path, model: String(decoding: model, as: UTF8.self), records: records)
    }

    private static func value(_ text: [UInt8]) -> JSON {
        do throws(JSONError) {
            return try JSON(parsing: text)
        } catch {
            // What our other reader of JSON does not take is shown as its text.
            return .string(Path.escape(text))
        }
    }
}
