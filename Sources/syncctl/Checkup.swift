import Config
import ControlProtocol
import Crypto
import Disk
import SyncModel

/// What `doctor` can see without the daemon: the places the configuration names, and the limits of this machine.
struct Checkup {
    typealias Finding = DoctorDocument.Finding

    let configuration: Configuration
    /// What to type to look once more, as whoever may.
    let again: String

    var findings: [Finding] {
        [
            Finding(check: "configuration", grade: .ok, text: "It can be read, and every key in it is understood."),
            state, stateFormat, stateSpace, key, folder, own, owner, mount, space,
        ].compactMap(\.self)
    }

    private var statePath: [UInt8] { configuration.node.state }
    private var keyPath: [UInt8] { statePath + Array("/identity/key.pem".utf8) }
    private var folderPath: [UInt8] { configuration.folder.path }

    private var state: Finding {
        directory("state", statePath, whatIfMissing: "Make the node with syncctl init, or mount the disk it is on.")
    }

    /// Nil where nothing is to be said; what is wrong with the directory is said by `state`.
    private var stateFormat: Finding? {
        let place = statePath + Array("/state.db".utf8)
        guard let header = try? System.contents(place, bytesMax: StateFormat.headerBytes),
            let found = StateFormat.version(in: header), found > StateFormat.version
        else { return nil }
        return Finding(
            check: MessageCode.statedbNewer.rawValue, grade: .problem,
            text: "\(NameText.printable(place)) was written by a newer syncd (format \(found); this one knows up to "
                + "\(StateFormat.version)), which this one does not touch.",
            cure: MessageCode.statedbNewer.kind.cure)
    }

    /// Nil where there is room. Without any the daemon ends, and says why in its journal only.
    private var stateSpace: Finding? {
        guard let space = try? System.space(at: statePath), space.free < Checkup.stateRoomMin else { return nil }
        let name = NameText.printable(statePath)
        return Finding(
            check: "state", grade: .problem,
            text: "\(Words.bytes(Int(clamping: space.free))) free where \(name) is: "
                + "without room for its state syncd stops.",
            cure: "Free some space in the file system of \(name), then start syncd.")
    }

    /// Less is gone with the next few thousand changes.
    private static let stateRoomMin: UInt64 = 16 << 20

    private func directory(_ check: String, _ path: [UInt8], whatIfMissing: String) -> Finding {
        let name = NameText.printable(path)
        do throws(System.FileError) {
            guard let status = try System.status(of: path) else {
                return Finding(check: check, grade: .problem, text: "\(name) is not there.", cure: whatIfMissing)
            }
            guard status.kind == .directory else {
                return Finding(check: check, grade: .problem, text: "\(name) is no directory.", cure: whatIfMissing)
            }
            return rights(check, path, status, wanted: 0o700)
        } catch {
            return unseen(check, path, error)
        }
    }

    /// Only its owner may get at what is secret.
    private func rights(_ check: String, _ path: [UInt8], _ status: System.FileStatus, wanted: UInt32) -> Finding {
        let name = NameText.printable(path)
        if status.mode & 0o077 == 0 {
            return Finding(check: check, grade: .ok, text: "\(name) is there and closed to others.")
        }
        return Finding(
            check: check, grade: .problem,
            text: "\(name) is open to other users (mode \(String(status.mode, radix: 8))).",
            cure: "Run: chmod \(String(wanted, radix: 8)) \(Style.plain.argument(path))")
    }

    private var key: Finding {
        do throws(System.FileError) {
            guard let status = try System.status(of: keyPath) else {
                return Finding(
                    check: "key", grade: .problem, text: "\(NameText.printable(keyPath)) is not there.",
                    cure: "Bring it back from a backup; a new node with syncctl init has to be paired anew.")
            }
            let rights = rights("key", keyPath, status, wanted: 0o600)
            guard rights.grade == .ok else { return rights }
            return readable(try System.contents(keyPath)) ?? rights
        } catch {
            return unseen("key", keyPath, error)
        }
    }

    /// Nil if it is a key.
    private func readable(_ pem: [UInt8]) -> Finding? {
        do throws(CryptoError) {
            _ = try IdentityKey(pem: pem)
            return nil
        } catch {
            return Finding(
                check: "key", grade: .problem, text: "\(NameText.printable(keyPath)) is no key: \(error.reason).",
                cure: "Bring it back from a backup; a new node with syncctl init has to be paired anew.")
        }
    }

    private var folder: Finding {
        let name = NameText.printable(folderPath)
        do throws(FolderError) {
            _ = try Folder.marker(at: folderPath)
            return Finding(check: "folder", grade: .ok, text: "\(name) is there and has its mark.")
        } catch {
            switch error.kind {
            case .missing, .notDirectory:
                return Finding(
                    check: "folder", grade: .problem, text: "\(name) is not there.",
                    cure: "Mount or restore it; nothing is deleted on the other node meanwhile.")
            case .notSetUp:
                return Finding(
                    check: "folder", grade: .problem, text: "\(name) has no mark (.syncd/folder-id).",
                    cure: "If this is not the right directory, mount the right one. Otherwise bring .syncd back; if "
                        + "it is gone for good, \(Checkup.anew)")
            case .permission:
                return Finding(
                    check: "folder", grade: .warning, text: "\(name) cannot be looked at by this user.",
                    cure: "Run: sudo \(again)")
            case .damaged:
                return Finding(
                    check: "folder", grade: .problem, text: "The mark of \(name) is damaged: \(error).",
                    cure: "Bring .syncd/folder-id back as it was, from a backup; if there is none, \(Checkup.anew)")
            case .alreadySetUp, .replaced, .inUse, .noSpace, .readOnly, .unsupported, .tooMany, .failed:
                return Finding(
                    check: "folder", grade: .problem, text: Setup.failure("look at the folder", folderPath, error).text,
                    cure: "Look at the disk it is on with dmesg.")
            }
        }
    }

    /// Nil where nobody else may look into it. Who opens a whole folder to others opens with it what was deleted there.
    private var own: Finding? {
        let own = folderPath + Array("/.syncd".utf8)
        guard let status = try? System.status(of: own), status.kind == .directory else { return nil }
        let rights = rights("folder", own, status, wanted: 0o700)
        return rights.grade == .ok
            ? nil : Finding(check: rights.check, grade: .warning, text: rights.text, cure: rights.cure)
    }

    private static let anew = "troubleshooting.md says how to set the node up anew."

    /// Nil where nothing is to be said: the daemon runs as whom the state belongs to, if that is not root.
    private var owner: Finding? {
        let own = folderPath + Array("/.syncd".utf8)
        guard let state = owner(of: statePath), state != 0 else { return nil }
        for place in [own, folderPath] {
            guard let owner = owner(of: place), owner != state else { continue }
            return Finding(
                check: "owner", grade: place == own ? .problem : .warning,
                text:
                    "\(NameText.printable(place)) belongs to another user than the state, and the daemon runs as that one.",
                cure:
                    "Run: chown -R --reference=\(Style.plain.argument(statePath)) \(Style.plain.argument(folderPath)), "
                    + "or let the daemon's user into it in another way.")
        }
        return nil
    }

    private func owner(of path: [UInt8]) -> UInt32? {
        do throws(System.FileError) { return try System.status(of: path)?.owner } catch { return nil }
    }

    /// Nil where Linux does not tell what is mounted there.
    private var mount: Finding? {
        guard let mount = MountTable.read()?.mount(of: folderPath) else { return nil }
        let name = NameText.printable(folderPath)
        let place = NameText.printable(mount.point)
        let kind = NameText.printable(mount.kind)
        if mount.has("ro") {
            return Finding(
                check: "mount", grade: .problem, text: "\(name) can only be read: \(place) is mounted so.",
                cure: "Run: mount -o remount,rw \(Style.plain.argument(mount.point)), and look with dmesg why it was.")
        }
        if mount.isWithoutBarriers {
            return Finding(
                check: "mount", grade: .warning,
                text: "\(place) is mounted without barriers: what was acknowledged may be lost when the power goes.",
                cure: "Run: mount -o remount,barrier=1 \(Style.plain.argument(mount.point)), and mend /etc/fstab.")
        }
        if mount.tellsOfNobodyElse {
            return Finding(
                check: "mount", grade: .warning,
                text: "\(name) is on \(kind): changes that other machines make there are found by scanning only.",
                cure: "Let syncd run where the files are, or run syncctl rescan from time to time.")
        }
        if mount.keepsLess {
            return Finding(
                check: "mount", grade: .warning,
                text: "\(name) is on \(kind), which keeps no modes and no symbolic links.",
                cure: "Move the folder to a file system of Linux, such as ext4, xfs or btrfs.")
        }
        return Finding(check: "mount", grade: .ok, text: "\(name) is on \(kind), mounted at \(place).")
    }

    /// Nil where there is no folder: that is said by `folder`.
    private var space: Finding? {
        do throws(System.FileError) {
            let space = try System.space(at: folderPath)
            let reserve = configuration.safety.reserve.bytes(of: space.total)
            let text =
                "\(Words.bytes(Int(clamping: space.free))) free, \(Words.bytes(Int(clamping: reserve))) kept in reserve."
            if space.free > reserve { return Finding(check: "disk", grade: .ok, text: text) }
            return Finding(
                check: "disk", grade: .problem, text: text + " Nothing more is fetched from the other node.",
                cure: "Free some space in the file system of \(NameText.printable(folderPath)).")
        } catch {
            return error.isNotThere ? nil : unseen("disk", folderPath, error)
        }
    }

    private func unseen(_ check: String, _ path: [UInt8], _ error: System.FileError) -> Finding {
        let text = "\(NameText.printable(path)) cannot be looked at: \(error.text)."
        return error.isRefused
            ? Finding(check: check, grade: .warning, text: text, cure: "Run: sudo \(again)")
            : Finding(check: check, grade: .problem, text: text, cure: "Look at the disk it is on with dmesg.")
    }

    // MARK: The machine

    /// Whatever the node.
    static func machine() -> [Finding] {
        [
            limit("max_user_watches", least: 65_536, better: 524_288, "directories that can be watched"),
            limit("max_user_instances", least: 16, better: 128, "programs that can watch"),
            limit("max_queued_events", least: 16_384, better: 65_536, "changes that can wait to be told"),
        ].compactMap(\.self)
    }

    /// Nil where Linux does not tell.
    private static func limit(_ name: String, least: Int, better: Int, _ what: String) -> Finding? {
        let path = Array("/proc/sys/fs/inotify/\(name)".utf8)
        guard let text = try? System.contents(path), let value = number(text) else { return nil }
        let told = "\(Words.grouped(value)) \(what) (fs.inotify.\(name))."
        if value >= least { return Finding(check: "inotify", grade: .ok, text: told) }
        return Finding(
            check: "inotify", grade: .warning, text: told + " With many directories changes arrive later.",
            cure: "Run: sysctl -w fs.inotify.\(name)=\(better), and write the same line without sysctl -w into "
                + "/etc/sysctl.d/60-syncd.conf")
    }

    private static func number(_ text: [UInt8]) -> Int? {
        Int(String(decoding: text.prefix { $0 > 0x20 }, as: UTF8.self))
    }
}
