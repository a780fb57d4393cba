import Synchronization

/// Saves and closes every document that is open in this process, or every one in a directory: for a program that is asked to end. What could
/// not be saved stays open, with everything in it, and is told.
public func closeOpenDocuments(in directory: DocumentPath? = nil) async -> [UnsavedDocument] {
    await closeOpenDocuments(in: directory, endingStreams: true)
}

/// Streams that go on keep whoever reads them from doing what comes after.
func closeOpenDocuments(in directory: DocumentPath? = nil, endingStreams: Bool) async -> [UnsavedDocument] {
    var unsaved: [UnsavedDocument] = []
    let place = directory.map { $0.bytes + [UInt8(ascii: "/")] } ?? []
    for session in OpenDocuments.all where await session.path.bytes.starts(with: place) {
        do {
            try await session.close(endingStreams: endingStreams)
        } catch {
            unsaved.append(UnsavedDocument(path: await session.path, error: DocumentError(error)))
        }
    }
    return unsaved.sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) }
}

public struct UnsavedDocument: Sendable {
    public let path: DocumentPath
    public let error: DocumentError
}

/// A session, whatever its model is.
protocol ClosableDocument: Actor {
    var path: DocumentPath { get }
    func close(endingStreams: Bool) async throws
}

/// The sessions that are open. Who was let go of without being closed is none.
enum OpenDocuments {
    private struct Entry {
        weak var session: (any ClosableDocument)?
    }

    private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    static var all: [any ClosableDocument] {
        entries.withLock { entries in
            entries = entries.filter { $0.value.session != nil }
            return entries.values.compactMap(\.session)
        }
    }

    static func add(_ session: some ClosableDocument) {
        entries.withLock { $0[ObjectIdentifier(session)] = Entry(session: session) }
    }

    static func remove(_ session: some ClosableDocument) {
        entries.withLock { $0[ObjectIdentifier(session)] = nil }
    }
}
