import ControlProtocol
import Disk

/// The folder of a running syncd, and the connection to it: which files are its, and how they are called in what is said to it.
struct DaemonFolder: Sendable {
    let connection: DaemonConnection
    /// Resolved.
    let folder: [UInt8]

    func contains(_ path: [UInt8]) -> Bool { path.starts(with: folder + [UInt8(ascii: "/")]) }

    func argument(_ path: [UInt8]) -> PathArgument {
        PathArgument(typed: path, directory: [UInt8(ascii: "/")])
    }

    /// Of a path in the folder.
    func place(_ path: [UInt8]) -> [UInt8] { folder + [UInt8(ascii: "/")] + path }

    /// Where something is after what it is or lies in has been moved.
    func place(_ old: [UInt8], following from: [UInt8], to target: [UInt8]) -> [UInt8] {
        let before = place(from)
        guard old == before || DaemonFolder.isBelow(old, before) else { return old }
        return place(target) + old.dropFirst(before.count)
    }

    private static func isBelow(_ path: [UInt8], _ above: [UInt8]) -> Bool {
        path.starts(with: above + [UInt8(ascii: "/")])
    }

    func deed(_ deed: FileDeed) -> DoneDeed? {
        func inside(_ path: DocumentPath) -> PathArgument? {
            Item.resolved(path.bytes).flatMap { contains($0) ? argument($0) : nil }
        }
        switch deed {
        case .changed(let path): return inside(path).map { .changed($0) }
        case .deleted(let path): return inside(path).map { .deleted($0) }
        case .moved(let path, let target):
            guard let from = inside(path) else { return inside(target).map { .changed($0) } }
            return inside(target).map { .moved(from, to: $0) } ?? .deleted(from)
        }
    }

    /// `shown` is where the presenter's file is by now. What is within it is a part of it.
    func news(_ news: PresenterLine.News, _ shown: [UInt8]) -> FileNews {
        switch news {
        case .reacquired: .reacquired
        case .changed: .changed
        case .deleted(let path): DaemonFolder.isBelow(place(path), shown) ? .changed : .deleted
        case .moved(_, let target):
            shown == place(target) || DaemonFolder.isBelow(shown, place(target))
                ? .moved(to: DocumentPath(shown)) : .changed
        case .skipped: .skipped
        case .warned(_, let about, let code, let isOpen):
            .warned(FileWarning(code: code.text, about: DocumentPath(place(about)), isOpen: isOpen))
        }
    }
}
