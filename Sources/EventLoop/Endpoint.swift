internal import CLibuv

/// Where a listener listens or a dialler dials, as people write it: `beta.example:7420`, `192.0.2.7:7420`, `[::]:7420`
/// or `/run/syncd/default.sock`.
public enum Endpoint: Hashable, Sendable {
    /// The host is a name or an address without brackets. Port 0 lets the system choose one; only a listener may.
    case tcp(host: String, port: UInt16)
    /// Paths are bytes on Linux, here too.
    case unix(path: [UInt8])

    public static func parse(_ text: String) throws(EndpointError) -> Endpoint {
        if text.hasPrefix("/") {
            return .unix(path: Array(text.utf8))
        }
        let (host, port) = try split(text)
        guard !host.isEmpty else { throw EndpointError(text: text, problem: .noHost) }
        // Digits only: the standard library would take "+7" too.
        guard !port.isEmpty, port.utf8.allSatisfy(isDigit), let number = UInt16(port) else {
            throw EndpointError(text: text, problem: port.isEmpty ? .noPort : .badPort)
        }
        return .tcp(host: host, port: number)
    }

    /// A name has to be looked up before anybody can be dialled there; an address does not.
    public var isName: Bool {
        guard case .tcp(let host, _) = self else { return false }
        return SocketAddress(numeric: host, port: 0) == nil
    }

    private static func split(_ text: String) throws(EndpointError) -> (host: String, port: String) {
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw EndpointError(text: text, problem: .badAddress) }
            let host = String(text[text.index(after: text.startIndex)..<end])
            guard SocketAddress(numeric: host, port: 0)?.isIPv6 == true else {
                throw EndpointError(text: text, problem: .badAddress)
            }
            let rest = text[text.index(after: end)...]
            guard rest.hasPrefix(":") else { throw EndpointError(text: text, problem: .noPort) }
            return (host, String(rest.dropFirst()))
        }
        guard let colon = text.lastIndex(of: ":") else { throw EndpointError(text: text, problem: .noPort) }
        let host = String(text[..<colon])
        guard !host.contains(":") else { throw EndpointError(text: text, problem: .needsBrackets) }
        guard isHostName(host) else { throw EndpointError(text: text, problem: .badHost) }
        return (host, String(text[text.index(after: colon)...]))
    }

    /// Letters, digits, dots, hyphens and underscores, at most as long as the name service allows. Others never
    /// resolve, and some of them would garble a log line.
    private static func isHostName(_ host: String) -> Bool {
        host.utf8.count <= 253
            && host.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: isDigit(byte)
                }
            }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

extension Endpoint: CustomStringConvertible {
    /// As `parse` reads it.
    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): String(decoding: path, as: UTF8.self)
        }
    }
}

/// Why a text is no endpoint, as a sentence with what to write instead.
public struct EndpointError: Error, Hashable, Sendable {
    public let text: String
    public let problem: Problem

    public enum Problem: Hashable, Sendable {
        case noHost, noPort, badHost, badPort, badAddress, needsBrackets
    }

    public init(text: String, problem: Problem) {
        self.text = text
        self.problem = problem
    }
}

extension EndpointError: CustomStringConvertible {
    public var description: String {
        let cause =
            switch problem {
            case .noHost: "has no host before the colon"
            case .noPort: "has no port"
            case .badHost: "has characters that no host name has"
            case .badPort: "has a port that is not a number from 0 to 65535"
            case .badAddress: "has no IPv6 address between brackets"
            case .needsBrackets: "has an IPv6 address without brackets"
            }
        return "\"\(text)\" \(cause): write HOST:PORT, as in beta.example:7420, 192.0.2.7:7420 or [2001:db8::7]:7420."
    }
}
