import SyncModel

/// A tree in one line, for transcripts and tests: `a/x=1  b=2 (600)  d/  l->target`.
extension World {
    package func sketch(_ machine: Int) -> String {
        let tree = machines[machine].disk.tree()
        var words: [String] = []
        for (index, (path, entry)) in tree.enumerated() {
            let next = index + 1 < tree.count ? tree[index + 1].0 : nil
            if let word = World.sketch(path, entry, isEmptyDirectory: next?.isBelow(path) != true) {
                words.append(word)
            }
        }
        return words.isEmpty ? "(nothing)" : words.joined(separator: "  ")
    }

    /// Directories that hold something are told by what they hold, unless their mode is worth a word.
    private static func sketch(_ path: Path, _ entry: VirtualEntry, isEmptyDirectory: Bool) -> String? {
        switch entry.content {
        case .file: return "\(path)=\(content(entry.bytes ?? []))\(mode(entry.mode, usual: 0o644))"
        case .symlink(let target): return "\(path)->\(Path.escape(target))"
        case .special: return "\(path)|"
        case .directory:
            let unusual = mode(entry.mode, usual: 0o755)
            return isEmptyDirectory || !unusual.isEmpty ? "\(path)/\(unusual)" : nil
        }
    }

    private static func content(_ bytes: [UInt8]) -> String {
        bytes.count <= 40 ? Path.escape(bytes) : "<\(bytes.count) bytes>"
    }

    private static func mode(_ mode: UInt16, usual: UInt16) -> String {
        mode == usual ? "" : " (\(String(mode, radix: 8)))"
    }
}
