import ControlProtocol
import Disk
import SyncModel

/// Where the folder is and what is wrong with it, in words: the end of every message about the folder as a whole.
enum RootWords {
    static func sentence(_ path: [UInt8], _ trouble: RootTrouble?) -> String {
        let folder = Path.quote(path)
        let mark = Path.quote(path + Array("/.syncd/folder-id".utf8))
        return switch trouble {
        case nil: "The folder is \(folder)."
        case .absent: "No directory is at \(folder)."
        case .unreachable:
            "The way to \(folder) is closed to \(System.ownName) (Permission denied), so nobody can see whether it is there."
        case .closed: "\(folder) is there, and \(System.ownName) may not look into it (Permission denied)."
        case .unmarked: "\(folder) is there, and \(mark) is not."
        case .otherDirectory:
            "\(folder) is another directory than before, most often because a disk was mounted or unmounted there."
        case .damagedMark: "The mark \(mark) is damaged; the files beside it need not be."
        case .otherMark: "The mark \(mark) is that of another folder."
        }
    }

    /// For whoever asks for what takes the folder, and for `doctor`. `sentence` is as above.
    static func refusal(_ code: MessageCode, _ sentence: String) -> ControlError {
        ControlError(code, text: "\(code.kind.meaning) \(sentence)")
    }
}
