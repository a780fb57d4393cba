/// How the daemon looks at the disk: single paths, the root, pieces of files, its own stage.
package import SyncModel

extension VirtualDisk {
    /// What stands at a place; nil for nothing, also where the way there is missing or leads through something that is
    /// no directory. Strikes by no chance: for tests and checkers.
    package func stat(_ place: Place) -> DiskReply<Stat?> {
        if case .tree(let path) = place {
            if path.isReserved { return .failure(.unsupported) }
            if faults.covered.contains(path) { return .failure(.crossDevice) }
            return find(path).map { $0.map { inodes.stat(of: $0) } }
        }
        return find(VirtualDisk.path(of: place)).map { $0.map { inodes.stat(of: $0) } }
    }

    /// As `stat`, on a disk that may fail to answer.
    mutating func look(_ place: Place) -> DiskReply<Stat?> {
        if faults.readErrors.next > 0 || faults.readErrors.perMille > 0 {
            let path = VirtualDisk.path(of: place)
            // A path named as unreadable can still be seen in its directory.
            var chance = FaultChance(next: faults.readErrors.next, perMille: faults.readErrors.perMille)
            let isStruck = chance.strikes(path, random: &faults.random)
            faults.readErrors.next = chance.next
            if isStruck { return .failure(.inputOutput) }
        }
        return stat(place)
    }

    package mutating func inspect(_ paths: [Path]) -> Inspection {
        let results = paths.map { path -> Inspection.Result in
            switch look(.tree(path)) {
            case .success(let stat): stat.map { .found($0) } ?? .absent
            case .failure(let error): .failed(error)
            }
        }
        let state = rootState()
        // A folder that has come back to its place is watched again before anybody is told so.
        if state == .healthy, isWatching, let root, !inodes[root].isWatched { watch(root) }
        return Inspection(root: state, results: results)
    }

    /// Device, inode and marker against those of the folder that was set up.
    package func rootState() -> RootState {
        guard let root else { return .missing }
        if root != home {
            guard inodes[root].device == inodes[home].device, inodes[root].number == inodes[home].number else {
                return .replaced
            }
        }
        guard case .success(.some(let key)) = find(VirtualDisk.markerPath) else { return .unmarked }
        return inodes[key].now.content == marker ? .healthy : .replaced
    }

    /// Fewer bytes than asked for at the end of the file.
    package mutating func read(_ request: ReadRequest) -> ReadOutcome {
        if let expected = request.expected {
            switch look(request.place) {
            case .failure(let error): return .failed(error)
            case .success(nil): return .failed(.notFound)
            case .success(.some(let found)):
                guard found.isUntouched(since: expected) else { return .failed(.mismatch) }
            }
        }
        switch bytes(of: request.place, at: request.offset, count: request.length) {
        case .success(let bytes): return .bytes(bytes)
        case .failure(let error): return .failed(error)
        }
    }

    /// A piece of a file, as far as the file goes.
    mutating func bytes(of place: Place, at offset: UInt64, count: Int) -> DiskReply<[UInt8]> {
        switch slot(place) {
        case .failure(let error): return .failure(error)
        case .success(let slot):
            guard let key = slot.inode else { return .failure(.notFound) }
            if let error = obstacleToRead(slot.path) { return .failure(error) }
            switch inodes[key].kind {
            case .directory: return .failure(.isDirectory)
            case .symlink, .special: return .failure(.unsupported)
            case .file: return .success(inodes[key].now.content.read(at: offset, count: count))
            }
        }
    }

    /// A file was written to that has a name the daemon heeds, as it was `known` there, by another that it does not heed, or that has gone
    /// before it could look at that (`newNames`): nobody tells it.
    package func hasUnheardWrite(newNames: SortedMap<FileIdentity, Path>, known: (Path) -> Stat?) -> Bool {
        inodes.keys.contains { key in
            guard inodes[key].kind == .file else { return false }
            let now = inodes[key].stat
            let paths = inodes[key].links.compactMap { link in
                path(of: link.directory).map { $0.appending(link.name) }
            }
            let isUnheard =
                paths.count > 1 && paths.contains { known($0) == nil }
                || newNames[now.identity].map { !paths.contains($0) } ?? false
            return isUnheard
                && paths.contains { known($0).map { $0.size != now.size || $0.modified != now.modified } ?? false }
        }
    }

    /// Everything in `.syncd/stage` that bears a stage name, in the order of the names.
    package mutating func stagedFiles() -> [StagedFile] {
        let there = enterOpenFolder()
        defer { leaveOpenFolder(to: there) }
        guard case .success(.some(let stage)) = find(VirtualDisk.stagePath) else { return [] }
        return inodes[stage].entries.compactMap { name, key in
            VirtualDisk.number(in: name, letter: UInt8(ascii: "s")).map {
                StagedFile(name: StageName(raw: $0), stat: inodes[key].stat)
            }
        }
    }
}
