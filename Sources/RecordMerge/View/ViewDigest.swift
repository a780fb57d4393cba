/// One hash of everything in a view: two nodes that hold the same operations compare it. The format, in this order,
/// numbers big-endian of 32 bits, every byte string counted: live records, quarantine, dropped, aliases, dead, unknown,
/// concurrent writes. Of a record: its values, its links, whom it waits for.
public import SyncModel

extension RecordView {
    public var digest: Digest {
        var writer = ByteWriter()
        writer.putEach(live.map { $0 }) { writer, entry in
            writer.put(entry.key)
            writer.put(entry.value)
        }
        for entries in [quarantine, dropped] {
            writer.putEach(entries.map { $0 }) { writer, entry in
                writer.put(entry.key)
                writer.put(entry.value.record)
                writer.put(entry.value.reason)
                writer.put(entry.value.group)
            }
        }
        writer.putEach(aliases.map { $0 }) { writer, entry in
            writer.put(entry.key)
            writer.put(entry.value)
        }
        writer.putEach(dead) { $0.put($1) }
        writer.putEach(unknown) { $0.put($1) }
        writer.putEach(concurrent) { $0.put($1) }
        return SHA256.digest(of: writer.bytes)
    }
}

extension ByteWriter {
    fileprivate mutating func putEach<Element>(_ elements: [Element], _ put: (inout ByteWriter, Element) -> Void) {
        self.put(UInt32(truncatingIfNeeded: elements.count))
        for element in elements { put(&self, element) }
    }

    fileprivate mutating func put(_ id: RecordID) {
        putCounted(id.entity.bytes)
        putCounted(id.key)
    }

    fileprivate mutating func put(_ name: RelationName) {
        putCounted(name.entity.bytes)
        putCounted(name.property.bytes)
    }

    fileprivate mutating func put(_ record: RecordView.Record) {
        putEach(record.values.map { $0 }) { writer, member in
            writer.putCounted(member.key.bytes)
            writer.putCounted(member.value.bytes)
        }
        for links in [record.links, record.pending] {
            putEach(links.map { $0 }) { writer, link in
                writer.putCounted(link.key.bytes)
                writer.putEach(link.value) { $0.put($1) }
            }
        }
    }

    fileprivate mutating func put(_ reason: RecordView.Reason) {
        switch reason {
        case .invalidValue(let property):
            put(UInt8(0))
            putCounted(property.bytes)
        case .deletedWhileEdited: put(UInt8(1))
        case .missing(let relation):
            put(UInt8(2))
            put(relation)
        case .gone(let relation, let partner):
            put(UInt8(3))
            put(relation)
            put(partner)
        case .lostSlot(let relation, let holder, let winner):
            put(UInt8(4))
            put(relation)
            put(holder)
            put(winner)
        }
    }

    fileprivate mutating func put(_ write: RecordView.ConcurrentWrite) {
        put(write.record)
        putCounted(write.property.bytes)
        put(write.write.author.rawValue)
        put(write.write.position.epoch.raw)
        put(write.write.position.seq)
        put(write.write.index)
        switch write.content {
        case .value(let value):
            put(UInt8(0))
            putCounted(value?.bytes ?? [])
        case .link(let target):
            put(UInt8(1))
            put(target ?? RecordID("", ""))
        case .removal(let target):
            put(UInt8(2))
            put(target)
        }
    }
}
