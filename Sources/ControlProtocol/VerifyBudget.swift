/// How much a run of `verify` may take: a time for the whole, or a rate.
public struct VerifyBudget: Hashable, Sendable {
    public var milliseconds: UInt64?
    public var bytesPerSecond: UInt64?

    /// As much as there is.
    public init() {}

    /// `90s`, `10min`, `2h`, or a rate such as `20MiB/s`. Nil for anything else.
    public init?(_ text: String) {
        guard let split = text.firstIndex(where: { !$0.isASCII || !$0.isNumber }), let number = UInt64(text[..<split]),
            number > 0, let (isTime, factor) = VerifyBudget.units[String(text[split...])]
        else { return nil }
        let (amount, isTooMuch) = number.multipliedReportingOverflow(by: factor)
        if isTooMuch { return nil }
        if isTime { milliseconds = amount } else { bytesPerSecond = amount }
    }

    /// What to say of a text that is none.
    public static func refusal(of text: String) -> String {
        let shown = NameText.printable(Array(text.utf8))
        return "\"\(shown)\" is no budget: write a time such as 10min or a rate such as 20MiB/s"
    }

    private static let units: [String: (isTime: Bool, factor: UInt64)] = [
        "s": (true, 1_000), "min": (true, 60_000), "h": (true, 3_600_000), "B/s": (false, 1), "KiB/s": (false, 1 << 10),
        "MiB/s": (false, 1 << 20), "GiB/s": (false, 1 << 30),
    ]
}
