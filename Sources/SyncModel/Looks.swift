/// How the core looks at the folder: what it asks of a worker about paths, and what the worker answers. Scans are in `Scan.swift`.

public struct Notice: Hashable, Sendable {
    public enum Kind: UInt8, Sendable {
        /// Created, moved here, or its metadata changed.
        case touched
        /// Closed by somebody who could write, perhaps among other things. What was written through `mmap` may show in
        /// nothing else.
        case closed
        /// Deleted, or moved away.
        case gone
        /// Written, and still open for writing: wait for the close.
        case writing
    }

    public let path: Path
    public let kind: Kind

    public init(path: Path, kind: Kind) {
        self.path = path
        self.kind = kind
    }
}

public struct Inspection: Hashable, Sendable {
    public let root: RootState
    /// In the order of the request.
    public let results: [Result]

    public enum Result: Hashable, Sendable {
        case found(Stat)
        case absent
        /// Could not be looked at: says nothing about the path.
        case failed(DiskError)
    }

    public init(root: RootState, results: [Result]) {
        self.root = root
        self.results = results
    }
}

public enum HashOutcome: Hashable, Sendable {
    /// Read whole, and untouched from the first look to the last.
    case content(Content, ChunkList, Stat)
    /// It changed while it was read.
    case changing
    case absent
    case failed(DiskError)
}

public struct ReadRequest: Hashable, Sendable {
    public let place: Place
    /// Refuse to read if the file is not this one, untouched.
    public let expected: Stat?
    public let offset: UInt64
    public let length: Int

    public init(place: Place, expected: Stat?, offset: UInt64, length: Int) {
        self.place = place
        self.expected = expected
        self.offset = offset
        self.length = length
    }
}

public enum ReadOutcome: Hashable, Sendable {
    case bytes([UInt8])
    /// `.mismatch` if the file is not the one expected.
    case failed(DiskError)
}

public struct StagedFile: Hashable, Sendable {
    public let name: StageName
    public let stat: Stat

    public init(name: StageName, stat: Stat) {
        self.name = name
        self.stat = stat
    }
}
