/// What an administrator may choose, as far as the core is concerned (section `[safety]` of the configuration).
public struct Settings: Hashable, Sendable {
    /// More deletes than this in one window, and more than the percentage, are held for approval.
    public var deleteFuseFiles = 50
    public var deleteFusePercent = 25
    public var keepVersionsMilliseconds: Int64 = 30 * 86_400_000
    public var keepVersionsBytes: UInt64 = 10 << 30

    public init() {}
}
