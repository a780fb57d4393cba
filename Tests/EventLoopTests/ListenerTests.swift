import Glibc
import Testing

@testable import EventLoop

@Suite("listeners and diallers") struct ListenerTests {
    @Test("every address means IPv4 too") func dualStack() throws {
        try withLoop { loop in
            var accepted: EventLoop.Stream?
            let listener = try Listener(loop: loop, endpoint: .tcp(host: "::", port: 0)) { stream in
                #expect(stream.peerAddress.hasPrefix("127.0.0.1:"), "shown as the IPv4 address it is")
                accepted = stream
            }
            let port = try #require(listener.boundPort)
            _ = Dialer(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: port), timeoutMilliseconds: 5_000) {
                result in
                guard case .success(let stream) = result else {
                    Issue.record("\(result)")
                    return loop.stop()
                }
                stream.onEnd = { _ in
                    stream.close()
                    loop.stop()
                }
                stream.startReading()
                let moment = Timer(loop: loop)
                moment.start(afterMilliseconds: 1) {
                    moment.close()
                    listener.close()
                    accepted?.close()
                }
            }
            loop.run()
        }
    }

    @Test("a port in use is an error with the address in it") func portInUse() throws {
        let loop = try Loop()
        let first = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) { _ in }
        let port = try #require(first.boundPort)
        do {
            _ = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: port)) { _ in }
            Issue.record("two listeners on one port")
        } catch {
            #expect(error.code == LoopError.addressInUse)
            #expect(error.operation == "listen on 127.0.0.1:\(port)")
        }
        first.close()
        #expect(loop.openHandles == [])
        try loop.close()
    }

    @Test("an address of another machine cannot be listened on") func foreignAddress() throws {
        let loop = try Loop()
        #expect(throws: LoopError.self) {
            try Listener(loop: loop, endpoint: .tcp(host: "192.0.2.1", port: 0)) { _ in }
        }
        #expect(throws: LoopError.self) {
            try Listener(loop: loop, endpoint: .tcp(host: "no-such-host.invalid", port: 0)) { _ in }
        }
        #expect(loop.openHandles == [])
        try loop.close()
    }

    @Test("a refused connection is told in a later turn, with the address") func refused() throws {
        try withLoop { loop in
            let taken = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) { _ in }
            let port = try #require(taken.boundPort)
            taken.close()
            var isInside = true
            let target = Endpoint.tcp(host: "localhost", port: port)
            _ = Dialer(loop: loop, endpoint: target, timeoutMilliseconds: 5_000) { result in
                #expect(!isInside)
                guard case .failure(let error) = result else {
                    Issue.record("connected to nobody")
                    return loop.stop()
                }
                #expect(error.code == LoopError.connectionRefused)
                #expect(error.operation == "connect to localhost:\(port)")
                loop.stop()
            }
            isInside = false
            loop.run()
        }
    }

    @Test("a name that does not exist is told as such") func unknownName() throws {
        try withLoop { loop in
            let target = Endpoint.tcp(host: "no-such-host.invalid", port: 1)
            _ = Dialer(loop: loop, endpoint: target, timeoutMilliseconds: 15_000) { result in
                guard case .failure(let error) = result else {
                    Issue.record("connected to nobody")
                    return loop.stop()
                }
                #expect(error.name.hasPrefix("EAI_"))
                loop.stop()
            }
            loop.run()
        }
    }

    @Test("a dialler gives up when its time is over") func timeOut() throws {
        try withLoop { loop in
            // A listener that never accepts, with a full queue, answers nobody.
            let silent = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(silent) }
            let port = try listenWithoutAccepting(silent)
            let crowd = try (0..<4).map { _ in try connectWithoutWaiting(port) }
            defer { for member in crowd { close(member) } }
            let start = Clock.monotonicMilliseconds()
            _ = Dialer(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: port), timeoutMilliseconds: 60) { result in
                guard case .failure(let error) = result else {
                    Issue.record("connected although the queue is full")
                    return loop.stop()
                }
                #expect(error.code == LoopError.timedOut)
                #expect(Clock.monotonicMilliseconds() >= start + 60)
                loop.stop()
            }
            loop.run()
        }
    }

    @Test("a cancelled dialler calls nobody, in any phase") func cancelled() throws {
        try withLoop { loop in
            let listener = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) { $0.close() }
            let port = try #require(listener.boundPort)
            for host in ["127.0.0.1", "localhost", "no-such-host.invalid", "300.1.1.1"] {
                let dialer = Dialer(loop: loop, endpoint: .tcp(host: host, port: port), timeoutMilliseconds: 5_000) {
                    _ in
                    Issue.record("called although cancelled")
                }
                dialer.cancel()
                dialer.cancel()
            }
            let end = Timer(loop: loop)
            end.start(afterMilliseconds: 30) {
                end.close()
                listener.close()
                loop.stop()
            }
            loop.run()
        }
    }

    @Test("a unix socket gets its mode and its file goes with the listener") func unixMode() throws {
        try withDirectory { path in
            let name = "\(path)/socket"
            let loop = try Loop()
            let listener = try Listener(loop: loop, endpoint: .unix(path: Array(name.utf8)), mode: 0o660) { _ in }
            var status = stat()
            #expect(unsafe stat(name, &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o660)
            #expect(listener.boundPort == nil)
            listener.close()
            #expect(unsafe stat(name, &status) == -1)
            try loop.close()
        }
    }

    @Test("who takes a socket in the same directory at the same moment is waited for") func neighbours() throws {
        try withDirectory { path in
            let loop = try Loop()
            let neighbour = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            try #require(neighbour >= 0 && flock(neighbour, LOCK_EX | LOCK_NB) == 0)
            let thread = try Thread.start(name: "neighbour") {
                usleep(100_000)
                close(neighbour)
            }
            let listener = try Listener(loop: loop, endpoint: .unix(path: Array("\(path)/socket".utf8))) { _ in }
            thread.join()
            listener.close()
            try loop.close()
        }
    }

    @Test("who keeps the directory locked keeps nobody from his socket") func lockedDirectory() throws {
        try withDirectory { path in
            let loop = try Loop()
            let stranger = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(stranger) }
            try #require(stranger >= 0 && flock(stranger, LOCK_SH | LOCK_NB) == 0)
            let listener = try Listener(loop: loop, endpoint: .unix(path: Array("\(path)/socket".utf8))) { _ in }
            listener.close()
            try loop.close()
        }
    }

    @Test("the file a dead process left is replaced") func staleSocket() throws {
        try withDirectory { path in
            let name = "\(path)/socket"
            let dead = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            try #require(bindUnix(dead, name) == 0)
            try #require(listen(dead, 1) == 0)
            close(dead)
            try withConnection(.unix(path: Array(name.utf8))) { loop, near, far in
                near.close()
                far.close()
                loop.stop()
            }
        }
    }

    @Test("a socket somebody listens on is left alone") func liveSocket() throws {
        try withDirectory { path in
            let name = "\(path)/socket"
            let loop = try Loop()
            let first = try Listener(loop: loop, endpoint: .unix(path: Array(name.utf8))) { _ in }
            #expect(throws: LoopError(operation: "listen on \(name)", code: LoopError.addressInUse)) {
                try Listener(loop: loop, endpoint: .unix(path: Array(name.utf8))) { _ in }
            }
            var status = stat()
            #expect(unsafe stat(name, &status) == 0)
            first.close()
            try loop.close()
        }
    }

    @Test("a file that is no socket is left alone") func notASocket() throws {
        try withDirectory { path in
            let name = "\(path)/file"
            close(unsafe open(name, O_CREAT | O_WRONLY, 0o600))
            let loop = try Loop()
            #expect(throws: LoopError(operation: "listen on \(name)", code: LoopError.notASocket)) {
                try Listener(loop: loop, endpoint: .unix(path: Array(name.utf8))) { _ in }
            }
            var status = stat()
            #expect(unsafe stat(name, &status) == 0)
            try loop.close()
        }
    }

    @Test("a listener whose file was replaced does not remove the new one") func replacedFile() throws {
        try withDirectory { path in
            let name = "\(path)/socket"
            let loop = try Loop()
            let listener = try Listener(loop: loop, endpoint: .unix(path: Array(name.utf8))) { _ in }
            #expect(unsafe unlink(name) == 0)
            close(unsafe open(name, O_CREAT | O_WRONLY, 0o600))
            listener.close()
            var status = stat()
            #expect(unsafe stat(name, &status) == 0)
            try loop.close()
        }
    }

    @Test(
        "a unix path the kernel cannot take is an error, never cut",
        arguments: [[], [UInt8](repeating: 0x61, count: 200), Array("/tmp/a\0b".utf8)])
    func badUnixPath(path: [UInt8]) throws {
        try withLoop { loop in
            #expect(throws: LoopError.self) { try Listener(loop: loop, endpoint: .unix(path: path)) { _ in } }
            _ = Dialer(loop: loop, endpoint: .unix(path: path), timeoutMilliseconds: 1_000) { result in
                guard case .failure(let error) = result else {
                    Issue.record("connected to a cut path")
                    return loop.stop()
                }
                #expect([LoopError.nameTooLong, LoopError.invalidArgument].contains(error.code))
                loop.stop()
            }
            loop.run()
        }
    }

    @Test("nobody at a unix path is an error that says so") func nobodyThere() throws {
        try withLoop { loop in
            let target = Endpoint.unix(path: Array("/tmp/syncd-test-nobody".utf8))
            _ = Dialer(loop: loop, endpoint: target, timeoutMilliseconds: 1_000) { result in
                guard case .failure(let error) = result else {
                    Issue.record("connected to nobody")
                    return loop.stop()
                }
                #expect(error.code == LoopError.noSuchFile)
                loop.stop()
            }
            loop.run()
        }
    }
}

private func bindUnix(_ descriptor: Int32, _ path: String) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
    return unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}

private func listenWithoutAccepting(_ descriptor: Int32) throws -> UInt16 {
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            #expect(unsafe bind(descriptor, $0, length) == 0)
            #expect(listen(descriptor, 0) == 0)
            #expect(unsafe getsockname(descriptor, $0, &length) == 0)
        }
    }
    return UInt16(bigEndian: address.sin_port)
}

private func connectWithoutWaiting(_ port: UInt16) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    try #require(descriptor >= 0)
    var address = loopback(port: port)
    unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            _ = unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    return descriptor
}

private func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}
