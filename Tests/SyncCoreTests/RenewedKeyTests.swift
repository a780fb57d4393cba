/// What the hello says of keys: that they can be renewed, and who a node is whatever key it has.
import SyncCore
import SyncModel
import Testing

struct RenewedKeyTests {
    private static func greeted(_ features: [[UInt8]]) -> Driver {
        var driver = Driver.running(files: [:])
        driver.greet(features: features)
        driver.happen(.command(CommandID(raw: 1), .status))
        driver.settle()
        return driver
    }

    @Test("a peer takes a new key only if its hello says so") func feature() throws {
        #expect(try #require(RenewedKeyTests.greeted([Hello.renewsKeys]).statuses.last).peerRenewsKeys)
        #expect(try !#require(RenewedKeyTests.greeted([Hello.changedLists]).statuses.last).peerRenewsKeys)
    }

    @Test("a peer that says who it is, and is whom we know, is greeted as ever") func same() throws {
        let driver = RenewedKeyTests.greeted([Hello.node(Driver.peer)])
        #expect(try #require(driver.statuses.last).isConnected && driver.told.isEmpty)
    }

    @Test("a peer that goes by another name than was thought is reported, and nothing it says is used") func other()
        throws
    {
        let name = NodeID(SHA256.digest(of: Array("its first key".utf8)))
        let driver = RenewedKeyTests.greeted([Hello.renewsKeys, Hello.node(name)])
        #expect(driver.told == [name])
        #expect(try !#require(driver.statuses.last).isConnected)
    }

    @Test("a peer that says it is this very node breaks the protocol") func ourselves() throws {
        let driver = RenewedKeyTests.greeted([Hello.node(Driver.own)])
        #expect(driver.told.isEmpty && driver.alerts.contains(.peerProtocolViolation))
    }

    @Test("what is no name is passed over", arguments: [[], [1], [UInt8](repeating: 1, count: 33)] as [[UInt8]])
    func noName(bytes: [UInt8]) throws {
        var hello = Driver.hello()
        hello.features = [Array("node=".utf8) + bytes]
        #expect(hello.node == nil)
    }
}

extension Driver {
    /// Who the peer was said to be.
    fileprivate var told: [NodeID] {
        emitted.compactMap { if case .report(.peerIs(let node)) = $0 { node } else { nil } }
    }
}
