import Coordination
import RecordMerge
import SyncCore
import SyncModel

/// What goes into the trace. Every happening, event and effect is mixed into the hash with what tells it from others;
/// text is made only for a trace that somebody keeps.
extension World {
    func record(_ happening: Happening) {
        trace.mix(UInt64(bitPattern: now))
        trace.mix(happening.tag)
        switch happening {
        case .fault, .faultEnd, .start, .powerOn, .tell, .deadline, .notices, .link, .hashEnd, .storeRequest,
            .storeAnswer,
            .writeBack, .inspection, .diskRequest, .diskOperation:
            break
        case .agent(let index):
            trace.mix(index)
        }
    }

    func record(_ event: Event, _ machine: Int) {
        trace.mix(machine)
        trace.mix(event)
        trace.tell("\(now) \(machines[machine].name) < \(event.summary)")
    }

    func record(_ effect: Effect, _ machine: Int) {
        trace.mix(effect)
        trace.tell("\(now) \(machines[machine].name) > \(effect.summary)")
    }
}

extension Happening {
    fileprivate var tag: Int {
        switch self {
        case .agent: 1
        case .tell: 2
        case .diskOperation: 3
        case .diskRequest: 4
        case .hashEnd: 5
        case .storeRequest: 6
        case .storeAnswer: 7
        case .notices: 8
        case .deadline: 9
        case .link: 10
        case .fault: 11
        case .faultEnd: 12
        case .start: 13
        case .powerOn: 14
        case .writeBack: 15
        case .inspection: 16
        }
    }
}

// MARK: Into the hash

extension Trace {
    mutating func mix(_ path: Path) { mix(path.bytes) }

    mutating func mix(_ digest: Digest) {
        mix(digest.words.0)
        mix(digest.words.3)
    }

    mutating func mix(_ stat: Stat?) {
        guard let stat else { return mix(0) }
        mix(stat.identity.inode)
        mix(stat.size)
        mix(Int(stat.mode) << 8 | Int(stat.kind.rawValue))
        mix(stat.modified)
        mix(stat.changed)
    }

    mutating func mix(_ time: Timestamp) {
        mix(UInt64(bitPattern: time.seconds) &* 1_000_000_007 &+ UInt64(time.nanoseconds))
    }

    mutating func mix(_ event: Event) {
        switch event {
        case .started(let start):
            mix(1)
            mix(UInt64(start.nonce) << 1 | (start.powerWasLost ? 1 : 0))
        case .stopRequested: mix(2)
        case .noticed(let notices):
            mix(3)
            for notice in notices {
                mix(notice.path)
                mix(UInt64(notice.kind.rawValue))
            }
        case .overflowed: mix(4)
        case .scanned(let job, let chunk):
            mix(5, job)
            mix(UInt64(chunk.root.rawValue))
            for difference in chunk.differences {
                mix(difference.path)
                mix(difference.stat)
            }
            if let resume = chunk.resume { mix(resume) }
        case .inspected(let job, let inspection):
            mix(6, job)
            mix(UInt64(inspection.root.rawValue))
            for result in inspection.results {
                switch result {
                case .found(let stat): mix(stat)
                case .absent: mix(1)
                case .failed(let error): mix(UInt64(error.rawValue) + 2)
                }
            }
        case .hashed(let job, let outcomes):
            mix(7, job)
            for outcome in outcomes { mix(outcome) }
        case .readFinished(let job, let outcomes):
            mix(8, job)
            for outcome in outcomes {
                switch outcome {
                case .bytes(let bytes): mix(bytes)
                case .failed(let error): mix(UInt64(error.rawValue))
                }
            }
        case .parsed(let job, let outcome):
            mix(8, job)
            mix(Array(outcome.summary.utf8))
        case .diskFinished(let job, let results):
            mix(9, job)
            for result in results {
                for stat in result.inspected { mix(stat) }
                if let failure = result.failure { mix(failure.index << 8 | Int(failure.error.rawValue)) }
            }
        case .stageListed(let job, let files):
            mix(10, job)
            for file in files { mix(file.name.raw) }
        case .loaded(let job, let answers):
            mix(11, job)
            mix(answers.count)
        case .stored(let job): mix(12, job)
        case .storeFailed(let job): mix(13, job)
        case .connected(let link): mix(14 << 56 | link.raw)
        case .received(let link, let frame):
            mix(15 << 56 | link.raw)
            mix(frame)
        case .sent(let link, let count):
            mix(16 << 56 | link.raw)
            mix(count)
        case .disconnected(let link): mix(17 << 56 | link.raw)
        case .deadline: mix(18)
        case .command(let id, _): mix(19 << 56 | id.raw)
        }
    }

    mutating func mix(_ effect: Effect) {
        switch effect {
        case .load(let job, let queries):
            mix(31, job)
            mix(queries.count)
        case .store(let job, let batch):
            mix(32, job)
            for operation in batch.operations { mix(operation) }
        case .scan(let job, let request, _):
            mix(33, job)
            mix(request.directory)
            if let after = request.after { mix(after) }
        case .inspect(let job, let paths):
            mix(34, job)
            for path in paths { mix(path) }
        case .hash(let job, let paths):
            mix(35, job)
            for path in paths { mix(path) }
        case .read(let job, let requests):
            mix(36, job)
            for request in requests {
                mix(request.place)
                mix(request.offset)
            }
        case .parse(let job, let request):
            mix(36, job)
            mix(request.place)
        case .disk(let job, let programs):
            mix(37, job)
            for program in programs {
                mix(program.operations.count)
                for operation in program.operations { for place in operation.places { mix(place) } }
            }
        case .listStage(let job): mix(38, job)
        case .send(let link, let frame):
            mix(39 << 56 | link.raw)
            mix(frame)
        case .close(let link, _): mix(40 << 56 | link.raw)
        case .wake(let milliseconds): mix(41 << 56 ^ milliseconds)
        case .report(let report):
            switch report {
            case .raised(let alert), .raisedAgain(let alert): mix(alert.key.subject)
            case .cleared(let key): mix(key.subject)
            case .note(let note): mix(note.subject)
            case .peerIs(let node): mix(node.digest.bytes)
            }
        case .answer(let id, _): mix(43 << 56 | id.raw)
        case .program(let word): mix(Array(word.summary.utf8))
        case .finish(let reason): mix(44 << 56 | UInt64(reason.rawValue))
        }
    }

    private mutating func mix(_ tag: UInt64, _ job: JobID) { mix(tag << 56 ^ job.raw) }

    private mutating func mix(_ outcome: HashOutcome) {
        switch outcome {
        case .content(let content, _, let stat):
            if case .file(let id, _) = content { mix(id.digest) }
            mix(stat)
        case .changing: mix(1)
        case .absent: mix(2)
        case .failed(let error): mix(UInt64(error.rawValue) + 3)
        }
    }

    private mutating func mix(_ place: Place) {
        switch place {
        case .tree(let path): mix(path)
        case .stage(let name): mix(1 << 56 ^ name.raw)
        case .version(let id): mix(2 << 56 ^ id.raw)
        case .quarantine(let id): mix(3 << 56 ^ id.raw)
        }
    }

    private mutating func mix(_ operation: StoreOperation) {
        switch operation {
        case .putRow(let row):
            mix(row.path)
            mix(row.heads.count << 8 | Int(row.condition.rawValue))
            mix(row.reflected.own.seq)
            mix(row.reflected.peer.seq)
            mix(row.disk?.stat)
        case .dropRow(let path): mix(path)
        case .relocate(let relocation):
            mix(relocation.from)
            mix(relocation.to)
        case .appendLog(let record): mix(record.head.chain)
        case .dropLog(let position): mix(position.seq)
        case .putNode(let node):
            mix(node.ownHead.chain)
            mix(node.importedHead.chain)
        case .putIntent(let intent):
            mix(intent.stage.raw)
            mix(intent.path)
        case .dropIntent(let stage): mix(stage.raw)
        case .putVersion(let version):
            mix(version.id.raw)
            mix(version.path)
        case .dropVersion(let id): mix(id.raw)
        case .putChunks(let content, _): mix(content.digest)
        case .putChangeSet(let set): mix(set.bytes)
        case .dropChangeSets(_, let through): mix(through.seq)
        }
    }
}

// MARK: For readers

extension Event {
    package var summary: String {
        switch self {
        case .started(let start): "started nonce=\(start.nonce) powerWasLost=\(start.powerWasLost)"
        case .stopRequested: "stop requested"
        case .noticed(let notices): "noticed " + notices.map { "\($0.path):\($0.kind)" }.joined(separator: " ")
        case .overflowed: "overflowed"
        case .scanned(let job, let chunk):
            "scanned \(job.raw) \(chunk.root) "
                + chunk.differences.map { "\($0.path)\($0.stat == nil ? "-" : "")" }.joined(separator: " ")
                + (chunk.resume.map { " resume \($0)" } ?? "")
                + (chunk.unreadable.isEmpty ? "" : " unreadable \(chunk.unreadable)")
        case .inspected(let job, let inspection):
            "inspected \(job.raw) \(inspection.root) " + inspection.results.map { $0.summary }.joined(separator: " ")
        case .hashed(let job, let outcomes):
            "hashed \(job.raw) " + outcomes.map { $0.summary }.joined(separator: " ")
        case .readFinished(let job, let outcomes):
            "read \(job.raw) " + outcomes.map { $0.summary }.joined(separator: " ")
        case .parsed(let job, let outcome): "parsed \(job.raw) \(outcome.summary)"
        case .diskFinished(let job, let results):
            "disk finished \(job.raw) " + results.map { $0.summary }.joined(separator: " ")
        case .stageListed(let job, let files): "stage listed \(job.raw) \(files.count) files"
        case .loaded(let job, let answers): "loaded \(job.raw) " + answers.map { $0.summary }.joined(separator: " ")
        case .stored(let job): "stored \(job.raw)"
        case .storeFailed(let job): "store failed \(job.raw)"
        case .connected(let link): "connected \(link.raw)"
        case .received(let link, let frame): "received \(link.raw) \(Trace.describe(frame))"
        case .sent(let link, let bytes): "sent \(link.raw) \(bytes) bytes"
        case .disconnected(let link): "disconnected \(link.raw)"
        case .deadline: "deadline"
        case .command(let id, let command): "command \(id.raw) \(command)"
        }
    }
}

extension Effect {
    package var summary: String {
        switch self {
        case .load(let job, let queries):
            "load \(job.raw) " + queries.map { $0.summary }.joined(separator: "; ")
        case .store(let job, let batch):
            "store \(job.raw) " + batch.operations.map { $0.summary }.joined(separator: "; ")
        case .scan(let job, let request, _):
            "scan \(job.raw) \(request.directory)" + (request.after.map { " after \($0)" } ?? "")
        case .inspect(let job, let paths): "inspect \(job.raw) " + paths.map(\.description).joined(separator: " ")
        case .hash(let job, let paths): "hash \(job.raw) " + paths.map(\.description).joined(separator: " ")
        case .read(let job, let requests):
            "read \(job.raw) " + requests.map { "\($0.place.summary)+\($0.offset):\($0.length)" }.joined(separator: " ")
        case .parse(let job, let request): "parse \(job.raw) \(request.place.summary):\(request.length)"
        case .disk(let job, let programs):
            "disk \(job.raw) "
                + programs.map { "[" + $0.operations.map(\.summary).joined(separator: "; ") + "]" }
                .joined(separator: " ")
        case .listStage(let job): "list stage \(job.raw)"
        case .send(let link, let frame): "send \(link.raw) \(Trace.describe(frame))"
        case .close(let link, let code): "close \(link.raw) \(code)"
        case .wake(let milliseconds): "wake at \(milliseconds)"
        case .report(.raised(let alert)): "alert \(alert.key.code) \(Path.escape(alert.key.subject))"
        case .report(.raisedAgain(let alert)): "again \(alert.key.code) \(Path.escape(alert.key.subject))"
        case .report(.cleared(let key)): "cleared \(key.code) \(Path.escape(key.subject))"
        case .report(.note(let note)): "note \(note.code) \(Path.escape(note.subject))"
        case .report(.peerIs(let node)): "peer is \(node.digest)"
        case .answer(let id, let answer): "answer \(id.raw) \(answer.summary)"
        case .program(let word): word.summary
        case .finish(let reason): "finish \(reason)"
        }
    }
}

extension Answer {
    var summary: String {
        switch self {
        case .done: "done"
        case .refused(let code): "refused \(code)"
        case .status(let status):
            "status \(status.state) inSync=\(status.inSync) toSend=\(status.toSend) toApply=\(status.toApply)"
        case .history(let versions): "history of \(versions.count)"
        case .contests(let contests): "\(contests.count) contests"
        case .records(let records): "\(records.count) records"
        case .explanation: "explanation"
        case .scan(let scan): "\(scan.live) live records, \(scan.faults.count) faults"
        case .claims(let claims): "\(claims.count) claims"
        case .claimRefused(let reason): "claim refused: \(reason)"
        }
    }
}

extension ProgramWord {
    var summary: String {
        switch self {
        case .ask(let question):
            "ask \(question.id) of \(question.presenter): \(question.kind) \(question.path)"
                + (question.savesFirst ? ", saving first" : "")
        case .tell(let presenter, let news): "tell \(presenter): \(news.summary)"
        case .revoked(let claim, _): "claim \(claim) taken away"
        }
    }
}

extension News {
    fileprivate var summary: String {
        switch self {
        case .reacquired: "reacquired"
        case .changed(let path): "changed \(path)"
        case .moved(let path, let target): "moved \(path) to \(target)"
        case .deleted(let path): "deleted \(path)"
        case .skipped: "skipped"
        case .warned(let warning): "\(warning.code) \(warning.about) \(warning.isOpen ? "opened" : "closed")"
        }
    }
}

extension Inspection.Result {
    fileprivate var summary: String {
        switch self {
        case .found(let stat): stat.summary
        case .absent: "absent"
        case .failed(let error): "\(error)"
        }
    }
}

extension Stat {
    /// Kind, inode, size and mode; the times to the millisecond.
    var summary: String {
        "\(kind)#\(identity.inode):\(size):\(String(mode, radix: 8))@\(modified.milliseconds)/\(changed.milliseconds)"
    }
}

extension HashOutcome {
    fileprivate var summary: String {
        switch self {
        case .content(let content, let list, let stat): "\(content.summary) \(list.chunks.count) chunks \(stat.summary)"
        case .changing: "changing"
        case .absent: "absent"
        case .failed(let error): "\(error)"
        }
    }
}

extension Content {
    var summary: String {
        switch self {
        case .absent: "absent"
        case .directory: "directory"
        case .file(let id, let size): "file \(id.digest.hex(digits: 6)) (\(size))"
        case .symlink(let target): "-> \(Path.escape(target))"
        }
    }
}

extension ReadOutcome {
    fileprivate var summary: String {
        switch self {
        case .bytes(let bytes): "\(bytes.count) bytes"
        case .failed(let error): "\(error)"
        }
    }
}

extension ParseOutcome<Parsed> {
    fileprivate var summary: String {
        switch self {
        case .parsed(.header(let header)): "\(header)"
        case .parsed(.document(let saved)): "\(saved.content.digest.hex(digits: 6))"
        case .failed(let error): "\(error)"
        case .poisoned: "poisoned"
        }
    }
}

extension DiskResult {
    fileprivate var summary: String {
        let seen = inspected.map { $0?.summary ?? "nothing" }.joined(separator: ",")
        return "(\(seen)" + (failure.map { " failed at \($0.index): \($0.error)" } ?? "") + ")"
    }
}

extension StoreAnswer {
    fileprivate var summary: String {
        switch self {
        case .rows(let rows): "rows(" + rows.map(\.summary).joined(separator: " ") + ")"
        case .summary(let summary): "summary \(summary.contents.liveRows)"
        case .chunkList(let list): "chunk list of \(list?.chunks.count ?? -1)"
        case .chunkSources(let sources): "\(sources.count) chunk sources"
        case .log(let records): "log(" + records.map(\.summary).joined(separator: " ") + ")"
        case .logRecord(let record): "record " + (record?.summary ?? "none")
        case .intents(let intents): "intents(" + intents.map { "\($0.path)" }.joined(separator: " ") + ")"
        case .versions(let versions): "\(versions.count) versions"
        case .prunable(let versions, let bytes): "\(versions.count) of the versions with \(bytes) bytes"
        case .changeSets(let sets): "\(sets.count) change sets"
        }
    }
}

extension StoreQuery {
    fileprivate var summary: String {
        switch self {
        case .rows(let paths): "rows " + paths.map(\.description).joined(separator: " ")
        case .below(let path, let after, let limit): "below \(path) after \(after?.description ?? "start") \(limit)"
        case .unsettled(let cursor, let ascending, let limit):
            "unsettled \(ascending ? "after" : "before") \(cursor?.description ?? "end") \(limit)"
        case .identities(let identities): "identities of \(identities.map { String($0.inode) }.joined(separator: " "))"
        case .contents(let contents): "contents \(contents.map { $0.digest.hex(digits: 6) }.joined(separator: " "))"
        case .ignoreFiles: "ignore files"
        case .conflictCopies(let limit): "conflict copies \(limit)"
        case .guarded(let after, let limit): "guarded after \(after.map { "\($0)" } ?? "-") \(limit)"
        case .summary(let path): "summary \(path)"
        case .chunkList(let content): "chunk list \(content.digest.hex(digits: 6))"
        case .chunkSources(let digests): "chunk sources \(digests.count)"
        case .log(let after, let limit): "log after \(after.summary) \(limit)"
        case .latestLog(let limit): "latest log \(limit)"
        case .logRecord(let position): "record \(position.summary)"
        case .intents: "intents"
        case .versions(let path, let limit): "versions \(path?.description ?? "all") \(limit)"
        case .versionsBelow(let path): "versions below \(path)"
        case .versionsKept(let since, let limit): "versions since \(since) \(limit)"
        case .prunable(let limit): "prunable \(limit)"
        case .changeSets(let author, let after, _): "change sets \(author.map { "\($0)" } ?? "") after \(after.summary)"
        }
    }
}

extension StoreOperation {
    fileprivate var summary: String {
        switch self {
        case .putRow(let row): "put \(row.summary)"
        case .dropRow(let path): "drop \(path)"
        case .relocate(let relocation): "relocate \(relocation.from) to \(relocation.to)"
        case .appendLog(let record): "log \(record.summary)"
        case .dropLog(let through): "drop log through \(through.summary)"
        case .putNode(let node):
            "node own=\(node.ownHead.position.summary) imported=\(node.importedHead.position.summary) "
                + "acked=\(node.acknowledged.position.summary) applied=\(node.applied.summary)"
        case .putIntent(let intent): "intent \(intent.stage.raw) \(intent.path) \(intent.action.summary)"
        case .dropIntent(let stage): "drop intent \(stage.raw)"
        case .putVersion(let version): "version \(version.id.raw) of \(version.path) \(version.entry.content.summary)"
        case .dropVersion(let id): "drop version \(id.raw)"
        case .putChunks(let content, let list): "chunks \(content.digest.hex(digits: 6)) \(list.chunks.count)"
        case .putChangeSet(let set): "change set \(set.author) \(set.position.summary)"
        case .dropChangeSets(let author, let through): "no change sets \(author) through \(through.summary)"
        }
    }
}

extension Intent.Action {
    fileprivate var summary: String {
        switch self {
        case .place(_, let entry): "place \(entry.content.summary)"
        case .remove: "remove"
        case .rename(let from): "rename from \(from)"
        }
    }
}

extension Row {
    package var summary: String {
        let heads = heads.map { "\($0.origin.summary)<\($0.seen.summary)=\($0.entry.content.summary)" }
        return "\(path){\(heads.joined(separator: " | "))"
            + " disk=\(disk.map { $0.entry.content.summary } ?? "none") reflects \(reflected.summary)"
            + (condition == .normal ? "" : " \(condition)") + (waiting.map { " waits \($0.reason)" } ?? "") + "}"
    }
}

extension Origin {
    fileprivate var summary: String { "\(author == .own ? "o" : "p")\(position.summary)" }
}

extension VersionVector {
    fileprivate var summary: String { "(o\(own.summary) p\(peer.summary))" }
}

extension LogPosition {
    package var summary: String { "\(epoch.number).\(seq)" }
}

extension LogRecord {
    fileprivate var summary: String {
        switch change {
        case .put(let path, let revision):
            "\(head.position.summary) \(path)=\(revision.entry.content.summary) seen \(revision.seen.summary)"
        case .relocate(let relocation): "\(head.position.summary) \(relocation.from) moved to \(relocation.to)"
        }
    }
}

extension Place {
    var summary: String {
        switch self {
        case .tree(let path): path.description
        case .stage(let name): "stage/\(name.raw)"
        case .version(let id): "versions/\(id.raw)"
        case .quarantine(let id): "quarantine/\(id.raw)"
        }
    }
}

extension DiskOperation {
    package var summary: String {
        switch self {
        case .createFile(let place): "create \(place.summary)"
        case .write(let place, let offset, let bytes): "write \(place.summary)+\(offset):\(bytes.count)"
        case .copy(let from, let offset, let length, let to, let at, _):
            "copy \(from.summary)+\(offset):\(length) to \(to.summary)+\(at)"
        case .truncate(let place, let size): "truncate \(place.summary) to \(size)"
        case .createDirectory(let place, let mode): "mkdir \(place.summary) \(String(mode, radix: 8))"
        case .createSymlink(let place, let target): "symlink \(place.summary) -> \(Path.escape(target))"
        case .setMode(let place, let mode): "chmod \(place.summary) \(String(mode, radix: 8))"
        case .setModified(let place, let time): "touch \(place.summary) \(time.milliseconds)"
        case .syncFile(let place): "sync \(place.summary)"
        case .syncParent(let place): "sync parent of \(place.summary)"
        case .expectAbsent(let place): "expect nothing at \(place.summary)"
        case .expect(let place, let stat): "expect \(stat.summary) at \(place.summary)"
        case .expectContent(let place, let stat): "expect content \(stat.summary) at \(place.summary)"
        case .expectIdentity(let place, let identity, _): "expect #\(identity.inode) at \(place.summary)"
        case .expectUnheld(let place): "expect nobody to hold \(place.summary)"
        case .inspect(let place): "inspect \(place.summary)"
        case .exchange(let left, let right): "exchange \(left.summary) with \(right.summary)"
        case .move(let place, let to): "move \(place.summary) to \(to.summary)"
        case .removeDirectory(let place): "rmdir \(place.summary)"
        case .discard(let place): "discard \(place.summary)"
        }
    }

    /// The places it names, in the order of its arguments.
    var places: [Place] {
        switch self {
        case .createFile(let place), .write(let place, _, _), .truncate(let place, _), .createDirectory(let place, _),
            .createSymlink(let place, _), .setMode(let place, _), .setModified(let place, _), .syncFile(let place),
            .syncParent(let place), .expectAbsent(let place), .expect(let place, _), .expectContent(let place, _),
            .expectIdentity(let place, _, _), .expectUnheld(let place), .inspect(let place),
            .removeDirectory(let place),
            .discard(let place):
            [place]
        case .copy(let from, _, _, let to, _, _): [from, to]
        case .exchange(let left, let right): [left, right]
        case .move(let place, let to): [place, to]
        }
    }

    /// True if it changes what is on the disk.
    package var isMutation: Bool {
        switch self {
        case .createFile, .write, .copy, .truncate, .createDirectory, .createSymlink, .setMode, .setModified, .exchange,
            .move, .removeDirectory, .discard:
            true
        case .syncFile, .syncParent, .expectAbsent, .expect, .expectContent, .expectIdentity, .expectUnheld, .inspect:
            false
        }
    }
}

extension Frame {
    var summary: String {
        switch self {
        case .hello(let hello):
            "hello own=\(hello.ownHead.position.summary) known="
                + hello.known.map { $0.position.summary }.joined(separator: ",")
        case .log(let entries): "log of \(entries.count)"
        case .acknowledge(let ack): "ack \(ack.head.position.summary)\(ack.isSettled ? " settled" : "")"
        case .rows(let states):
            "rows " + states.map { "\($0.path)=\($0.revision.entry.content.summary)" }.joined(separator: " ")
        case .rowsEnd(let head): "rows end \(head.position.summary)"
        case .want(let contents): "want " + contents.map { $0.digest.hex(digits: 6) }.joined(separator: " ")
        case .wantChanged(let wishes):
            "want "
                + wishes.map { "\($0.content.digest.hex(digits: 6)) since \($0.base.digest.hex(digits: 6))" }
                .joined(separator: " ")
        case .chunkList(let page): "chunk list \(page.content.digest.hex(digits: 6)) \(page.first)/\(page.total)"
        case .changedList(let list):
            "chunk list \(list.content.digest.hex(digits: 6)) in \(list.parts.count) parts since \(list.base.digest.hex(digits: 6))"
        case .wantChunks(let content, let indexes): "want \(indexes.count) chunks of \(content.digest.hex(digits: 6))"
        case .chunks(let content, let chunks): "\(chunks.count) chunks of \(content.digest.hex(digits: 6))"
        case .contents(let contents): "contents " + contents.map { $0.id.digest.hex(digits: 6) }.joined(separator: " ")
        case .later(let content): "later \(content.digest.hex(digits: 6))"
        case .gone(let content): "gone \(content.digest.hex(digits: 6))"
        case .rolledBack(let position): "rolled back \(position.summary)"
        case .expand(let position): "expand \(position.summary)"
        case .expansion(let position, let states, let isLast):
            "expansion \(position.summary) of \(states.count)\(isLast ? ", the last" : "")"
        case .records(let hello): "records \(hello.models.count) models, \(hello.own.summary), \(hello.known.summary)"
        case .changeSet(let piece): "change set \(piece.author) \(piece.position.summary) from \(piece.offset)"
        case .setsTaken(let position): "sets taken \(position.summary)"
        case .formats(let formats): "formats \(formats.map { "\($0.versions)" }.joined(separator: " "))"
        case .setsBase(let base):
            "sets base \(base.step) \(base.own.summary), \(base.peer.summary) of \(base.ownEnd.summary), \(base.peerEnd.summary)"
        case .setsShown(let position): "sets shown \(position.summary)"
        case .claim(let claim): "claim \(claim.id)\(claim.isRead ? " to read" : "")\(claim.isHeld ? ", held" : "")"
        case .claimAnswer(let id, let isGranted): "claim \(id) \(isGranted ? "granted" : "waits")"
        case .releaseClaim(let id): "claim \(id) released"
        case .claimWaits(let waits): "\(waits.count) wait for each other"
        case .pausing(let isPaused): isPaused ? "paused" : "goes on"
        case .holding(let files): "holding \(files) deletes"
        case .ping: "ping"
        case .pong: "pong"
        case .halt(let code): "halt \(code)"
        case .unknown(let type): "unknown \(type)"
        }
    }
}

extension Trace {
    static func describe(_ frame: [UInt8]) -> String {
        "[" + (FrameCodec.decode(frame)?.summary ?? "no frame") + "]"
    }
}
