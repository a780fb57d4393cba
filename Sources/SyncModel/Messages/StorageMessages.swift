/// Texts about disks, the state directory, what waits, kept versions, and the running of a node.
extension MessageRegistry {
    static let storage = [
        MessageKind(
            .contentChanging, .info, healsItself: true, retry: .onChange,
            meaning: """
                This file keeps changing while it is read, or the node that has it may not read it now or leaves it \
                out by its ignore rules, so no complete version could be taken yet. Earlier versions are safe.
                """,
            cure: """
                If the other node says path.permission of it, give the user syncd runs as there the right to read it. \
                Otherwise nothing is to be done: it is read again when it has been quiet for a moment, or once the \
                rules let go of it.
                """),
        MessageKind(
            .contentOverdue, .warning, healsItself: true, retry: .patiently,
            meaning: """
                What is to come here has not come for ten minutes, though the other node is connected: its bytes, or, where no \
                file is named, the list of its changes. What is here stays as it is; everything else goes on.
                """,
            cure: """
                Look at the other node with syncctl status and at the journal there: its disk may not answer, or a program \
                may be writing the file without a pause. It is asked for again by itself.
                """),
        MessageKind(
            .contentStalled, .serious, healsItself: true, retry: .patiently,
            meaning: """
                What is to come here has not come for a day, though the other node is connected: its bytes, or, where \
                no file is named, the list of its changes. What is here stays as it is; everything else goes on.
                """,
            cure: """
                Look at the other node with syncctl status, syncctl doctor and at the journal there: something has to \
                be mended, most often its disk. It is asked for again by itself.
                """),
        MessageKind(
            .contentUnavailable, .warning, healsItself: true, retry: .patiently,
            meaning: """
                The other node announced this version but no longer has its bytes, most often because the file \
                changed again. The file here stays as it is until a newer version comes.
                """,
            cure: """
                Nothing is to be done if the file is being edited; otherwise run syncctl rescan PATH on the other \
                node.
                """),
        MessageKind(
            .diskError, .serious, healsItself: true, retry: .patiently,
            meaning: """
                The disk reported an error here; the text gives it in words. What was half written is thrown away \
                and never used; the version that was there is untouched, and other files go on.
                """,
            cure: "Check the disk and its file system, and the system log; it is tried again by itself."),
        MessageKind(
            .diskFull, .serious, healsItself: true, retry: .patiently,
            meaning: """
                There is not enough free space to store what the other node sends. Receiving is paused; deletes and \
                your own changes still go out, and nothing was lost.
                """,
            cure: """
                Make room where the folder lies, or let keep-versions-size or reserve in the configuration keep less: \
                the text says what is free and, in syncctl alerts show ID, what takes the rest. Receiving resumes by itself.
                """),
        MessageKind(
            .recoveryFinished, .info, healsItself: true,
            meaning: """
                syncd had not been stopped cleanly. Work that was interrupted was finished or taken back, and \
                nothing was lost.
                """,
            cure: "Nothing is to be done."),
        MessageKind(
            .recoveryRescued, .warning, healsItself: false,
            meaning: """
                After the interruption a file was found that matched no known version. It was kept as an earlier \
                version, and the last version known to be whole is at the path.
                """,
            cure: """
                Look at it with syncctl history PATH, and bring it back with syncctl restore if it is the better \
                one.
                """),
        MessageKind(
            .stageSwept, .info, healsItself: true,
            meaning: """
                Temporary files left by an interruption were removed from .syncd/stage; none of them held anybody's \
                data.
                """,
            cure: "Nothing is to be done."),
        MessageKind(
            .stateDamaged, .serious, healsItself: true,
            meaning: """
                What syncd had written down about the folder was damaged. The damaged file was set aside, and the \
                list is being rebuilt from both folders: equal files agree silently, different ones become \
                conflicts, none is deleted.
                """,
            cure: """
                Check the disk that holds the state directory. What was damaged also says who the other node is: run \
                syncctl unpair there, and pair the two again with syncctl invite here and syncctl join there. The message \
                goes when they are in sync.
                """),
        MessageKind(
            .stateExposed, .warning, healsItself: false,
            meaning: """
                Other users of this machine may read the state directory, or the key in it; whoever has the key \
                can pass for this node. syncd runs all the same, and no file was changed.
                """,
            cure: """
                Run chmod 700 on the state directory and chmod 600 on identity/key.pem in it. If somebody may have \
                read the key, run syncctl renew-key.
                """),
        MessageKind(
            .stateForeign, .serious, healsItself: false,
            meaning: """
                The state directory belongs to another node or to another program. syncd did not start and touched \
                nothing.
                """,
            cure: "Put the right state directory and key back, or give this node a state directory of its own."),
        MessageKind(
            .statedbNewer, .serious, healsItself: false,
            meaning: """
                The state directory was written by a newer version of syncd. This version did not start and touched \
                nothing.
                """,
            cure: """
                Install a syncd that knows the format which the text names, or a later one, and start it; the list of \
                changes of each version says when the format of state.db has changed.
                """),
    ]

    static let waiting = [
        MessageKind(
            .waitingChildren, .info, healsItself: true, retry: .onChange,
            meaning: """
                The other node deleted this directory, but there is something in it that the other node has not \
                seen. It stays until it is empty.
                """,
            cure: "Nothing is to be done if its content should stay; otherwise move or delete what is left in it."),
        MessageKind(
            .waitingContent, .info, healsItself: true, retry: .onReconnect,
            meaning: """
                The bytes of this version are still on their way. Until they are complete the file stays as it is.
                """,
            cure: "Nothing is to be done."),
        MessageKind(
            .waitingFirstImport, .info, healsItself: true, retry: .onReconnect,
            meaning: """
                This node has joined another and does not know yet what that has. What there is only one of is not made \
                before that is known; the file stays as it is.
                """,
            cure:
                "It is told of when the two folders have met; if it stays, syncctl status on the other node tells why."),
        MessageKind(
            .waitingParent, .info, healsItself: true, retry: .onChange,
            meaning: "The directory this belongs in is not there yet. The change is stored and follows it.",
            cure: "Nothing is to be done; if it stays, syncctl explain on the directory tells what holds it."),
        MessageKind(
            .waitingPeer, .info, healsItself: true, retry: .onReconnect,
            meaning: "This change has been stored here and the other node has not confirmed it yet.",
            cure: "Nothing is to be done; it is confirmed when the nodes are connected."),
        MessageKind(
            .waitingSave, .info, healsItself: true, retry: .onChange,
            meaning: """
                This save of records is not told of yet. What was saved with it is gathered first, and where it breaks a \
                rule of its model the rest of it is waited for, some seconds. The file stays as it is.
                """,
            cure: """
                Nothing is to be done; then it goes to the other node, or validation.required-missing says what it lacks.
                """),
    ]

    static let versions = [
        MessageKind(
            .itemLateWrite, .warning, healsItself: false,
            meaning: """
                A program that had opened this file earlier wrote to it after a newer version had taken its place. \
                What it wrote is beside it as a conflict copy; nothing was lost.
                """,
            cure: "Compare the two and keep what you need; let the program open the file again."),
        MessageKind(
            .itemQuarantined, .warning, healsItself: true, retry: .onReconnect,
            meaning: """
                The bytes of this file changed although nobody wrote to it, which points to a damaged disk. The \
                damaged file is in quarantine, was not sent, and a good copy is being fetched.
                """,
            cure: "Check the disk. Keep both nodes connected until the good copy has arrived."),
        MessageKind(
            .itemRestored, .info, healsItself: true,
            meaning: """
                A good copy of this file came from the other node and took the place of the damaged one, which stays \
                in quarantine.
                """,
            cure: "Nothing is to be done."),
        MessageKind(
            .versionKept, .info, healsItself: true,
            meaning: "The version that stood here before was replaced or deleted, and is kept as an earlier version.",
            cure: """
                Nothing is to be done; syncctl history PATH lists what is kept and syncctl restore PATH brings it \
                back.
                """),
        MessageKind(
            .versionPruned, .info, healsItself: true,
            meaning: """
                An earlier version passed the age or the space set for kept versions and was removed. The current \
                files are untouched.
                """,
            cure: """
                Nothing is to be done; keep-versions-days and keep-versions-size in the configuration set how much \
                is kept.
                """),
        MessageKind(
            .versionRestored, .info, healsItself: true,
            meaning: """
                An earlier version was brought back; what stood at the path before is kept as an earlier version in \
                turn.
                """,
            cure: "Nothing is to be done."),
    ]

    static let running = [
        MessageKind(
            .initialMerged, .info, healsItself: true,
            meaning: """
                The two folders met for the first time. Equal files were matched without sending them, and files on \
                one side were copied to the other; where they differed, both versions were kept.
                """,
            cure: "Nothing is to be done; syncctl conflicts lists the files that differed."),
        MessageKind(
            .nodeHalted, .serious, healsItself: true, retry: .onChange,
            meaning: """
                Syncing stands still because of a serious condition that another message tells of: on this node, or, as an \
                alert, on the other one, and the text says why as far as it does. All files are as they were.
                """,
            cure: """
                Follow the other message, shown by syncctl alerts where it stands still; syncing resumes by itself when \
                its cause is gone.
                """),
        MessageKind(
            .nodePaused, .info, healsItself: false,
            meaning: "Syncing was paused with syncctl pause. Changes on both nodes are kept and wait.",
            cure: "Run syncctl resume to go on."),
        MessageKind(
            .nodeStarted, .info, healsItself: true,
            meaning: """
                syncd has opened its folder and its state and goes on where it left off; when it says that it is \
                ready, the folder is watched and changes are seen at once.
                """,
            cure: "Nothing is to be done."),
        MessageKind(
            .nodeStopped, .info, healsItself: true,
            meaning: """
                syncd was told to stop, or has stopped. What was acknowledged is durable; what is unfinished is \
                gone on with after the next start, and changes made meanwhile are found then.
                """,
            cure: "Nothing is to be done."),
    ]
}
