import ControlProtocol
import SyncModel
import Testing

/// What a typed path means depends on where the person stands.
struct PathArgumentTests {
    static let roots = [Array("/srv/shared".utf8), Array("/mnt/disk/shared".utf8)]

    @Test(
        "a path is found in the folder",
        arguments: [
            ("a/b", "/srv/shared", "a/b"), ("b", "/srv/shared/a", "a/b"), ("../c", "/srv/shared/a", "c"),
            ("./a//b/.", "/srv/shared", "a/b"), ("a/b", "/home/me", "a/b"), ("a/../b", "/home/me", "b"),
            ("/srv/shared/a/b", "/home/me", "a/b"), ("/srv/./shared/x/../a", "/", "a"), (".", "/srv/shared/a", "a"),
            (".", "/srv/shared", ""), ("/srv/shared", "/", ""), ("/srv/shared/", "/", ""), (".", "/home", ""),
            ("x", "/mnt/disk/shared/d", "d/x"), ("/mnt/disk/shared/d", "/srv/shared/a", "d"),
            ("x", "/srv/shared2", "x"), ("..", "/srv/shared/a", ""),
        ])
    func inside(typed: String, directory: String, path: String) {
        let argument = PathArgument(typed: Array(typed.utf8), directory: Array(directory.utf8))
        #expect(argument.path(in: PathArgumentTests.roots) == Path(path))
    }

    @Test(
        "a path that lies outside is not taken for one inside",
        arguments: [
            ("/srv/other/a", "/srv/shared"), ("../x", "/srv/shared"), ("../../shared2/x", "/srv/shared/a"),
            ("../a", "/home/me"), ("/srv", "/srv/shared"), ("/srv/shared2/a", "/"), ("/../srv/shared/a", "/"),
            ("a\0b", "/srv/shared"), ("../../../../x", "/srv/shared"),
        ])
    func outside(typed: String, directory: String) {
        let argument = PathArgument(typed: Array(typed.utf8), directory: Array(directory.utf8))
        #expect(argument.path(in: PathArgumentTests.roots) == nil)
        #expect(!argument.isTooLong(in: PathArgumentTests.roots))
    }

    @Test(
        "what lies in the folder and is too long for a path is told from what lies outside",
        arguments: [
            ("a/" + String(repeating: "y", count: 256), "/srv/shared"),
            (String(repeating: "y", count: 256), "/home/me"),
            (String(repeating: "a/", count: 129), "/srv/shared"),
            ("/srv/shared/" + String(repeating: String(repeating: "y", count: 200) + "/", count: 21), "/"),
        ])
    func tooLong(typed: String, directory: String) {
        let argument = PathArgument(typed: Array(typed.utf8), directory: Array(directory.utf8))
        #expect(argument.path(in: PathArgumentTests.roots) == nil && argument.isTooLong(in: PathArgumentTests.roots))
    }

    @Test("the longest name there may be is none that is too long") func longest() {
        let argument = PathArgument(typed: Array(repeating: 0x79, count: 255), directory: Array("/srv/shared".utf8))
        #expect(argument.path(in: PathArgumentTests.roots) != nil && !argument.isTooLong(in: PathArgumentTests.roots))
    }

    @Test("of a folder inside another, the inner one is meant") func nested() {
        let argument = PathArgument(typed: Array("/a/b/c".utf8), directory: [0x2F])
        #expect(argument.path(in: [Array("/a".utf8), Array("/a/b".utf8)]) == Path("c"))
    }

    @Test("files that may lie anywhere have an absolute path") func absolute() {
        func absolute(_ typed: String, _ directory: String) -> String? {
            PathArgument(typed: Array(typed.utf8), directory: Array(directory.utf8)).absolute
                .map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(absolute("x.json", "/home/me") == "/home/me/x.json")
        #expect(absolute("../x.json", "/home/me") == "/home/x.json")
        #expect(absolute("/etc/x", "/home/me") == "/etc/x")
        #expect(absolute("/..", "/home") == nil)
    }
}
