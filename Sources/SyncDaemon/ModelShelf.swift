import RecordMerge
import SyncCore
import SyncModel

/// The model files that applications have installed (`models.d/*.json`).
struct ModelShelf {
    private(set) var models: [InstalledModel] = []
    private(set) var formats = FormatRules()
    /// By file: what is wrong with it. None of such a file is used.
    private(set) var refusals: [(file: [UInt8], faults: [String])] = []

    /// A directory that is not there holds no models.
    init(directory: [UInt8]) {
        for name in System.names(in: directory).sorted(by: { $0.lexicographicallyPrecedes($1) })
        where name.suffix(ModelShelf.ending.count).elementsEqual(ModelShelf.ending) && name.first != UInt8(ascii: ".") {
            read(directory + [UInt8(ascii: "/")] + name)
        }
    }

    private mutating func read(_ file: [UInt8]) {
        guard models.count < Limits.modelsMax else {
            return refuse(file, "there are more than \(Limits.modelsMax) models")
        }
        guard let bytes = System.contents(of: file, limit: ModelShelf.bytesMax) else {
            return refuse(file, "it cannot be read, or is larger than \(ModelShelf.bytesMax >> 20) MiB")
        }
        if ModelShelf.isAboutFormatsOnly(bytes) { return readFormats(bytes, file) }
        do throws(ModelRefusal) {
            let model = try Model(parsing: bytes, file: Path.escape(file))
            guard let rival = models.first(where: { $0.model.meets(model) }) else {
                return models.append(InstalledModel(model, digest: Program.digest(of: bytes)))
            }
            refuse(file, "the model \"\(Path.escape(rival.model.name))\" is about the same files")
        } catch {
            refusals.append((file, error.faults.map(\.description)))
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
            let rules = try FormatRules(parsing: bytes, file: Path.escape(file)).rules
            guard formats.rules.count + rules.count <= Limits.formatsMax else {
                return refuse(file, "there are more than \(Limits.formatsMax) format rules")
            }
            if let double = rules.first(where: { formats.has($0) }) {
                return refuse(file, "the format \"\(Path.escape(double.name))\" of this model has a rule already")
            }
            formats.add(rules)
        } catch {
            refusals.append((file, error.faults.map(\.description)))
        }
    }

    private mutating func refuse(_ file: [UInt8], _ reason: String) {
        refusals.append((file, ["\(Path.escape(file)): \(reason)"]))
    }

    private static let ending = Array(".json".utf8)
    private static let bytesMax = 4 << 20
}

extension Model {
    /// Both have the same name, or are about files of one subtree.
    fileprivate func meets(_ other: Model) -> Bool {
        name == other.name || root == other.root || root.isBelow(other.root) || other.root.isBelow(root)
    }
}
