package import SyncModel

/// A person's hands on one machine: every change goes through here, so that the ledger learns what he did and what he saw.
///
/// The verbs are those of the virtual disk; each looks at the paths it touches before and after, whatever came of it.
package struct Hands {
    package let world: World
    package let machine: Int

    package init(_ world: World, machine: Int) {
        self.world = world
        self.machine = machine
    }

    /// False while the folder is not there: nobody works in it then.
    package var hasFolder: Bool { world.machines[machine].isPowered && world.machines[machine].disk.isMounted }

    package func value(at path: Path) -> Value { world.machines[machine].disk.value(at: path) }
    package func exists(_ path: Path) -> Bool { world.machines[machine].disk.exists(path) }
    package func kind(_ path: Path) -> FileKind? { world.machines[machine].disk.kind(path) }
    package func bytes(_ path: Path) -> [UInt8] { world.machines[machine].disk.peekBytes(path) ?? [] }

    /// Paths of the folder, in path order, with what is there.
    package var tree: SortedMap<Path, Value> { world.machines[machine].disk.treeValues }

    // MARK: Verbs. Nil is success, as on the disk.

    /// `knowing` is what the writer believes to write over; nil if he has just looked.
    @discardableResult
    package func write(_ path: Path, _ bytes: [UInt8], knowing: Value? = nil) -> DiskError? {
        noteWriting(by: path)
        return rewrite(names(path), knowing: knowing) { disk, now in disk.writeFile(path, bytes, now: now) }
    }

    @discardableResult
    package func mkdir(_ path: Path) -> DiskError? {
        change([path]) { disk, now in disk.mkdir(path, now: now) }
    }

    @discardableResult
    package func rmdir(_ path: Path) -> DiskError? {
        let error = change([path]) { disk, now in disk.rmdir(path, now: now) }
        if error == nil, world.isUnsettled(machine) { world.ledger.removedDirectory(path, on: machine) }
        return error
    }

    @discardableResult
    package func unlink(_ path: Path) -> DiskError? {
        change([path]) { disk, now in disk.unlink(path, now: now) }
    }

    @discardableResult
    package func symlink(_ path: Path, to target: [UInt8]) -> DiskError? {
        change([path]) { disk, now in disk.symlink(path, target: target, now: now) }
    }

    @discardableResult
    package func link(_ path: Path, to other: Path) -> DiskError? {
        let isKnown = world.machines[machine].store.rows[other]?.disk != nil
        let isLeftOut = !namesLeftOut(ofFileAt: path, besides: other).isEmpty
        let error = change([path, other]) { disk, now in disk.link(path, other, now: now) }
        guard error == nil else { return error }
        for name in places(path) { world.ledger.sharesMetadata(name) }
        noteCameAtOnce(to: other)
        if isKnown || isLeftOut { noteBrought([(path, other)]) }
        return nil
    }

    @discardableResult
    package func mkfifo(_ path: Path) -> DiskError? {
        change([path]) { disk, now in disk.mkfifo(path, now: now) }
    }

    @discardableResult
    package func chmod(_ path: Path, _ mode: UInt16) -> DiskError? {
        change(places(path)) { disk, now in disk.chmod(path, mode, now: now) }
    }

    @discardableResult
    package func touch(_ path: Path, _ modified: Timestamp) -> DiskError? {
        let error = change(places(path)) { disk, now in disk.setTimes(path, modified: modified, now: now) }
        for name in places(path) where error == nil && looksOvertaken(name) {
            world.ledger.backdated(name, holding: value(at: name))
        }
        return error
    }

    /// rename(2), of files and directories.
    @discardableResult
    package func rename(_ source: Path, to target: Path) -> DiskError? {
        var paths = [source, target]
        var below: [(old: Path, new: Path)] = []
        // (A daemon takes a file for another name's only where it knows what stood there, or where the rules leave out that
        // other name.)
        let isKnown = world.machines[machine].store.rows[target]?.disk != nil
        let isLeftOut = !namesLeftOut(ofFileAt: source, besides: target).isEmpty
        if kind(source) != .directory, exists(target) || isKnown || isLeftOut { below.append((source, target)) }
        for (path, _) in world.machines[machine].disk.values(below: source) {
            paths.append(path)
            guard let moved = path.rebased(from: source, to: target) else { continue }
            paths.append(moved)
            if path != source { below.append((path, moved)) }
        }
        let isDirectory = kind(source) == .directory
        let isOver = !isDirectory && source != target && value(at: source) == value(at: target)
        let isSame = isOver && kind(source) == .file
        let error = change(paths) { disk, now in disk.rename(source, to: target, now: now) }
        guard error == nil else { return error }
        if isOver { world.ledger.putOver(value(at: target), at: target, on: machine) }
        if isSame { world.ledger.rewrote(target, on: machine, at: world.now) }
        for path in paths { noteSharedNames(of: path) }
        for (_, new) in below { noteCameAtOnce(to: new) }
        noteBrought(below)
        if isDirectory, world.isUnsettled(machine) { world.ledger.removedDirectory(source, on: machine) }
        return nil
    }

    /// What a power cut has left of a file goes along to its new name, or stands by a second one as well, and may be mended there.
    private func noteBrought(_ files: [(old: Path, new: Path)]) {
        guard world.isUnsettled(machine) else {
            // (It has been through the folder, but has not mended that yet: after another cut it is what this one has left, and mended there.)
            // (What the rules leave out stays in doubt as long as they do, and is mended by a name that they do not cover.)
            for (last, new) in files {
                let leftOut = namesLeftOut(ofFileAt: new, besides: new)
                guard isKnownAsDamaged(last, at: new) || !leftOut.isEmpty else { continue }
                for old in [last] + leftOut.filter({ $0 != last }) {
                    world.ledger.movedRemains(from: old, to: new, on: machine, holding: value(at: new))
                }
            }
            return
        }
        for (last, new) in files {
            for old in [last] + knownNames(ofFileAt: new, besides: last) {
                world.ledger.movedRemains(from: old, to: new, on: machine, holding: value(at: new))
                if looksOvertaken(new, knownAs: old) {
                    world.ledger.movedOvertaken(from: old, to: new, on: machine)
                }
            }
            if looksEmptied(new) { world.ledger.movedEmpty(to: new, on: machine) }
        }
    }

    private func noteCameAtOnce(to path: Path) {
        let known = world.machines[machine].store.rows[path]?.disk?.stat.identity
        let isAnother = known.map { $0 != world.machines[machine].disk.peekStat(path)?.identity } ?? false
        world.ledger.cameAtOnce(value(at: path), to: path, on: machine, at: world.now, isAnother: isAnother)
    }

    private func isKnownAsDamaged(_ old: Path, at new: Path) -> Bool {
        let machine = world.machines[machine]
        guard let row = machine.store.rows[old], row.condition == .damaged else { return false }
        return row.disk?.stat.identity == machine.disk.peekStat(new)?.identity
    }

    /// A name of a hard link was moved: it goes on sharing mode and time with the others.
    private func noteSharedNames(of path: Path) {
        let all = places(path)
        if all.count > 1 { for name in all { world.ledger.sharesMetadata(name) } }
    }

    /// `rm -rf` of several paths at one moment. Returns what was there, for whoever wants it back.
    @discardableResult
    package func removeAll(_ roots: [Path]) -> [(path: Path, content: Remains)] {
        let disk = world.machines[machine].disk
        let all = disk.treeValues
        var removed: [(Path, Remains)] = []
        var paths: [Path] = []
        for (path, value) in all where roots.contains(where: { path == $0 || path.isBelow($0) }) {
            paths.append(path)
            if let remains = Remains(path, value, disk) { removed.append((path, remains)) }
        }
        change(paths) { disk, now in
            var failure: DiskError?
            for root in roots {
                let error = disk.removeTree(root, now: now)
                failure = failure ?? error
            }
            return failure
        }
        // (What a disk with errors has not let go of stays, and with it a file that had another name which went.)
        let gone = SortedMap(paths.filter { value(at: $0) == .absent }.map { ($0, true) })
        let lost = paths.filter { path in
            gone.contains(key: path) && all[path]?.isContent ?? false && !livesOn(path, besides: gone, on: disk)
                && !isToldGone(path) && !knownFileLivesOn(path, besides: gone, on: disk)
        }
        world.ledger.massDeletion(
            of: lost, among: all.keys.filter { all[$0]?.isContent ?? false }, on: machine, at: world.now)
        if world.isUnsettled(machine) { for root in roots { world.ledger.removedDirectory(root, on: machine) } }
        return removed
    }

    /// It has been back for a moment that the daemon has not seen: what the other node is told of is the earlier deletion.
    private func isToldGone(_ path: Path) -> Bool {
        guard let row = world.machines[machine].store.rows[path], row.disk == nil else { return false }
        return row.head(by: .own)?.entry.isAbsent == true
    }

    /// The file has another name, which stays: whatever is written to it by that name, nothing is lost.
    private func livesOn(_ path: Path, besides gone: SortedMap<Path, Bool>, on disk: VirtualDisk) -> Bool {
        disk.names(ofFileAt: path).contains { !$0.isReserved && !gone.contains(key: $0) }
    }

    /// A person has just given the file that the daemon knows here another name, and put another in its place: for whoever finds that
    /// gone, it has been renamed.
    private func knownFileLivesOn(_ path: Path, besides gone: SortedMap<Path, Bool>, on disk: VirtualDisk) -> Bool {
        guard let known = world.machines[machine].store.rows[path]?.disk?.stat.identity,
            known != disk.peekStat(path)?.identity
        else { return false }
        return disk.treeValues.keys.contains { !gone.contains(key: $0) && disk.peekStat($0)?.identity == known }
    }

    /// Puts something back as it was.
    package func restore(_ path: Path, _ remains: Remains) {
        switch remains {
        case .directory: mkdir(path)
        case .file(let bytes): write(path, bytes)
        case .symlink(let target): symlink(path, to: target)
        }
    }

    // MARK: Open files

    package func open(_ path: Path, create: Bool, truncate: Bool) -> OpenFile? {
        var opened: VirtualDisk.Handle?
        if truncate { noteWriting(by: path) }
        rewrite(names(path), isWrite: truncate) { disk, now in
            switch disk.open(path, create: create, truncate: truncate, now: now) {
            case .success(let handle):
                opened = handle
                return nil
            case .failure(let error): return error
            }
        }
        return opened.map { OpenFile(handle: $0, path: path, life: world.handleLife(machine)) }
    }

    @discardableResult
    package func write(_ file: OpenFile, at offset: Int, _ bytes: [UInt8]) -> DiskError? {
        change(through: file) { disk, now in disk.write(file.handle, at: UInt64(offset), bytes, now: now) }
    }

    @discardableResult
    package func truncate(_ file: OpenFile, to size: Int) -> DiskError? {
        change(through: file) { disk, now in disk.truncate(file.handle, to: UInt64(size), now: now) }
    }

    package func sync(_ file: OpenFile) {
        guard isValid(file) else { return }
        world.machines[machine].disk.sync(file.handle)
    }

    package func syncDirectory(of path: Path) {
        guard hasFolder, let parent = path.parent else { return }
        world.machines[machine].disk.syncDirectory(parent)
    }

    package func close(_ file: OpenFile) {
        guard isValid(file) else { return }
        world.machines[machine].disk.close(file.handle)
    }

    package func size(of file: OpenFile) -> Int {
        guard isValid(file), let path = world.machines[machine].disk.names(ofOpen: file.handle).first else { return 0 }
        return world.machines[machine].disk.peekBytes(path)?.count ?? 0
    }

    /// A power cut or a restored image takes all handles with it.
    package func isValid(_ file: OpenFile) -> Bool {
        world.machines[machine].isPowered && file.life == world.handleLife(machine)
    }

    /// What an open file was and is, wherever its name has gone.
    package struct OpenFile {
        let handle: VirtualDisk.Handle
        /// The path it was opened by.
        let path: Path
        let life: Int
    }

    package enum Remains {
        case directory
        case file([UInt8])
        case symlink([UInt8])

        init?(_ path: Path, _ value: Value, _ disk: VirtualDisk) {
            switch value {
            case .directory: self = .directory
            case .file: self = .file(disk.peekBytes(path) ?? [])
            case .symlink: self = .symlink(disk.peekTarget(path) ?? [])
            case .absent, .special: return nil
            }
        }
    }
}

extension Hands {
    /// The names that change with what is written to a path.
    private func names(_ path: Path) -> [Path] {
        let all = world.machines[machine].disk.names(ofFileAt: path)
        if all.count > 1 { noteKeptNames(all) }
        return all
    }

    /// Those of them that are in the tree.
    private func places(_ path: Path) -> [Path] { names(path).filter { !$0.isReserved } }

    /// Performs something and tells the ledger what became of each of these paths.
    @discardableResult
    private func change(
        _ paths: [Path], knowing: Value? = nil, _ body: (inout VirtualDisk, Timestamp) -> DiskError?
    ) -> DiskError? {
        guard hasFolder else { return .notFound }
        world.ledger.doings += 1
        let before = paths.map { world.machines[machine].disk.value(at: $0) }
        let error = body(&world.machines[machine].disk, world.stamp(machine))
        for (path, value) in zip(paths, before) {
            // What nobody else had yet when it was written over is gone, whatever a daemon does.
            note(path, before: value, isBlind: knowing.map { $0 != value && world.isHeld(value, of: path) } ?? false)
        }
        return error
    }

    private func note(_ path: Path, before: Value, isBlind: Bool) {
        let found = world.machines[machine].disk.peek(path)
        let after = found?.value ?? .absent
        if before != after {
            world.trace.tell("\(world.now) \(world.machines[machine].name) user: \(path) was \(before), is \(after)")
            world.ledger.changed(
                path, on: machine, from: before, to: after, at: world.now, isRacing: isBeingApplied(path),
                isBlind: isBlind, isUnaware: !knowsWhatIsMadeAnew(path, as: before))
            world.noteClock(machine)
            if before.isContent, isToldButUnrecorded(before, at: path) {
                world.ledger.replacedUnrecorded(before, at: path)
            }
            if before == .absent || world.ledger.isDisposedOf(after, at: path), isOnRecord(path) {
                world.ledger.cameBackUnseen(path, on: machine)
            }
            if before == .absent, isMissed(path) { world.ledger.cameBackMissed(path, on: machine) }
            if before == .absent, isOnRecord(path, as: .damaged) { world.ledger.putDamageBack(path, on: machine) }
            if after == .absent { world.ledger.removedAfterRefusal(path, on: machine, at: world.now) }
            // After a power cut absence is not believed until everything has been looked at.
            // (And what counts as damage is no less missing for being taken away.)
            let isDamaged = world.machines[machine].store.rows[path]?.condition == .damaged
            if after == .absent, isDamaged || world.isUnsettled(machine) {
                world.ledger.doubted([path])
            }
            if before == .absent, world.isUnsettled(machine) { world.ledger.madeIn(path.parents, on: machine) }
        }
        if let stat = found?.stat, after.isContent {
            world.ledger.left(path, on: machine, mode: stat.mode, modified: stat.modified, changed: stat.changed)
            let isInDoubt = isUnknown(path) || speaksTooEarly(of: path)
            if isInDoubt && (before == after || isElsewhere(after, at: path)) || isOlderThanTold(stat, at: path) {
                world.ledger.leftUnseen(path)
            }
        }
    }

    /// The daemon here has taken in what that of the other machine has told of a file there that was made anew with the same bytes, and that
    /// one has told of it as it is now.
    private func knowsWhatIsMadeAnew(_ path: Path, as value: Value) -> Bool {
        guard let page = world.ledger.pages[path],
            page.rewritten[1 - machine] != .min || page.wasMadeAnew(as: value, on: 1 - machine)
        else { return true }
        let other = world.machines[1 - machine]
        guard let told = other.store.rows[path], told.disk?.stat.changed == other.disk.peekStat(path)?.changed else {
            return false
        }
        guard let own = told.head(by: .own) else { return true }
        return world.machines[machine].store.rows[path].map { $0.reflected.peer >= own.origin.position } ?? false
    }

    /// After a power cut: the file that the daemon knows here holds something else, and bears the time of an earlier writing.
    private func looksOvertaken(_ path: Path) -> Bool {
        guard world.isUnsettled(machine), let known = world.machines[machine].store.rows[path]?.disk,
            let found = world.machines[machine].disk.peekStat(path), found.identity == known.stat.identity
        else { return false }
        return found.modified <= known.stat.modified && known.entry.content != content(at: path)
    }

    /// After a power cut: the file that the daemon knows as `name` holds something else, and looks as if nobody had written to it since the
    /// machine is up.
    private func looksOvertaken(_ path: Path, knownAs name: Path) -> Bool {
        guard let known = world.machines[machine].store.rows[name]?.disk,
            let found = world.machines[machine].disk.peekStat(path), found.identity == known.stat.identity
        else { return false }
        return !isWrittenSinceBoot(found) && known.entry.content != content(at: path)
    }

    /// After a power cut: nothing at all, and nobody has written to it since the machine is up.
    private func looksEmptied(_ path: Path) -> Bool {
        guard value(at: path).isEmpty, let found = world.machines[machine].disk.peekStat(path) else { return false }
        return !isWrittenSinceBoot(found)
    }

    /// The file is empty, as a power cut leaves it, and by its times nobody has written to it: by which other names the
    /// daemon knows it with something in it, and the rules leave it out.
    private func namesLeftOut(ofFileAt path: Path, besides new: Path) -> [Path] {
        guard looksEmptied(path), let found = world.machines[machine].disk.peekStat(path) else { return [] }
        return world.machines[machine].store.rows.filter { name, row in
            guard name != new, row.condition == .ignored, let known = row.disk, known.entry.content.size > 0 else {
                return false
            }
            return known.stat.identity == found.identity && found.modified <= known.stat.modified
        }.map(\.key)
    }

    private func isWrittenSinceBoot(_ stat: Stat) -> Bool {
        let moment = world.machines[machine].clock.moment(at: world.now)
        let boot = moment.wallMilliseconds - Int64(clamping: moment.monotonicMilliseconds)
        return boot <= stat.modified.milliseconds && stat.modified.milliseconds <= moment.wallMilliseconds
    }

    /// Where the daemon knows the file, which may have come by way of a third name.
    private func knownNames(ofFileAt path: Path, besides last: Path) -> [Path] {
        guard let found = world.machines[machine].disk.peekStat(path), found.kind == .file else { return [] }
        let rows = world.machines[machine].store.rows
        return rows.filter { $0.key != last && $0.key != path && $0.value.disk?.stat.identity == found.identity }.map(
            \.key)
    }

    /// The daemon has lost what it knew and has not been here since.
    private func isUnknown(_ path: Path) -> Bool {
        world.ledger.hasForgotten && world.machines[machine].store.rows[path]?.disk == nil
    }

    /// The daemon has lost what it knew, and its clock is behind what it had said of the path before, or what the other node has taken over of
    /// that: what it says now bears an earlier time.
    private func speaksTooEarly(of path: Path) -> Bool {
        guard world.ledger.hasForgotten else { return false }
        let wall = world.machines[machine].clock.moment(at: world.now).wallMilliseconds
        let now = max(world.machines[machine].store.node.clock, HybridTime(wallMilliseconds: wall))
        let known = world.machines[1 - machine].store.rows[path]?.heads ?? []
        return known.contains { max($0.origins.mode.time, $0.origins.time.time) > now }
    }

    /// The other node has told of the same here at a later time, and the daemon does not have on record that it stands there, though it may have
    /// put it there before it was killed. If it is killed once more before it has read this, what it finds is as old as it says.
    private func isOlderThanTold(_ stat: Stat, at path: Path) -> Bool {
        guard let row = world.machines[machine].store.rows[path], row.disk == nil, row.head(by: .own) == nil,
            let told = row.head(by: .peer), told.entry.content == content(at: path)
        else { return false }
        return max(told.origins.mode.time, told.origins.time.time)
            > HybridTime(wallMilliseconds: stat.modified.milliseconds)
    }

    /// An image has taken from the daemon that just this stood there, which it has not found again since, and of which it had told the other: nobody
    /// can tell that whoever replaces it has seen it.
    private func isToldButUnrecorded(_ value: Value, at path: Path) -> Bool {
        guard world.machines[1 - machine].disk.atHome.value(at: path) == value,
            let told = world.machines[1 - machine].store.rows[path]?.disk, told.origins.content.author == .peer
        else { return false }
        let (content, known) = (told.entry.content, world.machines[machine].store.rows[path])
        return known?.disk?.entry.content != content && known?.heads.contains { $0.entry.content == content } != true
    }

    /// The other machine shows the same there, or has been told to: who has put it here anew has changed its mode and time, for all that
    /// can be seen.
    private func isElsewhere(_ value: Value, at path: Path) -> Bool {
        if world.machines[1 - machine].disk.atHome.value(at: path) == value { return true }
        let content = content(at: path)
        return world.machines[1 - machine].store.rows[path]?.heads.contains { $0.entry.content == content } == true
    }

    /// The daemon has on record that just this stands there, and has not written down that it was gone.
    private func isOnRecord(_ path: Path, as condition: Row.Condition = .normal) -> Bool {
        guard let row = world.machines[machine].store.rows[path], row.condition == condition, let disk = row.disk
        else { return false }
        return disk.entry.content == content(at: path)
    }

    /// The daemon has on record that it misses the very file that stands there, and not yet that somebody removed it.
    private func isMissed(_ path: Path) -> Bool {
        let known = world.machines[machine].store.rows[path]?.disk?.stat.identity
        return isOnRecord(path, as: .missing) && known == world.machines[machine].disk.peekStat(path)?.identity
    }

    /// As a daemon would name it.
    private func content(at path: Path) -> Content? {
        switch kind(path) {
        case .file:
            let chunks = ContentHasher.chunks(of: bytes(path), world.plan.limits[0].chunking)
            return .file(ContentID(chunks.contentID), size: UInt64(bytes(path).count))
        case .symlink: return .symlink(world.machines[machine].disk.peekTarget(path) ?? [])
        case .directory, .special, nil: return nil
        }
    }

    /// The daemon is between writing down that it will change this path and writing down that it has.
    private func isBeingApplied(_ path: Path) -> Bool {
        world.machines[machine].store.intents.contains { _, intent in
            if path.meets(intent.path) { return true }
            if case .rename(let from) = intent.action { return from == path || path.isBelow(from) }
            if case .conflictCopy(let copy)? = intent.displaced { return copy == path }
            return false
        }
    }

    private func change(
        through file: OpenFile, _ body: (inout VirtualDisk, Timestamp) -> DiskError?
    ) -> DiskError? {
        // Whoever took the folder away made people stop first.
        guard isValid(file), hasFolder else { return .notFound }
        let names = world.machines[machine].disk.names(ofOpen: file.handle)
        guard !names.isEmpty else {
            // Nobody can reach the file by a name any more: it was removed, and what is written to it goes with it.
            return body(&world.machines[machine].disk, world.stamp(machine))
        }
        let places = names.filter { !$0.isReserved }
        if places.isEmpty { return changeAside(file, at: names, body) }
        noteKeptNames(names)
        if names.contains(file.path) { noteWriting(by: file.path) }
        noteWriting(to: places[0], byTakenNameOf: file)
        return rewrite(names, body)
    }

    /// The daemon has taken away the name by which he has the file open, and no longer waits for late writers: nobody tells it of the others.
    private func noteWriting(to place: Path, byTakenNameOf file: OpenFile) {
        guard world.machines[machine].disk.path(of: file.handle) == nil,
            let identity = world.machines[machine].disk.peekStat(place)?.identity,
            let displaced = world.ledger.displacements[machine][identity],
            world.now - displaced >= Int64(world.plan.limits[machine].lateWriterMilliseconds)
        else { return }
        world.machines[machine].writtenByNewName[identity] = file.path
    }

    /// If the daemon knows nothing of this name of the file, and it goes before that has looked, nobody tells it of the others.
    private func noteWriting(by path: Path) {
        guard let file = world.machines[machine].disk.peekStat(path)?.identity,
            world.machines[machine].disk.names(ofFileAt: path).count > 1,
            world.machines[machine].store.rows[path]?.disk?.stat.identity != file
        else { return }
        world.machines[machine].writtenByNewName[file] = path
    }

    /// One of the names of a hard-linked file was moved aside: whatever is written through the others changes that, too. (Of what state
    /// has been lost since nobody knows where it was.)
    private func noteKeptNames(_ names: [Path]) {
        let versions = world.machines[machine].store.versions.values
        for kept in names where VirtualDisk.isKept(kept) {
            if let version = versions.first(where: { VirtualDisk.path(of: $0.place) == kept }) {
                world.ledger.pages[version.path, default: Ledger.Page()].isEntangled = true
            } else {
                world.ledger.entangle(value(at: kept), of: machine)
            }
        }
    }

    /// Writes to a file in place, by all its names. The daemon may be about to move one of them aside: that was written to as
    /// well, and is owed where the others are.
    @discardableResult
    private func rewrite(
        _ names: [Path], knowing: Value? = nil, isWrite: Bool = true,
        _ body: (inout VirtualDisk, Timestamp) -> DiskError?
    ) -> DiskError? {
        let places = names.filter { !$0.isReserved }
        let aside = names.filter(\.isReserved).compactMap(originOfMove)
        let before = places.first.map(value)
        let changed = places.first.flatMap { world.machines[machine].disk.peekStat($0)?.changed }
        let error = change(places, knowing: knowing, body)
        guard let before, let after = places.first.map(value) else { return error }
        // (Also where it failed: who saves to a full disk has emptied the file by then.)
        let isTouched = places.first.map { world.machines[machine].disk.peekStat($0)?.changed != changed } ?? false
        if before == after, error == nil || isTouched, isWrite {
            for path in places { world.ledger.rewrote(path, on: machine, at: world.now) }
        }
        for path in aside {
            world.ledger.changedAside(
                path, on: machine, from: before, to: after, at: world.now, demand: .excused)
        }
        return error
    }

    /// The path a file was at before the daemon moved it away.
    private func origin(of place: Path) -> Path? {
        let store = world.machines[machine].store
        if let version = store.versions.values.first(where: { VirtualDisk.path(of: $0.place) == place }) {
            return version.path
        }
        return originOfMove(to: place)
    }

    /// The path the daemon is about to move a file away from, perhaps with the directory it is in, as long as it has not written down
    /// that it has.
    private func originOfMove(to place: Path) -> Path? {
        for intent in world.machines[machine].store.intents.values {
            var places = [VirtualDisk.path(of: .stage(intent.stage))]
            switch intent.displaced {
            case .version(let version)?, .quarantine(let version)?: places.append(VirtualDisk.path(of: version.place))
            case .conflictCopy?, nil: break
            }
            for staged in places {
                if let origin = place.rebased(from: staged, to: intent.path) { return origin }
            }
        }
        return nil
    }

    /// The daemon has moved the file away while it was open, from all its names if it had several; the writer does not know.
    private func changeAside(
        _ file: OpenFile, at places: [Path], _ body: (inout VirtualDisk, Timestamp) -> DiskError?
    ) -> DiskError? {
        let before = places.map { world.machines[machine].disk.value(at: $0) }
        let error = body(&world.machines[machine].disk, world.stamp(machine))
        for (place, before) in zip(places, before) { noteAside(file, place, before) }
        return error
    }

    private func noteAside(_ file: OpenFile, _ place: Path, _ before: Value) {
        let after = world.machines[machine].disk.value(at: place)
        if before != after {
            world.rare.hit("user: wrote into a file the daemon had moved aside")
            world.trace.tell("\(world.now) \(world.machines[machine].name) user: \(place) was \(before), is \(after)")
        }
        // Within the daemon's patience it must come back as a conflict copy; after that it is at least kept where it is.
        let patience = Int64(world.plan.limits[machine].lateWriterMilliseconds)
        // He may have opened it under another name: what it was moved away from is where it goes on.
        let path = origin(of: place) ?? file.path
        let displaced = world.machines[machine].disk.peekStat(place).flatMap {
            world.ledger.displacements[machine][$0.identity]
        }
        world.ledger.changedAside(
            path, on: machine, from: before, to: after, at: world.now,
            demand: displaced.map { world.now - $0 < patience } == true ? .inTree : .kept)
    }
}

extension World {
    /// The machine lost power, and the daemon has not been through the folder since.
    func isUnsettled(_ machine: Int) -> Bool {
        let found = machines[machine]
        return found.store.node.distrustSince != nil || !found.store.isFresh && found.boots != found.store.boot
    }

    /// True if a folder holds the value of the path, or has set it aside. (Elsewhere another file may hold the same bytes.)
    func isHeld(_ value: Value, of path: Path) -> Bool {
        machines.contains { machine in
            let disk = machine.disk.atHome
            let isAside = disk.allContents().contains { content in
                [.versions, .quarantine].contains(content.area) && Value(content.entry) == value
            }
            return isAside || disk.holds(value, near: path)
        }
    }

    /// Changes when all open files of a machine are lost at once.
    package func handleLife(_ machine: Int) -> Int { machines[machine].boots }
}
