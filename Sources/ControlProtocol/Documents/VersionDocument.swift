/// `version --json`: what `syncd` is made of and the least it needs. `syncctl` adds its own version.
public struct VersionDocument: ControlDocument {
    /// The version of these programs: `syncctl` shows its own beside the daemon's.
    public static let thisProgram = "0.1.0"

    public struct Library: Hashable, Sendable {
        public var name: String
        /// The one in use.
        public var version: String
        /// The oldest that will do.
        public var floor: String

        public init(name: String, version: String, floor: String) {
            self.name = name
            self.version = version
            self.floor = floor
        }
    }

    /// The version of the daemon.
    public var program: String
    /// The lowest and the highest exchange format it speaks.
    public var wire: ClosedRange<Int>?
    public var libraries: [Library]

    public init(program: String, wire: ClosedRange<Int>? = nil, libraries: [Library] = []) {
        self.program = program
        self.wire = wire
        self.libraries = libraries
    }

    public init(json: JSON) throws(DocumentError) {
        let fields = try Fields(json)
        self.init(
            program: try fields.text("program"), wire: nil,
            libraries: fields.has("libraries") ? try fields.list("libraries", Library.init) : [])
        if fields.has("wire") {
            let ends = try fields.required("wire").items?.compactMap(\.int) ?? []
            guard ends.count == 2, ends[0] <= ends[1] else { throw fields.failure("wire", "[lowest, highest]") }
            wire = ends[0]...ends[1]
        }
    }

    public var json: JSON {
        .object(
            JSONObject().with("program", .string(program))
                .with("wire", wire.map { .array([.count($0.lowerBound), .count($0.upperBound)]) })
                .with("libraries", list: libraries, \.members))
    }
}

extension VersionDocument.Library {
    init(_ fields: Fields) throws(DocumentError) {
        self.init(
            name: try fields.text("name"), version: try fields.text("version"), floor: try fields.text("floor"))
    }

    var members: JSONObject {
        ["name": .string(name), "version": .string(version), "floor": .string(floor)]
    }
}
