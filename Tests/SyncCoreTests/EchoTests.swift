import SyncModel
import Testing

@testable import SyncCore

@Suite("What comes back of our own writes") struct EchoTests {
    private let paths = ["a", "b", "b/c"].compactMap { Path(Array($0.utf8)) }

    private func stat(_ inode: UInt64) -> Stat {
        Stat(
            identity: FileIdentity(device: 1, inode: inode, birth: .zero), kind: .file, mode: 0o644, size: 1,
            modified: .zero, changed: .zero)
    }

    @Test("a path is expected as it was left, until its row says something else") func forgets() {
        var echoes = EchoState()
        for (index, path) in paths.enumerated() { echoes.expect(stat(UInt64(index)), at: path) }
        echoes.forget(paths[1])
        #expect(paths.map { echoes[$0]?.identity.inode } == [0, nil, 2])
        echoes.forgetAll()
        #expect(paths.allSatisfy { echoes[$0] == nil })
    }

    @Test("R-09: what is expected stays bounded, and the latest is always in it") func bounded() {
        var echoes = EchoState()
        for number in 0..<UInt64(EchoState.pathsMax + 10) {
            guard let path = Path(Array("\(number)".utf8)) else { continue }
            echoes.expect(stat(number), at: path)
            #expect(echoes[path]?.identity.inode == number && echoes.count <= EchoState.pathsMax)
        }
    }
}
