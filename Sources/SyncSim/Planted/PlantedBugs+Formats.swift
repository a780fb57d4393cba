import RecordMerge
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

    /// What is older than what it would take the place of is read as if it were of the same version. (What is broken is read as it is.)
    private static func blindToDowngrades(at isBent: @escaping (Place) -> Bool) -> PlantedBug.Ways {
        var asked: [SortedMap<JobID, Place>] = [[:], [:]]
        return PlantedBug.Ways(
            effect: { effect, machine, _ in
                if case .parse(let job, let request) = effect { asked[machine][job] = request.place }
                return [effect]
            },
            event: { event, machine, world in
                if case .started = event { asked[machine] = [:] }
                guard case .parsed(let job, .parsed(.header(.version(let found)))) = event,
                    let place = asked[machine].removeValue(forKey: job), isBent(place),
                    let known = versionKnown(at: place, on: machine, in: world), found < known
                else { return event }
                return .parsed(job, .parsed(.header(.version(known))))
            })
    }

    private static func versionKnown(at place: Place, on machine: Int, in world: World) -> UInt32? {
        guard let path = path(of: place, on: machine, in: world), GuardedFormat.reading(path) != nil,
            case .version(let known)? = world.machines[machine].store.rows[path]?.format?.reading
        else { return nil }
        return known
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
