/// Calendar fields of a wall time in UTC, for names and messages: proleptic Gregorian calendar, years 0000 to 9999, no leap
/// seconds, as everywhere on Linux.
public struct CalendarTime: Hashable, Sendable {
    public let year: Int64
    public let month: Int64
    public let day: Int64
    /// Within the day.
    public let secondOfDay: Int64

    private static let dayMilliseconds: Int64 = 86_400_000
    /// 0000-01-01 and the last millisecond of 9999.
    public static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// Of milliseconds since 1970. Times that no clock shows are held within the years that can be written.
    public init(milliseconds: Int64) {
        let held = min(max(milliseconds, CalendarTime.range.lowerBound), CalendarTime.range.upperBound)
        let days = (held - (held < 0 ? CalendarTime.dayMilliseconds - 1 : 0)) / CalendarTime.dayMilliseconds
        (year, month, day) = CalendarTime.date(daysSince1970: days)
        secondOfDay = (held - days * CalendarTime.dayMilliseconds) / 1_000
    }

    /// Nil for a date or time that does not exist.
    public init?(year: Int64, month: Int64, day: Int64, hour: Int64, minute: Int64, second: Int64) {
        guard (0...9_999).contains(year), (1...12).contains(month),
            (1...CalendarTime.daysIn(month, of: year)).contains(day), (0...23).contains(hour),
            (0...59).contains(minute),
            (0...59).contains(second)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        secondOfDay = (hour * 60 + minute) * 60 + second
    }

    /// Since 1970.
    public var milliseconds: Int64 { daysSince1970 * CalendarTime.dayMilliseconds + secondOfDay * 1_000 }

    /// `2026`, `01`, `31`.
    public var date: [String] {
        [CalendarTime.padded(year, 4), CalendarTime.padded(month, 2), CalendarTime.padded(day, 2)]
    }

    /// `23`, `59`, `59`.
    public var time: [String] {
        [secondOfDay / 3_600, secondOfDay / 60 % 60, secondOfDay % 60].map { CalendarTime.padded($0, 2) }
    }

    public static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
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
    private var daysSince1970: Int64 {
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
}
