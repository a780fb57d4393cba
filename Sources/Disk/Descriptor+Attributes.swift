import CLinux
import Glibc

/// What a file has besides its content, its mode and its times: who owns it, access lists, extended attributes.
extension Descriptor {
    /// The kernel's own bound for the names of one file, and for one value.
    private static var attributeBytesMax: Int { 65_536 }

    /// Takes the place of the other for everybody who goes by these. What only a privileged program may hand on stays behind: another
    /// owner, and the attributes of the system that are not about access.
    borrowing func takeAttributes(of other: borrowing Descriptor) throws(Failure) {
        var owner = stat()
        // Used for the time of the call only.
        try checked(unsafe orErrno(fstat(other.raw, &owner)))
        if orErrno(fchown(raw, owner.st_uid, owner.st_gid)) < 0 { _ = fchown(raw, uid_t.max, owner.st_gid) }
        for name in try other.attributeNames() {
            let isHandedOn = name.starts(with: "user.".utf8) || name.starts(with: "system.posix_acl".utf8)
            do throws(Failure) {
                try setAttribute(name, try other.attribute(name))
            } catch {
                if isHandedOn { throw error }
            }
        }
    }

    borrowing func attributeNames() throws(Failure) -> [[UInt8]] {
        var names = [CChar](repeating: 0, count: Descriptor.attributeBytesMax)
        let raw = raw
        // The buffer is used for the time of the call only.
        let count = unsafe clinux_attribute_names(raw, &names, names.count)
        // A file system that knows of none has none.
        if count == -Int(EOPNOTSUPP) { return [] }
        return names.prefix(try checked(count)).map { UInt8(bitPattern: $0) }.split(separator: 0).map(Array.init)
    }

    borrowing func attribute(_ name: [UInt8]) throws(Failure) -> [UInt8] {
        var value = [UInt8](repeating: 0, count: Descriptor.attributeBytesMax)
        let raw = raw
        // Both buffers are used for the time of the call only.
        let count = unsafe CName(name).withPointer { name in
            unsafe clinux_attribute(raw, name, &value, Descriptor.attributeBytesMax)
        }
        return Array(value.prefix(try checked(count)))
    }

    borrowing func setAttribute(_ name: [UInt8], _ value: [UInt8]) throws(Failure) {
        let raw = raw
        // Both buffers are used for the time of the call only.
        let result = unsafe CName(name).withPointer { name in
            unsafe clinux_set_attribute(raw, name, value, value.count)
        }
        try checked(result)
    }
}
