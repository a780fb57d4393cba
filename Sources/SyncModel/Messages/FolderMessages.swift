/// Texts about the folder as a whole, and about paths that cannot or should not be synced.
extension MessageRegistry {
    static let folder = [
        MessageKind(
            .fuseApproved, .info, healsItself: true,
            meaning: """
                The held deletes were approved and are being carried out; the deleted files are kept as earlier \
                versions.
                """,
            cure: "Nothing is to be done; syncctl restore brings back what was not meant."),
        MessageKind(
            .fuseDeletes, .serious, healsItself: false,
            meaning: """
                Unusually many files were deleted at once. The deletes are held: the files are still on the node \
                that did not delete them, and everything else goes on.
                """,
            cure: """
                Look at the list with syncctl status, then run syncctl approve to delete them on both nodes or \
                syncctl reject to bring them back.
                """),
        MessageKind(
            .fuseRejected, .info, healsItself: true,
            meaning: """
                The held deletes were rejected, and the files are being brought back from the node that still has \
                them.
                """,
            cure: "Nothing is to be done."),
        MessageKind(
            .rootEmptied, .serious, healsItself: true, retry: .patiently,
            meaning: """
                The folder is suddenly empty although many files are known in it, as when a disk is not mounted. \
                Syncing is halted; nothing is deleted on the other node.
                """,
            cure: """
                Mount the disk or put the files back; syncing then resumes. If they were deleted on purpose, run \
                syncctl approve.
                """),
        MessageKind(
            .rootMissing, .serious, healsItself: true, retry: .patiently,
            meaning: """
                The folder, or the mark .syncd/folder-id in it, is not there, or syncd may not look at it. Syncing is \
                halted; nothing is deleted on the other node.
                """,
            cure: """
                Mount or restore the folder at the configured path, or give the user of syncd access to it; syncing \
                resumes by itself when the mark is back. If that is gone for good, troubleshooting.md says how to set \
                the node up anew.
                """),
        MessageKind(
            .rootReplaced, .serious, healsItself: true, retry: .patiently,
            meaning: """
                At the folder's path is another folder than the one this node was set up with, or the mark \
                .syncd/folder-id in it is damaged. Syncing is halted; nothing in either folder is touched.
                """,
            cure: """
                Put the right folder, or its mark, back; syncing resumes when the mark matches. If that is gone for \
                good, troubleshooting.md says how to set the node up anew.
                """),
        MessageKind(
            .watchLimit, .warning, healsItself: true, retry: .patiently,
            meaning: """
                Linux allows no more watched directories to this program, so changes in some directories are found \
                by scanning and arrive later. Nothing is missed.
                """,
            cure: """
                Raise the limit the text names, for example with sysctl fs.inotify.max_user_watches; it is tried \
                again by itself.
                """),
        MessageKind(
            .watchOverflow, .info, healsItself: true,
            meaning: """
                So many files changed at once that Linux did not report them all. The folder is being scanned, so \
                nothing is missed.
                """,
            cure: "Nothing is to be done; if it comes often, raise sysctl fs.inotify.max_queued_events."),
    ]

    static let paths = [
        MessageKind(
            .ignoreInvalid, .warning, healsItself: true, retry: .onChange,
            meaning: """
                Lines of a .syncignore file cannot be used; the text gives their numbers. The other lines count.
                """,
            cure: "Correct the lines; the file is read again when it changes."),
        MessageKind(
            .itemPoisoned, .warning, healsItself: false, retry: .onChange,
            meaning: """
                Reading this item stopped the program twice, so it is left out. Its bytes are kept as they are, and \
                everything else goes on.
                """,
            cure: "Please report it with the log; it is tried again when the item changes or syncd is upgraded."),
        MessageKind(
            .lockCircle, .warning, healsItself: false,
            meaning: """
                Programs wait for each other's locks in a circle, so the last of them was not granted its lock; the \
                text names them. Nothing was changed, and the others go on.
                """,
            cure: "Ask for all that is needed in one lock, or give back what is held before asking for more."),
        MessageKind(
            .lockHeld, .info, healsItself: true, retry: .onChange,
            meaning: """
                A program holds a lock on this file. The change is stored and is applied when the lock is released.
                """,
            cure: "Nothing is to be done; syncctl locks lists who holds what."),
        MessageKind(
            .lockRefused, .warning, healsItself: false,
            meaning: """
                A program that shows this file could not save it or let go of it, so the lock was not granted; the text \
                says what it gave as the reason. Nothing was changed.
                """,
            cure: "Look at that program: save or close the file there, then ask for the lock again."),
        MessageKind(
            .lockSplitHold, .warning, healsItself: false,
            meaning: """
                The nodes were apart and the same lock was given out on both. Both programs may have written; the \
                changes were merged or kept as a conflict, and nothing was lost.
                """,
            cure: """
                Look at the result with syncctl conflicts. A lock taken with --mode strict is never given out while \
                the nodes are apart.
                """),
        MessageKind(
            .pathBusy, .info, healsItself: true, retry: .onChange,
            meaning: """
                A program has this file open for writing. The change from the other node is stored and waits for it \
                to close.
                """,
            cure: "Nothing is to be done; close the program if it should come sooner."),
        MessageKind(
            .pathPermission, .warning, healsItself: true, retry: .patiently,
            meaning: """
                This node may not read or write here. The path is left as it is on both nodes; everything else goes \
                on.
                """,
            cure: """
                Give the user syncd runs as the right to read and write it, and to write in the directory it lies in; \
                it is tried again by itself.
                """),
        MessageKind(
            .pathSpecial, .info, healsItself: true, retry: .onChange,
            meaning: """
                This is a pipe, a socket or a device, which cannot be synced. It is left alone; everything else goes \
                on.
                """,
            cure: "Nothing is to be done; a line in .syncignore hides the message."),
        MessageKind(
            .pathUnsupported, .warning, healsItself: true, retry: .onChange,
            meaning: """
                This path cannot be stored on one of the nodes: its name is too long for the file system, what is below it \
                is too deep, the file is larger than may be written there, or another disk is mounted there. It is left as \
                it is; everything else goes on.
                """,
            cure: """
                Rename or move it, raise the limit of the file system or of the service if the file is too large, or leave \
                it out with a line in .syncignore.
                """),
    ]
}
