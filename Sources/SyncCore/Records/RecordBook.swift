/// What a node knows of the records of one model: every change set of both nodes, what they come to, and the files that
/// follow from that. Pure: the same sets give the same files on both nodes, in whatever order they came.
import RecordMerge
import SyncModel

struct RecordBook: Sendable {
    let model: Model
    /// Of the file that the model was read from.
    let digest: Digest
    /// By which the version of a file is read that the model is not about any more: a conflict copy.
    let formatRule: FormatRule
    private let chunking: ChunkerParameters
    private(set) var space: RecordSpace
    /// Sets that the view does not know yet.
    private var news: [ChangeSet] = []
    /// Of contents of the news.
    private var hashed = SortedMap<ContentID, ChunkList>()
    /// The last save of each path by each author; a set in the log is told as what it changes in them.
    private var saves = SortedMap<Path, Saves>()
    /// Every content that was ever saved at a path, and when that was told of last.
    private var contents = SortedMap<Path, SortedMap<ContentID, HybridTime>>()
    /// When each path was told of first, and each author first told of anything; zero where that has been forgotten.
    private var firstSaves = SortedMap<Path, HybridTime>()
    private var firstSets = FirstSets()
    /// When a record was last written to, by whomever.
    private var latest = SortedMap<RecordID, Write>()
    /// Of each record the last set of each author that writes to it.
    private var writers = SortedMap<RecordID, Applied>()
    /// What is to stand in the folder.
    private(set) var files = SortedMap<Path, File>()
    /// Records that are in quarantine, or were, and of which something has changed.
    private var reshelved: [RecordID] = []
    /// What repair has done, in all.
    private(set) var repairs = RepairCount()
    /// What was to stand there before, and may stand there still.
    private var older = SortedMap<Path, [File]>()
    private static let olderMax = 4
    /// What has been looked for among what was to stand there, and in vain: a save that waits need not ask again.
    private var unrecalled = SortedMap<Path, ContentID>()

    struct File: Sendable {
        let entry: Entry
        let chunks: ChunkList
        let bytes: [UInt8]

        var content: ContentID { ContentID(chunks.contentID) }
    }

    struct Write: Sendable {
        let time: HybridTime
        let author: Party
    }

    private struct Saves: Sendable {
        var first: Saved?
        var second: Saved?

        subscript(party: Party) -> Saved? {
            get { party == .first ? first : second }
            set {
                switch party {
                case .first: first = newValue
                case .second: second = newValue
                }
            }
        }

        var latest: Saved? { latestFirst.first }

        /// By K.
        var latestFirst: [Saved] {
            guard let first, let second else { return [first, second].compactMap(\.self) }
            return second.time < first.time ? [first, second] : [second, first]
        }
    }

    private struct FirstSets: Sendable {
        private var first: HybridTime?
        private var second: HybridTime?

        func time(of party: Party) -> HybridTime? { party == .first ? first : second }

        mutating func note(_ time: HybridTime, by party: Party) {
            switch party {
            case .first: first = min(first ?? time, time)
            case .second: second = min(second ?? time, time)
            }
        }
    }

    private struct Saved: Sendable {
        let position: LogPosition
        let time: HybridTime
        let file: ChangeSet.SavedFile
    }

    init(_ installed: InstalledModel, chunking: ChunkerParameters) {
        model = installed.model
        digest = installed.digest
        formatRule = FormatRule(of: installed.model)
        self.chunking = chunking
        space = RecordSpace(model: installed.model)
    }

    var root: Path { model.root }

    /// What a reader of this model's change sets must have.
    var needs: Needs { Needs(model: model.name, modelVersion: model.version) }

    /// What it needs of the log is judged with the rest of the set.
    func reads(_ needs: Needs) -> Bool { needs.model == model.name && model.reads.contains(needs.modelVersion) }

    var view: RecordView { space.view }

    /// What is called like a conflict copy is none of its records, whatever the pattern: recovery may have given a file such a name.
    func claims(_ path: Path) -> Bool { !model.entities(claiming: path).isEmpty && !ConflictName.isConflictCopy(path) }

    /// Somewhere in the directory, or above it, files stand that the model is about.
    func concerns(_ directory: Path) -> Bool { directory.meets(model.root) }

    func hasSaved(_ content: ContentID, at path: Path) -> Bool { contents[path]?[content] != nil }
    func hasSaved(_ path: Path) -> Bool { contents.contains(key: path) }

    /// A set that was made then, or later, says that it was saved there.
    func hasSaved(_ content: ContentID, at path: Path, since wallMilliseconds: UInt64) -> Bool {
        contents[path]?[content].map { $0.wallMilliseconds >= wallMilliseconds } ?? false
    }

    /// A set that was made then, or later, says that something was saved there.
    func hasSaved(_ path: Path, since wallMilliseconds: UInt64) -> Bool {
        contents[path]?.contains { $0.value.wallMilliseconds >= wallMilliseconds } ?? false
    }

    /// It was saved there, or came of what was, and has not been written anew since.
    func hasHad(_ entry: Entry, at path: Path) -> Bool {
        guard case .file(let content, _) = entry.content else { return false }
        if hasSaved(content, at: path, since: UInt64(clamping: entry.modified.milliseconds)) { return true }
        return outcomes(at: path).contains { $0.content == content && $0.entry.modified >= entry.modified }
    }

    /// What is to stand there, and what was of late.
    private func outcomes(at path: Path) -> [File] { [files[path]].compactMap(\.self) + (older[path] ?? []) }

    /// The files of which his sets up to there tell.
    func forEachSave(by author: Party, through position: LogPosition, _ note: (Path) -> Void) {
        for set in space.history where set.author == author && set.position <= position {
            for file in set.files { note(file.path) }
        }
    }

    /// No set says that it was saved there, nor is it known to have come of any.
    func isForeign(_ content: ContentID, at path: Path) -> Bool {
        !hasSaved(content, at: path) && bytes(of: content, at: path) == nil
    }

    /// Nobody had told of that file by then. (Of that of a clone nobody ever does.)
    func precedesSaves(_ time: HybridTime, at path: Path) -> Bool {
        firstSaves[path].map { time < $0 } ?? !files.contains(key: path)
    }

    /// He had told of nothing by then.
    func precedesSets(_ time: HybridTime, by author: Party) -> Bool {
        firstSets.time(of: author).map { time < $0 } ?? true
    }

    /// Whoever has seen the sets of the other up to there, and all that its author had told by then, writes later than this.
    func lastTime(of author: Party, seeing peer: LogPosition) -> HybridTime {
        space.history.lazy.filter { $0.author == author || $0.position <= peer }.map(\.time).max() ?? .zero
    }

    /// The last save of a path by an author, if it was in this epoch: what the next one is told against. (Of what came before, a
    /// node that was set back may have lost something that the other still has.)
    func save(of path: Path, by party: Party, in epoch: Epoch) -> ChangeSet.SavedFile? {
        saves[path]?[party].flatMap { $0.position.epoch == epoch ? $0.file : nil }
    }

    /// The bytes of a content that stands at the path, or stood there.
    func bytes(of content: ContentID, at path: Path) -> [UInt8]? {
        if let file = outcomes(at: path).first(where: { $0.content == content }) { return file.bytes }
        if let last = saves[path]?.latestFirst.first(where: { $0.file.content == content }) { return last.file.bytes }
        // (What stood there when the last process ended may have been saved anew since by whoever had saved it.)
        guard hasSaved(content, at: path) else { return nil }
        return space.history.lazy.flatMap(\.files).first { $0.path == path && $0.content == content }?.bytes
    }

    func isWritten(_ record: RecordID, by author: Party, after position: LogPosition) -> Bool {
        writers[record].map { $0[author] > position } ?? false
    }

    func lastWrite(to record: RecordID) -> Write? { latest[record] }
    func lastSet(writingTo record: RecordID, by author: Party) -> LogPosition { writers[record]?[author] ?? .none }

    /// Where a live record stands.
    func path(of id: RecordID) -> Path? { view.live[id].flatMap { RecordRenderer.path(of: id, $0, model) } }

    /// What goes when these are deleted, themselves included.
    func going(with ids: [RecordID]) -> [RecordID] { Differ(model: model, view: view).going(with: ids) }

    /// What there was before the later sets of one author came.
    func view(of author: Party, through position: LogPosition) -> RecordView {
        let known = space.history.filter { $0.author != author || $0.position <= position }
        return RecordView(of: known, model: model)
    }

    /// What there was before one of the later sets of one author deleted something: the last that has the record.
    func view(lastShowing id: RecordID, of author: Party, after position: LogPosition) -> RecordView? {
        let history = space.history
        let deleting = history.filter { set in
            set.author == author && set.position > position && set.operations.contains { $0.action == .delete }
        }
        return deleting.map(\.position).sorted(by: >).lazy.map { delete in
            RecordView(of: history.filter { $0.author != author || $0.position < delete }, model: model)
        }.first { $0.live.contains(key: id) }
    }

    /// The file of a record, and what it says there, in quarantine and under a second name as well.
    func content(of id: RecordID) -> (path: Path, bytes: [UInt8])? {
        if let file = path(of: id).flatMap({ path in files[path].map { (path, $0.bytes) } }) { return file }
        let out = view.quarantine[id] ?? view.dropped[id]
        return (view.live[id] ?? out?.record ?? view.rivals[id]?.own).flatMap { content(of: id, saying: $0) }
    }

    func content(of id: RecordID, saying record: RecordView.Record) -> (path: Path, bytes: [UInt8])? {
        guard let path = RecordRenderer.path(of: id, record, model) else { return nil }
        return (ownFile(of: record, id, at: path) ?? space.renderer.alone(record, of: id)).map { (path, $0) }
    }

    /// What a file that is one record's says of it, written into its latest save that has it. Of a document of many there is none: every
    /// later save of the others would make another of it.
    private func ownFile(of record: RecordView.Record, _ id: RecordID, at path: Path) -> [UInt8]? {
        guard model.entity(id.entity)?.at == nil else { return nil }
        let renderer = space.renderer
        return (saves[path]?.latestFirst ?? []).lazy.compactMap { saved in
            saved.file.bytes.flatMap { document($0, at: path) }.flatMap { renderer.rendered(record, of: id, base: $0) }
        }.first
    }

    /// As it would be if these deletes were taken back; its files are those of now.
    func restoring(_ ids: [RecordID]) -> RecordBook {
        var book = self
        book.space = space.restoring(ids)
        return book
    }

    mutating func takeReshelved() -> [RecordID] {
        defer { reshelved = [] }
        return reshelved
    }

    /// What is to lie in quarantine of a record; nil if it is not there, or no file ever told of it.
    func shelved(_ id: RecordID) -> Shelved? {
        guard view.quarantine.contains(key: id), let content = content(of: id), let write = latest[id] else {
            return nil
        }
        let list = ContentHasher.chunks(of: content.bytes, chunking)
        let entry = Entry(
            content: .file(ContentID(list.contentID), size: list.size),
            mode: saves[content.path]?.latest?.file.mode ?? 0o600,
            modified: Timestamp(milliseconds: Int64(clamping: write.time.wallMilliseconds)))
        return Shelved(path: content.path, entry: entry, bytes: content.bytes, author: write.author)
    }

    func document(_ bytes: [UInt8], at path: Path) -> RecordDocument? {
        JSONDocument.readable(bytes).flatMap { document($0, at: path) }
    }

    private func document(_ json: JSONDocument, at path: Path) -> RecordDocument? {
        do {
            return try RecordDocument(json, at: path, model: model)
        } catch {
            return nil
        }
    }

    mutating func forgetOlder(at path: Path) { older[path] = nil }

    private mutating func noteOlder(_ file: File, at path: Path) {
        older[path] = Array(((older[path] ?? []) + [file]).suffix(RecordBook.olderMax))
    }

    /// What an earlier process merged and put there is in no set, and the view is beyond it. It is what came of the sets when the last
    /// of the peer's were not here yet: those up to `shown` were, and how many more the content tells.
    mutating func recall(_ contents: SortedMap<Path, ContentID>, from peer: Party, after shown: LogPosition) {
        var lost = SortedMap(contents.filter { unrecalled[$0.key] != $0.value }.map { ($0.key, $0.value) })
        if lost.isEmpty { return }
        let isLater = { (set: ChangeSet) in set.author == peer && set.position > shown }
        let made = outcomes(lost, of: space.history.filter { !isLater($0) }, then: space.history.filter(isLater))
        for (path, file) in made {
            lost[path] = nil
            noteOlder(file, at: path)
        }
        for (path, content) in lost { unrecalled[path] = content }
    }

    /// Those of the contents that have come of the sets of one author alone.
    func outcomes(_ contents: SortedMap<Path, ContentID>, of author: Party) -> SortedMap<Path, File> {
        outcomes(contents, of: [], then: space.history.filter { $0.author == author })
    }

    /// Those that came of the first sets, or of one more of the later ones, and so on.
    private func outcomes(
        _ contents: SortedMap<Path, ContentID>, of first: [ChangeSet], then later: [ChangeSet]
    ) -> SortedMap<Path, File> {
        var made = SortedMap<Path, File>()
        var past = RecordBook(InstalledModel(model, digest: digest), chunking: chunking)
        for sets in [first] + later.sorted(by: { $0.position < $1.position }).map({ [$0] }) {
            for set in sets { past.count(set) }
            let changed = past.space.add(past.news).files
            past.news = []
            for path in changed where contents.contains(key: path) && !made.contains(key: path) {
                guard let file = past.file(at: path, past.space.renderer), file.content == contents[path] else {
                    continue
                }
                made[path] = file
            }
            if made.count == contents.count { return made }
        }
        return made
    }

    // MARK: Forgetting

    /// What is held in memory for the sets, roughly, and how much of it there was after the last forgetting.
    private var weight = 0
    private var setsAtForget = 0
    private var weightAtForget = 0

    /// Since the last time as much has come as was left then: all forgetting together costs little more than the last.
    func isWorthForgetting(atLeast count: Int) -> Bool {
        space.count >= setsAtForget + count && weight >= 2 * weightAtForget
    }

    /// All sets so far up to there are what was left of more.
    mutating func noteForgotten(through stable: Applied) {
        _ = refresh()
        space.noteForgotten(through: stable)
        weigh()
        let base = space.history.filter { $0.position <= space.forgotten[$0.author] }
        for set in base {
            firstSets.note(.zero, by: set.author)
            for file in set.files { firstSaves[file.path] = .zero }
        }
        (setsAtForget, weightAtForget) = (base.count, base.reduce(0) { $0 + $1.weight })
    }

    /// The view knows of all sets.
    var isRefreshed: Bool { news.isEmpty }

    /// What both nodes have, and whoever still writes will have seen, is kept for what it comes to (`Compaction`); `stable` as
    /// `Applied.stable` says it.
    mutating func forget(_ stable: Applied) {
        space.forget(stable)
        weigh()
        contents = [:]
        for set in space.history {
            for file in set.files { noteContent(of: file, at: set.time) }
        }
        for (_, saves) in saves {
            for saved in [saves.first, saves.second] { if let saved { noteContent(of: saved.file, at: saved.time) } }
        }
    }

    private mutating func weigh() {
        weight = space.history.reduce(0) { $0 + $1.weight }
        (setsAtForget, weightAtForget) = (space.count, weight)
    }

    /// Instead of another book of the same sets, which had them in another order or has forgotten some. The paths at which
    /// something else is to stand now.
    mutating func succeed(_ old: RecordBook) -> [Path] {
        _ = refresh()
        repairs = old.repairs
        repairs.quarantined += view.quarantine.count { !old.view.quarantine.contains(key: $0.key) }
        let repaired = SortedMap(old.view.repaired.map { ($0, true) })
        repairs.repaired += view.repaired.count { !repaired.contains(key: $0) }
        older = old.older
        var paths: [Path] = []
        for (path, file) in files where old.files[path]?.entry != file.entry { paths.append(path) }
        for (path, _) in old.files where !files.contains(key: path) { paths.append(path) }
        for path in paths { if let file = old.files[path] { noteOlder(file, at: path) } }
        return paths
    }

    private mutating func noteContent(of file: ChangeSet.SavedFile, at time: HybridTime) {
        guard let content = file.content else { return }
        let last = contents[file.path]?[content] ?? time
        contents[file.path, default: [:]][content] = max(last, time)
    }

    // MARK: Taking change sets in

    /// Contents that were hashed to read a set that is noted next.
    mutating func note(hashed lists: [ChunkList]) {
        for list in lists { hashed[ContentID(list.contentID)] = list }
    }

    /// What follows from it is known after the next `refresh`.
    mutating func note(_ admitted: AdmittedSet) { count(admitted.set) }

    /// What is in a history has been admitted.
    private mutating func count(_ set: ChangeSet) {
        for file in set.files {
            firstSaves[file.path] = min(firstSaves[file.path] ?? set.time, set.time)
            guard file.content != nil else { continue }
            noteContent(of: file, at: set.time)
            let saved = Saved(position: set.position, time: set.time, file: file)
            // (What a node that was set back had lost comes after what it has written since.)
            let isLatest = saves[file.path]?[set.author].map { $0.position < saved.position } ?? true
            if isLatest { saves[file.path, default: Saves()][set.author] = saved }
        }
        if !set.isUnread { noteWrites(of: set) }
        // (One that bears the time of what was there from before is told later than that, in the epoch that began by then.)
        let begun = HybridTime(wallMilliseconds: Int64(set.position.epoch.number) * 1_000)
        firstSets.note(max(set.time, begun), by: set.author)
        news.append(set)
        weight += set.weight
    }

    private mutating func noteWrites(of set: ChangeSet) {
        for operation in set.operations {
            let last = writers[operation.record]?[set.author] ?? .none
            writers[operation.record, default: .none][set.author] = max(last, set.position)
            let write = Write(time: set.time, author: set.author)
            latest[operation.record] = latest[operation.record].map { $0.time < write.time ? write : $0 } ?? write
        }
    }

    struct Refresh {
        /// The paths at which something else is to stand since the last time, and those at which something was saved and nothing is to stand.
        var files: [(path: Path, isNew: Bool)] = []
        var gone: [Path] = []
        /// Who has become a second name.
        var names = SortedMap<RecordID, Bool>()
    }

    mutating func refresh() -> Refresh {
        guard !news.isEmpty else { return Refresh() }
        defer { hashed = [:] }
        var change = space.add(news.filter { !$0.isUnread })
        // What they mean follows from what their authors had seen, and that is there by now.
        for set in news.filter(\.isUnread).sorted(by: { $0.precedes($1) }) {
            let read = set.reading(by: model, after: space.history, forgotten: space.forgotten)
            noteWrites(of: read)
            change += space.add([read])
        }
        let saved = news.flatMap(\.files).filter { $0.content != nil }.map(\.path)
        news = []
        repairs.quarantined += change.quarantined.count
        repairs.repaired += change.repaired.count
        reshelved += change.quarantine + change.records.filter { view.quarantine.contains(key: $0) }
        let names = SortedMap(change.aliases.filter { view.aliases.contains(key: $0) }.map { ($0, true) })
        let renderer = space.renderer
        var changed: [(path: Path, isNew: Bool)] = []
        for path in change.files {
            let old = files[path]
            files[path] = file(at: path, renderer)
            guard old?.entry != files[path]?.entry else { continue }
            if let old { noteOlder(old, at: path) }
            changed.append((path, old == nil))
        }
        return Refresh(files: changed, gone: saved.filter { files[$0] == nil }, names: names)
    }

    /// Those that a saved file has as records of their own.
    func secondNames(in finding: RecordState.Finding) -> SortedMap<RecordID, Bool> {
        guard !view.aliases.isEmpty, let document = try? finding.saved?.document.get() else { return [:] }
        return SortedMap(document.ids.filter { view.aliases.contains(key: $0) }.map { ($0, true) })
    }

    /// A clone is written into what its original was saved as.
    private func base(of path: Path, _ renderer: RecordRenderer) -> ChangeSet.SavedFile? {
        guard let content = renderer.base(of: path) else { return nil }
        if let own = saves[path] { return own.latestFirst.first { $0.file.content == content }?.file }
        return saves.lazy.flatMap(\.value.latestFirst).first { $0.file.content == content }?.file
    }

    private func file(at path: Path, _ renderer: RecordRenderer) -> File? {
        guard let base = base(of: path, renderer), let bytes = base.bytes, let json = JSONDocument.readable(bytes)
        else { return nil }
        if renderer.isWritten(path, in: json), let content = base.content {
            let chunks = hashed[content] ?? ContentHasher.chunks(of: bytes, chunking)
            let entry = Entry(content: .file(content, size: chunks.size), mode: base.mode, modified: base.modified)
            return File(entry: entry, chunks: chunks, bytes: bytes)
        }
        guard let document = document(json, at: path), let rendered = renderer.rendered(path, base: document) else {
            return nil
        }
        let chunks = ContentHasher.chunks(of: rendered, chunking)
        let isBase = ContentID(chunks.contentID) == base.content
        let modified = isBase ? base.modified : time(ofMerged: path, document, renderer, after: base.modified)
        let content = Content.file(ContentID(chunks.contentID), size: chunks.size)
        return File(
            entry: Entry(content: content, mode: base.mode, modified: modified), chunks: chunks, bytes: rendered)
    }

    /// The same on both nodes, whenever each of them came to it: that of the last write to a record that stands there or stood.
    private func time(
        ofMerged path: Path, _ base: RecordDocument, _ renderer: RecordRenderer, after saved: Timestamp
    ) -> Timestamp {
        let writes = (base.ids + renderer.records(at: path)).compactMap { latest[$0]?.time }
        let last = Timestamp(milliseconds: Int64(clamping: (writes.max() ?? .zero).wallMilliseconds))
        // On many file systems people may set any time, also the last that can be counted.
        let (next, isBeyond) = saved.milliseconds.addingReportingOverflow(1)
        return isBeyond ? saved : max(last, Timestamp(milliseconds: next))
    }
}

extension ChangeSet {
    /// In bytes, roughly.
    fileprivate var weight: Int { files.reduce(128 + 64 * operations.count) { $0 + 128 + ($1.bytes?.count ?? 0) } }
}
