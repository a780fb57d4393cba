import Glibc
import SyncDaemon

/// `syncd`: keeps one folder the same on two machines. Everything is in `SyncDaemon`; here is only the way in and out.
@main
struct Syncd {
    static func main() {
        switch Invocation.parse(Array(CommandLine.arguments.dropFirst())) {
        case .tell(let text): print(text, terminator: "")
        case .run(let options): exit(SyncDaemon.run(options))
        case .refuse(let text):
            SyncDaemon.tellProblem(text)
            exit(SyncDaemon.usageStatus)
        }
    }
}
