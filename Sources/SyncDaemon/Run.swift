import Config
import Disk
import EventLoop
import Store
import SyncModel
import Transport

/// From the configuration to the end of the process.
public enum SyncDaemon {
    /// What the command line asks for.
    public struct Options: Sendable {
        /// Nil for the usual place.
        public var configurationPath: String?
        public var logLevel: Int?
        public var onlyChecks = false

        public init() {}
    }

    /// The exit status for a command line that cannot be understood.
    public static var usageStatus: Int32 { Refusal.Exit.usage.rawValue }

    /// Says on stderr what is wrong.
    public static func tellProblem(_ text: String) { System.tell("syncd: \(text)\n") }

    /// Runs until it is told to stop; the result is the exit status of the process.
    public static func run(_ options: Options) -> Int32 {
        let journal = Journal(
            level: options.logLevel.flatMap(Journal.Level.init) ?? .decisions,
            hasPriorities: System.environment("JOURNAL_STREAM") != nil)
        var reason: Opening.Reason?
        do throws(Refusal) {
            let path = options.configurationPath ?? Configuration.defaultFile
            var configuration = try read(path, checking: options.onlyChecks ? .everything : .needsOfStart)
            guard !options.onlyChecks else { return Refusal.Exit.stopped.rawValue }
            while true {
                switch try serve(configuration, path, journal, because: reason) {
                case .ended(let exit): return exit.rawValue
                case .startsOver(let next, let inUse): (reason, configuration) = (next, inUse)
                }
            }
        } catch {
            journal.refuse(error)
            tellManager(error)
            return error.exit.rawValue
        }
    }

    /// The line of `systemctl status` says why it does not run.
    private static func tellManager(_ refusal: Refusal) {
        guard let code = refusal.code else { return }
        let text = refusal.text.split(separator: "\n").joined(separator: " ")
        ServiceNotifier()?.send("STATUS=\(code): \(text)")
    }

    private static func read(_ path: String, checking check: Configuration.Check) throws(Refusal) -> Configuration {
        do throws(ConfigurationError) {
            return try Configuration.read(path: path, checking: check)
        } catch {
            throw refusal(error)
        }
    }

    private static func refusal(_ error: ConfigurationError) -> Refusal {
        Refusal(
            exit: error.isForbidden ? .permission : .configuration, code: .configInvalid,
            text: error.problems.map(\.description).joined(separator: "\n"))
    }

    /// They may lie in the folder, which may have been waited for.
    private static func checkModels(_ configuration: Configuration, _ path: String) throws(Refusal) {
        do throws(ConfigurationError) {
            try configuration.checkModels(file: path)
        } catch {
            throw refusal(error)
        }
    }

    private enum Outcome {
        case ended(Refusal.Exit)
        /// Everything is to be opened anew, with the settings that are in use by now.
        case startsOver(Opening.Reason, Configuration)
    }

    private static func serve(
        _ configuration: Configuration, _ path: String, _ journal: Journal, because reason: Opening.Reason?
    ) throws(Refusal) -> Outcome {
        let opening = Opening(configuration: configuration, journal: journal, reason: reason)
        let opened = try opening.open()
        let (loop, daemon): (Loop, Daemon)
        do throws(Refusal) {
            try checkModels(configuration, path)
            (loop, daemon) = try assemble(configuration, path, opened, journal)
        } catch {
            opened.store.close()
            throw error
        }
        do throws(Refusal) {
            try daemon.begin(opened: opened)
        } catch {
            daemon.close()
            throw error
        }
        loop.run()
        daemon.close()
        loop.end(telling: journal)
        // What was asked for a time ends with the node that was to end it.
        journal.level = daemon.usualLevel
        if daemon.isStartingOver, daemon.exit == .stopped { return .startsOver(.diskWasPulled, daemon.configuration) }
        // Once: where it is damaged again, something else is wrong, and each time would leave another file.
        if daemon.hasDamagedState, daemon.exit == .storage, reason != .stateIsDamaged {
            journal.say(.stateDamaged, "state.db is set aside, and the node starts over with a fresh one")
            return .startsOver(.stateIsDamaged, daemon.configuration)
        }
        return .ended(daemon.exit)
    }

    private static func assemble(
        _ configuration: Configuration, _ path: String, _ opened: Opening.Opened, _ journal: Journal
    ) throws(Refusal) -> (Loop, Daemon) {
        let watcher = try watch(opened.folder)
        let settings = try linkSettings(configuration)
        do throws(LoopError) {
            let loop = try Loop()
            let host = try NodeHost(
                loop: loop, store: opened.store, folder: opened.folder, watcher: watcher, chunking: Limits().chunking)
            host.watchParsing(in: configuration.node.state + Array("/parsing".utf8))
            let daemon = try Daemon(
                loop: loop, journal: journal, configuration: configuration, configurationPath: path,
                settings: settings, opened: opened, host: host)
            return (loop, daemon)
        } catch {
            throw refusal(error)
        }
    }

    /// Most often the address that this node is to be dialled at. One that is not there may come yet, so the service manager tries again.
    private static func refusal(_ error: LoopError) -> Refusal {
        let key = "with listen = in the section [link]"
        return switch error.code {
        case LoopError.addressInUse:
            Refusal(exit: .inUse, text: "\(error). Stop the program that listens there, or choose another port \(key).")
        case LoopError.noPermission:
            Refusal(exit: .permission, text: "\(error). Choose a port from 1024 on \(key).")
        case LoopError.addressNotHere, LoopError.unknownHost:
            Refusal(exit: .storage, text: "\(error). Name an address of this machine \(key).")
        default: Refusal(exit: .storage, text: "\(error)")
        }
    }

    private static func watch(_ folder: Folder) throws(Refusal) -> Watcher {
        do throws(FolderError) {
            return try Watcher(folder: folder)
        } catch {
            throw Refusal(
                exit: .storage, text: "the shared folder cannot be watched: \(error). Nothing was touched.")
        }
    }

    private static func linkSettings(_ configuration: Configuration) throws(Refusal) -> LinkSettings {
        do throws(EndpointError) {
            var settings = LinkSettings(
                listen: try configuration.link.listen.map { (text) throws(EndpointError) in try Endpoint.parse(text) },
                peer: try configuration.link.peer.map { (text) throws(EndpointError) in try Endpoint.parse(text) })
            settings.rateLimitBytesPerSecond = configuration.link.rateLimitBytesPerSecond
            return settings
        } catch {
            throw Refusal(exit: .configuration, text: "[link]: \(error). Nothing was touched.")
        }
    }
}

extension Loop {
    /// Whatever keeps it open is a mistake of ours that nobody but its reader can do anything about.
    func end(telling journal: Journal) {
        do throws(LoopError) { try close() } catch { journal.problem(.programFault, "\(error)") }
    }
}
