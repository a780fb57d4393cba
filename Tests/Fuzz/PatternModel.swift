/// A second implementation of `ByteRegex`, to compare it with: read by descent, and matched one way after the other instead of all at once.
/// It takes patterns that `ByteRegex` has taken.
import SyncModel

struct PatternModel {
    private indirect enum Node {
        case set(Set<UInt8>)
        case end
        case group(isMarked: Bool, [[Node]])
        case repeated(Node, least: Int, most: Int?)
    }

    private enum Step {
        case set(Set<UInt8>)
        case end
        case mark(isStart: Bool)
        /// Distances; the first is preferred.
        case either(Int, Int)
    }

    private var program: [Step] = []
    private let text: [UInt8]
    private var offset = 1
    private var hasMark = false

    init(_ text: [UInt8]) {
        self.text = text
        let whole = choices()
        program = PatternModel.steps(of: .group(isMarked: false, whole))
    }

    /// What the first group took; nil if the text does not match, or the group had no part in it.
    func capture(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var seen: Set<Int> = []
        var open = [(step: 0, at: 0, start: -1, end: -1)]
        while let way = open.popLast() {
            guard way.step < program.count else {
                return way.start >= 0 && way.end >= way.start ? bytes[way.start..<way.end] : nil
            }
            guard seen.insert(way.step * (bytes.count + 1) + way.at).inserted else { continue }
            var next = way
            next.step += 1
            switch program[way.step] {
            case .set(let set):
                guard way.at < bytes.count, set.contains(bytes[way.at]) else { continue }
                next.at += 1
            case .end: if way.at < bytes.count { continue }
            case .mark(let isStart): if isStart { next.start = way.at } else { next.end = way.at }
            case .either(let first, let second):
                next.step = way.step + second
                open.append(next)
                next.step = way.step + first
            }
            open.append(next)
        }
        return nil
    }

    // MARK: Steps

    private static func steps(of node: Node) -> [Step] {
        switch node {
        case .set(let set): return [.set(set)]
        case .end: return [.end]
        case .group(let isMarked, let choices):
            var steps: [Step] = choices.last.map { $0.flatMap(self.steps) } ?? []
            for choice in choices.dropLast().reversed() {
                let first = choice.flatMap(self.steps)
                let over = Step.either(steps.count + 1, steps.count + 1)
                steps = [.either(1, first.count + 2)] + first + [over] + steps
            }
            return isMarked ? [.mark(isStart: true)] + steps + [.mark(isStart: false)] : steps
        case .repeated(let node, let least, let most):
            let once = steps(of: node)
            let needed = Array(repeatElement(once, count: least).joined())
            guard let most else {
                return needed + [.either(1, once.count + 2)] + once + [.either(-once.count - 1, -once.count - 1)]
            }
            let optional = [Step.either(1, once.count + 1)] + once
            return needed + repeatElement(optional, count: max(0, most - least)).joined()
        }
    }

    // MARK: Reading

    private mutating func choices() -> [[Node]] {
        var choices: [[Node]] = [[]]
        while offset < text.count, text[offset] != UInt8(ascii: ")") {
            let byte = text[offset]
            offset += 1
            switch Unicode.Scalar(byte) {
            case "|": choices.append([])
            case "*": repeatLast(&choices, 0, nil)
            case "+": repeatLast(&choices, 1, nil)
            case "?": repeatLast(&choices, 0, 1)
            case "{":
                let bounds = text[offset...].prefix { $0 != UInt8(ascii: "}") }
                offset += bounds.count + 1
                let numbers = bounds.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
                    .map { Int(String(decoding: $0, as: UTF8.self)) }
                let least = (numbers.first ?? nil) ?? 0
                repeatLast(&choices, least, numbers.count == 1 ? least : numbers.last ?? nil)
            default: choices[choices.count - 1].append(item(byte))
            }
        }
        return choices
    }

    private func repeatLast(_ choices: inout [[Node]], _ least: Int, _ most: Int?) {
        guard let node = choices[choices.count - 1].popLast() else { return }
        choices[choices.count - 1].append(.repeated(node, least: least, most: most))
    }

    private mutating func item(_ byte: UInt8) -> Node {
        switch Unicode.Scalar(byte) {
        case "(":
            let isPlain = text[offset...].starts(with: "?:".utf8)
            let isMarked = !isPlain && !hasMark
            if isPlain { offset += 2 } else { hasMark = true }
            let inside = choices()
            offset += 1
            return .group(isMarked: isMarked, inside)
        case "$": return .end
        case ".": return .set(Set(0...255).subtracting([0x0A]))
        case "\\": return .set(escaped())
        case "[": return .set(bracket())
        default: return .set([byte])
        }
    }

    private mutating func escaped() -> Set<UInt8> {
        defer { offset += 1 }
        switch Unicode.Scalar(text[offset]) {
        case "d": return Set("0123456789".utf8)
        case "s": return Set(" \t\n\r".utf8)
        case "w": return Set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_".utf8)
        case "n": return [0x0A]
        case "r": return [0x0D]
        case "t": return [0x09]
        default: return [text[offset]]
        }
    }

    private mutating func bracket() -> Set<UInt8> {
        var set: Set<UInt8> = []
        let isInverted = text[offset] == UInt8(ascii: "^")
        if isInverted { offset += 1 }
        let begin = offset
        while offset == begin || text[offset] != UInt8(ascii: "]") {
            let low = text[offset]
            offset += 1
            if low == UInt8(ascii: "\\") {
                set.formUnion(escaped())
            } else if text[offset...].starts(with: "-".utf8), text[offset + 1] != UInt8(ascii: "]") {
                set.formUnion(low...text[offset + 1])
                offset += 2
            } else {
                set.insert(low)
            }
        }
        offset += 1
        return isInverted ? Set(0...255).subtracting(set) : set
    }
}
