import SyncModel

/// Why the program cannot start or go on: what to tell, and how the process ends. The numbers are the contract of `syncd`.
struct Refusal: Error, Hashable {
    enum Exit: Int32 {
        case stopped = 0
        case usage = 64
        /// State written by a newer program: nothing was touched.
        case refusedData = 65
        case storage = 74
        /// Another syncd owns this folder or state.
        case inUse = 75
        case permission = 77
        case configuration = 78
    }

    let exit: Exit
    /// Nil where nothing is wrong.
    let code: MessageCode?
    /// A whole sentence: what happened, what is safe, what to do.
    let text: String

    init(exit: Exit, code: MessageCode? = nil, text: String) {
        self.exit = exit
        self.code = code ?? Refusal.usualCode(for: exit)
        self.text = text
    }

    private static func usualCode(for exit: Exit) -> MessageCode? {
        switch exit {
        case .stopped: nil
        case .usage, .configuration: .configInvalid
        case .refusedData: .stateForeign
        case .storage, .permission: .startFailed
        case .inUse: .startInUse
        }
    }
}
