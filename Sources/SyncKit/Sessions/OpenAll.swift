import Disk
import RecordMerge
import SyncModel

/// In which order the results of `openAll` come.
public enum OpeningOrder: Hashable, Sendable {
    /// By the bytes of their paths, whatever was read first.
    case sorted
    /// As they come. Nothing is promised about it, and it may be another each time.
    case completion
}

public struct OpenedDocument<Model: Sendable>: Sendable {
    public let path: DocumentPath
    public let result: Decoded<Model>
}

/// Opens all of them and returns when the last one is done, with a result for each: none is left out, and none comes twice. At most
/// `width` files are open at a time. Nothing at once is nothing to do, and returns.
public func openAll<Model: Sendable>(
    _ document: some Document<Model>, at paths: [DocumentPath], order: OpeningOrder = .sorted, width: Int = 16,
    coordinator: any FileCoordinator = makeFileCoordinator()
) async -> [OpenedDocument<Model>] {
    let paths = order == .sorted ? paths.sorted() : paths
    var results: [(number: Int, opened: OpenedDocument<Model>)] = []
    results.reserveCapacity(paths.count)
    await withTaskGroup(of: (Int, OpenedDocument<Model>).self) { group in
        var rest = paths.enumerated().makeIterator()
        func startNext() {
            guard let (number, path) = rest.next() else { return }
            group.addTask { (number, await opened(document, at: path, coordinator)) }
        }
        for _ in 0..<max(1, width) { startNext() }
        while let (number, opened) = await group.next() {
            results.append((number, opened))
            startNext()
        }
    }
    if order == .sorted { results.sort { $0.number < $1.number } }
    return results.map(\.opened)
}

/// All documents directly in a directory: regular files whose names do not begin with a dot.
public func openAll<Model: Sendable>(
    _ document: some Document<Model>, in directory: DocumentPath, order: OpeningOrder = .sorted, width: Int = 16,
    coordinator: any FileCoordinator = makeFileCoordinator()
) async throws -> [OpenedDocument<Model>] {
    let names = try await DocumentFiles().names(in: directory)
    let paths = names.map { DocumentPath(directory.bytes + [UInt8(ascii: "/")] + $0.bytes) }
    return await openAll(document, at: paths, order: order, width: width, coordinator: coordinator)
}

private func opened<Model: Sendable>(
    _ document: some Document<Model>, at path: DocumentPath, _ coordinator: any FileCoordinator
) async -> OpenedDocument<Model> {
    do {
        let contents = try await coordinator.withAccess([.read(path)]) { _ in
            try await DocumentFiles().contents(at: path)
        }
        guard let contents else { return OpenedDocument(path: path, result: Decoded(.noSuchFile)) }
        return OpenedDocument(path: path, result: document.decode(contents))
    } catch {
        let problem = DocumentError(error)
        return OpenedDocument(path: path, result: Decoded(problem.outcome, problem: problem))
    }
}
