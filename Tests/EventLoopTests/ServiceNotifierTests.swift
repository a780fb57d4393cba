import Glibc
import Testing

@testable import EventLoop

@Suite("telling the service manager") struct ServiceNotifierTests {
    @Test("without NOTIFY_SOCKET, or with an address that cannot be, there is nobody to tell")
    func nobody() {
        #expect(ServiceNotifier { _ in nil } == nil)
        for address in ["", "/", "@", "relative", "vsock:2:1", "/" + String(repeating: "a", count: 107)] {
            #expect(notifier(["NOTIFY_SOCKET": address]) == nil, "\(address)")
        }
    }

    @Test("messages arrive whole at a path and at an abstract name") func arrives() throws {
        try withDirectory { path in
            for address in ["\(path)/notify", "@syncd-test-\(getpid())"] {
                let receiver = try bound(address)
                defer { close(receiver) }
                let service = try #require(notifier(["NOTIFY_SOCKET": address]))
                service.send("READY=1\nSTATUS=in sync")
                var buffer = [UInt8](repeating: 0, count: 256)
                let count = unsafe recv(receiver, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "READY=1\nSTATUS=in sync")
            }
        }
    }

    @Test("a reload is told with the time of the clock that systemd goes by") func reloading() throws {
        try withDirectory { path in
            let receiver = try bound("\(path)/notify")
            defer { close(receiver) }
            let service = try #require(notifier(["NOTIFY_SOCKET": "\(path)/notify"]))
            let before = Clock.serviceMicroseconds()
            service.sendReloading()
            let after = Clock.serviceMicroseconds()
            var buffer = [UInt8](repeating: 0, count: 256)
            let count = unsafe recv(receiver, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            let lines = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
            #expect(lines.first == "RELOADING=1" && lines.count == 2)
            let time = try #require(lines.last?.split(separator: "=").last.flatMap { Int64($0) })
            #expect((before...after).contains(time))
        }
    }

    @Test("nobody listening is no trouble") func deaf() {
        notifier(["NOTIFY_SOCKET": "/tmp/syncd-test-nobody"])?.send("READY=1")
    }

    @Test("the watchdog's time counts only when it is meant for this process") func watchdog() {
        let socket = ["NOTIFY_SOCKET": "/x"]
        func time(_ more: [String: String]) -> UInt64? {
            notifier(socket.merging(more) { $1 })?.watchdogMicroseconds
        }
        #expect(time([:]) == nil)
        #expect(time(["WATCHDOG_USEC": "60000000"]) == 60_000_000)
        #expect(time(["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "\(getpid())"]) == 60_000_000)
        #expect(time(["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"]) == nil)
        #expect(time(["WATCHDOG_USEC": "soon"]) == nil)
        #expect(time(["WATCHDOG_USEC": "0"]) == nil)
    }

    private func notifier(_ variables: [String: String]) -> ServiceNotifier? {
        ServiceNotifier { variables[$0] }
    }

    private func bound(_ name: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = name.hasPrefix("@") ? [0] + name.utf8.dropFirst() : Array(name.utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let answer = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, length) }
        }
        try #require(answer == 0)
        return descriptor
    }
}
