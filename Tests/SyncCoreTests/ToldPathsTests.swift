import SyncModel
import Testing

@testable import SyncCore

@Suite("Paths that people have been told of") struct ToldPathsTests {
    @Test("no more are told of one by one than there is room for, until one of them is over") func bound() throws {
        let paths = try (0...ToldPaths.pathsMax).map { try #require(Path("f\($0)")) }
        let (first, last) = (paths[0], paths[ToldPaths.pathsMax])
        var told = ToldPaths()
        let noted = paths.map { told.note($0) }
        #expect(noted.dropLast().allSatisfy(\.self) && noted.last == false)
        #expect(told.contains(first) && !told.contains(last))
        let (isNotedAgain, isForgotten, isForgottenAgain) = (told.note(first), told.forget(first), told.forget(first))
        #expect(isNotedAgain && isForgotten && !isForgottenAgain)
        let hasRoom = told.note(last)
        #expect(hasRoom && told.contains(last) && !told.contains(first))
    }
}
