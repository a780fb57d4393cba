/// Wall times as RFC 3339 text in UTC, from and to milliseconds since 1970. Proleptic Gregorian calendar, years 0000 to
/// 9999; no leap seconds, as everywhere on Linux.
public enum TimeText {
    private static let dayMilliseconds: Int64 = 86_400_000
    /// 0000-01-01 and the last millisecond of 9999.
    private static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// `2026-01-01T00:00:00Z`. Times that no clock shows are held within the years that can be written.
    public static func seconds(_ milliseconds: Int64) -> String { dateAndTime(held(milliseconds)) + "Z" }

    /// `2026-01-01T00:00:00.000Z`: where the order of what follows quickly matters.
    public static func milliseconds(_ milliseconds: Int64) -> String {
        let held = held(milliseconds)
        let fraction = (held % 1_000 + 1_000) % 1_000
        return dateAndTime(held) + "." + padded(fraction, 3) + "Z"
    }

    /// Both of the above, any number of decimals, and offsets from UTC. Nil for everything else.
    public static func parse(_ text: String) -> Int64? {
        var reader = Reader(rest: Array(text.utf8)[...])
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2), reader.take("T"), let hour = reader.number(2), reader.take(":"),
            let minute = reader.number(2), reader.take(":"), let second = reader.number(2),
            let fraction = reader.fraction(), let offset = reader.offset(), reader.rest.isEmpty,
            (1...12).contains(month), (1...daysIn(month, of: year)).contains(day),
            hour <= 23, minute <= 59, second <= 59
        else { return nil }
        let seconds = (hour * 60 + minute - offset) * 60 + second
        return daysSince1970(year, month, day) * dayMilliseconds + seconds * 1_000 + fraction
    }

    private static func held(_ milliseconds: Int64) -> Int64 {
        min(max(milliseconds, range.lowerBound), range.upperBound)
    }

    private static func dateAndTime(_ milliseconds: Int64) -> String {
        let days = (milliseconds - (milliseconds < 0 ? dayMilliseconds - 1 : 0)) / dayMilliseconds
        let second = (milliseconds - days * dayMilliseconds) / 1_000
        let (year, month, day) = date(daysSince1970: days)
        let clock = [second / 3_600, second / 60 % 60, second % 60].map { padded($0, 2) }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(clock.joined(separator: ":"))"
    }

    /// Howard Hinnant's `civil_from_days`: eras of 400 years, and years that begin in March so that the odd day is the last.
    private static func date(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// The other way: `days_from_civil`.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func daysIn(_ month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
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
