/// The small scope, whole: every history is judged by the books, by the oracle, and by what the other order of arrival
/// gives. An everyday run takes two change sets in all from each node's templates; SYNCD_SCOPE=2 two from each node.
import Foundation
import RecordMerge
import SyncModel
import Testing

@Suite("every history of a small scope")
struct ExhaustiveTests {
    static let depth = ProcessInfo.processInfo.environment["SYNCD_SCOPE"].flatMap { Int($0) } ?? 1

    static let shapes: [(name: String, isOwnedByA: Bool, inA: String, inB: String, entity: String)] = [
        ("both required, kept by A", true, #", "required": true"#, #", "required": true"#, ""),
        ("both required, kept by B", false, #", "required": true"#, #", "required": true"#, ""),
        ("A needs B", true, #", "required": true"#, "", ""),
        ("B needs A", true, "", #", "required": true"#, ""),
        ("B needs A, kept by B", false, "", #", "required": true"#, ""),
        ("neither needs the other", true, "", "", ""),
        (
            "deletes give way to quarantine", true, #", "required": true"#, #", "required": true"#,
            #", "onConcurrentDelete": "quarantine""#
        ),
        ("A denies", true, #", "required": true, "onDelete": "deny""#, #", "onDelete": "deny""#, ""),
        ("losers go", true, #", "required": true, "onContest": "delete""#, #", "required": true"#, ""),
        ("losers get a copy", true, #", "required": true, "onContest": "fork""#, #", "required": true"#, ""),
        (
            "losers get a copy, kept by B", false, #", "required": true, "onContest": "fork""#,
            #", "required": true"#, ""
        ),
        ("losers go to A2", true, #", "onContest": "rehome(A2)""#, #", "required": true"#, ""),
    ]

    @Test("V1, V2, V4, V5: alike in any order, valid, complete, and as the oracle says", arguments: shapes.indices)
    func everything(number: Int) throws {
        let row = Self.shapes[number]
        let shape = try Shape(isOwnedByA: row.isOwnedByA, row.inA, row.inB, entity: row.entity)
        var scope = SmallScope(shape, actsMax: Self.depth)
        var failures = 0
        scope.run { pair in
            let complaints = Judge.complaints(pair)
            if complaints.isEmpty { return }
            failures += 1
            if failures < 4 { Issue.record("\(row.name): \(complaints)\n\(pair.all)") }
        }
        #expect(failures == 0)
        print("FIGURE \(row.name): \(scope.histories) histories")
    }
}

/// One verdict for a history, however it was made.
enum Judge {
    static func complaints(_ pair: Pair) -> [String] {
        let view = pair.view
        let expected = Oracle.lines(pair.all, pair.model)
        if expected == view.lines { return complaintsOfBooks(pair) }
        return complaintsOfBooks(pair) + [
            "the oracle says \(Set(expected).subtracting(view.lines).sorted())",
            "the view says \(Set(view.lines).subtracting(expected).sorted())",
        ]
    }

    /// Without the oracle.
    static func complaintsOfBooks(_ pair: Pair) -> [String] {
        let view = pair.view
        var complaints = Accounts(changes: pair.all, model: pair.model, view: view).complaints
        let mixed = Array(pair.all.reversed()) + pair.all
        if RecordView(of: mixed, model: pair.model).digest != view.digest { complaints.append("order matters") }
        return complaints
    }
}
