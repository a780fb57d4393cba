/// What `.syncignore` files leave out, in the syntax and with the meaning of gitignore. One pattern is `IgnorePattern`.
///
/// - A file speaks for the directory it lies in and everything below. Deeper files win over outer ones, and within a
///   file the last matching line wins.
/// - What lies in an ignored directory is ignored; no line below can bring it back.
/// - Only its own lines leave a `.syncignore` out, and not those of directories above: what it says counts for git also where it is ignored, and
///   what is left out is not looked at, so that a start would not know of it.
/// - Matching is by bytes, case-sensitively, and takes at most (pattern length × path length) steps per pattern, so no
///   pattern can hold up the program. What is beyond the limits is reported and does not count.
public struct IgnoreRules: Hashable, Sendable {
    /// Per file: lines that count, bytes in a line, bytes of all lines that count.
    public static let patternsMax = 10_000
    public static let patternBytesMax = 4_096
    public static let fileBytesMax = 1 << 20

    private struct File: Hashable, Sendable {
        let directory: [UInt8]
        let lines: [Line]
        let contents: Digest
    }

    fileprivate struct Line: Hashable, Sendable {
        /// Counted from 1.
        let number: Int
        let pattern: IgnorePattern
    }

    /// In byte order of their directories, so that the root's comes first. A file without a pattern is not kept.
    private var files: [File] = []

    public init() {}

    public var isEmpty: Bool { files.isEmpty }

    /// Of the files that have a line that counts.
    public var paths: [[UInt8]] {
        files.map { IgnoreRules.path(in: $0.directory) }
    }

    /// Tells these rules from others, in another process too.
    public var digest: Digest {
        var hash = SHA256()
        for file in files {
            hash.update(SHA256.digest(of: file.directory).bytes)
            hash.update(file.contents.bytes)
        }
        return hash.finish()
    }

    /// Reads the file of a directory, replacing what was read from it before. `directory` is relative to the folder's
    /// root, its components joined by `/`; the root is empty. Returns the lines that could not be used.
    @discardableResult
    public mutating func setFile(directory: [UInt8], contents: [UInt8]) -> [IgnoreProblem] {
        let (lines, problems) = IgnoreRules.lines(of: contents)
        removeFile(directory: directory)
        if !lines.isEmpty {
            let file = File(directory: directory, lines: lines, contents: SHA256.digest(of: contents))
            files.insert(file, at: place(of: directory[...]))
        }
        return problems
    }

    /// What was read from the file of a directory in `other` counts here too; false if nothing was.
    public mutating func keepFile(directory: [UInt8], of other: IgnoreRules) -> Bool {
        guard let index = other.index(of: directory[...]) else { return false }
        removeFile(directory: directory)
        files.insert(other.files[index], at: place(of: directory[...]))
        return true
    }

    public mutating func removeFile(directory: [UInt8]) {
        if let index = index(of: directory[...]) { files.remove(at: index) }
    }

    /// Whether a path, or a directory above it, is left out. `path` is relative to the folder's root, without slashes
    /// at its ends. The root itself is never ignored.
    public func isIgnored(_ path: [UInt8], isDirectory: Bool) -> Bool {
        reason(toIgnore: path, isDirectory: isDirectory) != nil
    }

    /// The line that leaves it out, or a directory above it.
    public func reason(toIgnore path: [UInt8], isDirectory: Bool) -> IgnoreReason? {
        if files.isEmpty || path.isEmpty { return nil }
        var speakers = Speakers(root: index(of: []))
        var nameStart = 0
        while true {
            let nameEnd = path.firstSlash(from: nameStart)
            let isLast = nameEnd == path.count
            let step = Step(nameStart: nameStart, nameEnd: nameEnd, isDirectory: isDirectory || !isLast)
            if isLast, !isDirectory, path[nameStart...].elementsEqual(IgnoreRules.fileName) {
                speakers = ownSpeaker(of: path[..<max(nameStart - 1, 0)])
            }
            if let verdict = verdict(on: path, step, by: speakers), !verdict.line.pattern.isNegated {
                return IgnoreReason(directory: verdict.file.directory, line: verdict.line.number)
            }
            if isLast { return nil }
            if let deeper = index(of: path[..<nameEnd]) { speakers.deeper.append(deeper) }
            nameStart = nameEnd + 1
        }
    }

    /// What the files are called.
    public static let fileName: [UInt8] = Array(".syncignore".utf8)

    fileprivate static func path(in directory: [UInt8]) -> [UInt8] {
        directory.isEmpty ? fileName : directory + [0x2F] + fileName
    }

    /// The file of this directory alone.
    private func ownSpeaker(of directory: ArraySlice<UInt8>) -> Speakers {
        directory.isEmpty
            ? Speakers(root: index(of: [])) : Speakers(root: nil, deeper: [index(of: directory)].compactMap(\.self))
    }

    /// The files that speak for a place, by their index. The array stays unallocated in a tree with one file.
    private struct Speakers {
        let root: Int?
        /// From the outside in.
        var deeper: [Int] = []
    }

    /// One path on the way down: `path[..<nameEnd]`.
    private struct Step {
        let nameStart: Int
        let nameEnd: Int
        let isDirectory: Bool
    }

    /// The line that decides; nil if none says anything about the path.
    private func verdict(on path: [UInt8], _ step: Step, by speakers: Speakers) -> (file: File, line: Line)? {
        for index in speakers.deeper.reversed() {
            if let line = verdict(on: path, step, by: files[index]) { return (files[index], line) }
        }
        guard let root = speakers.root else { return nil }
        return verdict(on: path, step, by: files[root]).map { (files[root], $0) }
    }

    private func verdict(on path: [UInt8], _ step: Step, by file: File) -> Line? {
        let base = file.directory.isEmpty ? 0 : file.directory.count + 1
        for line in file.lines.reversed() {
            let pattern = line.pattern
            if pattern.isDirectoryOnly && !step.isDirectory { continue }
            let isMatch =
                pattern.isAnchored
                ? pattern.matches(path, from: base, to: step.nameEnd)
                : pattern.matches(path, from: step.nameStart, to: step.nameEnd)
            if isMatch { return line }
        }
        return nil
    }

    private func index(of directory: ArraySlice<UInt8>) -> Int? {
        let place = place(of: directory)
        return place < files.count && files[place].directory.elementsEqual(directory) ? place : nil
    }

    private func place(of directory: ArraySlice<UInt8>) -> Int {
        var low = 0
        var high = files.count
        while low < high {
            let middle = (low + high) / 2
            if files[middle].directory.lexicographicallyPrecedes(directory) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Where it is written that something is left out.
public struct IgnoreReason: Hashable, Sendable {
    /// In which the `.syncignore` file lies, relative to the root.
    public let directory: [UInt8]
    /// Counted from 1.
    public let line: Int

    /// The path of that file.
    public var file: [UInt8] { IgnoreRules.path(in: directory) }
}

/// A line of a `.syncignore` file that does not count, and why.
public struct IgnoreProblem: Hashable, Sendable {
    public enum Reason: Sendable {
        /// It can never match: a bracket or a character class without an end, a backslash at the end, nothing but a
        /// slash.
        case neverMatches
        case lineTooLong
        /// From this line on nothing counts: too many patterns, or too many bytes of them.
        case fileTooLarge
    }

    /// Counted from 1.
    public let line: Int
    public let reason: Reason

    public init(line: Int, reason: Reason) {
        self.line = line
        self.reason = reason
    }
}

extension IgnoreRules {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private static func lines(of contents: [UInt8]) -> ([Line], [IgnoreProblem]) {
        var lines: [Line] = []
        var problems: [IgnoreProblem] = []
        var bytes = 0
        var start = contents.starts(with: byteOrderMark) ? byteOrderMark.count : 0
        var number = 0
        while start < contents.count {
            let end = contents[start...].firstIndex(of: UInt8(ascii: "\n")) ?? contents.count
            let line = text(of: contents[start..<end])
            start = end + 1
            number += 1
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            bytes += line.count
            if lines.count == patternsMax || bytes > fileBytesMax {
                problems.append(IgnoreProblem(line: number, reason: .fileTooLarge))
                break
            }
            if line.count > patternBytesMax {
                problems.append(IgnoreProblem(line: number, reason: .lineTooLong))
            } else if let pattern = IgnorePattern(line: line) {
                lines.append(Line(number: number, pattern: pattern))
            } else {
                problems.append(IgnoreProblem(line: number, reason: .neverMatches))
            }
        }
        return (lines, problems)
    }

    /// A line without a carriage return and without the spaces at its end, unless a backslash keeps them.
    private static func text(of raw: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let line = raw.last == UInt8(ascii: "\r") ? raw.dropLast() : raw
        var end = line.startIndex
        var index = line.startIndex
        while index < line.endIndex {
            if line[index] == UInt8(ascii: "\\") {
                // With nothing after it, it keeps all spaces before it.
                index = min(index + 2, line.endIndex)
                end = index
            } else {
                index += 1
                if line[index - 1] != UInt8(ascii: " ") { end = index }
            }
        }
        return line[..<end]
    }
}

extension [UInt8] {
    /// Of the slash that ends the component which starts at `start`; the end if there is none.
    func firstSlash(from start: Int) -> Int {
        var index = start
        while index < count, self[index] != UInt8(ascii: "/") { index += 1 }
        return index
    }
}
