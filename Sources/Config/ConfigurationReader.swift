/// From the text of syncd.conf to a `Configuration`, noting everything that is wrong on the way.
extension Configuration {
    /// `file` is only for messages. Throws all problems there are, not only the first.
    public static func parse(_ text: [UInt8], file: String) throws(ConfigurationError) -> Configuration {
        var reader = ConfigurationReader(file: file)
        reader.read(INIFile(text))
        reader.checkWhole()
        return try reader.finish()
    }
}

struct ConfigurationReader {
    /// Nobody reads more at once, and a file that is no configuration has a problem in every line.
    static let problemsMax = 50

    private let file: String
    private var configuration = Configuration(name: "", folder: [])
    private var problems: [ConfigurationError.Problem] = []
    /// Keys that are there, whether their value is good or not; those read from a file with their line.
    private var given: Set<ConfigurationKey> = []
    private var lines: [ConfigurationKey: Int] = [:]
    private var refused: Set<ConfigurationKey> = []

    init(file: String) {
        self.file = file
    }

    mutating func read(_ ini: INIFile) {
        for fault in ini.faults {
            problems.append(.init(file: file, line: fault.line, found: fault.found, fault.text))
        }
        for (line, name) in ini.sections where !isKnown(section: name) {
            let known = ConfigurationKey.sections.map { "[\($0)]" }.joined(separator: " ")
            problems.append(
                .init(file: file, line: line, found: name, "There is no such section. The sections are \(known)."))
        }
        for item in ini.items { read(item) }
    }

    private func isKnown(section: [UInt8]) -> Bool {
        ConfigurationKey.sections.contains { $0.utf8.elementsEqual(section) }
    }

    /// Keys of an unknown section are not told of one by one: the section has been.
    private mutating func read(_ item: INIFile.Item) {
        guard isKnown(section: item.section) || item.section.isEmpty else { return }
        let full = item.section + [UInt8(ascii: ".")] + item.key
        guard let key = ConfigurationKey.allCases.first(where: { $0.rawValue.utf8.elementsEqual(full) }) else {
            problems.append(.init(file: file, line: item.line, found: item.key, unknownKeyText(item)))
            return
        }
        if let first = lines[key] {
            return refuse(key, item, "This key stands in line \(first) already. Keep one of the two lines.")
        }
        given.insert(key)
        lines[key] = item.line
        // libinih ends a value at a space and a semicolon, which in a command would cut it in silence.
        if key == .hook, item.hasComment, !item.value.isEmpty {
            return refuse(
                key, item,
                "A space and a semicolon begin a comment, so the command would end here. "
                    + "Put the command into a script, or the comment into a line of its own.")
        }
        do throws(ValueProblem) {
            try key.read(item.value, into: &configuration)
        } catch {
            refuse(key, item, error.text)
        }
    }

    /// A value that was typed and not read: it also has to be one that a line of the file can hold.
    mutating func take(_ key: ConfigurationKey, _ value: [UInt8]) {
        given.insert(key)
        let line = INIFile(Array("[\(key.section)]\n\(key.name) = ".utf8) + value)
        do throws(ValueProblem) {
            try key.read(value, into: &configuration)
            guard line.faults.isEmpty, line.items.map(\.value) == [value] else {
                throw ValueProblem(
                    text: "The configuration file cannot hold this: no line breaks, no spaces at either end, and no "
                        + "semicolon after a space. Choose another.")
            }
        } catch {
            refused.insert(key)
            problems.append(.init(file: file, key: key.rawValue, found: value, error.text))
        }
    }

    private mutating func refuse(_ key: ConfigurationKey, _ item: INIFile.Item, _ text: String) {
        refused.insert(key)
        problems.append(.init(file: file, line: item.line, key: key.rawValue, found: item.value, text))
    }

    private func unknownKeyText(_ item: INIFile.Item) -> String {
        let homes = ConfigurationKey.allCases.filter { $0.name.utf8.elementsEqual(item.key) }.map { "[\($0.section)]" }
        if !homes.isEmpty { return "This key belongs into the section \(homes.joined(separator: " or "))." }
        guard !item.section.isEmpty else { return "This line stands before the first section, such as [node]." }
        let section = String(decoding: item.section, as: UTF8.self)
        let known = ConfigurationKey.keys(of: section).map(\.name).joined(separator: ", ")
        return "There is no such key in [\(section)]. The keys here are \(known)."
    }

    /// As it is written there, and right.
    var control: [UInt8]? {
        given.contains(.control) && !refused.contains(.control) ? configuration.node.control : nil
    }

    /// What no key can tell by itself.
    mutating func checkWhole() {
        for key in ConfigurationKey.allCases where key.isRequired && !given.contains(key) {
            problems.append(
                .init(file: file, key: key.rawValue, "This key is missing. Write it into the section [\(key.section)].")
            )
        }
        let link = configuration.link
        if link.transport == .directory, link.mailbox == nil, !refused.contains(.mailbox) {
            complain(.mailbox, "transport = directory needs a directory that both nodes can see, such as /mnt/both.")
        }
        if link.transport == .tls, link.listen == nil, link.peer == nil, refused.isDisjoint(with: [.listen, .peer]) {
            complain(.listen, "Without listen and peer the nodes cannot meet. Set one, such as listen = [::]:7420.")
        }
        checkOverlaps()
    }

    /// What is asked for and does not exist yet must not look as if it did.
    mutating func refuseUnbuilt() {
        guard configuration.link.transport == .directory else { return }
        complain(.transport, "This is not built yet. Write transport = tls.")
    }

    private mutating func checkOverlaps() {
        let folder = configuration.folder.path
        guard !folder.isEmpty, !refused.contains(.folder) else { return }
        guard folder != [UInt8(ascii: "/")] else {
            return complain(.folder, "The whole file system cannot be shared. Name a directory, such as /srv/shared.")
        }
        for key in [ConfigurationKey.state, .control, .mailbox] where !refused.contains(key) {
            guard let place = key.written(configuration) else { continue }
            if place == folder || isBelow(place, folder) {
                complain(key, "This lies in the shared folder (folder.path) and would be synced. Move it out of there.")
            } else if isBelow(folder, place), key != .control {
                complain(.folder, "The shared folder lies in \(key.rawValue). Give each a place of its own.")
            }
        }
    }

    private func isBelow(_ path: [UInt8], _ directory: [UInt8]) -> Bool {
        path.count > directory.count && path.starts(with: directory)
            && (path[directory.count] == UInt8(ascii: "/") || directory.count == 1)
    }

    private mutating func complain(_ key: ConfigurationKey, _ text: String) {
        problems.append(
            .init(
                file: file, line: lines[key], key: key.rawValue, found: key.written(configuration), text))
    }

    /// Holds the paths, and the program of the hook, against this machine. Nothing is said of a place that has been complained of already.
    mutating func checkPlaces() {
        for place in Place.of(configuration) { check(place) }
        if !refused.contains(.hook), let text = configuration.alerts.hookProblem { complain(.hook, text) }
    }

    /// What no daemon begins without. Models that lie in the folder come with it, and that is waited for.
    mutating func checkNeeds() {
        let modelsAreAwaited = isBelow(configuration.folder.models, configuration.folder.path)
        for place in Place.of(configuration) {
            if place.isState { check(place) { $0.isMissing } }
            if place.isModels, !modelsAreAwaited { check(place) }
        }
    }

    private mutating func check(_ place: Place, for isMeant: (Place.Problem) -> Bool = { _ in true }) {
        guard !refused.contains(place.key), !problems.contains(where: { $0.key == place.key.rawValue }) else { return }
        if let problem = place.problem, isMeant(problem) { complain(place.key, problem.text) }
    }

    func finish() throws(ConfigurationError) -> Configuration {
        guard !problems.isEmpty else { return configuration }
        let order = problems.enumerated().sorted { left, right in
            (left.element.line ?? .max, left.offset) < (right.element.line ?? .max, right.offset)
        }
        let told = order.prefix(Self.problemsMax).map(\.element)
        let rest = order.count - told.count
        guard rest > 0 else { throw ConfigurationError(told) }
        throw ConfigurationError(told + [.init(file: file, "There are \(rest) more problems. Mend these first.")])
    }
}
