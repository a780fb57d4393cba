/// The signals that ask a process to end (SIGTERM, SIGINT, SIGHUP), heard once for all of it. The second one ends it at once, as if nobody listened.
import CLinux
import Glibc
import SyncModel

public final class EndSignals: Sendable {
    private let file: Descriptor

    /// From now on the first of them does not end the process. Fails with `busy` if somebody listens already.
    public init() throws(Item.Failure) {
        do throws(Failure) {
            file = Descriptor(owning: try checked(clinux_catch_end_signals()))
        } catch {
            throw Item.Failure(error: error.error, errno: error.errno)
        }
    }

    /// Blocks until one comes.
    public func wait() -> Int32 {
        var number: UInt8 = 0
        // The byte is used for the time of the call only.
        while unsafe read(file.raw, &number, 1) != 1 {}
        return Int32(number)
    }

    /// Ends the process by the signal, so that whoever waits for it is told why.
    public static func obey(_ number: Int32) -> Never {
        kill(getpid(), number)
        // It ends now; nothing else is to happen here meanwhile.
        while true { pause() }
    }
}
