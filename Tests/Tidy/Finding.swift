/// One broken house rule: where, which rule, and how to cure it. Every check returns findings; `report` makes them failures.
import Testing

struct Finding: Equatable, CustomStringConvertible {
    let file: String
    let line: Int
    let rule: String
    let cure: String

    var description: String { "\(file):\(line): [\(rule)] \(cure)" }
}

/// One issue per finding, so that a run shows all of them at once.
func report(_ findings: [Finding], sourceLocation: SourceLocation = #_sourceLocation) {
    for finding in findings { Issue.record(Comment(rawValue: finding.description), sourceLocation: sourceLocation) }
}
