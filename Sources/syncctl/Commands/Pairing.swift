import ControlProtocol

/// `invite`, `join`, `renew-key`, `unpair`: how two nodes come to know each other, go on doing so, and part.
extension Command {
    static let invite = Command(
        "invite", "[--no-wait]", summary: "print a token that the other node joins with, and wait for it",
        details: "The token is good for one pairing within 15 minutes. Keep it secret until it is used.",
        options: [Option("--no-wait", "print the token and go; pairing goes on without this command")]
    ) { (session) throws(Failure) in
        let client = try session.connect()
        let json = try session.ask(.invite, over: client)
        try session.show(json, as: InviteDocument.self) { [session.style.foreign($0.token)] }
        if session.has("--no-wait") { return .done }
        if !session.wantsJSON {
            session.output.say(["Run on the other node: syncctl join TOKEN", "Waiting for it …"])
        }
        let paired = try session.ask(.inviteWait, over: client, patience: nil)
        try session.show(paired, as: PairedDocument.self) { pairedLines($0, session.style) }
        return .done
    }

    static let join = Command(
        "join", "TOKEN", summary: "pair with the node that printed the token", operands: 1...1,
        operandName: "The token that syncctl invite printed on the other node"
    ) { (session) throws(Failure) in
        try session.show(.join(token: try session.operand(0)), as: PairedDocument.self, patience: nil) {
            pairedLines($0, session.style)
        }
        return .done
    }

    static let unpair = Command(
        "unpair", "[--forget]", summary: "forget the other node; all files stay",
        details: """
            Without --forget the two nodes can be paired again, and go on where they were. With it this node
            can be paired with any: a new partner gets all files, and two folders that both hold something are
            merged. Earlier versions with their history, conflict copies, the key and the id of this node stay.
            What was known of the pair is kept in the state directory, as state.db.before-forgetting-DATE.
            """,
        options: [Option("--forget", "be ready for another partner, as when the other node is lost for good")]
    ) { (session) throws(Failure) in
        guard session.has("--forget") else {
            return try session.perform(.unpair, "Not paired any more. All files stay as they are on both nodes.")
        }
        return try session.perform(
            .forgetPeer,
            "Not paired any more, and ready for another partner: syncctl invite. All files stay as they are.",
            patience: nil)
    }

    static let renewKey = Command(
        "renew-key", summary: "give this node a new key, and make it known to the other",
        details: """
            The other node has to be connected. It accepts both keys until it has seen the new one used,
            and no other from then on. Nothing else changes: the pair, its history and all files stay. If
            the command is cut short, both nodes go on by themselves.
            """
    ) { (session) throws(Failure) in
        try session.show(.renewKey, as: RenewedKeyDocument.self, patience: nil) {
            [
                "This node has a new key, and the other node accepts no other:", "  \(KeyFingerprint.text(of: $0.key))",
                "It is in the identity directory of the state; a backup of that is to be made anew.",
            ]
        }
        return .done
    }

    static func pairedLines(_ paired: PairedDocument, _ style: Style) -> [String] {
        let words = paired.words.map(style.foreign).joined(separator: " ")
        return [
            "Paired with \(style.name(paired.peer)).", "", "  \(style.bold(words))", "",
            "Both nodes show these same words; if the other shows others, run syncctl unpair on both.",
        ]
    }
}
