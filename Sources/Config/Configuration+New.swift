/// The configuration of a node that is being set up, from what was typed after `syncctl init`.
extension Configuration {
    /// Checks what was typed as if it stood in a file, so that `text` can be written and read back. An argument that is
    /// nil leaves the default; an empty `listen` is a node that only dials. Problems have no line.
    public static func new(
        name: String, folder: [UInt8], listen: String? = nil, peer: String? = nil, state: [UInt8]? = nil,
        control: [UInt8]? = nil
    ) throws(ConfigurationError) -> Configuration {
        let typed: [(ConfigurationKey, [UInt8]?)] = [
            (.name, Array(name.utf8)), (.folder, folder), (.listen, listen.map { Array($0.utf8) }),
            (.peer, peer.map { Array($0.utf8) }), (.state, state), (.control, control),
        ]
        var reader = ConfigurationReader(file: "")
        for case (let key, let value?) in typed { reader.take(key, value) }
        reader.checkWhole()
        return try reader.finish()
    }
}
