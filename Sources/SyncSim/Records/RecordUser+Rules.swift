import SyncModel

/// What the application of a later scene does: see `RecordScene`.
extension RecordUser {
    // MARK: Records with a natural key

    func actOnKeys(_ folder: RecordFolder, _ world: World, _ isFirst: Bool) {
        let names = Set(folder.records.compactMap { $0.value["n"] })
        let free = ["anna", "ben", "cleo", "dora"].filter { !names.contains($0) }
        guard !isFirst, random.chance(percent: 70), let record = pick("K", folder) else {
            guard let name = random.pick(free) else { return }
            let (record, token) = fresh("K", world)
            life.named(record, name)
            return put(record, [("n", name), ("t", token)])
        }
        if random.chance(percent: 70) { editText(record, folder, world) } else { remove(record, world) }
    }

    // MARK: Folders with room for so many notes

    func actOnShelves(_ folder: RecordFolder, _ world: World, _ isFirst: Bool) {
        if isFirst, life.scene == .homes, folder.records[RecordScene.home] == nil {
            let token = life.token(machine)
            life.wrote(token, "t", of: RecordScene.home, on: machine, at: world.now)
            return put(RecordScene.home, [("t", token)])
        }
        let roomMax = life.scene.roomMax ?? .max
        let free = Array(
            folder.records.keys.filter { holder in
                holder.entity == "F" && folder.notes(in: holder).count < roomMax
            })
        guard !isFirst, random.chance(percent: 85), let holder = random.pick(free) else {
            let (record, token) = fresh("F", world)
            return put(record, [("t", token)])
        }
        switch random.below(10) {
        case 0...4:
            let (note, token) = fresh("N", world)
            put(note, [("f", holder.key), ("t", token)])
        case 5: editText(random.chance(percent: 70) ? pick("N", folder) : holder, folder, world)
        case 6, 7: if let note = pick("N", folder) { edit(note, folder, ["f": holder.key], world) }
        case 8: if let note = pick("N", folder) { remove(note, world) }
        default: removeFolder(pick("F", folder), folder, world)
        }
    }

    private func removeFolder(_ holder: RecordFolder.Name?, _ folder: RecordFolder, _ world: World) {
        guard let holder, holder != RecordScene.home else { return }
        for note in folder.notes(in: holder) { remove(note, world) }
        remove(holder, world)
    }

    // MARK: Lists in an order

    func actOnLists(_ folder: RecordFolder, _ world: World, _ isFirst: Bool) {
        guard !isFirst, random.chance(percent: 85), let holder = pick("F", folder),
            let list = folder.records[holder]?.list
        else {
            let (record, token) = fresh("F", world)
            return put(record, [("list", ""), ("t", token)])
        }
        switch random.below(10) {
        case 0...2:
            let (note, token) = fresh("N", world)
            put(note, [("f", holder.key), ("t", token)])
            save(list.inserting(note.key, at: random.below(list.count + 1)), in: holder, folder, world)
        case 3, 4: editText(random.chance(percent: 70) ? pick("N", folder) : holder, folder, world)
        case 5: rearrange(list, in: holder, folder, world)
        case 6, 7: move(pick("N", folder), to: holder, list, folder, world)
        case 8: if let note = pick("N", folder) { takeOut(note, folder, world) }
        default: removeFolder(holder, folder, world)
        }
    }

    private func save(_ list: [String], in holder: RecordFolder.Name, _ folder: RecordFolder, _ world: World) {
        edit(holder, folder, ["list": list.joined(separator: " ")], world)
    }

    private func rearrange(_ list: [String], in holder: RecordFolder.Name, _ folder: RecordFolder, _ world: World) {
        var list = list
        guard list.count > 1 else { return }
        let key = list.remove(at: random.below(list.count))
        save(list.inserting(key, at: random.below(list.count + 1)), in: holder, folder, world)
    }

    private func move(
        _ note: RecordFolder.Name?, to holder: RecordFolder.Name, _ list: [String], _ folder: RecordFolder,
        _ world: World
    ) {
        guard let note, let before = folder.records[note]?["f"], before != holder.key else { return }
        let old = RecordFolder.Name(entity: "F", key: before)
        if let others = folder.records[old]?.list { save(others.filter { $0 != note.key }, in: old, folder, world) }
        edit(note, folder, ["f": holder.key], world)
        save(list.inserting(note.key, at: random.below(list.count + 1)), in: holder, folder, world)
    }

    private func takeOut(_ note: RecordFolder.Name, _ folder: RecordFolder, _ world: World) {
        let holder = RecordFolder.Name(entity: "F", key: folder.records[note]?["f"] ?? "")
        if let list = folder.records[holder]?.list {
            save(list.filter { $0 != note.key }, in: holder, folder, world)
        }
        remove(note, world)
    }
}

extension Array where Element == String {
    fileprivate func inserting(_ element: String, at index: Int) -> [String] {
        Array(prefix(index)) + [element] + dropFirst(index)
    }
}
