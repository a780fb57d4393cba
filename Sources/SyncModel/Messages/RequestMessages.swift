/// Texts about what a person or a program asked of `syncctl` or of the daemon and did not get. None of these is ever an
/// alert: each answers one request and is over then.
extension MessageRegistry {
    static let requests = [
        MessageKind(
            .configInvalid, .serious, healsItself: false,
            meaning: """
                The configuration cannot be used; the text names the file, the line and the key. The program that \
                read it did nothing else, and no file in the folder was touched.
                """,
            cure: "Correct what the text names; syncd --check-config tells whether it can be used."),
        MessageKind(
            .configReloaded, .info, healsItself: true,
            meaning: """
                The configuration was read again while syncd runs. The line of the journal names a key that has \
                changed, and whether its value is in use from now on or needs a restart.
                """,
            cure: "Restart syncd where the line says so; otherwise nothing is to be done."),
        MessageKind(
            .controlLost, .warning, healsItself: false,
            meaning: """
                The connection to syncd ended before the answer was there. Whether the command was carried out is not \
                known; no file can be half written because of it.
                """,
            cure: "Look at syncctl status, then repeat the command; systemctl status syncd tells why syncd stopped."),
        MessageKind(
            .controlNotRunning, .warning, healsItself: false,
            meaning: """
                The program syncd is not running, or not with this configuration. Your files are as you left them; \
                changes are found and sent when it runs again.
                """,
            cure: """
                Start it with systemctl start syncd, or name its configuration with --config or its socket with \
                --socket. Why it ended is in the journal: journalctl -u syncd -n 20.
                """),
        MessageKind(
            .controlPermission, .warning, healsItself: false,
            meaning: """
                You may not talk to syncd through this socket. The daemon has not heard of the command, so nothing \
                was changed.
                """,
            cure: "Run the command with sudo, or as the user that syncd runs as."),
        MessageKind(
            .controlSilent, .warning, healsItself: false,
            meaning: """
                The program syncd runs but has not answered in time. Whether the command is carried out later is not \
                known; no file can be half written because of it.
                """,
            cure: "Try again; if it stays so, restart it with systemctl restart syncd and report it with its log."),
        MessageKind(
            .controlUnreadable, .warning, healsItself: false,
            meaning: """
                What answered at the control socket was not understood: it is another program, or a syncd of another \
                version. The command may have been carried out.
                """,
            cure: "Check the path of the socket, and use a syncctl of the same version as syncd."),
        MessageKind(
            .pairingDone, .info, healsItself: true,
            meaning: """
                The two nodes know each other by their keys from now on, and what is in their folders is compared. \
                Both show the same six words, which prove that nobody is between them.
                """,
            cure: "Compare the words; if the other node shows others, run syncctl unpair on both."),
        MessageKind(
            .pairingExists, .warning, healsItself: false,
            meaning: """
                This node is paired already, and a node has exactly one partner. The pairing there is stays as it \
                was; syncing goes on with it.
                """,
            cure: """
                Run syncctl unpair --forget first if this node should get another partner, or syncctl unpair to pair the same two \
                again; its files stay.
                """),
        MessageKind(
            .pairingFailed, .warning, healsItself: false,
            meaning: """
                The two nodes were not paired; the text says what was wrong with the token or why the other node was \
                not reached. Nothing was exchanged but the attempt.
                """,
            cure: "Run syncctl invite on one node for a new token, and syncctl join with it on the other."),
        MessageKind(
            .pairingNone, .warning, healsItself: false,
            meaning: """
                This node has no partner yet, so there is nothing to sync with. The folder is watched, and everything \
                in it will be sent once there is one.
                """,
            cure: "Run syncctl invite on one node, and syncctl join with the token it prints on the other."),
        MessageKind(
            .requestInvalid, .warning, healsItself: false,
            meaning: """
                A program asked syncd for something in a form it does not understand; the text says what. The request \
                was not carried out.
                """,
            cure: "Use a syncctl or a library of the same version as syncd."),
        MessageKind(
            .requestNotFound, .warning, healsItself: false,
            meaning: """
                There is nothing here by the name or number that was given; the text says what was looked for. \
                Nothing was changed.
                """,
            cure: "Look at the list first: syncctl alerts, syncctl conflicts, syncctl history PATH or syncctl status."),
        MessageKind(
            .requestOutside, .warning, healsItself: false,
            meaning: """
                The path does not lie in the folder that this node syncs, or not below it where files of yours can \
                be, or it is too long. Nothing was looked up or changed.
                """,
            cure: "Give a path in the folder; relative paths count from where you stand, if that is in the folder."),
        MessageKind(
            .requestRefused, .warning, healsItself: false,
            meaning: """
                The command could not be carried out as things stand; the text says why. Nothing was changed by it, \
                and syncing goes on as before.
                """,
            cure: "Do what the text says and repeat the command; syncctl status shows how things stand."),
        MessageKind(
            .requestUnsupported, .warning, healsItself: false,
            meaning: """
                This version of syncd cannot do what was asked: it is not part of it, or not built yet. Nothing was \
                changed.
                """,
            cure: "Upgrade syncd where a newer version has it; syncctl --help lists what there is."),
        MessageKind(
            .hookFailed, .warning, healsItself: true,
            meaning: """
                The command that gets the alerts could not be run, took too long or ended badly; the text says which. \
                Syncing is not affected, and the alert stands in syncctl alerts.
                """,
            cure: "Mend the command named by hook in the configuration; it is run again for the next alert."),
        MessageKind(
            .programFault, .warning, healsItself: true,
            meaning: """
                Something in the works of syncd itself did not go as it should; the text says what. The files in the \
                folder are not affected.
                """,
            cure: "Please report it with the lines of the journal around it."),
        MessageKind(
            .startFailed, .serious, healsItself: false,
            meaning: """
                syncd did not start, because something it needs cannot be used; the text names it and says why. The \
                files in the folder were not touched.
                """,
            cure: "Mend what the text names, such as a right or a full disk, and start syncd again."),
        MessageKind(
            .startInUse, .serious, healsItself: false,
            meaning: """
                syncd did not start, because another syncd works with this folder, this state directory or this \
                address. That one goes on; nothing was touched.
                """,
            cure: "Stop the other one first, or give this node places and an address of its own."),
        MessageKind(
            .setupExists, .warning, healsItself: false,
            meaning: """
                What should have been set up is there already; the text names it. It was not overwritten, and nothing \
                new was made beside it.
                """,
            cure: """
                Use what is there, or choose other places with --config, --state and --folder. Move old ones away \
                only if you are sure.
                """),
        MessageKind(
            .setupFailed, .warning, healsItself: false,
            meaning: """
                Setting up a node did not succeed; the text says at which step and why. What had been made until then \
                was taken away again, and nothing else was touched.
                """,
            cure: "Remove the cause the text names, and run syncctl init again."),
        MessageKind(
            .waitTimedOut, .warning, healsItself: false,
            meaning: """
                What was waited for had not come about in the time given; the text says what is still missing. Nothing \
                was changed, and syncd goes on working at it.
                """,
            cure: "Wait longer with --timeout, and look at syncctl status for what it stands at."),
    ]
}
