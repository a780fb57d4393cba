/// The result of a step on the virtual disk. Not `Result`, because a `DiskError` is a value of the vocabulary and no `Error`.
package import SyncModel

package enum DiskReply<Value: Sendable>: Sendable {
    case success(Value)
    case failure(DiskError)

    package func map<Other>(_ transform: (Value) -> Other) -> DiskReply<Other> {
        switch self {
        case .success(let value): .success(transform(value))
        case .failure(let error): .failure(error)
        }
    }
}

extension DiskReply: Equatable where Value: Equatable {}
