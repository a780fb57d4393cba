import Testing

@testable import syncctl

/// Which mount a path lies on, and what `doctor` says of its options.
struct MountTableTests {
    private let table = MountTable(
        Array(
            """
            22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro
            30 22 0:25 / /srv rw,nosuid - tmpfs tmpfs rw,size=1024k
            31 30 8:1 / /srv/shared ro,relatime shared:9 master:1 - xfs /dev/sda1 ro
            32 30 8:2 / /srv/two\\040words rw - ext4 /dev/sdb rw,nobarrier
            33 30 0:40 / /srv/net rw - nfs4 host:/x rw,vers=4.2
            34 30 0:41 / /srv/ssh rw - fuse.sshfs host:/x rw
            35 30 8:3 / /srv/stick rw - vfat /dev/sdc rw
            36 30 8:4 / /srv/stick rw - btrfs /dev/sdd rw
            nonsense

            """.utf8))

    @Test(
        "a path lies on the longest mount that leads to it, and of equal ones on the last",
        arguments: [
            ("/", "ext4"), ("/home/x", "ext4"), ("/srvx", "ext4"), ("/srv", "tmpfs"), ("/srv/a", "tmpfs"),
            ("/srv/shared/a", "xfs"), ("/srv/sharedx", "tmpfs"), ("/srv/two words", "ext4"), ("/srv/stick/a", "btrfs"),
        ]) func places(path: String, kind: String)
    {
        #expect(table.mount(of: Array(path.utf8)).map { String(decoding: $0.kind, as: UTF8.self) } == kind)
    }

    @Test("options and kinds that matter are seen") func options() throws {
        func mount(_ path: String) throws -> MountTable.Mount { try #require(table.mount(of: Array(path.utf8))) }
        #expect(try mount("/srv/shared").has("ro") && !mount("/srv").has("ro") && !mount("/").has("ro"))
        #expect(try mount("/srv/two words").isWithoutBarriers && !mount("/").isWithoutBarriers)
        #expect(try mount("/srv/net").tellsOfNobodyElse && mount("/srv/ssh").tellsOfNobodyElse)
        #expect(try !mount("/srv").tellsOfNobodyElse && !mount("/srv/stick").keepsLess)
    }
}
