/// How much the generated tests try: little in everyday runs, SYNCD_EFFORT times as much where somebody asks for it.
import Foundation

enum Effort {
    private static let factor = ProcessInfo.processInfo.environment["SYNCD_EFFORT"].flatMap { Int($0) } ?? 1

    static func times(_ count: Int) -> Int { count * factor }
}
