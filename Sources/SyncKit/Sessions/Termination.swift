import Disk
import Dispatch

/// From now on what is open is saved and closed when the process is asked to end (SIGTERM, SIGINT, SIGHUP); then it ends by that signal. `tell`
/// hears what could not be saved, and when it returns the process ends. The streams of what is closed so do not end, or a program that reads
/// them would come to its own end first, as if nobody had asked. A second signal ends it at once. To be called once, by the program
/// itself: a library that is used by others leaves signals alone. False if somebody has done so already.
@discardableResult public func closeOpenDocumentsAtEnd(
    telling tell: @escaping @Sendable ([UnsavedDocument]) async -> Void = { _ in }
) -> Bool {
    do throws(Item.Failure) {
        let signals = try EndSignals()
        DispatchQueue(label: "net.syncd.end").async {
            let number = signals.wait()
            Task {
                await tell(await closeOpenDocuments(endingStreams: false))
                EndSignals.obey(number)
            }
        }
        return true
    } catch {
        return false
    }
}
