import Coordination
import Disk
import RecordMerge
import SyncModel

/// A store of one JSON file for each key: see `makeFileStore`.
struct FileStore<Value: Codable & Sendable>: Store {
    let directory: DocumentPath
    let file: JSONFile<Value>
    let coordinator: any FileCoordinator

    private static var ending: String { ".json" }

    func value(for key: String) async throws -> Value? {
        let path = try path(of: key)
        return try await coordinator.withAccess([.read(path)]) { _ in
            guard let contents = try await DocumentFiles().contents(at: path) else { return nil }
            let decoded = file.decode(contents)
            guard let model = decoded.model else { throw DocumentError(unreadable: decoded) }
            return model
        }
    }

    func set(_ value: Value?, for key: String) async throws {
        let path = try path(of: key)
        try await coordinator.withAccess([.write(path, value == nil ? .deleting : .update)]) { grant in
            let old = try await DocumentFiles().contents(at: path)
            if let old, let value {
                let decoded = file.decode(old)
                guard decoded.model != nil else { throw DocumentError(protected: decoded.outcome) }
                let new = try file.written(value, replacing: old)
                guard new != old else { return }
                try await DocumentFiles().replace(old, with: new, at: path)
                grant.note(.changed(path))
            } else if let value {
                try await DocumentFiles().create(try file.written(value, replacing: nil), at: path)
                grant.note(.changed(path))
            } else if let old {
                try requireRemovable(old)
                try await DocumentFiles().remove(old, at: path)
                grant.note(.deleted(path))
            }
        }
    }

    /// What is newer is another program's to understand, and to remove. What is broken anybody may remove who says so.
    private func requireRemovable(_ contents: DocumentContents) throws {
        let outcome = file.decode(contents).outcome
        switch outcome {
        case .newerVersion, .unknownVersion: throw DocumentError(protected: outcome)
        case .notLoaded, .success, .noSuchFile, .zeroLength, .corrupt, .olderVersion, .accessDenied, .changedDuringRead:
            return
        }
    }

    func keys() async throws -> [String] {
        try await DocumentFiles().names(in: directory).compactMap { name in
            let text = String(decoding: name.bytes, as: UTF8.self)
            return text.hasSuffix(FileStore.ending) ? String(text.dropLast(FileStore.ending.count)) : nil
        }
    }

    private func path(of key: String) throws -> DocumentPath {
        guard Name(key + FileStore.ending) != nil, !key.isEmpty, !key.hasPrefix(".") else {
            throw DocumentError(.cannotEncode, reason: "\(key) is no name of a file")
        }
        return directory.appending(key + FileStore.ending)
    }
}
