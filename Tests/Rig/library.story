# a program is built on the library that the package has brought, and shares its file with the other node
command -v swift >/dev/null || skip "there is no Swift toolchain"
[ "$tier" != vm ] || skip "there is no Swift toolchain in the machines"
install_on alpha
install_on beta
pair
cat >"$world/Package.swift" <<'SWIFT'
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "friends", dependencies: [.package(path: "/usr/share/syncd/SyncKit")],
    targets: [.executableTarget(name: "friends", dependencies: [.product(name: "SyncKit", package: "SyncKit")])])
SWIFT
cat >"$world/main.swift" <<'SWIFT'
import SyncKit

struct Friends: Codable, Sendable { var friends = LossyArray<Friend>() }
struct Friend: Codable, Sendable { var name: String; var birth: String }

let session = makeDocumentSession(JSONFile<Friends>(reads: 1...2), at: "/srv/shared/friends.json")
switch await session.open() {
case .success, .olderVersion: break
case .noSuchFile, .zeroLength: try await session.begin(with: Friends())
case .newerVersion(let found, _): print("format \(found): please upgrade")
case let other: print("\(other)", await session.lastError?.reason ?? "")
}
try await session.update { $0.friends.values.append(Friend(name: "Me", birth: "1990-05-01")) }
try await session.close()
SWIFT
on alpha mkdir -p /root/friends/Sources/friends
put alpha "$world/Package.swift" /root/friends/Package.swift
put alpha "$world/main.swift" /root/friends/Sources/friends/main.swift
# (As docs/library.md and the README of the library say it.)
for line in 'makeDocumentSession(JSONFile<Friends>(reads: 1...2), at: "/srv/shared/friends.json")' '.package(path: "/usr/share/syncd/SyncKit")'; do
    on alpha grep -qF "$line" /usr/share/syncd/SyncKit/README.md || fail "not written there: $line"
done
on alpha env HOME=/root PATH="$PATH" swift build --package-path /root/friends >"$world/built" 2>&1 || fail "it cannot be built: $(tail -n 5 "$world/built")"
on alpha cp /root/friends/.build/debug/friends /usr/local/bin/friends
user alpha friends
settle
[ "$(on beta grep -c '"Me"' /srv/shared/friends.json)" = 1 ] || fail "beta does not have it: $(on beta cat /srv/shared/friends.json)"
