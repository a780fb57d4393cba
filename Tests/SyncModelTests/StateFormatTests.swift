/// What the beginning of state.db says of it.
import SyncModel
import Testing

@Suite("the beginning of a state.db")
struct StateFormatTests {
    private static func header(magic: String = "SQLite format 3\0", version: UInt8, application: String = "sycd")
        -> [UInt8]
    {
        var header = Array(magic.utf8) + [UInt8](repeating: 0, count: 84)
        header[63] = version
        header.replaceSubrange(68..<72, with: application.utf8)
        return header
    }

    @Test("the version is read where SQLite has it") func version() {
        #expect(StateFormat.version(in: Self.header(version: 3)) == 3)
        var later = Self.header(version: 1)
        later[62] = 1
        #expect(StateFormat.version(in: later + [7]) == 257)
    }

    @Test("what is none of ours, or is cut short, has none") func foreign() {
        #expect(StateFormat.version(in: Self.header(version: 3, application: "note")) == nil)
        #expect(StateFormat.version(in: Self.header(magic: "SQLite format 4\0", version: 3)) == nil)
        #expect(StateFormat.version(in: Array(Self.header(version: 3).dropLast())) == nil)
        #expect(StateFormat.version(in: []) == nil)
    }
}
