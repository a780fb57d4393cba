/// Rows of the design's sources that a node answers by itself: what comes is durable before it is shown, what is withheld is
/// asked for again, and nothing is put off without a reason.
import SyncCore
import SyncModel
import Testing

struct SourceRowTests {
    private static let old = Timestamp(seconds: 1_700_000_000, nanoseconds: 5)
    private static let text = "text"
    private static let content = Driver.Item.file(text, inode: 5, modified: old).content

    /// What the peer tells of: a file `x` that it has.
    private static var peer: PeerLog {
        var peer = PeerLog()
        peer.append(epoch: 1, path: "x", entry: Entry(content: content, mode: 0o644, modified: old))
        return peer
    }

    private static var id: ContentID? { if case .file(let id, _) = content { id } else { nil } }

    /// How often the content was asked for.
    private static func wishes(of driver: Driver) -> Int {
        driver.sent.count { frame in
            if case .want(let ids) = frame { ids.contains { $0 == id } } else { false }
        }
    }

    @Test("I21: what the peer tells is durable and acknowledged before anything in the folder changes for it")
    func twoStages() {
        var driver = Driver.running()
        driver.greet()
        driver.silence = .stores
        let before = driver.folderWork.count
        driver.receive(.log(Self.peer.entries))
        driver.settle()
        #expect(driver.folderWork.count == before && Self.wishes(of: driver) == 0)
        driver.silence = []
        driver.settle()
        #expect(driver.acknowledgements.last == Acknowledgement(head: Self.peer.heads[0], isSettled: false))
        #expect(driver.shelf.rows[place("x")]?.needsApply == true && Self.wishes(of: driver) == 1)
    }

    @Test("I24: what the peer withholds is asked for again and more and more rarely, without an alarm, until it comes")
    func withheld() throws {
        let id = try #require(Self.id)
        var driver = Driver.running()
        driver.greet()
        driver.receive(.log(Self.peer.entries))
        driver.settle()
        let begun = driver.milliseconds
        var asked: [UInt64] = []
        while driver.milliseconds < begun + 600_000 {
            if Self.wishes(of: driver) > asked.count {
                asked.append(driver.milliseconds)
                driver.receive(.later(id))
                driver.settle()
            }
            driver.receive(.ping)
            driver.sleep()
        }
        let pauses = zip(asked.dropFirst(), asked).map { $0 - $1 }
        #expect((8...24).contains(asked.count), "\(pauses)")
        #expect(pauses.allSatisfy { (400...90_000).contains($0) }, "\(pauses)")
        #expect((pauses.first ?? .max) < 5_000 && (pauses.last ?? 0) > 20_000, "\(pauses)")
        #expect(driver.alerts.isEmpty && driver.closings.isEmpty)
        while Self.wishes(of: driver) == asked.count { driver.sleep() }
        let before = driver.folderWork.count
        driver.receive(.contents([SmallContent(id: id, bytes: Array(Self.text.utf8))]))
        driver.settle()
        #expect(driver.folderWork.count > before && driver.alerts.isEmpty)
    }

    @Test("I28: what is saved goes out, and what comes is asked for, in the millisecond in which it is told of")
    func noDelay() {
        var driver = Driver.running()
        driver.greet()
        let now = driver.milliseconds
        driver.files[place("a")] = .file("mine", inode: 9, modified: Self.old)
        driver.happen(.noticed([Notice(path: place("a"), kind: .closed)]))
        driver.settle()
        #expect(driver.sentEntries.count == 1)
        driver.receive(.log(Self.peer.entries))
        driver.settle()
        #expect(Self.wishes(of: driver) == 1 && driver.milliseconds == now)
    }
}
