/// What is remembered of the peer while it is away.
import Testing

@testable import SyncDaemon

@Suite("the last contact") struct LastContactTests {
    private static let contacts = [
        LastContact(wallMilliseconds: 1_767_225_600_123, program: Array("0.1.0".utf8)),
        LastContact(wallMilliseconds: -1, program: []),
    ]

    @Test("what is written down is what is read", arguments: contacts) func roundTrip(contact: LastContact) {
        #expect(LastContact(encoded: contact.encoded) == contact)
    }

    @Test("bytes that are cut, or of a later version, tell of nothing", arguments: contacts)
    func cut(contact: LastContact) {
        for count in 0..<contact.encoded.count {
            #expect(LastContact(encoded: Array(contact.encoded.prefix(count))) == nil)
        }
        #expect(LastContact(encoded: [2] + contact.encoded.dropFirst()) == nil)
    }

    @Test("a program that was never told has no text") func text() {
        #expect(LastContact.text(of: []) == nil)
        #expect(LastContact.text(of: Array("0.1.0".utf8)) == "0.1.0")
    }
}
