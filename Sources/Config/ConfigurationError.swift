/// Everything that is wrong with a configuration: an administrator mends it in one go.
import SyncModel

public struct ConfigurationError: Error, Hashable, Sendable {
    public struct Problem: Hashable, Sendable {
        /// Empty for what was typed and not read from a file.
        public let file: String
        /// Nil for what is not about one line: a key that is missing, a file that cannot be read.
        public let line: Int?
        /// `link.listen`; nil for what is not about a key.
        public let key: String?
        /// What was read, escaped.
        public let found: String?
        /// What is wrong, and what to write or do instead. Whole sentences.
        public let text: String

        init(file: String, line: Int? = nil, key: String? = nil, found: [UInt8]? = nil, _ text: String) {
            self.file = file
            self.line = line
            self.key = key
            self.found = found.map(Problem.shown)
            self.text = text
        }

        /// A long value is told by its beginning.
        private static func shown(_ bytes: [UInt8]) -> String {
            let most = 80
            return Path.escape(Array(bytes.prefix(most))) + (bytes.count > most ? "…" : "")
        }
    }

    /// Never empty; in the order of lines, and those without a line at the end.
    public let problems: [Problem]
    /// The file could not be read at all: it is missing, or this user may not.
    public let isUnreadable: Bool
    /// It is there, or may be, and this user may not read it.
    public let isForbidden: Bool

    init(_ problems: [Problem], isUnreadable: Bool = false, isForbidden: Bool = false) {
        precondition(!problems.isEmpty, "an error without a problem")
        self.problems = problems
        self.isUnreadable = isUnreadable
        self.isForbidden = isForbidden
    }
}

extension ConfigurationError.Problem: CustomStringConvertible {
    /// `/etc/syncd/syncd.conf:12: link.listen = "7420": The port is missing. …`
    public var description: String {
        let place = file.isEmpty ? nil : "\(file)\(line.map { ":\($0)" } ?? ""):"
        let value = found.map { "\"\($0)\"" }
        let subject =
            switch (key, value) {
            case (let key?, let value?): "\(key) = \(value):"
            case (let key?, nil): "\(key):"
            case (nil, let value?): "\(value):"
            case (nil, nil): String?.none
            }
        return [place, subject, text].compactMap(\.self).joined(separator: " ")
    }
}

extension ConfigurationError: CustomStringConvertible {
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
