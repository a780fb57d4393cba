/// `HOST:PORT` as it may stand in syncd.conf. Whether the host exists is found out when it is used.
import Glibc

extension Value {
    /// Nil for an empty value: the key is there and says "none".
    static func address(_ value: [UInt8], example: String, isToListen: Bool) throws(ValueProblem) -> String? {
        if value.isEmpty { return nil }
        let text = String(decoding: value, as: UTF8.self)
        let remedy = "Write HOST:PORT, such as \(example)."
        guard !text.contains(",") else { throw ValueProblem(text: "Only one address may stand here. \(remedy)") }
        guard let colon = text.lastIndex(of: ":") else {
            throw ValueProblem(text: "The port is missing. \(remedy)")
        }
        let host = text[..<colon]
        let port = text[text.index(after: colon)...]
        try check(host: host, whole: text, remedy)
        let least = isToListen ? 0 : 1
        guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(port), number >= least else {
            throw ValueProblem(text: "The port is a number from \(least) to 65535. \(remedy)")
        }
        return text
    }

    private static func check(host: Substring, whole: String, _ remedy: String) throws(ValueProblem) {
        if host.hasPrefix("["), host.hasSuffix("]") {
            guard isIPv6(host.dropFirst().dropLast()) else {
                throw ValueProblem(text: "What stands in the brackets is no IPv6 address. \(remedy)")
            }
        } else if host.contains(":") {
            throw ValueProblem(text: "An IPv6 address is written in brackets: [::1]:7420. \(remedy)")
        } else if host.isEmpty {
            throw ValueProblem(text: "The host is missing; [::]:7420 is every address of this machine. \(remedy)")
        } else if host.utf8.count > 253 || !host.utf8.allSatisfy(isOfHostName) {
            throw ValueProblem(text: "A host is a name or an address, of letters, digits, dots and dashes. \(remedy)")
        }
    }

    private static func isOfHostName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    /// With a zone or without: `fe80::1%eth0`.
    private static func isIPv6(_ text: Substring) -> Bool {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, parts[1].isEmpty || !parts[1].utf8.allSatisfy(isOfHostName) { return false }
        var address = in6_addr()
        return unsafe inet_pton(AF_INET6, String(parts[0]), &address) == 1
    }
}
