import ControlProtocol
import SyncModel
import Testing

/// What goes over the socket: requests, answers, items of streams, and what is refused.
struct ControlLineTests {
    static func argument(_ typed: String) -> PathArgument {
        PathArgument(typed: Array(typed.utf8), directory: Array("/home/me".utf8))
    }

    static let lock = LockRequest(
        items: [.init(argument("a")), .init(PathArgument(typed: [0xFF], directory: [0x2F]), .merging)], isRead: true,
        mode: .strict, timeoutMilliseconds: 5_000, holdMilliseconds: 7, outlivesConnection: true, purpose: "edit",
        holder: "make", process: 42)

    static let requests: [ControlRequest] = [
        .status(watch: false), .status(watch: true), .wait(for: .inSync, timeoutMilliseconds: nil),
        .wait(for: .initialImport, timeoutMilliseconds: .max), .invite, .inviteWait, .join(token: "abc-def"), .unpair,
        .forgetPeer, .renewKey,
        .alerts(all: true, page: Page(limit: 3, after: "x")), .alerts(all: false, page: .all), .alertShow(id: "1"),
        .alertAcknowledge(id: "2"), .conflicts(all: false, page: Page(limit: 0)), .conflictShow(id: "1"),
        .conflictTake(id: "1", version: "b"), .conflictDiscard(id: "1"), .conflictRestore(id: "1"),
        .history(path: argument("a/ä"), page: .all), .restore(path: argument("a"), version: nil, to: nil),
        .restore(path: PathArgument(typed: [0x80], directory: [0x2F, 0xFF]), version: "7", to: argument("b")),
        .documentCheck([argument("a"), argument("b")]), .documentShow(argument("a")), .explain(argument("Note/1")),
        .log(count: nil, follow: false, node: nil), .log(count: 10, follow: true, node: "beta"), .logVerify,
        .events(follow: true), .lock(lock), .release(lock: "l1", deeds: []),
        .release(
            lock: "l1",
            deeds: [.changed(argument("a")), .deleted(argument("b")), .moved(argument("a"), to: argument("b"))],
            isQuiet: true),
        .present(PresentRequest(path: argument("a"), coversContents: true, purpose: "edit")),
        .present(PresentRequest(path: argument("a"), coversContents: false, purpose: nil)),
        .answer(question: "q1", .ready), .answer(question: "q1", .busy), .answer(question: "q1", .failed("no")),
        .withdraw(presenter: "p1"), .unlock([]), .unlock([argument("a")]), .locks, .pause,
        .resume,
        .rescan(nil), .rescan(argument("a")), .reload, .logLevel(3, forMilliseconds: 60_000),
        .logLevel(0, forMilliseconds: nil), .approve(id: nil), .approve(id: "3"), .reject(id: nil), .reject(id: "3"),
        .verify(budget: nil), .verify(budget: "10MiB/s"), .doctor, .metrics, .version,
    ]

    @Test("every request comes over as it was", arguments: ControlLineTests.requests)
    func callRoundTrip(request: ControlRequest) throws {
        for id in [RequestID.number(1), .text("x")] {
            let bytes = ControlCall(id: id, request: request).bytes
            #expect(bytes.last == 0x0A && bytes.dropLast().firstIndex(of: 0x0A) == nil)
            let call = try ControlCall(line: Array(bytes.dropLast()))
            #expect(call == ControlCall(id: id, request: request))
        }
    }

    @Test("a request is one line of JSON-RPC 2.0") func golden() {
        let bytes = ControlCall(id: .number(7), request: .conflictTake(id: "c1", version: "v2")).bytes
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"jsonrpc":"2.0","id":7,"method":"conflicts.take","params":{"id":"c1","version":"v2"}}"# + "\n")
    }

    @Test("parameters may be left out where there is a sensible meaning, and unknown ones are passed over")
    func defaults() throws {
        #expect(try ControlRequest(method: "status", params: .null) == .status(watch: false))
        #expect(try ControlRequest(method: "alerts", params: ["later": true]) == .alerts(all: false, page: .all))
        #expect(try ControlRequest(method: "rescan", params: [:]) == .rescan(nil))
        let path = try ControlRequest(method: "history", params: ["path": "a"])
        #expect(path == .history(path: PathArgument(typed: [0x61], directory: [0x2F]), page: .all))
    }

    @Test(
        "what is no request is refused with its id, as far as it can be read, and a number of JSON-RPC",
        arguments: [
            ("{", "null", "-32700"), ("[]", "null", "-32600"), ("{}", "null", "-32600"),
            (#"{"jsonrpc":"1.0","id":1,"method":"status"}"#, "1", "-32600"),
            (#"{"jsonrpc":"2.0","method":"status"}"#, "null", "-32600"),
            (#"{"jsonrpc":"2.0","id":1.5,"method":"status"}"#, "null", "-32600"),
            (#"{"jsonrpc":"2.0","id":null,"method":"status"}"#, "null", "-32600"),
            (#"{"jsonrpc":"2.0","id":1,"method":3}"#, "1", "-32600"),
            (#"{"jsonrpc":"2.0","id":"a","method":"stat"}"#, #""a""#, "-32601"),
            (#"{"jsonrpc":"2.0","id":1,"method":"status","params":[]}"#, "1", "-32602"),
            (#"{"jsonrpc":"2.0","id":1,"method":"status","params":{"watch":1}}"#, "1", "-32602"),
            (#"{"jsonrpc":"2.0","id":1,"method":"join","params":{}}"#, "1", "-32602"),
            (#"{"jsonrpc":"2.0","id":1,"method":"wait","params":{"for":"ever"}}"#, "1", "-32602"),
            (#"{"jsonrpc":"2.0","id":1,"method":"log-level","params":{"level":4}}"#, "1", "-32602"),
            (#"{"jsonrpc":"2.0","id":1,"method":"log","params":{"count":-1}}"#, "1", "-32602"),
            (#"{"jsonrpc":"2.0","id":1,"method":"history","params":{"path":"a","directory":"b"}}"#, "1", "-32602"),
            (#"{"jsonrpc":"2.0","id":1,"method":"lock","params":{"paths":[]}}"#, "1", "-32602"),
        ])
    func refused(line: String, id: String, number: String) throws {
        let refusal = try #require(throws: ControlRefusal.self) { try ControlCall(line: Array(line.utf8)) }
        let text = String(decoding: refusal.bytes, as: UTF8.self)
        #expect(text.hasPrefix(#"{"jsonrpc":"2.0","id":\#(id),"error":{"code":\#(number),"message":""#), "\(text)")
        #expect(!refusal.error.text.isEmpty && !refusal.error.cure.isEmpty)
        #expect(refusal.error.text.hasSuffix("."))
    }

    @Test("what is wrong with a parameter is said with its place") func places() {
        func text(_ method: String, _ params: JSON) -> String? {
            #expect(throws: ControlError.self) { try ControlRequest(method: method, params: params) }?.text
        }
        #expect(
            text("doc.check", ["files": .array([["path": "a"], ["path": .count(3)]])])
                == "In doc.check, params.files[1].path should be text.")
        #expect(
            text("wait", ["for": "ever"])
                == "In wait, params.for should be one of in-sync, connected, initial-import.")
        #expect(text("explode\u{1B}", .null) == #"This version of syncd knows no request called explode\x1b."#)
    }

    @Test("answers, items and refusals come over as they were") func replies() throws {
        let error = ControlError(.waitTimedOut, text: "2 files are still to be sent.")
        let replies: [ControlReply] = [
            .result(.number(1), ["a": .count(1)]), .result(.text("x"), .array([])),
            .item(.number(2), method: "events", ["event": "x"]),
            .refusal(ControlRefusal(id: .number(3), error: error)),
            .refusal(ControlRefusal(id: nil, error: error)), .refusal(.lineTooLong),
        ]
        for reply in replies {
            #expect(try ControlReply(line: Array(reply.bytes.dropLast())) == reply)
        }
    }

    @Test("a refusal carries code, text and cure") func refusal() {
        let error = ControlError(.pathBusy, text: "It is busy.", cure: "Wait.")
        let bytes = ControlReply.refusal(ControlRefusal(id: .number(3), error: error)).bytes
        let expected =
            #"{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"It is busy.","#
            + #""data":{"code":"path.busy","text":"It is busy.","cure":"Wait."}}}"# + "\n"
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test("request.unsupported: a request that this version does not know is refused, with what to do")
    func unknownRequest() {
        let error = #expect(throws: ControlError.self) { try ControlRequest(method: "dance", params: .null) }
        #expect(error?.code.known == .requestUnsupported && error?.text.contains("dance") == true)
    }

    @Test("an answer that does not fit a line becomes a refusal, so that the connection stays usable") func tooLong()
        throws
    {
        let reply = ControlReply.result(.number(9), .string(String(repeating: "x", count: LineBuffer.lineBytesMax)))
        let read = try ControlReply(line: Array(reply.bytes.dropLast()))
        guard case .refusal(let refusal) = read else {
            Issue.record("it was sent")
            return
        }
        #expect(refusal.id == .number(9) && refusal.error.code.known == .requestRefused)
    }

    @Test(
        "lines that are no answer are refused",
        arguments: ["", "x", "[]", "{}", #"{"id":1}"#, #"{"result":1}"#, #"{"method":"events","params":{"item":1}}"#])
    func noReply(line: String) {
        #expect(throws: DocumentError.self) { try ControlReply(line: Array(line.utf8)) }
    }

    @Test("damaged lines give a request, an answer or a refusal, and nothing else", arguments: 0..<500)
    func damaged(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let request = ControlLineTests.requests[random.below(ControlLineTests.requests.count)]
        var line = Array(ControlCall(id: .number(1), request: request).bytes.dropLast())
        for _ in 0...random.below(3) { line[random.below(line.count)] = UInt8(random.below(256)) }
        do throws(ControlRefusal) {
            let call = try ControlCall(line: line)
            #expect((try? ControlCall(line: Array(call.bytes.dropLast()))) == call)
        } catch {
            #expect((try? ControlReply(line: Array(error.bytes.dropLast()))) == .refusal(error))
        }
        if let reply = try? ControlReply(line: line) { #expect(reply.bytes.last == 0x0A) }
    }

    @Test("an error of a program that is not ours is still told") func foreignError() throws {
        let line = #"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#
        let reply = try ControlReply(line: Array(line.utf8))
        guard case .refusal(let refusal) = reply else {
            Issue.record("it was taken for an answer")
            return
        }
        #expect(refusal.error.text == "no" && refusal.error.code.known == .requestRefused)
    }
}

struct LineBufferTests {
    @Test("however the bytes arrive, the lines are the same", arguments: 0..<100) func splits(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let lines: [[UInt8]] = (0..<20).map { _ in (0..<random.below(9)).map { _ in UInt8(0x61 + random.below(26)) } }
        var stream: ArraySlice<UInt8> = Array(lines.map { $0 + [0x0A] }.joined())[...]
        var buffer = LineBuffer(lineBytesMax: 16)
        var found: [[UInt8]] = []
        while !stream.isEmpty {
            let count = random.below(7) + 1
            buffer.append(stream.prefix(count))
            stream = stream.dropFirst(count)
            while case .line(let line) = buffer.next() { found.append(line) }
        }
        #expect(found == lines)
        #expect(buffer.next() == .none)
    }

    @Test("a line of the most allowed passes, one byte more does not, ended or not") func bound() {
        var exact = LineBuffer(lineBytesMax: 4)
        exact.append(Array("abcd\nefgh".utf8))
        #expect(exact.next() == .line(Array("abcd".utf8)))
        #expect(exact.next() == .none)
        exact.append(Array("i".utf8))
        #expect(exact.next() == .tooLong)
        var ended = LineBuffer(lineBytesMax: 4)
        ended.append(Array("abcde\n".utf8))
        #expect(ended.next() == .tooLong)
    }

    @Test("a carriage return before the newline is not part of the line") func carriageReturn() {
        var buffer = LineBuffer()
        buffer.append(Array("a\r\n\n".utf8))
        #expect(buffer.next() == .line([0x61]))
        #expect(buffer.next() == .line([]))
        #expect(buffer.next() == .none)
    }
}
