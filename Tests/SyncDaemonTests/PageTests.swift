import ControlProtocol
import Testing

@testable import SyncDaemon

@Suite("long lists come in pages")
struct PageTests {
    @Test("who asks for the first so many hears where the others begin, and nothing after the last")
    func limited() {
        let (first, next) = Daemon.cut([1, 2, 3], Page(limit: 2)) { "\($0)" }
        #expect(first == [1, 2] && next == "2")
        let (rest, end) = Daemon.cut([1, 2, 3], Page(limit: 2, after: "2")) { "\($0)" }
        #expect(rest == [3] && end == nil)
        #expect(Daemon.cut([1, 2], Page(limit: 2)) { "\($0)" }.1 == nil)
    }

    @Test("more than fits a line goes on, also where more than that is asked for")
    func long() {
        let all = Array(0..<4_500)
        var (found, next) = Daemon.cut(all, Page(limit: 4_400)) { "\($0)" }
        while let after = next, found.count < 4_400 {
            let (more, following) = Daemon.cut(all, Page(limit: 4_400 - found.count, after: after)) { "\($0)" }
            found += more
            next = following
        }
        #expect(found == Array(0..<4_400) && next == "4399")
    }
}
