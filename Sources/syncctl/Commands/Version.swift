import ControlProtocol
import SyncModel

/// `version`: of this program, of the daemon and of what it is built on.
extension Command {
    static let version = Command(
        "version", summary: "versions of the programs and of what they need",
        details: "Works without the daemon, and says so."
    ) { (session) throws(Failure) in
        var daemon: JSON?
        do throws(Failure) {
            daemon = try session.ask(.version)
        } catch {
            guard case .refused(let refusal) = error, refusal.code.known == .controlNotRunning else { throw error }
        }
        if session.wantsJSON {
            session.output.say(["program": .string(VersionDocument.thisProgram), "daemon": daemon ?? .null])
            return .done
        }
        let document: VersionDocument? =
            if let daemon { try session.read(daemon, as: VersionDocument.self) } else { nil }
        session.output.say(versionLines(document, session.style))
        return .done
    }

    static func versionLines(_ daemon: VersionDocument?, _ style: Style) -> [String] {
        var lines = ["syncctl \(VersionDocument.thisProgram)"]
        guard let daemon else { return lines + ["syncd is not running"] }
        let wire = daemon.wire.map { ", exchange format \($0.lowerBound) to \($0.upperBound)" } ?? ""
        lines.append("syncd \(style.foreign(daemon.program))\(wire)")
        let rows = daemon.libraries.map { [$0.name, $0.version, $0.floor].map(style.foreign) }
        return lines + style.table(["WITH", "VERSION", "AT LEAST"], rows)
    }
}
