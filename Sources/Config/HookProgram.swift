/// The program that the alert hook begins with, as far as that can be told without a shell.
import Glibc
import SyncModel

extension Configuration.Alerts {
    /// What keeps this process from running it, and what to do; nil if nothing is known to. Only a program with its whole path is looked
    /// for: what becomes of other words, where they are found and what a shell makes of them, only the shell knows.
    public var hookProblem: String? {
        guard let program = hook.flatMap(Configuration.Alerts.program) else { return nil }
        let shown = "\"\(Path.escape(program))\""
        let name = program.map { CChar(bitPattern: $0) } + [0]
        var status = stat()
        // Into a structure of our own, for the time of the call only.
        guard unsafe fstatat(AT_FDCWD, name, &status, 0) == 0 else { return Configuration.Alerts.text(errno, shown) }
        guard status.st_mode & S_IFMT == S_IFREG else { return "\(shown) is no program. Name one." }
        guard unsafe faccessat(AT_FDCWD, name, X_OK, AT_EACCESS) == 0 else {
            return Configuration.Alerts.text(errno, shown)
        }
        return nil
    }

    /// The first word, if it is a path from the top in which nothing means more to a shell.
    private static func program(of command: [UInt8]) -> [UInt8]? {
        let word = command.prefix { $0 != 0x20 && $0 != 0x09 }
        return word.first == UInt8(ascii: "/") && word.allSatisfy(isPlain) ? Array(word) : nil
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF, UInt8(ascii: "/"), UInt8(ascii: "."),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "+"),
            UInt8(ascii: ","), UInt8(ascii: "%"):
            true
        default: false
        }
    }

    private static func text(_ code: Int32, _ program: String) -> String {
        switch code {
        case ENOENT, ENOTDIR: "There is no program \(program). Name one that is there, or mount what it lies on."
        case EACCES, EPERM:
            "This user may not run \(program). Make it executable (chmod +x), and let this user into its directory."
        default: "\(program) cannot be run: \(unsafe String(cString: strerror(code))). Mend that, or name another."
        }
    }
}
