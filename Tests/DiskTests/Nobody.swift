/// Being an ordinary user for a moment: root may read and write everything, and would see no permission refused.
import Glibc
import Testing

enum Nobody {
    static let id: uid_t = 65_534
    /// Only root can become somebody else.
    static let isPossible = geteuid() == 0 && setUser != nil

    private typealias SetUser = @convention(c) (uid_t) -> Int32

    /// Glibc's module leaves out <sys/fsuid.h>. Unlike seteuid, this call is for one thread alone.
    private static let setUser: SetUser? = {
        guard let program = unsafe dlopen(nil, RTLD_NOW), let call = unsafe dlsym(program, "setfsuid") else {
            return nil
        }
        return unsafe unsafeBitCast(call, to: SetUser.self)
    }()

    static func act<Result>(_ body: () throws -> Result) rethrows -> Result {
        _ = setUser?(id)
        defer { _ = setUser?(0) }
        return try body()
    }
}

extension Trait where Self == ConditionTrait {
    static var needsAnotherUser: Self {
        .enabled(if: Nobody.isPossible, "it takes the right to become another user")
    }
}
