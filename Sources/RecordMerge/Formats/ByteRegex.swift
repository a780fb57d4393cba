import SyncModel

/// A regular expression over bytes that is anchored at the beginning: what a format rule may ask of a header.
///
/// Known are `^` (at the start, required), literals, `.`, `[…]` with ranges and `^`, `\d \s \w` and escaped signs, `( )` and
/// `(?: )`, `|`, `* + ?`, `{n}` and `{n,m}`, `$` (the end of the text). The first `( )` is what is looked for. All states are followed
/// at once, so time is the product of the lengths of pattern and text, whatever they are.
struct ByteRegex: Hashable, Sendable {
    private let program: [Instruction]

    /// No header rule needs more; repetition makes long programs of short patterns.
    static let instructionsMax = 4_096
    static let textMax = 1_024

    enum Instruction: Hashable, Sendable {
        case set(ByteSet)
        /// Go on at both, the first preferred.
        case split(Int, Int)
        case jump(Int)
        /// The beginning or the end of the first group.
        case mark(isStart: Bool)
        case atEnd
        case match
    }

    /// What is wrong with a pattern, for its author.
    struct Fault: Error {
        let reason: String
    }

    init(_ text: [UInt8]) throws(Fault) {
        var compiler = try RegexCompiler(text)
        program = try compiler.program()
    }

    /// What the first group took, from the beginning of the text; nil if the text does not match.
    func capture(in text: [UInt8]) -> ArraySlice<UInt8>? {
        var threads = ThreadList(capacity: program.count)
        var best: (Int, Int)?
        add(Thread(at: 0), at: 0, text.count, to: &threads)
        for offset in 0...text.count {
            var next = ThreadList(capacity: program.count)
            for thread in threads.list {
                switch program[thread.instruction] {
                case .match:
                    best = (thread.start, thread.end)
                case .set(let set):
                    guard offset < text.count, set.contains(text[offset]) else { continue }
                    var moved = thread
                    moved.instruction += 1
                    add(moved, at: offset + 1, text.count, to: &next)
                    continue
                case .split, .jump, .mark, .atEnd:
                    continue
                }
                // What comes after a match is less preferred.
                break
            }
            threads = next
            if threads.list.isEmpty { break }
        }
        guard let (start, end) = best, start >= 0, end >= start else { return nil }
        return text[start..<end]
    }

    private struct Thread {
        var instruction: Int
        var start = -1
        var end = -1

        init(at instruction: Int) {
            self.instruction = instruction
        }
    }

    private struct ThreadList {
        var list: [Thread] = []
        var known: [Bool]

        init(capacity: Int) {
            known = [Bool](repeating: false, count: capacity)
        }
    }

    /// Follows everything that takes no byte. (With a list of what is still to be followed: depth costs no stack.)
    private func add(_ thread: Thread, at offset: Int, _ length: Int, to threads: inout ThreadList) {
        var open = [thread]
        while var next = open.popLast() {
            if threads.known[next.instruction] { continue }
            threads.known[next.instruction] = true
            switch program[next.instruction] {
            case .jump(let target):
                next.instruction = target
                open.append(next)
            case .split(let first, let second):
                var other = next
                other.instruction = second
                open.append(other)
                next.instruction = first
                open.append(next)
            case .mark(let isStart):
                if isStart { next.start = offset } else { next.end = offset }
                next.instruction += 1
                open.append(next)
            case .atEnd:
                guard offset == length else { continue }
                next.instruction += 1
                open.append(next)
            case .set, .match:
                threads.list.append(next)
            }
        }
    }
}
