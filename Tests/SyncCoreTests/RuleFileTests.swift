/// Ignore files that cannot be read: nothing is told that they may leave out, and it is said what everything waits for.
import SyncCore
import SyncModel
import Testing

@Suite("Rule files") struct RuleFileTests {
    private static let rules = place(".syncignore")
    private let file = Driver.Item.file("hello", inode: 5, modified: Timestamp(seconds: 1_700_000_000, nanoseconds: 5))

    /// Starts where the rules cannot be read.
    private func started(_ fault: DiskError) -> Driver {
        var driver = Driver()
        driver.files = [place("a"): file]
        driver.faults[Self.rules] = fault
        driver.happen(Driver.start())
        driver.settle()
        return driver
    }

    @Test("rules that may not be read are told of, until they can be") func forbidden() {
        var driver = started(.permission)
        #expect(driver.alerts == [.pathPermission] && driver.shelf.log.isEmpty)
        driver.faults = [:]
        driver.oversleep(60_000)
        for _ in 0..<10 { driver.sleep() }
        #expect(driver.alerts.isEmpty && driver.shelf.log.count == 1)
    }

    @Test("a disk that has a hiccup is asked again, and nobody is told") func hiccup() {
        var driver = started(.inputOutput)
        #expect(driver.alerts.isEmpty && driver.shelf.log.isEmpty)
        driver.faults = [:]
        driver.oversleep(60_000)
        for _ in 0..<10 { driver.sleep() }
        #expect(driver.shelf.log.count == 1)
    }

    @Test("a disk that goes on failing is told of, until the rules are read") func broken() {
        var driver = started(.inputOutput)
        for _ in 0..<20 { driver.oversleep(60_000) }
        #expect(driver.alerts == [.diskError] && driver.shelf.log.isEmpty)
        driver.faults = [:]
        driver.oversleep(60_000)
        for _ in 0..<10 { driver.sleep() }
        #expect(driver.alerts.isEmpty && driver.shelf.log.count == 1)
    }
}
