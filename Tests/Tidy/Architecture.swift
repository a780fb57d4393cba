/// The target table of docs/architecture.md for the targets that exist: who may import whom, and who may touch C.
/// A new folder in Sources fails the tidy tests until it has its row here.
enum Architecture {
    static let targets: [Target] = [
        .init("CLibuv", .wall),
        .init("CSQLite", .wall),
        .init("COpenSSL", .wall),
        .init("CZstd", .wall),
        .init("CInih", .wall),
        .init("CLinux", .wall),
        .init("CChecksum", .wall),
        .init("SyncModel", .core),
        .init("RecordMerge", .core, imports: ["SyncModel"]),
        .init("Coordination", .core, imports: ["SyncModel"]),
        .init("SyncCore", .core, imports: ["Coordination", "RecordMerge", "SyncModel"]),
        .init("SyncSim", .simulation, imports: ["SyncCore", "Coordination", "RecordMerge", "SyncModel"]),
        .init("EventLoop", .adapter, imports: ["CLibuv"], outside: ["Glibc", "Synchronization"]),
        .init("Compression", .adapter, imports: ["CZstd"]),
        .init("Crypto", .adapter, imports: ["COpenSSL", "CChecksum"]),
        .init("Config", .adapter, imports: ["CInih", "SyncModel"], outside: ["Glibc"]),
        .init("Disk", .adapter, imports: ["CLinux", "Crypto", "SyncModel"], outside: ["Glibc", "Synchronization"]),
        .init("Store", .adapter, imports: ["CSQLite", "SyncModel"], outside: ["Glibc", "Synchronization"]),
        .init("Transport", .adapter, imports: ["EventLoop", "Crypto", "Compression"]),
        .init("ControlProtocol", .simulation, imports: ["SyncModel"]),
        .init(
            "ControlSocket", .adapter, imports: ["ControlProtocol", "SyncModel"],
            outside: ["Glibc", "Synchronization"]),
        .init(
            "SyncDaemon", .shell,
            imports: [
                "SyncCore", "Coordination", "RecordMerge", "SyncModel", "EventLoop", "Crypto", "Compression", "Config",
                "Disk",
                "Store", "Transport", "ControlProtocol",
            ], outside: ["Glibc", "Synchronization"]),
        .init(
            "SyncKit", .shell,
            imports: ["Coordination", "Disk", "RecordMerge", "ControlSocket", "ControlProtocol", "SyncModel"],
            outside: ["Dispatch", "Synchronization"]),
        .init("syncd", .executable, imports: ["SyncDaemon"], outside: ["Glibc"]),
        .init(
            "syncctl", .executable,
            imports: ["ControlProtocol", "ControlSocket", "SyncModel", "Config", "Crypto", "Disk"],
            outside: ["Glibc"]),
        .init(
            "kitbench", .executable, imports: ["SyncKit", "Coordination", "Disk", "RecordMerge", "SyncModel"],
            outside: ["Glibc", "Synchronization"]),
        .init("birthdays", .executable, imports: ["SyncKit", "RecordMerge"], outside: ["Glibc"]),
        .init("rigdisk", .executable, imports: ["SyncModel"], outside: ["Glibc"]),
        .init(
            "syncsim", .executable, imports: ["SyncSim", "SyncCore", "RecordMerge", "SyncModel"], outside: ["Glibc"]),
        .init(
            "fuzz", .executable,
            imports: [
                "SyncKit", "Disk", "Store", "Transport", "Compression", "Crypto", "Config", "ControlProtocol",
                "SyncCore", "RecordMerge", "SyncModel",
            ], outside: ["Glibc"]),
    ]

    /// Folders in Tests that hold data for test targets, and what may lie in them.
    static let dataFolders = [
        "Corpus": ["bin", "txt"], "Scenarios": ["txt"], "Seeds": ["txt"], "Vectors": ["bin", "txt"],
        "EndToEnd": ["story", "sh"], "Rig": ["story", "sh"],
    ]

    struct Target {
        enum Ring {
            /// A module map and a shim: no Swift at all.
            case wall
            /// Neither I/O nor clock nor chance, and no order that depends on hashing.
            case core
            /// As pure as the core, but it may keep hashed collections: two runs with different hash seeds are compared.
            case simulation
            /// One part of the world, made safe: ignorant of the core.
            case adapter
            /// Joins core and adapters on the loop thread.
            case shell
            case executable
        }

        let name: String
        let ring: Ring
        /// Targets of this package.
        let imports: [String]
        /// Modules from outside the package. Whoever has any owns a wall, and only there may `unsafe` be written.
        let outside: [String]

        init(_ name: String, _ ring: Ring, imports: [String] = [], outside: [String] = []) {
            self.name = name
            self.ring = ring
            self.imports = imports
            self.outside = outside
        }

        var isPure: Bool { ring == .core || ring == .simulation }
        var ownsWall: Bool { !outside.isEmpty || imports.contains { Architecture.target($0)?.ring == .wall } }
    }

    static func target(_ name: String) -> Target? { targets.first { $0.name == name } }

    /// The target a file in Sources belongs to, by its folder.
    static func target(owning file: String) -> Target? {
        let parts = file.split(separator: "/")
        return parts.count > 2 && parts[0] == "Sources" ? target(String(parts[1])) : nil
    }
}
