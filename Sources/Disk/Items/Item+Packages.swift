/// Directories that count as one thing because somebody has marked them: a file `.syncd-package` lies in them.
import Glibc
public import SyncModel

extension Item {
    /// Never among the contents; it stays when they are replaced.
    public static let packageMark = Array(".syncd-package".utf8)

    private static let folderMark = Array(".syncd".utf8)

    /// The outermost marked directory above a resolved path; nil if there is none. The folder of a syncd is no package, nor is what
    /// it lies in.
    public static func package(around path: [UInt8]) -> [UInt8]? {
        var package: [UInt8]?
        var directory = path
        while let slash = directory.lastIndex(of: UInt8(ascii: "/")), slash > 0 {
            directory.removeSubrange(slash...)
            if exists(folderMark, in: directory) { break }
            if exists(packageMark, in: directory) { package = directory }
        }
        return package
    }

    /// False also where it cannot be told.
    private static func exists(_ name: [UInt8], in directory: [UInt8]) -> Bool {
        // The path is used for the time of the call only.
        unsafe CName(directory + [UInt8(ascii: "/")] + name).withPointer { unsafe access($0, F_OK) } == 0
    }
}

extension Folder {
    /// The same within the folder; the path itself where there is none.
    public func package(around path: Path) -> Path {
        let parents = path.parents
        let marks = inspect(parents.compactMap { parent in Name(Item.packageMark).map(parent.appending) }).results
        let first = marks.firstIndex { if case .found = $0 { true } else { false } }
        return first.map { parents[$0] } ?? path
    }
}
