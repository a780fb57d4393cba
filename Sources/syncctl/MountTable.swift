/// What is mounted where, as Linux tells this process: for `doctor`.
struct MountTable {
    struct Mount: Hashable {
        let point: [UInt8]
        let kind: [UInt8]
        /// Of the mount and of the file system.
        let options: [[UInt8]]

        func has(_ option: String) -> Bool { options.contains { $0.elementsEqual(option.utf8) } }

        var isWithoutBarriers: Bool { has("nobarrier") || has("barrier=0") }
        var tellsOfNobodyElse: Bool {
            ["nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "afs"].contains(where: isKind)
                || kind.starts(with: Array("fuse.".utf8))
        }
        var keepsLess: Bool { ["vfat", "msdos", "exfat", "ntfs3", "ntfs"].contains(where: isKind) }

        private func isKind(_ name: String) -> Bool { kind.elementsEqual(name.utf8) }
    }

    private var mounts: [Mount] = []

    /// Nil if it cannot be read.
    static func read() -> MountTable? {
        do throws(System.FileError) {
            return MountTable(try System.contents(Array("/proc/self/mountinfo".utf8), bytesMax: 4 << 20))
        } catch {
            return nil
        }
    }

    /// The text of /proc/self/mountinfo; see proc(5). Lines that are none are skipped.
    init(_ text: [UInt8]) {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " ")).map(Array.init)
            guard let dash = words.firstIndex(of: [UInt8(ascii: "-")]), dash >= 6, words.count > dash + 3 else {
                continue
            }
            let options = [words[5], words[dash + 3]].flatMap { $0.split(separator: UInt8(ascii: ",")).map(Array.init) }
            mounts.append(Mount(point: MountTable.plain(words[4]), kind: words[dash + 1], options: options))
        }
    }

    /// The one that a path lies on: the longest that leads to it, and of equal ones the last, which hides the others.
    func mount(of path: [UInt8]) -> Mount? {
        var found: Mount?
        for mount in mounts
        where MountTable.leads(mount.point, to: path) && mount.point.count >= (found?.point.count ?? 0) {
            found = mount
        }
        return found
    }

    private static func leads(_ point: [UInt8], to path: [UInt8]) -> Bool {
        guard path.starts(with: point) else { return false }
        return path.count == point.count || point.last == UInt8(ascii: "/") || path[point.count] == UInt8(ascii: "/")
    }

    /// Spaces and the like stand there as a backslash and three octal digits.
    private static func plain(_ word: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = word[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8) {
                result.append(value)
                rest = rest.dropFirst(3)
            } else {
                result.append(byte)
            }
        }
        return result
    }
}
