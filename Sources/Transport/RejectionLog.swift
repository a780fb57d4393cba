/// Keeps a stranger who knocks all the time from filling the log: one line a minute for one host and one kind of
/// reason.
struct RejectionLog {
    private var toldMilliseconds: [Knock: UInt64] = [:]

    private struct Knock: Hashable {
        let host: String
        let isDialled: Bool
        let kind: Int
    }

    private static let quietMilliseconds: UInt64 = 60_000
    private static let knocksMax = 64

    /// Whom we dialled is another matter than who comes: the one is the configured peer, the other may be anybody.
    mutating func shouldTell(
        _ address: String, isDialled: Bool, _ reason: LinkRejection, nowMilliseconds now: UInt64
    ) -> Bool {
        toldMilliseconds = toldMilliseconds.filter { now < $0.value + Self.quietMilliseconds }
        let knock = Knock(host: Self.host(of: address), isDialled: isDialled, kind: reason.kind)
        // Many hosts at once are a scan; the first of them have been told.
        guard toldMilliseconds[knock] == nil, toldMilliseconds.count < Self.knocksMax else { return false }
        toldMilliseconds[knock] = now
        return true
    }

    /// Without the port, which is another for every connection.
    private static func host(of address: String) -> String {
        guard let colon = address.lastIndex(of: ":") else { return address }
        return String(address[..<colon])
    }
}

extension LinkRejection {
    fileprivate var kind: Int {
        switch self {
        case .wrongKey: 0
        case .ourKeyRefused: 1
        case .notPairedHere: 2
        case .notPairedThere: 3
        case .noTLS: 4
        case .left: 5
        case .tooSlow: 6
        }
    }
}
