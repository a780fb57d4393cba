import SyncModel

/// Bugs in how the folder is changed.
extension PlantedBugs {
    static var disk: [Plot] {
        [
            Plot(name: "staged files are not synced", traits: [.powerCuts]) {
                dropping { if case .syncFile = $0 { true } else { false } }
            },
            Plot(name: "directories are not synced", traits: [.powerCuts]) {
                dropping { if case .syncParent = $0 { true } else { false } }
            },
            Plot(name: "what becomes a version is not synced") {
                dropping { if case .syncFile(.version) = $0 { true } else { false } }
            },
            Plot(name: "what is replaced is not compared before", traits: [.sharedNames], shape: slowDisk) {
                dropping(isExpectation)
            },
            Plot(name: "what was replaced is not compared after", traits: [.sharedNames], shape: slowDisk) {
                dropping { if case .expectContent = $0 { true } else { false } }
            },
            Plot(name: "nothing is compared before or after a replacement", traits: [.sharedNames], shape: slowDisk) {
                dropping { operation in
                    if case .expectContent = operation { return true }
                    return isExpectation(operation)
                }
            },
            Plot(name: "the loser is thrown away", traits: [.sharedNames]) {
                replacing { operation in
                    if case .move(let place, to: .version) = operation { return [.discard(place)] }
                    return [operation]
                }
            },
            Plot(name: "the loser stays in the stage", traits: [.sharedNames]) {
                dropping { if case .move(_, to: .version) = $0 { true } else { false } }
            },
            Plot(name: "a conflict copy is moved to the versions", traits: [.sharedNames]) {
                replacing { operation in
                    guard case .move(let place, to: .tree(let path)) = operation, ConflictFamily.base(of: path) != nil
                    else { return [operation] }
                    return [.move(place, to: .version(VersionID(raw: 1 << 40)))]
                }
            },
            Plot(name: "a file is replaced in two steps", traits: [.processKills], shape: slowDisk) {
                var turns: UInt64 = 1 << 50
                return replacing { operation in
                    guard case .exchange(let staged, let place) = operation else { return [operation] }
                    turns += 1
                    let aside = Place.stage(StageName(raw: turns))
                    return [.move(place, to: aside), .move(staged, to: place), .move(aside, to: staged)]
                }
            },
            Plot(name: "times are not set") { dropping { if case .setModified = $0 { true } else { false } } },
            Plot(name: "modes are not set", traits: [.permissionChanges]) {
                dropping { if case .setMode = $0 { true } else { false } }
            },
            Plot(name: "written bytes are damaged") {
                replacing { operation in
                    guard case .write(let place, let offset, let bytes) = operation else { return [operation] }
                    return [.write(place, offset: offset, bytes: damaged(bytes))]
                }
            },
            Plot(name: "symlinks get another target", traits: [.symlinks]) {
                replacing { operation in
                    guard case .createSymlink(let place, let target) = operation else { return [operation] }
                    return [.createSymlink(place, target: damaged(target))]
                }
            },
            Plot(name: "directories are not removed", traits: [.massDeletes, .directoryMoves]) {
                dropping { if case .removeDirectory = $0 { true } else { false } }
            },
        ]
    }

    private static func isExpectation(_ operation: DiskOperation) -> Bool {
        switch operation {
        case .expect, .expectAbsent, .expectIdentity: true
        case .createFile, .write, .copy, .truncate, .createDirectory, .createSymlink, .setMode, .setModified, .syncFile,
            .syncParent, .expectContent, .expectUnheld, .inspect, .exchange, .move, .removeDirectory, .discard:
            false
        }
    }

    /// Time between two operations for others to step in.
    static func slowDisk(_ plan: inout SeedPlan) {
        plan.diskDelayMillisecondsMax = 200
        plan.userPauseMilliseconds = 50
        plan.fileCount = 2
        plan.directoryCount = 1
    }

    private static func dropping(_ isDropped: @escaping (DiskOperation) -> Bool) -> PlantedBug.Ways {
        replacing { isDropped($0) ? [] : [$0] }
    }

    private static func replacing(_ operation: @escaping (DiskOperation) -> [DiskOperation]) -> PlantedBug.Ways {
        PlantedBug.Ways(operation: operation)
    }

    static func damaged(_ bytes: [UInt8]) -> [UInt8] {
        guard let last = bytes.last else { return bytes }
        return bytes.dropLast() + [last ^ 1]
    }
}
