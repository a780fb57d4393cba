import SyncCore
import SyncModel

/// Bugs in what is made of the headers of guarded files.
extension PlantedBugs {
    static var formats: [Plot] {
        [
            Plot(name: "a downgrade is not recognised where it arrives", worlds: .formats) {
                blindToDowngrades { if case .stage = $0 { true } else { false } }
            },
            Plot(
                name: "a downgrade is not recognised, neither where it is saved nor where it arrives", worlds: .formats
            ) {
                blindToDowngrades { _ in true }
            },
        ]
    }

    /// What is older than what it would take the place of is read as if it were of the same version. (What is broken, and what has no
    /// room for that version in it, is read as it is.)
    private static func blindToDowngrades(at isBent: @escaping (Place) -> Bool) -> PlantedBug.Ways {
        var asked: [SortedMap<JobID, [ReadRequest]>] = [[:], [:]]
        return PlantedBug.Ways(
            effect: { effect, machine, _ in
                if case .read(let job, let requests) = effect { asked[machine][job] = requests }
                return [effect]
            },
            event: { event, machine, world in
                if case .started = event { asked[machine] = [:] }
                guard case .readFinished(let job, let outcomes) = event,
                    let requests = asked[machine].removeValue(forKey: job)
                else { return event }
                let bent = zip(requests, outcomes).map { request, outcome in
                    guard request.isParsed, isBent(request.place), case .bytes(let bytes) = outcome else {
                        return outcome
                    }
                    return .bytes(flattered(bytes, at: request.place, on: machine, in: world))
                }
                return .readFinished(job, bent)
            })
    }

    private static func flattered(_ bytes: [UInt8], at place: Place, on machine: Int, in world: World) -> [UInt8] {
        guard let path = path(of: place, on: machine, in: world), let format = GuardedFormat.reading(path),
            case .version(let known)? = world.machines[machine].store.rows[path]?.format?.reading,
            case .version(let found) = format.age(of: bytes), found < known
        else { return bytes }
        return format.relabelled(bytes, from: found, to: known)
    }

    /// What is staged is for the path of which the other node has said that it holds this.
    private static func path(of place: Place, on machine: Int, in world: World) -> Path? {
        if case .tree(let path) = place { return path }
        guard let bytes = world.machines[machine].disk.peekBytes(VirtualDisk.path(of: place)) else { return nil }
        let content = ContentID(ContentHasher.chunks(of: bytes, world.plan.limits[machine].chunking).contentID)
        return world.machines[machine].store.rows.first { path, row in
            guard GuardedFormat.of(path) != nil, case .file(content, _)? = row.head(by: .peer)?.entry.content else {
                return false
            }
            return row.disk?.entry.content != row.head(by: .peer)?.entry.content
        }?.key
    }
}
