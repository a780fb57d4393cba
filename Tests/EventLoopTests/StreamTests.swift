import EventLoop
import Glibc
import Testing

@Suite("streams") struct StreamTests {
    @Test("bytes go both ways and the end is told once") func bothWays() throws {
        try withConnection { loop, near, far in
            var atFar: [UInt8] = []
            var atNear: [UInt8] = []
            far.onRead = { atFar += $0 }
            far.onEnd = { error in
                #expect(error == nil)
                #expect(atFar == Array("question".utf8))
                far.write(Array("answer".utf8)) { error in
                    #expect(error == nil)
                    far.close()
                }
            }
            near.onRead = { atNear += $0 }
            near.onEnd = { error in
                #expect(error == nil)
                #expect(atNear == Array("answer".utf8))
                near.close()
                loop.stop()
            }
            far.startReading()
            near.startReading()
            near.write(Array("question".utf8))
            near.finishWriting()
        }
    }

    @Test("both ends know each other's address") func addresses() throws {
        try withConnection { loop, near, far in
            #expect(near.peerAddress.hasPrefix("127.0.0.1:"))
            #expect(far.peerAddress.hasPrefix("127.0.0.1:"))
            #expect(near.peerAddress != far.peerAddress)
            #expect(near.peerCredentials() == nil)
            near.close()
            far.close()
            loop.stop()
        }
    }

    @Test("what the kernel does not take waits here and arrives whole") func backPressure() throws {
        let size = 24 << 20
        try withConnection { loop, near, far in
            let sent = pattern(size)
            var writtenOut = false
            var arrived: [UInt8] = []
            arrived.reserveCapacity(size)
            near.write(sent) { error in
                #expect(error == nil)
                writtenOut = true
                near.finishWriting()
            }
            #expect(near.pendingBytes > 0)
            #expect(!writtenOut, "the completion never comes from inside the call")
            far.onRead = { arrived += $0 }
            far.onEnd = { _ in
                #expect(writtenOut)
                #expect(near.pendingBytes == 0)
                #expect(arrived == sent)
                near.close()
                far.close()
                loop.stop()
            }
            far.startReading()
        }
    }

    @Test("writes are told in their order, large and small, at once or later") func orderOfCompletions() throws {
        try withConnection { loop, near, far in
            var told: [Int] = []
            far.onRead = { _ in }
            far.startReading()
            let sizes = [1, 4 << 20, 1, 0, 100_000, 1, 2 << 20, 3]
            for (number, size) in sizes.enumerated() {
                near.write([UInt8](repeating: 7, count: size)) { error in
                    #expect(error == nil)
                    told.append(number)
                    guard told.count == sizes.count else { return }
                    #expect(told == Array(0..<sizes.count))
                    near.close()
                    far.close()
                    loop.stop()
                }
            }
            #expect(told.isEmpty)
        }
    }

    @Test("a reader that stops holds the sender back until it goes on") func readingOnDemand() throws {
        try withConnection { loop, near, far in
            var arrived = 0
            let size = 16 << 20
            far.onRead = { bytes in
                arrived += bytes.count
                if arrived == size {
                    near.close()
                    far.close()
                    loop.stop()
                }
            }
            near.write([UInt8](repeating: 1, count: size))
            far.startReading()
            far.startReading()
            far.stopReading()
            let pause = Timer(loop: loop)
            pause.start(afterMilliseconds: 50) {
                #expect(arrived == 0)
                #expect(near.pendingBytes > 0)
                pause.close()
                far.startReading()
            }
        }
    }

    @Test("a write that fails is told to its writer and ends the stream once") func brokenPipe() throws {
        try withConnection { loop, near, far in
            var ends = 0
            var failed = 0
            near.onEnd = { error in
                #expect(error != nil)
                ends += 1
            }
            far.close()
            func writeMore() {
                near.write([UInt8](repeating: 1, count: 1_000)) { error in
                    guard let error else { return writeMore() }
                    #expect([LoopError.brokenPipe, LoopError.connectionReset].contains(error.code))
                    failed += 1
                    guard failed == 2 else { return writeMore() }
                    #expect(ends == 1)
                    near.close()
                    loop.stop()
                }
            }
            writeMore()
        }
    }

    @Test("after close nothing is called, written or read") func closed() throws {
        try withConnection { loop, near, far in
            near.onEnd = { _ in Issue.record("an end after close") }
            near.onRead = { _ in Issue.record("bytes after close") }
            near.startReading()
            near.write([UInt8](repeating: 1, count: 32 << 20)) { _ in Issue.record("a completion after close") }
            near.close()
            near.close()
            near.write([1]) { _ in Issue.record("a completion after close") }
            near.finishWriting()
            near.startReading()
            near.stopReading()
            #expect(near.pendingBytes == 0)
            far.onEnd = { _ in
                far.close()
                loop.stop()
            }
            far.onRead = { _ in }
            far.startReading()
        }
    }

    @Test("a stream may be closed from inside each of its callbacks") func closeInside() throws {
        try withConnection { loop, near, far in
            far.onRead = { _ in far.close() }
            far.startReading()
            near.onEnd = { _ in
                near.close()
                loop.stop()
            }
            near.startReading()
            near.write([1, 2, 3])
        }
    }

    @Test("a reset connection ends with its error") func reset() throws {
        try withConnection { loop, near, far in
            // Closing with unread bytes makes the kernel send a reset.
            far.onEnd = { error in
                #expect(error?.code == LoopError.connectionReset)
                far.close()
                loop.stop()
            }
            far.startReading()
            far.write([1, 2, 3]) { _ in
                let moment = Timer(loop: loop)
                moment.start(afterMilliseconds: 5) {
                    moment.close()
                    near.close()
                }
            }
        }
    }

    @Test("a unix socket tells who is at the other end") func credentials() throws {
        try withDirectory { path in
            try withConnection(.unix(path: Array("\(path)/socket".utf8))) { loop, near, far in
                var groups = [gid_t](repeating: 0, count: 1_024)
                groups.removeLast(groups.count - Int(max(0, unsafe getgroups(Int32(groups.count), &groups))))
                let expected = PeerCredentials(process: getpid(), user: getuid(), group: getgid(), groups: groups)
                #expect(far.peerCredentials() == expected)
                #expect(near.peerCredentials() == expected)
                #expect(far.peerAddress == "unix")
                near.close()
                #expect(near.peerCredentials() == nil)
                far.close()
                loop.stop()
            }
        }
    }
}
