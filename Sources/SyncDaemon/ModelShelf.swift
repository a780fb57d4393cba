import RecordMerge
import SyncCore
import SyncModel

/// The model files that applications have installed (`models.d/*.json`).
struct ModelShelf {
    private(set) var models: [InstalledModel] = []
    private(set) var formats = FormatRules()
    /// None of such a file is used.
    private(set) var refusals: [Refusal] = []
    /// For the time when one of them has a fault.
    private(set) var memory = ModelMemory()
    private let last: ModelMemory
    private var used = ModelScope()
    /// Rules of a later program, by file: what they name is guarded, and cannot be read.
    private(set) var later: [(file: [UInt8], faults: [String])] = []

    /// A model file with faults.
    struct Refusal {
        let file: [UInt8]
        /// Each names the file, and the place in it.
        let faults: [String]
        /// What it is about, as far as it can be read, and what it was about when it was last used.
        let scope: ModelScope
        /// Another model is about some of that, and in use.
        var hasRival = false
        /// What those in use are about.
        fileprivate(set) var used = ModelScope()
    }

    /// `last` is the memory of the process before. The usual directory need not be there, and holds no models then.
    init(directory: [UInt8], last: ModelMemory) {
        self.last = last
        for name in System.names(in: directory).sorted(by: { $0.lexicographicallyPrecedes($1) })
        where name.suffix(ModelShelf.ending.count).elementsEqual(ModelShelf.ending) && name.first != UInt8(ascii: ".") {
            read(directory + [UInt8(ascii: "/")] + name)
        }
        for index in refusals.indices { refusals[index].used = used }
    }

    /// Nobody knows how the files that those are about are to be merged.
    var heldFiles: HeldFiles { HeldFiles(refusals.map(\.scope)) }

    private mutating func read(_ file: [UInt8]) {
        guard let bytes = System.contents(of: file, limit: ModelShelf.bytesMax) else {
            return refuse(file, [], "it cannot be read, or is larger than \(ModelShelf.bytesMax >> 20) MiB")
        }
        guard models.count < Limits.modelsMax else {
            return refuse(file, bytes, "there are more than \(Limits.modelsMax) models")
        }
        if ModelShelf.isAboutFormatsOnly(bytes) { return readFormats(bytes, file) }
        do throws(ModelRefusal) {
            let model = try Model(parsing: bytes, file: Path.escape(file))
            if let rival = models.first(where: { $0.model.meets(model) }) {
                let reason = "the model \"\(Path.escape(rival.model.name))\" is about the same files"
                return refuse(file, bytes, faults: ["\(Path.escape(file)): \(reason)"], hasRival: true)
            }
            models.append(InstalledModel(model, digest: Program.digest(of: bytes)))
            use(ModelScope(reading: bytes), of: file)
        } catch {
            refuse(file, bytes, error)
        }
    }

    /// Rules of formats have no records in them.
    private static func isAboutFormatsOnly(_ bytes: [UInt8]) -> Bool {
        do throws(JSONFault) {
            let document = try JSONDocument(parsing: bytes)
            return document.member(Array("formats".utf8), of: .root) != nil
                && document.member(Array("entities".utf8), of: .root) == nil
        } catch {
            return false
        }
    }

    private mutating func readFormats(_ bytes: [UInt8], _ file: [UInt8]) {
        do throws(ModelRefusal) {
            let (rules, unknown) = try FormatRules.reading(bytes, file: Path.escape(file))
            guard formats.rules.count + rules.rules.count <= Limits.formatsMax else {
                return refuse(file, bytes, "there are more than \(Limits.formatsMax) format rules")
            }
            if let double = rules.rules.first(where: { formats.has($0) }) {
                return refuse(
                    file, bytes, "the format \"\(Path.escape(double.name))\" of this model has a rule already")
            }
            formats.add(rules.rules)
            use(ModelScope(reading: bytes), of: file)
            if !unknown.isEmpty { later.append((file, unknown.map(\.description))) }
        } catch {
            refuse(file, bytes, error)
        }
    }

    private mutating func refuse(_ file: [UInt8], _ bytes: [UInt8], _ reason: String) {
        refuse(file, bytes, faults: ["\(Path.escape(file)): \(reason)"])
    }

    private mutating func refuse(_ file: [UInt8], _ bytes: [UInt8], _ refusal: ModelRefusal) {
        refuse(file, bytes, faults: refusal.faults.map(\.description))
    }

    private mutating func use(_ scope: ModelScope, of file: [UInt8]) {
        used.add(scope)
        memory.note(file, scope)
    }

    private mutating func refuse(_ file: [UInt8], _ bytes: [UInt8], faults: [String], hasRival: Bool = false) {
        var scope = ModelScope(reading: bytes)
        if let known = last[file] {
            scope.add(known)
            memory.note(file, known)
        }
        refusals.append(Refusal(file: file, faults: faults, scope: scope, hasRival: hasRival))
    }

    private static let ending = Array(".json".utf8)
    static let bytesMax = 4 << 20
}

extension ModelShelf.Refusal {
    /// For people: what is wrong, and which files wait for it.
    var text: String { "A model file is not used: \(faults.joined(separator: "; ")). \(consequence)" }

    var consequence: String {
        if scope.isEmpty {
            return """
                Nothing can be read of which files it is about, and it was never in use here: no file waits for it, and \
                all are synced like any others, whole and not record by record.
                """
        }
        // (What another is about as well is not held.)
        let held = scope.parts.filter { !used.parts.contains($0) }
        guard !held.isEmpty else {
            return """
                The files it is about are those of another model as well, which is in use: they go on with that one, and no \
                file waits.
                """
        }
        let files = held.prefix(Self.partsToldMax).map { "\"\($0)\"" }.joined(separator: ", ")
        let but = hasRival || held.count < scope.parts.count ? ", but for those that a model in use is about" : ""
        return """
            The files it is about stay as they are on this node, and what is saved in them is not sent\(but): \
            \(files)\(held.count > Self.partsToldMax ? " and more" : ""). All others are synced.
            """
    }

    private static let partsToldMax = 16
}

extension Model {
    /// Both have the same name, or are about files of one subtree.
    fileprivate func meets(_ other: Model) -> Bool {
        name == other.name || root.meets(other.root)
    }
}
