import Disk
import EventLoop
import SyncCore
import SyncModel

/// Looks again and again whether the folder is still where it belongs: nothing is heard of one that was unmounted or hidden.
/// Disk work that found it away waits here until it is back, because what is done in a folder nobody can see could not be
/// told afterwards from what was done in another.
final class RootWatch {
    private let folder: Folder
    private let pool: WorkerPool
    private let timer: Timer
    private let post: (Event) -> Void
    /// The folder has come back in a way in which only who opens it anew can go on with it.
    var onReturn: () -> Void = {}
    private var isLooking = false
    private var held: [() -> Void] = []

    private static let pauseMilliseconds: UInt64 = 1_000

    init(_ folder: Folder, loop: Loop, pool: WorkerPool, post: @escaping (Event) -> Void) {
        self.folder = folder
        self.pool = pool
        timer = Timer(loop: loop)
        self.post = post
    }

    /// For the start of a node, the first or another.
    func begin() {
        forget()
        guard !isLooking else { return }
        isLooking = true
        look()
    }

    func hold(_ work: @escaping () -> Void) {
        held.append(work)
        note(isThere: false)
    }

    /// For the end of a node: nobody waits any more for what was held.
    func forget() {
        held = []
    }

    func close() {
        forget()
        timer.close()
    }

    private func look() {
        timer.start(afterMilliseconds: RootWatch.pauseMilliseconds) { [unowned self] in
            let folder = folder
            pool.run({
                let isThere = folder.rootState == .healthy
                return (isThere, !isThere && folder.isBackElsewhere)
            }) { [self] isThere, isBackElsewhere in
                note(isThere: isThere)
                if isBackElsewhere { onReturn() }
                look()
            }
        }
    }

    /// The core believes in no root but one it has looked at itself: it is only told to look. Each time anew, because it
    /// may have found the folder back and gone on between two looks of ours.
    private func note(isThere: Bool) {
        guard isThere else { return post(.overflowed) }
        let due = held
        held = []
        for work in due { work() }
    }
}
