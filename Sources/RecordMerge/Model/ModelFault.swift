/// What is wrong with a model file, for the person who wrote it. A model with any fault is not used at all.
public struct ModelFault: Hashable, Sendable {
    public let file: String
    public let pointer: JSONPointer
    public let reason: String
    /// What is not known here may be known to a later program: the file need not be wrong.
    public var mayBeLater = false
}

extension ModelFault: CustomStringConvertible {
    public var description: String {
        pointer.tokens.isEmpty ? "\(file): \(reason)" : "\(file), \(pointer): \(reason)"
    }
}

public struct ModelRefusal: Error, Hashable, Sendable {
    /// In the order of the file; never empty.
    public let faults: [ModelFault]
}
