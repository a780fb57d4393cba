public import SyncModel

/// A path as a person typed it, and the directory they stood in. Only the daemon knows what its folder is, so it decides
/// what is meant: a path is taken from where they stand; if that does not lead into the folder, from the folder's top. The
/// names need not exist: earlier versions of deleted files are asked for, too.
public struct PathArgument: Hashable, Sendable {
    public let typed: [UInt8]
    /// Absolute.
    public let directory: [UInt8]

    public init(typed: [UInt8], directory: [UInt8]) {
        self.typed = typed
        self.directory = directory
    }

    /// The place in the folder, or nil if it is not in it. `roots` are absolute ways to write the folder's own path: as it
    /// is configured, and with its symbolic links followed.
    public func path(in roots: [[UInt8]]) -> Path? { way(in: roots).flatMap(PathArgument.path) }

    /// It leads into the folder, where no path has such a name, or is so long or so deep.
    public func isTooLong(in roots: [[UInt8]]) -> Bool {
        guard let way = way(in: roots), !way.contains(where: { $0.contains(0) }) else { return false }
        return PathArgument.path(way) == nil
    }

    /// The names from the top of the folder on, whether or not they make a path.
    private func way(in roots: [[UInt8]]) -> [ArraySlice<UInt8>]? {
        let roots = roots.compactMap(PathArgument.components)
        if let way = steps.flatMap({ PathArgument.way($0, belowOneOf: roots) }) { return way }
        let stands = PathArgument.components(directory) ?? []
        guard typed.first != 0x2F, !roots.contains(where: { stands.starts(with: $0) }) else { return nil }
        return PathArgument.joined([], typed)
    }

    /// For files that may lie anywhere; nil if it climbs above `/`.
    public var absolute: [UInt8]? { steps.map { [0x2F] + $0.joined(separator: [0x2F]) } }

    private var steps: [ArraySlice<UInt8>]? {
        let base = typed.first == 0x2F ? [] : PathArgument.components(directory)
        return base.flatMap { PathArgument.joined($0, typed) }
    }

    private static func path(_ way: [ArraySlice<UInt8>]) -> Path? { Path(Array(way.joined(separator: [0x2F]))) }

    private static func way(
        _ parts: [ArraySlice<UInt8>], belowOneOf roots: [[ArraySlice<UInt8>]]
    ) -> [ArraySlice<UInt8>]? {
        let root = roots.filter { parts.starts(with: $0) }.max { $0.count < $1.count }
        return root.map { Array(parts.dropFirst($0.count)) }
    }

    private static func components(_ absolute: [UInt8]) -> [ArraySlice<UInt8>]? {
        absolute.first == 0x2F ? joined([], absolute) : nil
    }

    /// `base` and then the steps of `path`; nil when a `..` climbs above the top.
    private static func joined(_ base: [ArraySlice<UInt8>], _ path: [UInt8]) -> [ArraySlice<UInt8>]? {
        var parts = base
        for step in path.split(separator: 0x2F) {
            switch Array(step) {
            case [0x2E]: break
            case [0x2E, 0x2E]:
                if parts.popLast() == nil { return nil }
            default: parts.append(step)
            }
        }
        return parts
    }
}
