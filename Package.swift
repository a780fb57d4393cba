// swift-tools-version: 6.2
// The house of syncd: every target, what it is for and what it may import. The table with the
// reasons is docs/architecture.md; Tests/Tidy checks that sources keep to this graph.
import Glibc
import PackageDescription

/// One set of compiler rules for all Swift code: complete concurrency checking, memory safety
/// spelled out where C is touched, and no warning that can be walked past.
let rules: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// The laws of the decoders: a program in the build of `.ci/fuzz`, whose `main` is libFuzzer's, and tests in every other.
let laws: Target =
    Context.environment["SYNCD_FUZZ"] == nil
    ? .testTarget(
        name: "FuzzTests",
        dependencies: [
            "SyncKit", "Disk", "Store", "Transport", "Compression", "Crypto", "Config", "ControlProtocol", "SyncCore",
            "RecordMerge", "SyncModel",
        ], path: "Tests/Fuzz", swiftSettings: rules)
    : .executableTarget(
        name: "fuzz",
        dependencies: [
            "SyncKit", "Disk", "Store", "Transport", "Compression", "Crypto", "Config", "ControlProtocol", "SyncCore",
            "RecordMerge", "SyncModel",
        ], path: "Tests/Fuzz", exclude: ["CorpusTests.swift"], swiftSettings: rules)

let package = Package(
    name: "syncd",
    products: [
        .executable(name: "syncd", targets: ["syncd"]),
        .executable(name: "syncctl", targets: ["syncctl"]),
        .executable(name: "syncsim", targets: ["syncsim"]),
        .executable(name: "birthdays", targets: ["birthdays"]),
        .library(name: "SyncKit", targets: ["SyncKit"]),
    ],
    targets: [
        // C walls: a module map and a shim header each; the Swift owner of each is in docs/architecture.md.
        .systemLibrary(name: "CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(name: "CInih", pkgConfig: "inih", providers: [.apt(["libinih-dev"])]),
        .target(name: "CLinux"),
        .target(name: "CChecksum"),

        // The pure core: no target from here down to SyncSim can open a file, read a clock or draw a random number.
        .target(name: "SyncModel", swiftSettings: rules),
        .target(name: "RecordMerge", dependencies: ["SyncModel"], swiftSettings: rules),
        .target(name: "Coordination", dependencies: ["SyncModel"], swiftSettings: rules),
        .target(name: "SyncCore", dependencies: ["Coordination", "RecordMerge", "SyncModel"], swiftSettings: rules),
        .target(
            name: "SyncSim", dependencies: ["SyncCore", "Coordination", "RecordMerge", "SyncModel"],
            swiftSettings: rules),
        .executableTarget(
            name: "syncsim", dependencies: ["SyncSim", "SyncCore", "RecordMerge", "SyncModel"], swiftSettings: rules),

        // Adapters: each is the one owner of its walls, and hands safe values up. None of them knows the core.
        .target(name: "EventLoop", dependencies: ["CLibuv"], swiftSettings: rules),
        .target(name: "Compression", dependencies: ["CZstd"], swiftSettings: rules),
        .target(name: "Crypto", dependencies: ["COpenSSL", "CChecksum"], swiftSettings: rules),
        .target(name: "Config", dependencies: ["CInih", "SyncModel"], swiftSettings: rules),
        .target(name: "Disk", dependencies: ["CLinux", "Crypto", "SyncModel"], swiftSettings: rules),
        .target(name: "Store", dependencies: ["CSQLite", "SyncModel"], swiftSettings: rules),
        .target(name: "Transport", dependencies: ["EventLoop", "Crypto", "Compression"], swiftSettings: rules),

        // The shell: the only place that sees both the core and the world.
        .target(name: "ControlProtocol", dependencies: ["SyncModel"], swiftSettings: rules),
        .target(name: "ControlSocket", dependencies: ["ControlProtocol", "SyncModel"], swiftSettings: rules),
        .target(
            name: "SyncDaemon",
            dependencies: [
                "SyncCore", "Coordination", "RecordMerge", "SyncModel", "EventLoop", "Crypto", "Compression", "Config",
                "Disk",
                "Store", "Transport", "ControlProtocol",
            ], swiftSettings: rules),
        // The library for applications that share files.
        .target(
            name: "SyncKit",
            dependencies: ["Coordination", "Disk", "RecordMerge", "ControlSocket", "ControlProtocol", "SyncModel"],
            swiftSettings: rules),
        .executableTarget(name: "syncd", dependencies: ["SyncDaemon"], swiftSettings: rules),
        .executableTarget(
            name: "syncctl",
            dependencies: ["ControlProtocol", "ControlSocket", "SyncModel", "Config", "Crypto", "Disk"],
            swiftSettings: rules),

        .executableTarget(
            name: "kitbench", dependencies: ["SyncKit", "Coordination", "Disk", "RecordMerge", "SyncModel"],
            swiftSettings: rules),
        .executableTarget(name: "birthdays", dependencies: ["SyncKit", "RecordMerge"], swiftSettings: rules),
        // The disk of the rig's virtual machines.
        .executableTarget(name: "rigdisk", dependencies: ["SyncModel"], swiftSettings: rules),

        .testTarget(name: "SyncModelTests", dependencies: ["SyncModel"], swiftSettings: rules),
        .testTarget(name: "CoordinationTests", dependencies: ["Coordination", "SyncModel"], swiftSettings: rules),
        .testTarget(name: "RecordMergeTests", dependencies: ["RecordMerge", "SyncModel"], swiftSettings: rules),
        .testTarget(
            name: "SyncCoreTests", dependencies: ["SyncCore", "RecordMerge", "Coordination", "SyncModel"],
            swiftSettings: rules),
        .testTarget(
            name: "SyncSimTests", dependencies: ["SyncSim", "SyncCore", "Coordination", "SyncModel"],
            swiftSettings: rules),
        .testTarget(
            name: "WallsTests",
            dependencies: ["CLibuv", "CSQLite", "COpenSSL", "CZstd", "CInih", "CLinux"], swiftSettings: rules),
        .testTarget(name: "EventLoopTests", dependencies: ["EventLoop"], swiftSettings: rules),
        .testTarget(name: "CompressionTests", dependencies: ["Compression"], swiftSettings: rules),
        .testTarget(
            name: "TransportTests", dependencies: ["Transport", "EventLoop", "Crypto", "Compression"],
            swiftSettings: rules),
        .testTarget(name: "CryptoTests", dependencies: ["Crypto", "COpenSSL", "SyncModel"], swiftSettings: rules),
        .testTarget(name: "ConfigTests", dependencies: ["Config", "SyncModel"], swiftSettings: rules),
        .testTarget(
            name: "DiskTests", dependencies: ["Disk", "SyncSim", "SyncModel"], swiftSettings: rules),
        .testTarget(
            name: "StoreTests", dependencies: ["Store", "CSQLite", "SyncSim", "SyncModel"], swiftSettings: rules),
        .testTarget(
            name: "ControlProtocolTests", dependencies: ["ControlProtocol", "SyncModel"], swiftSettings: rules),
        .testTarget(
            name: "SyncctlTests", dependencies: ["syncctl", "ControlProtocol", "SyncModel"], swiftSettings: rules),
        .testTarget(
            name: "SyncKitTests",
            dependencies: [
                "SyncKit", "ControlProtocol", "ControlSocket", "Coordination", "Disk", "RecordMerge", "SyncModel",
            ],
            swiftSettings: rules),
        .testTarget(
            name: "SyncDaemonTests",
            dependencies: [
                "SyncDaemon", "ControlProtocol", "Config", "Disk", "Store", "EventLoop", "CLibuv", "RecordMerge",
                "SyncCore", "SyncModel",
            ],
            swiftSettings: rules),
        .testTarget(name: "RigDiskTests", dependencies: ["rigdisk", "SyncModel"], swiftSettings: rules),
        .testTarget(name: "Tidy", dependencies: ["SyncModel"], path: "Tests/Tidy", swiftSettings: rules),
        laws,
    ]
)

/// With SYNCD_CHECK, as `make test` builds, what that computes with for minutes is optimised in a debug build, too, and as a whole: the
/// simulator is as fast as that of a release build, the unit tests need a third, and nothing is built twice.
if Context.environment["SYNCD_CHECK"] != nil {
    let heavy = ["SyncModel", "RecordMerge", "Coordination", "SyncCore", "SyncSim", "syncsim", "Tidy"]
    // (Without two threads the compiler writes one object where SwiftPM looks for many.)
    let flags = ["-O", "-whole-module-optimization", "-disable-batch-mode", "-num-threads", "2"]
    for target in package.targets where heavy.contains(target.name) {
        target.swiftSettings = rules + [.unsafeFlags(flags, .when(configuration: .debug))]
    }
}

/// Where the Debian package puts it (`put_library` in .ci/shipped) there is the library with what it stands on, and nothing else.
func exists(_ folder: String) -> Bool { access("\(Context.packageDirectory)/\(folder)", F_OK) == 0 }
if !exists("Sources/SyncDaemon") {
    package.targets.removeAll { !exists("Sources/\($0.name)") }
    package.products.removeAll { $0.name != "SyncKit" }
}
