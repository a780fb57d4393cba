import RecordMerge
import SyncModel

/// What each model file was about when it was last used. If it has a fault so bad that nothing of that can be read, the files are held all
/// the same. Of a file that is not there any more nothing is remembered.
struct ModelMemory: Hashable {
    private var files: [File] = []

    private struct File: Hashable {
        /// Its path.
        let name: [UInt8]
        let scope: ModelScope
    }

    init() {}

    subscript(name: [UInt8]) -> ModelScope? { files.first { $0.name == name }?.scope }

    mutating func note(_ name: [UInt8], _ scope: ModelScope) { files.append(File(name: name, scope: scope)) }
}

// MARK: In the store

/// Numbers big-endian: `1 version · 4 n, n × file`; a file is `4 length, path · 4 n, n × (1 kind · 4 length, text)`.
extension ModelMemory {
    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.put(ModelMemory.version)
        writer.put(UInt32(files.count))
        for file in files {
            writer.putCounted(file.name)
            writer.put(UInt32(file.scope.parts.count))
            for part in file.scope.parts {
                writer.put(part.kind.rawValue)
                writer.putCounted(part.text)
            }
        }
        return writer.bytes
    }

    private static let version: UInt8 = 1

    /// What cannot be read is not known.
    init(encoded bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard reader.byte() == ModelMemory.version, let count = reader.uint32() else { return }
        for _ in 0..<count {
            guard let name = reader.counted(max: Limits.pathBytesMax), let parts = reader.uint32() else { return }
            var read: [ModelScope.Part] = []
            for _ in 0..<parts {
                guard let kind = reader.byte(), let text = reader.counted(max: ModelMemory.textMax) else { return }
                let known = ModelScope.Part.Kind(rawValue: kind).flatMap { ModelScope.Part($0, text) }
                if let known { read.append(known) }
            }
            note(name, ModelScope(read))
        }
    }

    /// As long as a model file may be.
    private static let textMax = ModelShelf.bytesMax
}
