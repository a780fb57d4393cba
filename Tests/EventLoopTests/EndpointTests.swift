import EventLoop
import Testing

@Suite("endpoints") struct EndpointTests {
    @Test(
        "what people write is understood and written back the same",
        arguments: [
            ("beta.example:7420", Endpoint.tcp(host: "beta.example", port: 7_420)),
            ("127.0.0.1:0", .tcp(host: "127.0.0.1", port: 0)),
            ("[::]:7420", .tcp(host: "::", port: 7_420)),
            ("[2001:db8::7]:65535", .tcp(host: "2001:db8::7", port: 65_535)),
            ("/run/syncd/default.sock", .unix(path: Array("/run/syncd/default.sock".utf8))),
        ])
    func parsed(text: String, endpoint: Endpoint) throws {
        #expect(try Endpoint.parse(text) == endpoint)
        #expect(endpoint.description == text)
    }

    @Test(
        "what is no endpoint is refused with the cause",
        arguments: [
            ("", EndpointError.Problem.noPort), ("beta", .noPort), ("beta:", .noPort), ("[::]", .noPort),
            (":7420", .noHost), ("beta:65536", .badPort), ("beta:-1", .badPort), ("beta:+1", .badPort),
            ("beta:7x", .badPort), ("beta:٣", .badPort), ("::1:7420", .needsBrackets), ("[::1:7420", .badAddress),
            ("[beta]:7420", .badAddress), ("[127.0.0.1]:7420", .badAddress), ("a b:7420", .badHost),
            ("b\u{1B}[2J:7420", .badHost), ("bêta:7420", .badHost),
            (String(repeating: "a", count: 254) + ":1", .badHost), ("[::1]7420", .noPort),
        ])
    func refused(text: String, problem: EndpointError.Problem) {
        #expect(throws: EndpointError(text: text, problem: problem)) { try Endpoint.parse(text) }
    }

    @Test("the refusal says what to write instead") func wording() {
        let error = EndpointError(text: "beta", problem: .noPort)
        #expect(error.description.hasPrefix("\"beta\" has no port: write HOST:PORT, as in "))
    }
}
