internal import CLibuv
internal import Glibc

/// Which process is at the other end of a unix socket, as the kernel noted it when the connection was made.
public struct PeerCredentials: Hashable, Sendable {
    public let process: Int32
    public let user: UInt32
    public let group: UInt32
    /// The further groups of the process.
    public let groups: [UInt32]

    public init(process: Int32, user: UInt32, group: UInt32, groups: [UInt32]) {
        self.process = process
        self.user = user
        self.group = group
        self.groups = groups
    }

    public func isMember(of wanted: UInt32) -> Bool { group == wanted || groups.contains(wanted) }
}

extension Stream {
    /// Nil for a connection over the network, where the kernel vouches for nobody.
    public func peerCredentials() -> PeerCredentials? {
        cell.loop.assertOnThread()
        var descriptor: Int32 = -1
        guard cell.isOpen, unsafe uv_fileno(cell.handle, &descriptor) == 0 else { return nil }
        // `struct ucred`: three 32-bit numbers. Glibc hides it from Swift behind _GNU_SOURCE.
        var numbers: [UInt32] = [0, 0, 0]
        var length = socklen_t(12)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &numbers, &length) == 0, length == 12 else {
            return nil
        }
        // A TCP socket answers too, with nobody: process 0.
        guard numbers[0] != 0 else { return nil }
        return PeerCredentials(
            process: Int32(bitPattern: numbers[0]), user: numbers[1], group: numbers[2],
            groups: Stream.groups(of: descriptor))
    }

    /// The kernel's own list, so that no user database has to be read. None if there are more than it can have.
    private static func groups(of descriptor: Int32) -> [UInt32] {
        var groups = [UInt32](repeating: 0, count: groupsMax)
        var length = socklen_t(groupsMax * 4)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, &groups, &length) == 0 else { return [] }
        return Array(groups.prefix(Int(length) / 4))
    }

    /// NGROUPS_MAX of Linux.
    private static let groupsMax = 65_536
}
