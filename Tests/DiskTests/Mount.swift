/// A small file system in memory, mounted for one test. Needs root and may be forbidden all the same.
import Glibc
import Testing

struct Mount {
    let path: String

    static let isPossible: Bool = {
        guard geteuid() == 0, let directory = try? Scratch.makeTemporary() else { return false }
        defer { Scratch.remove(directory) }
        guard let mount = try? Mount(at: directory) else { return false }
        mount.remove()
        return true
    }()

    init(at path: String, options: String = "size=1m") throws {
        try Scratch.check(unsafe mount("syncd-test", path, "tmpfs", 0, options))
        self.path = path
    }

    func remove() {
        _ = unsafe umount2(path, Int32(MNT_DETACH))
    }
}

extension Mount {
    func makeReadOnly() throws {
        try unsafe Scratch.check(mount("syncd-test", path, "tmpfs", UInt(MS_REMOUNT) | UInt(MS_RDONLY), nil))
    }
}

extension Trait where Self == ConditionTrait {
    static var needsMounting: Self {
        .enabled(if: Mount.isPossible, "it takes the right to mount a file system")
    }
}
