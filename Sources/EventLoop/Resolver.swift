internal import CLibuv
internal import Glibc
internal import Synchronization

/// Turns a host name into addresses, on a thread of its own.
///
/// Not `uv_getaddrinfo`: libuv's threads are joined when the process ends, so a name server that does not answer would
/// hold up every stop of the daemon for as long as the C library is patient. A detached thread holds up nothing.
enum Resolver {
    typealias Answer = Result<[SocketAddress], LoopError>

    /// A thread stays until the C library gives up, long after the question was cancelled; so many may be about.
    private static let threadsMax = 4
    private static let threadsRunning = Atomic<Int>(0)

    /// Closing the mailbox cancels the question. `then` is called once, in a later turn.
    static func resolve(
        host: String, port: UInt16, loop: Loop, then: @escaping (Answer) -> Void
    ) throws(LoopError) -> Mailbox<Answer> {
        let operation = "resolve \(host)"
        let mailbox = try Mailbox<Answer>(loop: loop, receive: then)
        guard threadsRunning.add(1, ordering: .relaxed).newValue <= threadsMax else {
            threadsRunning.subtract(1, ordering: .relaxed)
            mailbox.post(.failure(LoopError(operation: operation, code: UV_EAI_AGAIN.rawValue)))
            return mailbox
        }
        do throws(LoopError) {
            try Thread.start(name: "resolve") {
                mailbox.post(addresses(of: host, port: port, isForListening: false))
                threadsRunning.subtract(1, ordering: .relaxed)
            }.detach()
        } catch {
            threadsRunning.subtract(1, ordering: .relaxed)
            mailbox.close()
            throw error
        }
        return mailbox
    }

    /// Asks the system and waits. Only for a thread that may wait, and for listeners, which are made before the loop
    /// runs.
    static func addresses(of host: String, port: UInt16, isForListening: Bool) -> Answer {
        if let address = SocketAddress(numeric: host, port: port) { return .success([address]) }
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = isForListening ? AI_PASSIVE : AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let answer = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard answer == 0 else {
            let reason = answer == EAI_SYSTEM ? -errno : libuvCode(of: answer)
            return .failure(LoopError(operation: "resolve \(host)", code: reason))
        }
        defer { unsafe freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let raw = unsafe entry.pointee.ai_addr,
                let address = unsafe SocketAddress(copying: raw, length: Int(entry.pointee.ai_addrlen))
            {
                found.append(address)
            }
            unsafe next = entry.pointee.ai_next
        }
        return found.isEmpty
            ? .failure(LoopError(operation: "resolve \(host)", code: LoopError.unknownHost)) : .success(found)
    }

    /// libuv numbers the resolver's answers its own way, so that they cannot be taken for an errno.
    private static func libuvCode(of answer: Int32) -> Int32 {
        switch answer {
        case EAI_AGAIN: UV_EAI_AGAIN.rawValue
        case EAI_BADFLAGS: UV_EAI_BADFLAGS.rawValue
        case EAI_FAIL: UV_EAI_FAIL.rawValue
        case EAI_FAMILY: UV_EAI_FAMILY.rawValue
        case EAI_MEMORY: UV_EAI_MEMORY.rawValue
        case EAI_SERVICE: UV_EAI_SERVICE.rawValue
        case EAI_SOCKTYPE: UV_EAI_SOCKTYPE.rawValue
        default: LoopError.unknownHost
        }
    }
}
