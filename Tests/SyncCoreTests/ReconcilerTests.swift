/// The decision table of docs/architecture.md, § Files, as a table: what lies on this node's disk, what both logs say, and
/// what is to be done, the fate of what has to make room included.
import SyncCore
import SyncModel
import Testing

struct ReconcilerTests {
    /// name | on disk | heads | wanted | step
    ///
    /// Entries: `a b` files, `l` a link, `d` a directory, `-` nothing; `+m` other permission bits, `+t` another time.
    /// Revisions: `own2` is the second entry of our log, `peer1` the first of the peer's, written at times 2 and 1; of equal
    /// times the peer is the later. A head is `author:entry`, then `=origin` if its content is older than itself, then
    /// `<seen,seen`. On disk is `entry@origin of its content`, and `!` if it is damaged.
    static let rows = """
        nothing known                           | -       |                                    | -   | agree
        both have it                            | a@own1  | own1:a                             | a   | agree
        the peer's and here already             | a@peer1 | peer1:a                            | a   | agree
        both wrote the same                     | a@own1  | own1:a peer1:a                     | a   | agree
        both made the directory                 | d@own1  | own1:d peer1:d                     | d   | agree
        both made the link                      | l@own1  | own1:l peer1:l                     | l   | agree
        deleted there, not here any more        | -       | peer1:-<own1                       | -   | agree
        both deleted                            | -       | own2:-<own1 peer1:-<own1           | -   | agree
        new file of the peer                    | -       | peer1:a                            | a   | place
        new link of the peer                    | -       | peer1:l                            | l   | place
        new directory of the peer               | -       | peer1:d                            | d   | make directory
        deleted here, edited there              | -       | own2:-<own1 peer1:b<own1           | b   | place
        deleted here, a directory there         | -       | own2:-<own1 peer1:d<own1           | d   | make directory
        deleted here, mode changed there        | -       | own2:-<own1 peer1:a+m=own1<own1    | -   | agree
        edited there                            | a@own1  | peer1:b<own1                       | b   | replace keep
        edited there, ours came from there      | a@peer1 | peer2:b<peer1                      | b   | replace keep
        edited here                             | b@own2  | own2:b<own1                        | b   | agree
        edited on both, theirs later            | a@own1  | own1:a peer2:b                     | b   | replace copy
        edited on both, ours later              | a@own2  | own2:a peer1:b                     | a   | agree
        edited on both at once                  | a@own1  | own1:a peer1:b                     | b   | replace copy
        edited here, link there later           | a@own1  | own1:a peer2:l                     | l   | replace copy
        link here, edited there later           | l@own1  | own1:l peer2:a                     | a   | replace copy
        they saw ours and decided               | a@own1  | own1:a peer2:b<own1,peer1          | b   | replace keep
        deleted there                           | a@own1  | peer1:-<own1                       | -   | remove keep
        link deleted there                      | l@own1  | peer1:-<own1                       | -   | remove keep
        edited here, deleted there              | b@own2  | own2:b<own1 peer1:-<own1           | b   | agree
        mode changed here, deleted there        | a@own1  | own2:a+m=own1<own1 peer3:-<own1    | -   | remove keep
        mode changed there                      | a@own1  | peer1:a+m=own1<own1                | a+m | adjust
        time changed there                      | a@own1  | peer1:a+t=own1<own1                | a+t | adjust
        mode of a directory changed there       | d@own1  | peer1:d+m=own1<own1                | d+m | adjust
        mode changed here, edited there         | a@own1  | own2:a+m=own1<own1 peer1:b<own1    | b+m | replace keep
        edited here, mode changed there         | b@own2  | own2:b<own1 peer3:a+m=own1<own1    | b+m | adjust
        written alike, theirs another time      | a@own1  | own1:a peer2:a+t                   | a+t | adjust
        directory instead of our file           | a@own1  | peer1:d<own1                       | d   | directory keep
        directory there, file here              | a@own2  | own2:a peer1:d                     | d   | directory copy
        directory there, link here              | l@own2  | own2:l peer1:d                     | d   | directory copy
        directory here, file there              | d@own1  | own1:d peer2:a                     | d   | agree
        file instead of our directory           | d@own1  | peer1:a<own1                       | a   | replace directory
        link instead of our directory           | d@own1  | peer1:l<own1                       | l   | replace directory
        directory deleted there                 | d@own1  | peer1:-<own1                       | -   | remove directory
        directory claimed anew here             | d@own2  | own2:d<own1 peer1:-<own1           | d   | agree
        damaged, both have another              | b@own1! | own1:a                             | a   | replace aside
        damaged and edited there                | b@own1! | peer1:a<own1                       | a   | replace aside
        damaged and deleted there               | b@own1! | peer1:-<own1                       | -   | remove aside
        damaged and a directory there           | b@own1! | peer1:d<own1                       | d   | directory aside
        gone with the power, both have it       | -!      | own1:a                             | a   | place
        """.split(separator: "\n").map(String.init)

    @Test("what is to be done, and what becomes of what was there", arguments: rows) func table(text: String) {
        let cells = text.split(separator: "|", omittingEmptySubsequences: false).map(\.trimmed)
        #expect(cells.count == 5)
        let row = Sketch.row(disk: cells[1], heads: cells[2])
        let reconciler = Reconciler(precedence: Precedence(ownKeyIsSmaller: true))
        let wanted = reconciler.resolution(of: row)
        #expect(wanted.entry.agrees(with: Sketch.entry(cells[3])))
        #expect(Sketch.name(of: reconciler.step(from: row, to: wanted)) == cells[4])
    }

    @Test("a copy of what lost is made by whoever has it on disk, and only there") func oneCopy() {
        let here = Sketch.row(disk: "a@own1", heads: "own1:a peer2:b")
        let there = Sketch.row(disk: "b@own2", heads: "own2:b peer1:a")
        let (left, right) = (
            Reconciler(precedence: Precedence(ownKeyIsSmaller: true)),
            Reconciler(precedence: Precedence(ownKeyIsSmaller: false))
        )
        #expect(left.step(from: here, to: left.resolution(of: here)) == .replace(.conflictCopy))
        #expect(right.step(from: there, to: right.resolution(of: there)) == .agree)
    }

    @Test("of equal times the larger key is the later") func ties() {
        let row = Sketch.row(disk: "a@own1", heads: "own1:a peer1:b")
        for ownKeyIsSmaller in [true, false] {
            let reconciler = Reconciler(precedence: Precedence(ownKeyIsSmaller: ownKeyIsSmaller))
            let wanted = reconciler.resolution(of: row)
            #expect(wanted.entry.content == Sketch.entry(ownKeyIsSmaller ? "b" : "a").content)
            #expect(wanted.isConflict)
        }
    }
}

/// Reads the sketches of the table.
enum Sketch {
    static func row(disk: String, heads: String) -> Row {
        var row = Row(path: place("x"))
        for head in heads.split(separator: " ") { row.join(revision(String(head))) }
        let isDamaged = disk.hasSuffix("!")
        if isDamaged { row.condition = .damaged }
        let parts = disk.filter { $0 != "!" }.split(separator: "@").map(String.init)
        guard parts.count == 2 else { return row }
        let shown = entry(parts[0])
        let origins = Origins(all: origin(parts[1]))
        row.disk = Row.DiskState(entry: shown, stat: stat(of: shown), origins: origins)
        return row
    }

    static func revision(_ text: String) -> Revision {
        let (head, seen) = halves(text, "<")
        let (author, state) = halves(head, ":")
        let (shown, claim) = halves(state, "=")
        let own = origin(author)
        var origins = Origins(all: own)
        if !claim.isEmpty {
            origins.content = origin(claim)
            if !shown.contains("+m") { origins.mode = origins.content }
            if !shown.contains("+t") { origins.time = origins.content }
        }
        var vector = VersionVector.none
        for item in seen.split(separator: ",") {
            let origin = origin(String(item))
            vector[origin.author] = max(vector[origin.author], origin.position)
        }
        if own.position.seq > 1, vector[own.author] == .none, !seen.isEmpty {
            vector[own.author] = LogPosition(epoch: Replica.epoch, seq: own.position.seq - 1)
        }
        return Revision(origin: own, seen: vector, entry: entry(shown), origins: origins)
    }

    static func origin(_ text: String) -> Origin {
        let author: Author = text.hasPrefix("own") ? .own : .peer
        let number = UInt64(text.filter(\.isNumber)) ?? 0
        precondition(number > 0, "\(text) is no revision")
        return Origin(
            author: author, position: LogPosition(epoch: Replica.epoch, seq: number),
            time: HybridTime(wallMilliseconds: Int64(number)))
    }

    static func entry(_ text: String) -> Entry {
        let content: Content
        switch text.first {
        case "a": content = Act.fileA
        case "b": content = Act.fileB
        case "l": content = Act.symlink
        case "d": content = .directory
        default: content = .absent
        }
        return Entry(
            content: content, mode: text.contains("+m") ? 0o600 : 0o644,
            modified: Timestamp(seconds: text.contains("+t") ? 2 : 1, nanoseconds: 0))
    }

    static func name(of step: Reconciler.Step) -> String {
        switch step {
        case .agree: "agree"
        case .adjust: "adjust"
        case .place: "place"
        case .makeDirectory: "make directory"
        case .replace(let displacement): "replace \(name(of: displacement))"
        case .replaceByDirectory(let displacement): "directory \(name(of: displacement))"
        case .replaceDirectory: "replace directory"
        case .remove(let displacement): "remove \(name(of: displacement))"
        case .removeDirectory: "remove directory"
        }
    }

    private static func name(of displacement: Reconciler.Displacement) -> String {
        switch displacement {
        case .keep: "keep"
        case .conflictCopy: "copy"
        case .quarantine: "aside"
        }
    }

    private static func halves(_ text: String, _ mark: Character) -> (String, String) {
        let parts = text.split(separator: mark, maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return (parts[0], parts.count > 1 ? parts[1] : "")
    }

    private static func stat(of entry: Entry) -> Stat {
        Stat(
            identity: FileIdentity(device: 1, inode: 1, birth: .zero), kind: entry.content.kind ?? .special,
            mode: entry.mode, size: entry.content.size, modified: entry.modified, changed: entry.modified)
    }
}

extension Substring {
    /// Without the spaces at both ends.
    var trimmed: String {
        var rest = self
        while rest.first == " " { rest = rest.dropFirst() }
        while rest.last == " " { rest = rest.dropLast() }
        return String(rest)
    }
}
