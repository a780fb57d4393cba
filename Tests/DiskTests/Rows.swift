/// Rows that say what the disk says.
import SyncModel

typealias Rows = SortedMap<Path, Row>

extension Row {
    /// As a node would know a path that looks like this.
    init(_ path: Path, _ stat: Stat) {
        self.init(path: path)
        let content: Content =
            switch stat.kind {
            case .directory: .directory
            case .symlink: .symlink([0x78])
            case .file, .special: .file(ContentID(.zero), size: stat.size)
            }
        disk = DiskState(
            entry: Entry(content: content, mode: stat.mode, modified: stat.modified), stat: stat,
            origins: Origins(all: Origin(author: .own, position: .none, time: .zero)))
    }
}

extension SortedMap where Key == Path, Value == Row {
    /// What the daemon's store answers: a page of rows below a directory.
    func page(below directory: Path, after: Path?, limit: Int) -> [Row] {
        var page: [Row] = []
        var last = after ?? directory
        while page.count < limit, let next = first(after: last), next.key.isBelow(directory) {
            page.append(next.value)
            last = next.key
        }
        return page
    }
}
