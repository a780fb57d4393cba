// swift-tools-version: 6.2
// The house of syncd: every target, what it is for and what it may import. The table with the
// reasons is docs/architecture.md; Tests/Tidy checks that sources keep to this graph.
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

let package = Package(
    name: "syncd",
    products: [
        .executable(name: "syncsim", targets: ["syncsim"])
    ],
    targets: [
        // C walls: a module map and a shim header each; the Swift owner of each is in docs/architecture.md.
        .systemLibrary(name: "CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(name: "CInih", pkgConfig: "inih", providers: [.apt(["libinih-dev"])]),
        .target(name: "CLinux"),

        // The pure core: no target from here down to SyncSim can open a file, read a clock or draw a random number.
        .target(name: "SyncModel", swiftSettings: rules),
        .target(name: "SyncCore", dependencies: ["SyncModel"], swiftSettings: rules),
        .target(name: "SyncSim", dependencies: ["SyncCore", "SyncModel"], swiftSettings: rules),
        .executableTarget(name: "syncsim", dependencies: ["SyncSim", "SyncCore", "SyncModel"], swiftSettings: rules),

        .testTarget(name: "SyncModelTests", dependencies: ["SyncModel"], swiftSettings: rules),
        .testTarget(name: "SyncCoreTests", dependencies: ["SyncCore", "SyncModel"], swiftSettings: rules),
        .testTarget(
            name: "SyncSimTests", dependencies: ["SyncSim", "SyncCore", "SyncModel"], swiftSettings: rules),
        .testTarget(
            name: "WallsTests",
            dependencies: ["CLibuv", "CSQLite", "COpenSSL", "CZstd", "CInih", "CLinux"], swiftSettings: rules),
        .testTarget(name: "Tidy", path: "Tests/Tidy", swiftSettings: rules),
    ]
)
