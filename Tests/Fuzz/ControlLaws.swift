import SyncModel

/// What syncctl and the daemon say to each other: lines, requests, answers, documents.
@testable import ControlProtocol

extension Law {
    static let controlLaws = [callLaw, replyLaw, controlDocumentLaw, lineLaw]

    private static let callLaw = Law("calls") { bytes throws(Broken) in
        let call: ControlCall
        do throws(ControlRefusal) {
            call = try ControlCall(line: bytes)
        } catch {
            // The refusal is the answer: it must reach who asked.
            return try checkReply(error.bytes, "the refusal")
        }
        guard let again = try? ControlCall(line: call.bytes.dropLast()) else {
            throw Broken("\(call.bytes.text) is refused")
        }
        try demand(again == call, "\(call) was written and read as \(again)")
        try demand(!call.bytes.dropLast().contains(0x0A), "a request of two lines")
    }

    private static let replyLaw = Law("replies") { bytes throws(Broken) in
        guard let reply = try? ControlReply(line: bytes) else { return }
        try checkReply(reply.bytes, "\(reply)")
    }

    /// Written once more it is the same: what an answer does not know has gone by then.
    private static func checkReply(_ line: [UInt8], _ name: String) throws(Broken) {
        try demand(line.last == 0x0A && !line.dropLast().contains(0x0A), "\(name) is not one line")
        guard let reply = try? ControlReply(line: line.dropLast()) else {
            throw Broken("\(name) cannot be read: \(line.text)")
        }
        guard let again = try? ControlReply(line: reply.bytes.dropLast()) else {
            throw Broken("\(reply) cannot be read again")
        }
        try demand(again == reply, "\(reply) was written and read as \(again)")
    }

    private static let documents: [any ControlDocument.Type] = [
        AlertDocument.self, AlertsDocument.self, ConflictDocument.self, ConflictsDocument.self, DocumentChecks.self,
        DoctorDocument.self, DoneDocument.self, ErrorDocument.self, EventLine.self, ExplainDocument.self,
        HistoryDocument.self, InviteDocument.self, LockDocument.self, LocksDocument.self, LogLine.self,
        LogVerifyDocument.self, MetricsDocument.self, PairedDocument.self, RecordsDocument.self, StatusDocument.self,
        VerifyDocument.self, VersionDocument.self,
    ]

    /// Any JSON as each of the documents.
    private static let controlDocumentLaw = Law("answers") { bytes throws(Broken) in
        guard let json = try? JSON(parsing: bytes) else { return }
        for type in documents { try check(type, json) }
    }

    /// What a document does not know has gone after the first reading, and fractions of times with it; from then on it is the same.
    private static func check<Document: ControlDocument>(_ type: Document.Type, _ json: JSON) throws(Broken) {
        guard let document = try? Document(json: json) else { return }
        let written = document.json
        guard let read = try? JSON(parsing: written.bytes) else { throw Broken("\(type) is written as no JSON") }
        let again: Document
        do throws(DocumentError) {
            again = try Document(json: read)
        } catch {
            throw Broken("\(type) cannot be read as it is written: \(error.text) in \(written.bytes.text)")
        }
        try demand(again.json == written, "\(type) \(written) was written and read as \(again.json)")
    }

    /// However a stream is cut, the same lines come out of it.
    private static let lineLaw = Law("lines") { bytes throws(Broken) in
        let whole = lines(of: [bytes[...]])
        var random = SeededRandom(seed: UInt64(CRC32.checksum(bytes[...])))
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + 1 + random.below(9))
            pieces.append(bytes[start..<end])
            start = end
        }
        try demand(lines(of: pieces) == whole, "cut in pieces it is something else")
    }

    /// With a bound that inputs reach.
    private static func lines(of pieces: [ArraySlice<UInt8>]) -> [LineBuffer.Next] {
        var buffer = LineBuffer(lineBytesMax: 64)
        var found: [LineBuffer.Next] = []
        for piece in pieces {
            buffer.append(piece)
            reading: while true {
                let next = buffer.next()
                switch next {
                case .line: found.append(next)
                case .none: break reading
                case .tooLong: return found + [next]
                }
            }
        }
        return found
    }
}
