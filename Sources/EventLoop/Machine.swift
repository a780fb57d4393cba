internal import Glibc

/// The machine this process runs on.
public enum Machine {
    /// What it calls itself; nil when that is nothing another machine could look up.
    public static func name() -> String? {
        var buffer = [CChar](repeating: 0, count: 256)
        // The last byte stays zero: a name that was cut ends there.
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
        let bytes = buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        let name = String(decoding: bytes, as: UTF8.self)
        guard !name.isEmpty, name != "localhost", (try? Endpoint.parse("\(name):1")) != nil else { return nil }
        return name
    }
}
