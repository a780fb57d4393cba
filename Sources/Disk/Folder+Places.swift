/// From a `Place` to the directory and the name in it, by descriptors only.
public import SyncModel

/// A name in a directory that is open. What is done there is done in this directory, wherever it is moved meanwhile.
struct Slot {
    let parent: OpenDirectory
    let name: CName

    func status() throws(Failure) -> Status { try parent.descriptor.status(of: name) }

    func open(_ purpose: Descriptor.Purpose) throws(Failure) -> Descriptor {
        try parent.descriptor.openChild(name, purpose)
    }
}

extension Folder {
    /// The root itself has no name and is no slot; our own directory is out of bounds for places of the tree.
    func slot(_ place: Place) throws(Failure) -> Slot {
        switch place {
        case .tree(let path):
            if path.isReserved { throw Failure(.unsupported) }
            guard let parent = path.parent, let name = path.name else { throw Failure(.busy) }
            return Slot(parent: try way(to: parent), name: CName(name.bytes))
        case .stage(let name): return try ownSlot(OwnPaths.stage, "s", name.raw)
        case .version(let id): return try ownSlot(OwnPaths.versions, "v", id.raw)
        case .quarantine(let id): return try ownSlot(OwnPaths.quarantine, "q", id.raw)
        }
    }

    /// A directory of the tree, or the root.
    func openDirectory(_ path: Path, _ purpose: Descriptor.Purpose) throws(Failure) -> Descriptor {
        try root.openChild(path.isRoot ? .current : CName(path.bytes), purpose)
    }

    private func ownSlot(_ directory: Path, _ letter: Unicode.Scalar, _ number: UInt64) throws(Failure) -> Slot {
        Slot(parent: try ownWay(to: directory), name: CName(NumberedName.bytes(letter: letter, number)))
    }

    /// Who needs room may remove one of our directories with all that is in it: it is made again, for nothing could
    /// come in without it.
    private func ownWay(to directory: Path) throws(Failure) -> OpenDirectory {
        do throws(Failure) {
            return try way(to: directory)
        } catch {
            guard error.error == .notFound, let name = directory.name else { throw error }
            try remakeOwn(CName(name.bytes))
        }
        return try way(to: directory)
    }

    private func way(to directory: Path) throws(Failure) -> OpenDirectory {
        if let open = ways.directory(directory) { return open }
        let open = OpenDirectory(try openDirectory(directory, .way))
        ways.keep(open, as: directory)
        return open
    }

    /// What stands at a place; nil for nothing, also where the way there is missing or leads through something that is
    /// no directory.
    func look(_ place: Place) throws(Failure) -> Stat? {
        if case .tree(.root) = place { return device.statOfRoot(try root.status()) }
        do throws(Failure) {
            return try device.stat(try slot(place).status())
        } catch {
            if error.isAbsence { return nil }
            throw error
        }
    }
}

/// Where our own files lie.
extension VersionID {
    /// Where one that is in quarantine lies, below the folder.
    public var quarantinePath: [UInt8] {
        OwnPaths.quarantine.bytes + [UInt8(ascii: "/")] + NumberedName.bytes(letter: "q", raw)
    }
}

private enum OwnPaths {
    static let stage = path(".syncd/stage")
    static let versions = path(".syncd/versions")
    static let quarantine = path(".syncd/quarantine")

    private static func path(_ text: String) -> Path {
        guard let path = Path(Array(text.utf8)) else { preconditionFailure("\(text) is a path") }
        return path
    }
}

/// The names of our own files: a letter and 16 hexadecimal digits.
enum NumberedName {
    static func bytes(letter: Unicode.Scalar, _ number: UInt64) -> [UInt8] {
        var bytes = [UInt8(ascii: letter)]
        for shift in stride(from: 60 as UInt64, through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: number >> shift) & 15
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
        return bytes
    }

    /// Nil for a name of another shape.
    static func number(in name: some Collection<UInt8>, letter: Unicode.Scalar) -> UInt64? {
        guard name.count == 17, name.first == UInt8(ascii: letter) else { return nil }
        var number: UInt64 = 0
        for byte in name.dropFirst() {
            guard let digit = hexValue(byte) else { return nil }
            number = number << 4 | UInt64(digit)
        }
        return number
    }
}
