/// Texts about contested files and records, guarded formats and the rules of a model.
extension MessageRegistry {
    static let conflicts = [
        MessageKind(
            .conflictDeletedWhileEdited, .warning, healsItself: false,
            meaning: """
                One node deleted this record while the other edited it, and its model leaves to a person which of the \
                two counts. It is in quarantine on both nodes, complete and with the edit; nothing was lost, and other \
                records go on.
                """,
            cure: """
                Bring it back with syncctl conflicts take ID VERSION, or let it go with syncctl conflicts discard ID.
                """),
        MessageKind(
            .conflictFile, .warning, healsItself: false,
            meaning: """
                Both nodes changed this file before they heard of each other. The later version keeps the name and \
                the other is beside it as a conflict copy; both are on both nodes and nothing is paused.
                """,
            cure: """
                Compare the two, keep what you need and delete the copy, or choose with syncctl conflicts take ID \
                VERSION.
                """),
        MessageKind(
            .conflictIdentity, .warning, healsItself: false,
            meaning: """
                A record that the model allows only once was created twice, most often by both nodes. The older one stays, \
                references to the other lead to it, and their fields were merged; every value that lost is kept.
                """,
            cure: """
                Look at the versions with syncctl conflicts show ID and take the one you prefer, or leave it as it is \
                with syncctl conflicts discard ID.
                """),
        MessageKind(
            .conflictSlot, .warning, healsItself: false,
            meaning: """
                Both nodes filled a place that holds only one record. One record has the place on both nodes; the \
                other is in quarantine, complete, and still receives edits.
                """,
            cure: """
                Swap them with syncctl conflicts take ID VERSION, or let the other one go with syncctl conflicts \
                discard ID.
                """),
    ]

    static let formats = [
        MessageKind(
            .formatCorrupt, .warning, healsItself: true, retry: .onChange,
            meaning: """
                This file cannot be read as the format its model names; the text tells what is wrong with it. Its bytes \
                are kept as they are and are not merged. A healthy version is never replaced by it.
                """,
            cure: """
                Repair the file or bring back an earlier version with syncctl restore PATH; the message goes when it \
                can be read again.
                """),
        MessageKind(
            .formatDowngradeHeld, .warning, healsItself: false,
            meaning: """
                A program that knows only an older format rewrote this file. The newer content stays at the path on \
                both nodes, and what was written over it is a conflict copy; nothing was lost.
                """,
            cure: """
                Upgrade the program that wrote it. To keep the older content all the same, use syncctl conflicts \
                take ID VERSION.
                """),
        MessageKind(
            .formatNewer, .warning, healsItself: true, retry: .onChange,
            meaning: """
                This file is in a newer format than this node understands. It is stored and passed on byte for byte, \
                and this node never changes, merges, moves or deletes it; other files go on.
                """,
            cure: """
                Upgrade the program or the models on this node; the message goes by itself once the format is \
                understood.
                """),
        MessageKind(
            .formatUnknown, .warning, healsItself: true, retry: .onChange,
            meaning: """
                No usable format version was found in this guarded file. It is treated like one from the future: \
                passed on byte for byte and never changed by this node.
                """,
            cure: """
                Check the file with syncctl doc check FILE, and correct its version or the format rule that names \
                it.
                """),
        MessageKind(
            .formatZeroLength, .warning, healsItself: true, retry: .onChange,
            meaning: """
                This guarded file is empty, which its format does not allow; often a program stopped while it was \
                saving. A healthy version that stood there before stays at the path on the other node and in history.
                """,
            cure: "Save the file again, or bring back an earlier version with syncctl restore PATH."),
        MessageKind(
            .schemaInvalid, .serious, healsItself: true, retry: .onChange,
            meaning: """
                A model file on this node has a fault and is not used; the journal says where it is, what is wrong and \
                which files it is about. These stay as they are meanwhile: what is saved in them here is not sent, and what \
                the other node saves waits; other files go on.
                """,
            cure: """
                Correct the model file, or install it again with its application, and restart syncd; what waits is then \
                merged. Without the model file it is synced like any other file.
                """),
        MessageKind(
            .schemaNewer, .warning, healsItself: true, retry: .onChange,
            meaning: """
                The two nodes do not have the same model, or a file of rules here is for a later syncd. Changes made under a \
                model that this node lacks, and files of a model that the other node changed without it, are stored complete \
                and wait; files that rules of a later syncd name are never changed by this node. Everything else goes on.
                """,
            cure: """
                Install the same version of the model on both nodes, or the syncd that the rules are for, and restart \
                syncd; what waits is then applied.
                """),
    ]

    static let records = [
        MessageKind(
            .repairExhausted, .serious, healsItself: false, isReserved: true,
            meaning: """
                No version of syncd so far raises this. It is for repair that gives up, and the repair there is never \
                does: a record that cannot keep the rules of its model is put into quarantine, whole, with an alert.
                """,
            cure: "Nothing is to be done; look at syncctl conflicts for records that are in quarantine."),
        MessageKind(
            .validationRequiredMissing, .warning, healsItself: true, retry: .onChange,
            meaning: """
                What was saved on this node breaks a rule of its model: a value or a record is missing that is needed, \
                a value is of another type, or a place or a natural key is taken. This save waits here and was not \
                sent; your file is as you saved it, and other records go on.
                """,
            cure: """
                Mend what the text names, here or in the record that it is about, and save again; or take back what \
                was saved.
                """),
    ]
}
