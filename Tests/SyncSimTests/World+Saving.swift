import SyncModel
import Testing

@testable import SyncSim

/// A person at one of the machines, who writes and deletes by hand.
extension World {
    /// With the directories above it; nil deletes it. No notice is given.
    func save(_ name: String, _ text: String?, on machine: Int) throws {
        let path = try #require(Path(name))
        let now = stamp(machine)
        for parent in path.parents.sorted() where !machines[machine].disk.exists(parent) {
            _ = machines[machine].disk.mkdir(parent, now: now)
        }
        if let text {
            #expect(machines[machine].disk.writeFile(path, Array(text.utf8), now: now) == nil)
        } else {
            #expect(machines[machine].disk.removeTree(path, now: now) == nil)
        }
    }
}
