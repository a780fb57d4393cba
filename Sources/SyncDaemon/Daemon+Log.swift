import ControlProtocol
import EventLoop
import RecordMerge
import SyncCore
import SyncModel

/// The change logs. The own one is kept entry by entry; of the other node's the latest entry about each path is known.
extension Daemon {
    func log(_ count: Int?, follows: Bool, _ node: String?, _ asker: Asker) {
        let wanted = node.map { Array($0.utf8) }
        guard wanted == nil || wanted == record.name || wanted == record.peerName else {
            let text = "there is no node \"\(Path.escape(wanted ?? []))\" in this pair"
            return asker.refuse(ControlError(.requestNotFound, text: text))
        }
        let showsOwn = wanted != record.peerName || wanted == record.name
        let showsPeer = wanted != record.name
        host.ownLog(last: showsOwn ? count : 0) { [unowned self] own in
            host.peerLog(last: showsPeer ? count : 0) { [unowned self] peer in
                let all =
                    own.map { (logLine($0), Daemon.save(in: $0)) } + peer.map { (logLine($0), Daemon.save(in: $0)) }
                let lines = all.sorted { Daemon.isEarlier($0.0, $1.0) }.suffix(count ?? all.count)
                host.savedSets(SavedSets(wanted: Set(lines.compactMap(\.1)))) { [unowned self] sets in
                    let told = lines.map { line, save in
                        save.flatMap { sets.found[$0] }.map { line.saved(in: $0) } ?? line
                    }
                    tell(told[...], asker) { [unowned self] in
                        guard follows else { return asker.finish(DoneDocument()) }
                        feed.followLog(asker.client.id) { if wanted == nil || $0.node == wanted { asker.item($0) } }
                        asker.client.whenOver { [feed] in feed.unfollowLog(asker.client.id) }
                    }
                }
            }
        }
    }

    private static func save(in record: LogRecord) -> SavedSets.Save? {
        guard case .put(let path, let revision) = record.change else { return nil }
        return SavedSets.Save(.own, path, revision.entry.content, record.time)
    }

    private static func save(in entry: PeerEntry) -> SavedSets.Save? {
        SavedSets.Save(.peer, entry.path, entry.revision.entry.content, entry.revision.origin.time)
    }

    private static func isEarlier(_ left: LogLine, _ right: LogLine) -> Bool {
        if left.node == right.node { return (left.epoch, left.seq) < (right.epoch, right.seq) }
        return left.timeMilliseconds < right.timeMilliseconds
    }

    /// As fast as the client reads.
    private func tell(_ lines: ArraySlice<LogLine>, _ asker: Asker, then: @escaping () -> Void) {
        guard asker.client.isOpen else { return }
        var rest = lines
        while !asker.client.isBehind, let line = rest.popFirst() { asker.item(line) }
        if rest.isEmpty { return then() }
        let timer = Timer(loop: loop)
        timer.start(afterMilliseconds: Daemon.behindPauseMilliseconds) { [unowned self] in
            timer.close()
            tell(rest, asker, then: then)
        }
    }

    private static let behindPauseMilliseconds: UInt64 = 5

    func verifyLog(_ asker: Asker) {
        host.ownLog(last: nil) { [unowned self] records in
            host.checkSets { [unowned self] own, peer in
                let broken = LogCheck.firstBreak(in: records, of: record.id)
                let text = broken.map { "the chain breaks at \($0.epoch.raw)/\($0.seq)" } ?? "the chain is whole"
                var logs = [
                    LogVerifyDocument.Log(
                        node: record.name, records: records.count, changeSets: own.count,
                        isIntact: broken == nil && own.isIntact, text: "\(text); \(own.text)")
                ]
                if !record.peerName.isEmpty {
                    logs.append(
                        LogVerifyDocument.Log(
                            node: record.peerName, records: 0, changeSets: peer.count, isIntact: peer.isIntact,
                            text: "of its entries only the latest about each path is kept; \(peer.text)"))
                }
                asker.finish(LogVerifyDocument(logs: logs))
            }
        }
    }

    // MARK: As it is written down

    /// For the journal and for those who follow.
    func tellChanges(_ batch: StoreBatch) {
        let told = imports.head
        let isApplied = batch.operations.contains { if case .dropIntent = $0 { true } else { false } }
        for operation in batch.operations {
            if case .appendLog(let record) = operation { tell(logLine(record), at: .changes) }
            if case .putChangeSet(let set) = operation { tell(set) }
            guard case .putRow(let row) = operation else { continue }
            if isApplied, !row.needsApply { journal.trace("shown: \(row.path.quoted)", at: .changes) }
            for head in row.heads where head.origin.author == .peer && head.origin.position > told {
                tell(logLine(PeerEntry(path: row.path, revision: head)), at: .operations)
            }
        }
    }

    /// What was saved of records: a line for each change set, and below it one for each operation.
    private func tell(_ set: StoredChangeSet) {
        guard journal.level >= .changes, let prologue = ChangeSetCodec.prologue(of: set.bytes) else { return }
        let name = Path.escape(set.author == .own ? record.name : record.peerName)
        let operations = ChangeSetCodec.operations(of: set.bytes)
        let model = Path.escape(prologue.needs.model)
        let what = operations.map { "\($0.count) operations" } ?? "operations that this version does not know"
        journal.trace(
            "\(name) set \(set.position.seq): \(what) on \(prologue.records.count) records of \(model)", at: .changes)
        for operation in operations ?? [] {
            let text = Path.escape(Array("\(operation)".utf8))
            journal.trace("\(name) set \(set.position.seq): \(text)", at: .operations)
        }
    }

    private func tell(_ line: LogLine, at level: Journal.Level) {
        journal.trace(
            "\(Path.escape(line.node)) \(line.seq): \(line.kind) \(Path.quote(line.path))", at: level)
        feed.change(line)
    }

    func logLine(_ record: LogRecord) -> LogLine {
        let (kind, path, from): (String, Path, Path?) =
            switch record.change {
            case .put(let path, let revision): (Daemon.kind(of: revision), path, revision.movedFrom)
            case .relocate(let relocation): ("move-directory", relocation.to, relocation.from)
            }
        return logLine(self.record.name, record.head.position, record.time, kind, path, from)
    }

    func logLine(_ entry: PeerEntry) -> LogLine {
        let origin = entry.revision.origin
        return logLine(
            record.peerName, origin.position, origin.time, Daemon.kind(of: entry.revision), entry.path,
            entry.revision.movedFrom)
    }

    private func logLine(
        _ node: [UInt8], _ position: LogPosition, _ time: HybridTime, _ kind: String, _ path: Path, _ from: Path?
    ) -> LogLine {
        LogLine(
            node: node, epoch: position.epoch.raw, seq: position.seq,
            timeMilliseconds: Int64(clamping: time.wallMilliseconds), kind: kind, path: path.bytes, ops: 1,
            from: from?.bytes)
    }

    private static func kind(of revision: Revision) -> String {
        switch revision.entry.content {
        case .absent: revision.movedTo == nil ? "delete" : "move-away"
        case .directory: "directory"
        case .file: "file"
        case .symlink: "symlink"
        }
    }
}

extension LogLine {
    fileprivate func saved(in set: SavedSets.Found) -> LogLine {
        var line = self
        line.ops = set.operations
        line.changeSet = set.line
        return line
    }
}
