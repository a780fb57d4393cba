import SyncModel

/// Wall times as RFC 3339 text in UTC, from and to milliseconds since 1970; what years there are, `CalendarTime` says.
public enum TimeText {
    /// `2026-01-01T00:00:00Z`
    public static func seconds(_ milliseconds: Int64) -> String { dateAndTime(milliseconds) + "Z" }

    /// `2026-01-01T00:00:00.000Z`: where the order of what follows quickly matters.
    public static func milliseconds(_ milliseconds: Int64) -> String {
        let held = min(max(milliseconds, CalendarTime.range.lowerBound), CalendarTime.range.upperBound)
        let fraction = (held % 1_000 + 1_000) % 1_000
        return dateAndTime(held) + "." + CalendarTime.padded(fraction, 3) + "Z"
    }

    private static func dateAndTime(_ milliseconds: Int64) -> String {
        let stamp = CalendarTime(milliseconds: milliseconds)
        return stamp.date.joined(separator: "-") + "T" + stamp.time.joined(separator: ":")
    }

    /// Both of the above, any number of decimals, and offsets from UTC. Nil for everything else.
    public static func parse(_ text: String) -> Int64? {
        var reader = Reader(rest: Array(text.utf8)[...])
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2), reader.take("T"), let hour = reader.number(2), reader.take(":"),
            let minute = reader.number(2), reader.take(":"), let second = reader.number(2),
            let fraction = reader.fraction(), let offset = reader.offset(), reader.rest.isEmpty,
            let stamp = CalendarTime(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        return stamp.milliseconds - offset * 60_000 + fraction
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard let byte = rest.first, UInt32(byte) == character.value else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func number(_ digits: Int) -> Int64? {
            let text = rest.prefix(digits)
            guard text.count == digits, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(digits)
            return text.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        /// Milliseconds; further decimals are dropped. Nil for a point without digits.
        mutating func fraction() -> Int64? {
            guard take(".") else { return 0 }
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(digits.count)
            guard !digits.isEmpty else { return nil }
            return (Array(digits) + [0x30, 0x30]).prefix(3).reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        /// Minutes east of UTC.
        mutating func offset() -> Int64? {
            if take("Z") { return 0 }
            let isWest = rest.first == UInt8(ascii: "-")
            guard take("+") || take("-"), let hours = number(2), take(":"), let minutes = number(2),
                hours <= 23, minutes <= 59
            else { return nil }
            return (hours * 60 + minutes) * (isWest ? -1 : 1)
        }
    }
}
