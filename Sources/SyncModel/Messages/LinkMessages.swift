/// Texts about the connection, the other node, the clocks and the change logs.
extension MessageRegistry {
    static let link = [
        MessageKind(
            .callerRefused, .info, healsItself: true,
            meaning: """
                Somebody called at the port of this node, or answered where the other node was called, and was \
                turned away before anything was exchanged; the line of the journal says why. Nothing of yours was \
                shown, and syncing goes on.
                """,
            cure: """
                Nothing is to be done about a stranger, such as a scanner; if it was the other node, look at its \
                journal, too.
                """),
        MessageKind(
            .clockSkew, .warning, healsItself: true, retry: .onReconnect,
            meaning: """
                The clocks of the two nodes differ by more than 2 seconds, or changes of the other node are dated more \
                than a hundred years ahead: those wait, and what it changed after them. The rest goes on and nothing can be \
                lost; only which version keeps the name in a conflict may be the wrong one.
                """,
            cure: """
                Set both clocks, for example with systemd-timesyncd; the message goes when they agree. If changes are dated \
                ahead though they do, the other node goes on counting from what its clock showed once: it has to be set up \
                anew, and troubleshooting.md says how. All files stay.
                """),
        MessageKind(
            .clockStepped, .info, healsItself: true,
            meaning: """
                The clock of this node jumped. The order of changes is kept by counting on from the latest time \
                seen, and waiting times are not affected.
                """,
            cure: """
                Nothing is to be done if the clock was set on purpose; otherwise look at the time service of this \
                machine.
                """),
        MessageKind(
            .keyOffered, .info, healsItself: true,
            meaning: """
                One of the two nodes is about to get a new key, and the other one is told of it. Until the new one \
                is in use both are accepted; the pair, its history and all files stay what they are.
                """,
            cure: """
                Nothing is to be done if a person ran syncctl renew-key; syncctl status says how far it is.
                """),
        MessageKind(
            .keyRenewed, .info, healsItself: true,
            meaning: """
                The named node has a new key, and the other one accepts no other from now on. The pair, its history and \
                all files are what they were.
                """,
            cure: """
                Nothing is to be done if a person ran syncctl renew-key there; a backup of its identity directory is to be \
                made anew.
                """),
        MessageKind(
            .logCorrupt, .serious, healsItself: true, retry: .onReconnect,
            meaning: """
                An entry of the other node's change log cannot be read, or does not go with the one before it. The \
                connection was closed; what came before the entry is in use, and nothing from there on. No file was \
                changed because of it.
                """,
            cure: """
                It is asked for again with each connection. If it stays, check the disk that holds the state directory \
                of the other node, and run syncctl log verify there.
                """),
        MessageKind(
            .logForked, .serious, healsItself: false,
            meaning: """
                One number in a change log stands for two different changes, which happens when a running machine is \
                cloned with its memory and both go on. Syncing is halted on both nodes; all files and both logs are kept.
                """,
            cure: """
                Stop the copy that should not run. Then run syncctl unpair --forget on both nodes, and pair them again with \
                syncctl invite and syncctl join. All files stay; where the two differ, both versions are kept.
                """),
        MessageKind(
            .logMissing, .info, healsItself: true,
            meaning: """
                The other node no longer keeps the part of its change log that this node has not seen. It tells the \
                present state of every path instead, so nothing is missed; only the order of what happened is not known.
                """,
            cure: "Nothing is to be done."),
        MessageKind(
            .logNewer, .warning, healsItself: true, retry: .onReconnect,
            meaning: """
                The other node made changes that need a newer version of this program. They wait, complete, and so \
                does what the other node changed after them; what this node changes goes on being sent.
                """,
            cure: "Upgrade syncd on this node; the waiting changes are then applied."),
        MessageKind(
            .logRolledBack, .warning, healsItself: true,
            meaning: """
                A node came back with an older state than the other has seen, as after restoring a backup. It starts \
                a new count and takes its own later changes back from the other node; nothing is deleted.
                """,
            cure: """
                Nothing is to be done if a backup was restored; files that differ now appear as conflicts to look \
                at.
                """),
        MessageKind(
            .peerAway, .info, healsItself: true, retry: .patiently,
            meaning: """
                The other node cannot be reached, or does not answer. Changes made here are kept and sent when it is back.
                """,
            cure: """
                Nothing is to be done if it is off; otherwise check that it runs, its address in the configuration, \
                and the firewall.
                """),
        MessageKind(
            .peerConnected, .info, healsItself: true,
            meaning: """
                The two nodes are connected, and exchange what has changed on either of them since they last were.
                """,
            cure: "Nothing is to be done."),
        MessageKind(
            .peerIncompatible, .serious, healsItself: true, retry: .onReconnect,
            meaning: """
                A lock of mode strict was asked for, and the other node has not answered: the syncd there does not know \
                locks between nodes, or is too busy. The lock was not granted; syncing goes on, and all files are as they were.
                """,
            cure:
                "Run the same version of syncd on both nodes, or ask again; a lock of mode pair is granted without an answer."
        ),
        MessageKind(
            .peerPaused, .info, healsItself: false,
            meaning: """
                Syncing was paused on the other node with syncctl pause. It sends nothing and shows nothing new; changes on \
                both nodes are kept and wait.
                """,
            cure: "Run syncctl resume on the other node to go on."),
        MessageKind(
            .peerProtocolViolation, .serious, healsItself: true, retry: .patiently,
            meaning: """
                The other node sent something that is not allowed. The connection was closed before any of it was \
                used; nothing was written.
                """,
            cure: "Upgrade both nodes to the same version; if it returns, report it with the journals of both."),
        MessageKind(
            .peerRejected, .serious, healsItself: true, retry: .patiently,
            meaning: """
                The machine at the other node's address has another key than the one this node was paired with, or does \
                not accept the key of this node: it may have another partner by now. Nothing was sent to it and nothing \
                accepted from it.
                """,
            cure: """
                Check the address in the configuration. If the other node was set up anew, or this one is to have \
                another partner, run syncctl unpair --forget here and pair again with syncctl invite and syncctl join; \
                if the two were only unpaired, syncctl unpair is enough.
                """),
        MessageKind(
            .wireDisjoint, .serious, healsItself: true, retry: .onReconnect,
            meaning: """
                The versions of syncd on the two nodes share no way to exchange changes. They stay connected and \
                tell each other their versions and alerts only; all files are as they were.
                """,
            cure: "Upgrade the older node, which the text names; syncing resumes by itself."),
    ]
}
