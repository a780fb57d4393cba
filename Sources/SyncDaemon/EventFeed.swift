import ControlProtocol
import Coordination
import SyncModel

/// What happens, for `syncctl events`: the latest are kept, and whoever follows is told each.
final class EventFeed {
    private var recent = Deque<EventLine>()
    private var followers: [ClientID: (EventLine) -> Void] = [:]

    /// Own log entries as they are written, for `syncctl log --follow`.
    private var logFollowers: [ClientID: (LogLine) -> Void] = [:]

    private static let recentMax = 1_000

    func tell(_ line: EventLine) {
        recent.append(line)
        if recent.count > EventFeed.recentMax { _ = recent.popFirst() }
        for follower in followers.values { follower(line) }
    }

    func change(_ line: LogLine) {
        for follower in logFollowers.values { follower(line) }
    }

    var isFollowed: Bool { !logFollowers.isEmpty }

    func followLog(_ id: ClientID, _ body: @escaping (LogLine) -> Void) { logFollowers[id] = body }
    func unfollowLog(_ id: ClientID) { logFollowers[id] = nil }

    var latest: [EventLine] { Array(recent) }

    func follow(_ id: ClientID, _ body: @escaping (EventLine) -> Void) { followers[id] = body }
    func unfollow(_ id: ClientID) { followers[id] = nil }
}
