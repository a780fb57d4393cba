/// Where the daemon's own files lie, and which changes to a place are refused before anything happens.
import SyncModel

extension VirtualDisk {
    static let ownName = Name.known(".syncd")
    static let markerName = Name.known("folder-id")
    static let ownPath = Path.root.appending(ownName)
    static let markerPath = ownPath.appending(markerName)
    static let stagePath = ownPath.appending(.known("stage"))
    static let versionsPath = ownPath.appending(.known("versions"))
    static let quarantinePath = ownPath.appending(.known("quarantine"))

    /// The path from the root; those of our own files begin with `.syncd`.
    static func path(of place: Place) -> Path {
        switch place {
        case .tree(let path): path
        case .stage(let name): numbered(stagePath, "s", name.raw)
        case .version(let id): numbered(versionsPath, "v", id.raw)
        case .quarantine(let id): numbered(quarantinePath, "q", id.raw)
        }
    }

    /// Among the versions or in quarantine.
    static func isKept(_ path: Path) -> Bool { path.parent == versionsPath || path.parent == quarantinePath }

    private static func numbered(_ directory: Path, _ letter: Unicode.Scalar, _ number: UInt64) -> Path {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(17)
        bytes.append(UInt8(ascii: letter))
        for shift in stride(from: 60 as UInt64, through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: number >> shift) & 15
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
        guard let name = Name(bytes) else { preconditionFailure("a letter and 16 digits are a name") }
        return directory.appending(name)
    }

    /// The number in a name such as `s00000000000000ff`; nil for a name of another shape.
    static func number(in name: Name, letter: UInt8) -> UInt64? {
        guard name.bytes.count == 17, name.bytes[0] == letter else { return nil }
        var number: UInt64 = 0
        for byte in name.bytes.dropFirst() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }

    /// A tree place may not lead into our own directory.
    func slot(_ place: Place) -> DiskReply<Slot> {
        if case .tree(let path) = place, path.isReserved { return .failure(.unsupported) }
        return slot(VirtualDisk.path(of: place))
    }

    /// Why what stands at a path cannot be changed now.
    mutating func obstacle(to path: Path) -> DiskError? {
        if faults.isReadOnly { return .readOnly }
        if !faults.permissionDenied.isEmpty, faults.permissionDenied.contains(path) { return .permission }
        if !faults.busy.isEmpty, faults.busy.contains(path) { return .busy }
        if faults.covered.contains(path) { return .busy }
        return faults.strikesWrite(path) ? .inputOutput : nil
    }

    /// Why the content at a path cannot be read now.
    mutating func obstacleToRead(_ path: Path) -> DiskError? {
        if !faults.permissionDenied.isEmpty, faults.permissionDenied.contains(path) { return .permission }
        return faults.strikesRead(path) ? .inputOutput : nil
    }
}
