import SyncModel

/// Makes the program of a `ByteRegex`. What is nested is kept in a list of its own, so depth costs no stack.
struct RegexCompiler {
    private let text: [UInt8]
    private var offset = 0
    private var groups: [Group] = [Group(isMarked: false)]
    private var hasMark = false

    /// A piece of a program whose jumps are relative to its beginning.
    private struct Piece {
        var code: [ByteRegex.Instruction] = []

        mutating func append(_ other: Piece) {
            let base = code.count
            for instruction in other.code { code.append(Piece.moved(instruction, by: base)) }
        }

        private static func moved(_ instruction: ByteRegex.Instruction, by base: Int) -> ByteRegex.Instruction {
            switch instruction {
            case .jump(let target): .jump(target + base)
            case .split(let first, let second): .split(first + base, second + base)
            case .set, .mark, .atEnd, .match: instruction
            }
        }
    }

    /// What is between two brackets: the branches that are done, and the items of the one that is being read.
    private struct Group {
        let isMarked: Bool
        var branches: [Piece] = []
        var items: [Piece] = []

        init(isMarked: Bool) {
            self.isMarked = isMarked
        }
    }

    init(_ text: [UInt8]) throws(ByteRegex.Fault) {
        guard text.count <= ByteRegex.textMax else {
            throw ByteRegex.Fault(reason: "a pattern has \(ByteRegex.textMax) bytes at most")
        }
        guard text.first == UInt8(ascii: "^") else {
            throw ByteRegex.Fault(reason: "the pattern must begin with ^: a header is read from its beginning")
        }
        self.text = text
    }

    mutating func program() throws(ByteRegex.Fault) -> [ByteRegex.Instruction] {
        offset = 1
        while offset < text.count { try step() }
        guard groups.count == 1 else { throw ByteRegex.Fault(reason: "a bracket ( is not closed") }
        guard hasMark else {
            throw ByteRegex.Fault(reason: "a group in brackets is missing: it says where the version stands")
        }
        var whole = try joined(groups[0])
        whole.code.append(.match)
        return whole.code
    }

    private mutating func step() throws(ByteRegex.Fault) {
        let byte = text[offset]
        offset += 1
        switch byte {
        case UInt8(ascii: "("):
            let isPlain = text[offset...].starts(with: Array("?:".utf8))
            if isPlain { offset += 2 }
            groups.append(Group(isMarked: !isPlain && !hasMark))
            if !isPlain { hasMark = true }
            guard groups.count <= 64 else { throw ByteRegex.Fault(reason: "brackets are nested too deep") }
        case UInt8(ascii: ")"):
            guard groups.count > 1, let group = groups.popLast() else {
                throw ByteRegex.Fault(reason: "a bracket ) is not opened")
            }
            try add(try joined(group))
        case UInt8(ascii: "|"):
            groups[groups.count - 1].branches.append(sequence(groups[groups.count - 1].items))
            groups[groups.count - 1].items = []
        case UInt8(ascii: "*"): try repeatLast(0, nil)
        case UInt8(ascii: "+"): try repeatLast(1, nil)
        case UInt8(ascii: "?"): try repeatLast(0, 1)
        case UInt8(ascii: "{"): try countedRepeat()
        case UInt8(ascii: "$"): try add(Piece(code: [.atEnd]))
        case UInt8(ascii: "."): try add(Piece(code: [.set(ByteSet([0x0A]).inverted)]))
        case UInt8(ascii: "["): try add(Piece(code: [.set(try bracket())]))
        case UInt8(ascii: "\\"): try add(Piece(code: [.set(try escape())]))
        case UInt8(ascii: "^"): throw ByteRegex.Fault(reason: "^ stands at the beginning only")
        default: try add(Piece(code: [.set(ByteSet([byte]))]))
        }
    }

    private mutating func add(_ piece: Piece) throws(ByteRegex.Fault) {
        guard piece.code.count <= ByteRegex.instructionsMax else {
            throw ByteRegex.Fault(reason: "the pattern is too long once it is repeated")
        }
        groups[groups.count - 1].items.append(piece)
    }

    private func sequence(_ items: [Piece]) -> Piece {
        var whole = Piece()
        for item in items { whole.append(item) }
        return whole
    }

    private func joined(_ group: Group) throws(ByteRegex.Fault) -> Piece {
        var whole = sequence(group.items)
        for branch in group.branches.reversed() {
            var either = Piece(code: [.split(1, branch.code.count + 2)])
            either.append(branch)
            either.code.append(.jump(branch.code.count + 2 + whole.code.count))
            either.append(whole)
            whole = either
        }
        guard whole.code.count <= ByteRegex.instructionsMax else {
            throw ByteRegex.Fault(reason: "the pattern is too long once it is repeated")
        }
        guard group.isMarked else { return whole }
        var marked = Piece(code: [.mark(isStart: true)])
        marked.append(whole)
        marked.code.append(.mark(isStart: false))
        return marked
    }

    private mutating func repeatLast(_ least: Int, _ most: Int?) throws(ByteRegex.Fault) {
        guard let item = groups[groups.count - 1].items.popLast(), item.code != [.atEnd] else {
            throw ByteRegex.Fault(reason: "there is nothing before the repetition at byte \(offset)")
        }
        guard item.code.count * max(least, most ?? 1, 1) <= ByteRegex.instructionsMax else {
            throw ByteRegex.Fault(reason: "the pattern is too long once it is repeated")
        }
        var whole = Piece()
        for _ in 0..<least { whole.append(item) }
        if let most {
            for _ in least..<max(least, most) {
                // What is left out may be left out from here on.
                var optional = Piece(code: [.split(1, item.code.count + 1)])
                optional.append(item)
                whole.append(optional)
            }
        } else {
            var loop = Piece(code: [.split(1, item.code.count + 2)])
            loop.append(item)
            loop.code.append(.jump(0))
            whole.append(loop)
        }
        try add(whole)
    }

    private mutating func countedRepeat() throws(ByteRegex.Fault) {
        guard let end = text[offset...].firstIndex(of: UInt8(ascii: "}")) else {
            throw ByteRegex.Fault(reason: "a bracket { is not closed")
        }
        let parts = text[offset..<end].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        let numbers = parts.map { Int(String(decoding: $0, as: UTF8.self)) }
        offset = end + 1
        switch (numbers.count, numbers.first ?? nil, numbers.last ?? nil) {
        case (1, let least?, _) where (1...256).contains(least): try repeatLast(least, least)
        case (2, let least?, nil) where (0...256).contains(least) && parts[1].isEmpty: try repeatLast(least, nil)
        case (2, let least?, let most?) where (0...256).contains(least) && least <= most && (1...256).contains(most):
            try repeatLast(least, most)
        default: throw ByteRegex.Fault(reason: "{n}, {n,} or {n,m} with numbers up to 256 is expected")
        }
    }

    private mutating func bracket() throws(ByteRegex.Fault) -> ByteSet {
        var set = ByteSet()
        let isInverted = offset < text.count && text[offset] == UInt8(ascii: "^")
        if isInverted { offset += 1 }
        var isFirst = true
        while offset < text.count, isFirst || text[offset] != UInt8(ascii: "]") {
            isFirst = false
            let low = text[offset]
            offset += 1
            if low == UInt8(ascii: "\\") {
                set.formUnion(try escape())
                continue
            }
            let isRange =
                offset + 1 < text.count && text[offset] == UInt8(ascii: "-") && text[offset + 1] != UInt8(ascii: "]")
            guard isRange else {
                set.insert(low)
                continue
            }
            let high = text[offset + 1]
            offset += 2
            guard low <= high, high != UInt8(ascii: "\\") else {
                throw ByteRegex.Fault(reason: "a range in [ ] ends before it begins")
            }
            set.insert(low...high)
        }
        guard offset < text.count else { throw ByteRegex.Fault(reason: "a bracket [ is not closed") }
        offset += 1
        return isInverted ? set.inverted : set
    }

    private mutating func escape() throws(ByteRegex.Fault) -> ByteSet {
        guard offset < text.count else { throw ByteRegex.Fault(reason: "nothing follows the last \\") }
        let byte = text[offset]
        offset += 1
        switch byte {
        case UInt8(ascii: "d"): return ByteSet(0x30...0x39)
        case UInt8(ascii: "s"): return ByteSet(Array(" \t\n\r".utf8))
        case UInt8(ascii: "w"):
            var set = ByteSet(0x30...0x39)
            set.insert(0x41...0x5A)
            set.insert(0x61...0x7A)
            set.insert(UInt8(ascii: "_"))
            return set
        case UInt8(ascii: "n"): return ByteSet([0x0A])
        case UInt8(ascii: "r"): return ByteSet([0x0D])
        case UInt8(ascii: "t"): return ByteSet([0x09])
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A:
            throw ByteRegex.Fault(reason: "\\\(String(decoding: [byte], as: UTF8.self)) is not known")
        default: return ByteSet([byte])
        }
    }
}
