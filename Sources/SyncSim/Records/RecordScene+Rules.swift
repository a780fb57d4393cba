import SyncModel

/// When records are whole in the later scenes: natural keys, room for so many, and lists in an order.
extension RecordScene {
    /// Where those go who find no room.
    static let home = RecordFolder.Name(entity: "F", key: "home")

    /// How many notes a folder holds.
    var roomMax: Int? { self == .shelves || self == .homes ? 2 : nil }

    /// By what two records are one: the record itself where nothing else is said.
    func identity(of record: RecordFolder.Name, born name: String?) -> RecordFolder.Name {
        guard self == .keys, let name else { return record }
        return RecordFolder.Name(entity: "name of K", key: name)
    }

    func tooMany(in holder: RecordFolder.Name, _ folder: RecordFolder) -> String? {
        guard let roomMax else { return nil }
        let count = folder.notes(in: holder).count
        return count > roomMax ? "holds \(count) notes" : nil
    }

    func keyFault(of name: RecordFolder.Name, _ record: RecordFolder.Members, _ folder: RecordFolder) -> String? {
        guard let key = record["n"] else { return "has no name" }
        let others = folder.records.filter { $0.key != name && $0.value["n"] == key }
        return others.first.map { "has the name of \($0.key)" }
    }

    func listFault(of name: RecordFolder.Name, _ record: RecordFolder.Members, _ folder: RecordFolder) -> String? {
        if name.entity == "N" {
            let holder = RecordFolder.Name(entity: "F", key: record["f"] ?? "")
            let isNamed = folder.records[holder]?.list.contains(name.key) ?? false
            return isNamed ? nil : "lies in \(holder), which is not there or does not name it"
        }
        return wrongInList(of: name, record, folder)
            ?? missing(inListOf: record, folder).first.map {
                "names \($0), which is not there"
            }
    }

    private func wrongInList(
        of name: RecordFolder.Name, _ record: RecordFolder.Members, _ folder: RecordFolder
    ) -> String? {
        if Set(record.list).count != record.list.count { return "names one twice" }
        let stray = record.list.first { key in
            folder.records[RecordFolder.Name(entity: "N", key: key)].map { $0["f"] != name.key } ?? false
        }
        return stray.map { "names \($0), which lies elsewhere" }
    }

    private func missing(inListOf record: RecordFolder.Members, _ folder: RecordFolder) -> [RecordFolder.Name] {
        record.list.map { RecordFolder.Name(entity: "N", key: $0) }.filter { folder.records[$0] == nil }
    }

    func awaited(
        inListOf name: RecordFolder.Name, _ record: RecordFolder.Members, _ folder: RecordFolder
    ) -> [RecordFolder.Name] {
        name.entity == "F" && wrongInList(of: name, record, folder) == nil ? missing(inListOf: record, folder) : []
    }
}

extension RecordFolder {
    /// By what the notes say.
    func notes(in holder: Name) -> [Name] {
        records.filter { $0.key.entity == "N" && $0.value["f"] == holder.key }.map(\.key)
    }
}

extension RecordFolder.Members {
    var list: [String] { (self["list"] ?? "").split(separator: " ").map(String.init) }
}
