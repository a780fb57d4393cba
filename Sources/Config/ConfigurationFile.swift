/// Getting at the bytes of a configuration file, or saying why not.
import Glibc

extension Configuration {
    /// What a configuration is held against when it is read.
    public enum Check: Sendable {
        /// Nothing but what stands in the file.
        case textOnly
        /// Also what no daemon begins without. Without the models, what they guard would be unguarded, and nobody would hear of it; and
        /// without its state directory it is no node. (Who may not look into that hears whose it is, when it is opened.) A folder that
        /// is not mounted yet is something it waits for, and a hook is no reason not to sync.
        case needsOfStart
        /// Every directory it names, and the program of the hook: whether this process can use them. For `syncd --check-config`.
        case everything
    }

    public static func read(
        path: String, checking check: Check = .textOnly
    ) throws(ConfigurationError) -> Configuration {
        let text: [UInt8]
        do throws(UnreadableFile) {
            text = try UnreadableFile.contents(path)
        } catch {
            // (A file without a name shows as an empty one.)
            let found: [UInt8]? = path.isEmpty ? [] : nil
            throw ConfigurationError(
                [.init(file: path, found: found, error.text)], isUnreadable: true, isForbidden: error.isForbidden)
        }
        var reader = ConfigurationReader(file: path)
        reader.read(INIFile(text))
        reader.checkWhole()
        reader.refuseUnbuilt()
        switch check {
        case .textOnly: break
        case .needsOfStart: reader.checkNeeds()
        case .everything: reader.checkPlaces()
        }
        return try reader.finish()
    }

    /// For a daemon whose folder is there by now, and what lies in it. `file` is only for the message.
    public func checkModels(file: String) throws(ConfigurationError) {
        guard let place = Place.of(self).first(where: \.isModels), let problem = place.problem else { return }
        throw ConfigurationError([.init(file: file, key: place.key.rawValue, found: place.path, problem.text)])
    }

    /// Where a daemon that has read the file before listens, whatever is wrong with other keys by now. Nil if the file does not say it.
    public static func control(path: String) -> [UInt8]? {
        do throws(UnreadableFile) {
            var reader = ConfigurationReader(file: path)
            reader.read(INIFile(try UnreadableFile.contents(path)))
            return reader.control
        } catch {
            return nil
        }
    }
}

/// Why a file could not be read, for people.
struct UnreadableFile: Error {
    let text: String
    let isForbidden: Bool

    /// A configuration has one or two KiB.
    static let bytesMax = 1 << 20

    static func contents(_ path: String) throws(UnreadableFile) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw UnreadableFile(errno) }
        defer { close(descriptor) }
        var contents: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 16 << 10)
        while contents.count <= bytesMax {
            let count = unsafe Glibc.read(descriptor, &block, block.count)
            if count == 0 { return contents }
            if count > 0 {
                contents += block[..<count]
            } else if errno != EINTR {
                throw UnreadableFile(errno)
            }
        }
        throw UnreadableFile(text: "The file is larger than 1 MiB, so this is no configuration. Name another file.")
    }

    private init(text: String) {
        self.text = text
        isForbidden = false
    }

    private init(_ code: Int32) {
        isForbidden = code == EACCES || code == EPERM
        switch code {
        case ENOENT:
            text = "There is no such file. `syncctl init` writes one; --config names another place."
        case EACCES, EPERM:
            text = "This user may not read the file. Let the user of syncd read it, or run this as that user."
        case EISDIR:
            text = "This is a directory. Name the file in it."
        default:
            text = "The file cannot be read: \(unsafe String(cString: strerror(code))). Mend that, then start again."
        }
    }
}
