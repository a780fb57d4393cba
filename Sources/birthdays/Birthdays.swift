import SyncKit

/// The model of the example: names and days. Format 1 has one name for each person, format 2 has a given name and a family name, and reads
/// both. `BirthdaysOne` is what a program of format 1 knows; it never writes over a file of format 2.
struct Birthdays: Codable, Hashable, Sendable {
    /// One person that cannot be read takes nobody along, and is written back as it stands.
    var people = LossyArray<Person>()
}

struct Person: Codable, Hashable, Sendable {
    var given: String
    var family: String
    var born: Day

    private enum Keys: String, CodingKey { case name, given, family, born }

    init(given: String, family: String, born: Day) {
        self.given = given
        self.family = family
        self.born = born
    }

    init(name: String, born: Day) {
        let parts = name.split(separator: " ", maxSplits: 1).map(String.init)
        self.init(given: parts.first ?? "", family: parts.count > 1 ? parts[1] : "", born: born)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        let born = try container.decode(Day.self, forKey: .born)
        if decoder.documentFormat == 1 {
            self.init(name: try container.decode(String.self, forKey: .name), born: born)
        } else {
            self.init(
                given: try container.decode(String.self, forKey: .given),
                family: try container.decode(String.self, forKey: .family), born: born)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(given, forKey: .given)
        try container.encode(family, forKey: .family)
        try container.encode(born, forKey: .born)
    }

    var name: String { family.isEmpty ? given : "\(given) \(family)" }
}

/// What the program was before it knew of family names.
struct BirthdaysOne: Codable, Hashable, Sendable {
    struct Person: Codable, Hashable, Sendable {
        var name: String
        var born: Day
    }

    var people = LossyArray<Person>()
}

/// A day as it is written: `1990-05-01`.
struct Day: Codable, Hashable, Sendable, Comparable, CustomStringConvertible {
    let year: Int
    let month: Int
    let day: Int

    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).compactMap { Int($0) }
        guard text.utf8.count == 10, parts.count == 3, (1...12).contains(parts[1]),
            (1...Day.length(of: parts[1], in: parts[0])).contains(parts[2])
        else { return nil }
        (year, month, day) = (parts[0], parts[1], parts[2])
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let day = Day(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is no day like 1990-05-01")
        }
        self = day
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    var description: String {
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    static func < (left: Day, right: Day) -> Bool {
        (left.month, left.day, left.year) < (right.month, right.day, right.year)
    }

    private static func length(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
